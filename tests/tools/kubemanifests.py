"""Validates Kubernetes manifests: core kinds against their schemas, JobSet and TrainJob through their models.

The models ignore keys that they do not know, so a document counts as valid only if it comes back from its model
unchanged. A kind without schema or model is a failure, not a pass.
"""

from __future__ import annotations

from pathlib import Path

import kubernetes_validate
import yaml
from kubeflow_trainer_api import models

MODELS = {
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): models.JobsetV1alpha2JobSet,
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): models.TrainerV1alpha1TrainJob,
}


def differences(before, after, path: str = "") -> list[str]:
    """Where a document and what its model kept of it differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = dict.fromkeys([*before, *after])
        missing = object()
        return [
            text
            for key in keys
            for text in differences(before.get(key, missing), after.get(key, missing), f"{path}.{key}".lstrip("."))
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [t for n, (b, a) in enumerate(zip(before, after, strict=True)) for t in differences(b, a, f"{path}[{n}]")]
    return [] if before == after else [f"{path}: not in the schema, or of another type"]


def problems(document: dict) -> list[str]:
    """What is wrong with one document; empty when it is valid."""
    kind = (document.get("apiVersion"), document.get("kind"))
    if kind in MODELS:
        try:
            return differences(document, MODELS[kind].from_dict(document).to_dict())
        except ValueError as error:  # pydantic's, with the path in its text
            return [str(error)]
    try:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{'.'.join(map(str, error.path))}: {error.message}"]
    except kubernetes_validate.SchemaNotFoundError as error:
        return [f"no schema: {error}"]
    return []


def documents(path: Path) -> list[dict]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]

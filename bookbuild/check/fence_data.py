"""Fences that hold data: JSON, YAML of one or more documents, TOML, and Kubernetes manifests against their schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import tomllib
import yaml

from bookbuild.check.fence import Fault


def json_faults(text: str) -> Iterator[Fault]:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        before = text[: error.pos].rstrip()
        comma = before.endswith(",") and text[error.pos : error.pos + 1] in ("}", "]")
        if comma or error.msg.startswith("Illegal trailing comma"):  # Python 3.13 places it differently
            yield before.count("\n"), "fence-json", "no JSON: a comma behind the last entry", ""
        else:
            yield error.lineno - 1, "fence-json", f"no JSON: {error.msg}", "```text for a fragment"


def toml_faults(text: str) -> Iterator[Fault]:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        words, _, place = str(error).partition(" (at line ")
        row = place.partition(",")[0]
        yield (
            int(row) - 1 if row.isdigit() else max(0, text.rstrip().count("\n")),
            "fence-toml",
            f"no TOML: {words}",
            "",
        )


def yaml_faults(text: str) -> Iterator[Fault]:
    try:
        nodes = [node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        yield mark.line if mark else 0, "fence-yaml", f"no YAML: {error.problem or error.context}", ""
        return
    except yaml.YAMLError as error:
        yield 0, "fence-yaml", f"no YAML: {' '.join(str(error).split())}", ""
        return
    for node in nodes:
        yield from _double_keys(node)
    if any("apiVersion" in _keys(node) and "kind" in _keys(node) for node in nodes):
        for node, data in zip(nodes, _values(text), strict=False):
            if isinstance(data, dict) and {"apiVersion", "kind"} <= data.keys():
                yield from _manifest(node, data)


def _values(text: str) -> list[Any]:
    try:
        return [value for value in yaml.safe_load_all(text) if value is not None]
    except yaml.YAMLError:  # tags of a program's own
        return []


def _keys(node: yaml.Node) -> dict[str, yaml.Node]:
    return {key.value: key for key, _ in node.value} if isinstance(node, yaml.MappingNode) else {}


def _double_keys(node: yaml.Node) -> Iterator[Fault]:
    """Keys that stand twice in one mapping: readers of YAML take the last and say nothing."""
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if isinstance(key.value, str) and key.value != "<<":
                if key.value in seen:
                    yield key.start_mark.line, "fence-yaml", f"the key '{key.value}' stands twice", ""
                seen.add(key.value)
            yield from _double_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _double_keys(value)


@lru_cache(maxsize=1)
def _validator() -> Any:
    try:
        import kubernetes_validate
    except ImportError:  # it comes with the tests' packages
        return None
    return kubernetes_validate


def _manifest(node: yaml.Node, data: dict[str, Any]) -> Iterator[Fault]:
    validator = _validator()
    if validator is None:
        return
    try:
        validator.validate(data, validator.latest_version(), strict=True)
    except validator.SchemaNotFoundError:  # a kind of somebody's own
        return
    except validator.ValidationError as error:
        path = list(error.path or ())
        words = str(error.message).split("\n")[0]
        words = words if len(words) < 160 else f"…{words[-150:]}"
        yield (
            _row(node, path, words),
            "fence-kubernetes",
            f"{'.'.join(map(str, path)) or data['kind']}: {words}",
            "",
        )


def _row(node: yaml.Node, path: Sequence[str | int], words: str) -> int:
    """The line of what a path leads to; of the key that is too much, where the message names one."""
    row = node.start_mark.line
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = next(((k, v) for k, v in node.value if k.value == step), None)
            if found is None:
                break
            row, node = found[0].start_mark.line, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            row = node.start_mark.line
    if "unexpected" in words:
        row = next((k.start_mark.line for name, k in _keys(node).items() if f"'{name}'" in words), row)
    return row

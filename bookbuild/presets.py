"""Values of other data files that a calculator's input may take: the peak of an accelerator, the layers of a model.

preset_from: accelerators/dense_peak.bf16_tflops
preset_from:                                          # the first that a record has counts, the others are shown beside it
  - {key: accelerators/memory.capacity_reported_mib, words: as the driver reports it}
  - {key: accelerators/memory.capacity_gb, words: as the vendor prints it}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookbuild.data import (
    DataError,
    data_file,
    is_number,
    keys_of,
    lookup,
    nearest,
    number_text,
    read_data,
    records,
    unit_of,
)
from bookbuild.expression_units import unit_scale


@dataclass(frozen=True)
class Preset:
    id: str
    name: str
    base: float  # in base units
    words: tuple[
        str, ...
    ]  # '81 559 MiB as the driver reports it', '80 GB as the vendor prints it'; () for one plain key


def presets(data_dir: Path, wanted: Any) -> dict[str, Preset]:
    """The records that have a value under the wanted keys; DataError for a file or key that is not there."""
    keys = [_key(entry) for entry in (wanted if isinstance(wanted, list) else [wanted])]
    files = {file for file, _, _ in keys}
    if len(files) != 1:
        raise DataError("preset_from names one data file")
    found: dict[str, Preset] = {}
    [file] = files
    for record in records(read_data(data_file(data_dir, file))):
        values = [(v, key, words) for _, key, words in keys if is_number(v := lookup(record, key))]
        if values:
            value, key, _ = values[0]
            beside = tuple(f"{number_text(v)} {unit_of(k)} {words}" for v, k, words in values if words)
            name = str(record.get("name") or record.get("id"))
            found[str(record.get("id"))] = Preset(
                str(record.get("id")), name, value * unit_scale(unit_of(key)), beside
            )
    if not found:
        key = keys[0][1]
        near = nearest(key, keys_of(records(read_data(data_file(data_dir, file)))))
        hint = f"did you mean {near}?" if near else ""
        raise DataError(f"no record of {file} has a number under '{key}'", hint=hint)
    return found


def _key(entry: Any) -> tuple[str, str, str]:
    """(file, dotted key, words) of one entry."""
    path, words = (
        (entry.get("key"), str(entry.get("words") or "")) if isinstance(entry, Mapping) else (entry, "")
    )
    file, _, key = str(path or "").partition("/")
    if not file or not key:
        raise DataError("preset_from is file/key", hint="accelerators/dense_peak.bf16_tflops")
    return file, key, words

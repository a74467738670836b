"""One value of book/data by its address, with all that a reader may ask about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bookbuild.data import (
    MISSING,
    DataError,
    Record,
    Source,
    data_file,
    is_number,
    keys_of,
    lookup,
    nearest,
    number_text,
    origins,
    read_data,
    records,
    rule_of,
    sources,
    unit_of,
)


@dataclass(frozen=True)
class Fact:
    """One value with all that a reader may ask about it."""

    value: Any
    unit: str
    sources: tuple[Source, ...]
    file: Path
    line: int  # of the record
    words: str = ""  # how it was computed, where it was

    @property
    def text(self) -> str:
        words = number_text(self.value) if is_number(self.value) else str(self.value)
        return f"{words} {self.unit}".strip()


def find(data_dir: Path, name: str, record_id: str, key: str, rows: str = "records") -> Fact:
    """A value by file, record id and dotted key; DataError says which of the three is not there."""
    path = data_file(data_dir, name)
    known = {str(r.get("id")): r for r in records(read_data(path), rows)}
    record = known.get(record_id)
    if record is None:
        near = nearest(record_id, set(known))
        raise DataError(f"no record '{record_id}' in {path.name}", hint=near and f"did you mean {near}?")
    value = lookup(record, key)
    if value is MISSING:
        near = nearest(key, keys_of([record]))
        raise DataError(f"record '{record_id}' has no '{key}'", hint=near and f"did you mean {near}?")
    content = read_data(path)
    found = tuple(sources(record, origins(content, key)))
    return Fact(value, unit_of(key), found, path, record.line, str(rule_of(content, key).get("words") or ""))


@dataclass(frozen=True, eq=False)
class _Same:
    """A file's content as a key: one reading of the file is itself and no other."""

    content: Record

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.content is other.content

    def __hash__(self) -> int:
        return id(self.content)


@lru_cache(maxsize=64)
def _ids(of: _Same) -> dict[str, list[str]]:
    """Record ids of a data file with the lists that hold them."""
    found: dict[str, list[str]] = {}
    for name, rows in of.content.items():
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, Record) and "id" in row:
                found.setdefault(str(row["id"]), []).append(name)
    return found


def find_anywhere(data_dir: Path, reference: str) -> Fact:
    """A value by 'record/key' or 'file/record/key', where a record's id alone says which file is meant."""
    *before, record_id, key = reference.split("/") if reference.count("/") in (1, 2) else ("", "", "")
    if not record_id or not key or before == [""]:
        raise DataError(f"'{reference}' names no value", hint="record-id/key or file/record-id/key")
    files = [data_file(data_dir, before[0])] if before else sorted(data_dir.glob("*.yml"))
    ids = {path.stem: _ids(_Same(read_data(path))) for path in files}
    found = [(file, rows) for file, places in ids.items() for rows in places.get(record_id, ())]
    if not found:
        near = nearest(record_id, {name for places in ids.values() for name in places})
        raise DataError(f"no record '{record_id}'", hint=near and f"did you mean {near}?")
    if len(found) > 1:
        names = " or ".join(f"{file}/{record_id}" for file, _ in found)
        raise DataError(f"record '{record_id}' stands in more than one list", hint=f"write {names}")
    [(file, rows)] = found
    return find(data_dir, file, record_id, key, rows)

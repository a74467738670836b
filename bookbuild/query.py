"""The rows that a data file answers to a table's specification (tablespec.py). No Markdown in here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookbuild.data import (
    MISSING,
    DataError,
    Record,
    Source,
    covers,
    data_file,
    is_number,
    keys_of,
    lookup,
    nearest,
    number_text,
    origins,
    read_data,
    records,
    sources,
)
from bookbuild.tablespec import Column, Spec, SpecError, parse_spec, stored_word

__all__ = ["Cell", "Column", "Row", "Spec", "SpecError", "cell_text", "load_rows", "parse_spec", "rows"]


@dataclass(frozen=True)
class Cell:
    text: str
    value: Any  # as stored; MISSING or None where unknown
    column: Column
    link: str = ""
    notes: tuple[str, ...] = ()  # what is open about this one figure

    @property
    def is_number(self) -> bool:
        return is_number(self.value)

    @property
    def unknown(self) -> bool:
        return self.value is MISSING or self.value is None

    @property
    def sort_key(self) -> str:
        """The plain number, in the column's unit; "" for an unknown one; a text as it is."""
        if self.unknown:
            return ""
        return repr(float(self.value)).removesuffix(".0") if self.is_number else self.text


@dataclass(frozen=True)
class Row:
    id: str
    cells: tuple[Cell, ...]
    sources: tuple[Source, ...]
    notes: tuple[str, ...]


def load_rows(spec: Spec, data_dir: Path) -> list[Row]:
    """The rows that a specification asks for from the files below `data_dir`."""
    try:
        content = read_data(data_file(data_dir, spec.data))
    except DataError as error:
        if error.file is None:  # not there; an unreadable one is named with its own line
            raise SpecError(error.text, near=f"data: {spec.data}", hint=error.hint) from error
        raise
    return rows(spec, content)


def rows(spec: Spec, content: Mapping[str, Any]) -> list[Row]:
    """The rows that a specification asks for, from the content of a data file. Pure."""
    return [_row(record, spec, content) for record in chosen(spec, content)]


def chosen(spec: Spec, content: Mapping[str, Any]) -> list[Record]:
    """The records behind those rows, in their order."""
    try:
        found = records(content, spec.rows)
    except DataError as error:
        raise SpecError(error.text, near=f"rows: {spec.rows}", hint=error.hint) from error
    known = keys_of(found)
    asked = [c.key for c in spec.columns] + [c.link for c in spec.columns if c.link]
    for key in [*asked, *spec.where, *(k.removeprefix("-") for k in spec.sort), *spec.notes]:
        if key not in known:
            near = nearest(key, known)
            raise SpecError(
                f"no record of {spec.data} has a '{key}'",
                near=key,
                hint=f"did you mean {near}?" if near else "",
            )
    wanted = _ordered(_only(found, spec), spec.sort)[: spec.limit]
    if not wanted:
        raise SpecError(f"no record of {spec.data} is asked for", near="where:" if spec.where else spec.label)
    return wanted


def _only(found: Sequence[Record], spec: Spec) -> list[Record]:
    by_id = {str(record.get("id")): record for record in found}
    for name in spec.only:
        if name not in by_id:
            near = nearest(name, set(by_id))
            hint = f"did you mean {near}?" if near else ""
            raise SpecError(f"no record '{name}' in {spec.data}", near=name, hint=hint)
    candidates = [by_id[name] for name in spec.only] if spec.only else found
    return [r for r in candidates if all(_fits(lookup(r, key), wanted) for key, wanted in spec.where.items())]


def _fits(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if "exists" in wanted and wanted["exists"] is not (value is not MISSING and value is not None):
            return False
        if "not" in wanted and _fits(value, wanted["not"]):
            return False
        if "min" in wanted or "max" in wanted:
            low, high = wanted.get("min", float("-inf")), wanted.get("max", float("inf"))
            return is_number(value) and low <= value <= high
        return True
    if isinstance(wanted, list):
        return any(_fits(value, one) for one in wanted)
    return (
        wanted in value
        if isinstance(value, list)
        else type(value is True) is type(wanted is True) and value == wanted
    )


def _ordered(found: list[Record], sort: Sequence[str]) -> list[Record]:
    """Sorted by the keys, the first one weighs most; unknown values come last, whatever the direction."""
    for key in reversed(sort):
        name, down = key.removeprefix("-"), key.startswith("-")
        known = [r for r in found if lookup(r, name) not in (MISSING, None)]
        unknown = [r for r in found if lookup(r, name) in (MISSING, None)]
        known.sort(key=lambda r, name=name: _rank(lookup(r, name)), reverse=down)
        found = known + unknown
    return found


def _rank(value: Any) -> tuple[int, float, str]:
    return (0, float(value), "") if is_number(value) else (1, 0.0, str(value).casefold())


def _row(record: Record, spec: Spec, content: Mapping[str, Any]) -> Row:
    cells = tuple(_cell(record, column, spec) for column in spec.columns)
    used = sources(record, [key for column in spec.columns for key in origins(content, column.key)])
    notes = [text for key in spec.notes for text in _texts(lookup(record, key), None)]
    return Row(str(record.get("id") or ""), cells, tuple(used), tuple(notes))


def _texts(value: Any, column: str | None) -> list[str]:
    """Notes on a record; those whose `fields` name figures belong to these columns, the others (None) to the row."""
    if not value:
        return []
    texts = []
    for note in value if isinstance(value, list) else [value]:
        fields = note.get("fields") if isinstance(note, Mapping) else None
        if (column is None and not fields) or (fields and column and any(covers(f, column) for f in fields)):
            texts.append(str(note["text"]) if isinstance(note, Mapping) and "text" in note else str(note))
    return texts


def _cell(record: Record, column: Column, spec: Spec) -> Cell:
    value = lookup(record, column.key)
    link = lookup(record, column.link) if column.link else ""
    if value is MISSING or value is None:
        text = spec.missing if value is MISSING else spec.unsupported
    else:
        text = cell_text(value, column)
    remarks = (
        [] if value is MISSING else [n for key in spec.notes for n in _texts(lookup(record, key), column.key)]
    )
    return Cell(text, value, column, str(link or ""), tuple(remarks))


def cell_text(value: Any, column: Column) -> str:
    """A known value as a reader sees it, without its unit."""
    if (word := stored_word(value)) in column.values:
        return column.values[word]
    if is_number(value):
        return number_text(value, column.digits)
    if isinstance(value, list):
        return ", ".join(cell_text(v, column) for v in value)
    if isinstance(value, Mapping):
        raise SpecError(
            f"'{column.key}' is a group of values",
            near=column.key,
            hint=f"{column.key}.{next(iter(value), '')}",
        )
    return {"true": "yes", "false": "no"}.get(word, str(value)) if isinstance(value, bool) else str(value)

"""Tables of facts: what a `table` fence asks for, and the rows that a data file answers. No Markdown in here.

    label: tab-peak              unique in the book, starts with tab-
    caption: Dense peak by number format
    data: accelerators           book/data/accelerators.yml
    rows: records                the list in it; records is the default
    only: [id, id]               these records in this order
    where: {status: available}   equality, a list of accepted values, {not: x}, {exists: true}, {min: x, max: y}
    sort: [vendor, -dense_peak.bf16_tflops]
    limit: 10
    columns:
      - name: Part               short form, dotted key: head
      - {key: memory.bandwidth_tb_per_s, head: Bandwidth, digits: 2, unit: TB/s}
    missing: n/p                 what an absent key shows; an explicit null shows `unsupported` (—)
    notes: [doubt]               texts of the records as lettered notes; one with `fields` marks those columns only
    note: One line under the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    parse_yaml,
    read_data,
    records,
    sources,
    unit_of,
)

_KEYS = frozenset(
    {"label", "caption", "data", "rows", "only", "where", "sort", "limit", "columns", "missing", "unsupported"}
    | {"legend", "notes", "note"}
)
_COLUMN_KEYS = frozenset({"key", "head", "unit", "digits", "code", "markdown", "link", "values"})
_TESTS = frozenset({"not", "exists", "min", "max"})


class SpecError(DataError):
    """A table fence is wrong; `near` is the text within it that is meant."""

    def __init__(self, text: str, *, near: str = "", hint: str = "", line: int = 0) -> None:
        super().__init__(text, hint=hint, line=line)
        self.near = near


@dataclass(frozen=True)
class Column:
    key: str  # dotted
    head: str
    unit: str = ""
    digits: int | None = None
    code: bool = False  # texts are literal: names of flags and variables
    markdown: bool = False  # texts are Markdown
    link: str = ""  # key of an address that the cell links to
    values: Mapping[str, str] = field(default_factory=dict)  # words for stored values: {true: yes}


@dataclass(frozen=True)
class Spec:
    label: str
    caption: str
    data: str
    columns: tuple[Column, ...]
    rows: str = "records"
    only: tuple[str, ...] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    sort: tuple[str, ...] = ()
    limit: int | None = None
    missing: str = "n/p"
    unsupported: str = "—"
    legend: str | None = None  # None: made from what the cells hold
    notes: tuple[str, ...] = ()
    note: str = ""


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


# ---- reading a fence ----


def parse_spec(text: str) -> Spec:
    """The specification in a fence's text; SpecError for what is no YAML, unknown or lacking."""
    try:
        raw = parse_yaml(text)
    except DataError as error:
        raise SpecError(error.text, line=error.line) from error
    if not isinstance(raw, Record):
        raise SpecError("the fence's content is not a mapping of settings", line=1)
    _refuse_unknown(raw, _KEYS, "setting")
    for name in ("label", "caption", "data", "columns"):
        if not raw.get(name):
            raise SpecError(f"'{name}' is not given")
    if not str(raw["label"]).startswith("tab-"):
        raise SpecError(f"label '{raw['label']}' does not start with tab-", near=str(raw["label"]))
    where = raw.get("where") or {}
    if not isinstance(where, Mapping):
        raise SpecError("'where' is not a mapping of keys to values", near="where:")
    for key, wanted in where.items():
        if isinstance(wanted, Mapping) and not set(wanted) <= _TESTS:
            raise SpecError(f"'{key}' asks for {', '.join(set(wanted) - _TESTS)}", near=key, hint="not, exists, min, max")
    return Spec(
        label=str(raw["label"]),
        caption=str(raw["caption"]).strip(),
        data=str(raw["data"]),
        columns=tuple(_column(entry) for entry in _list(raw, "columns")),
        rows=str(raw.get("rows", "records")),
        only=tuple(map(str, _list(raw, "only"))),
        where=where,
        sort=tuple(map(str, _list(raw, "sort"))),
        limit=raw.get("limit"),
        missing=str(raw.get("missing", "n/p")),
        unsupported=str(raw.get("unsupported", "—")),
        legend=None if raw.get("legend") is None else str(raw["legend"] or ""),
        notes=tuple(map(str, _list(raw, "notes"))),
        note=str(raw.get("note") or "").strip(),
    )


def _list(raw: Mapping[str, Any], name: str) -> list[Any]:
    value = raw.get(name)
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _refuse_unknown(raw: Mapping[str, Any], known: frozenset[str], what: str) -> None:
    for key in raw:
        if key not in known:
            near = nearest(key, known)
            hint = f"did you mean {near}?" if near else f"known: {', '.join(sorted(known))}"
            raise SpecError(f"unknown {what} '{key}'", near=str(key), hint=hint)


def _column(entry: Any) -> Column:
    if isinstance(entry, str):
        raise SpecError(f"column '{entry}' has no head", near=entry, hint=f"{entry}: Head")
    if not isinstance(entry, Mapping):
        raise SpecError(f"column {entry!r} is not a mapping")
    if "key" not in entry:
        if len(entry) != 1:
            raise SpecError(f"column {dict(entry)} names no 'key'", near=str(next(iter(entry), "")))
        [(key, head)] = entry.items()
        return Column(str(key), str(head), unit_of(str(key)))
    _refuse_unknown(entry, _COLUMN_KEYS, "column setting")
    key = str(entry["key"])
    digits = entry.get("digits")
    if digits is not None and (not isinstance(digits, int) or not 0 <= digits <= 12):
        raise SpecError(f"digits of '{key}' is {digits}, not a number from 0 to 12", near=key)
    values = {_word(k): str(v) for k, v in (entry.get("values") or {}).items()}
    return Column(
        key,
        str(entry.get("head", key)),
        str(entry["unit"] or "") if "unit" in entry else unit_of(key),
        digits,
        bool(entry.get("code")),
        bool(entry.get("markdown")),
        str(entry.get("link") or ""),
        values,
    )


# ---- asking the data ----


def load_rows(spec: Spec, data_dir: Path) -> list[Row]:
    """The rows that a specification asks for from the files below `data_dir`."""
    try:
        content = read_data(data_file(data_dir, spec.data))
    except DataError as error:
        if error.file is None:  # not there; an unreadable one is named with its own line
            raise SpecError(error.text, near=spec.data, hint=error.hint) from error
        raise
    return rows(spec, content)


def rows(spec: Spec, content: Mapping[str, Any]) -> list[Row]:
    """The rows that a specification asks for, from the content of a data file. Pure."""
    try:
        found = records(content, spec.rows)
    except DataError as error:
        raise SpecError(error.text, near=spec.rows, hint=error.hint) from error
    known = keys_of(found)
    asked = [c.key for c in spec.columns] + [c.link for c in spec.columns if c.link]
    for key in [*asked, *spec.where, *(k.removeprefix("-") for k in spec.sort), *spec.notes]:
        if key not in known:
            near = nearest(key, known)
            raise SpecError(
                f"no record of {spec.data} has a '{key}'", near=key, hint=f"did you mean {near}?" if near else ""
            )
    chosen = _ordered(_only(found, spec), spec.sort)[: spec.limit]
    if not chosen:
        raise SpecError(f"no record of {spec.data} is asked for", near="where:" if spec.where else spec.label)
    return [_row(record, spec) for record in chosen]


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
    return wanted in value if isinstance(value, list) else type(value is True) is type(wanted is True) and value == wanted


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


def _row(record: Record, spec: Spec) -> Row:
    cells = tuple(_cell(record, column, spec) for column in spec.columns)
    used = sources(record, [c.key for c in spec.columns])
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
    remarks = [] if value is MISSING else [n for key in spec.notes for n in _texts(lookup(record, key), column.key)]
    return Cell(text, value, column, str(link or ""), tuple(remarks))


def cell_text(value: Any, column: Column) -> str:
    """A known value as a reader sees it, without its unit."""
    if (word := _word(value)) in column.values:
        return column.values[word]
    if is_number(value):
        return number_text(value, column.digits)
    if isinstance(value, list):
        return ", ".join(cell_text(v, column) for v in value)
    if isinstance(value, Mapping):
        raise SpecError(f"'{column.key}' is a group of values", near=column.key, hint=f"{column.key}.{next(iter(value), '')}")
    return {"true": "yes", "false": "no"}.get(word, str(value)) if isinstance(value, bool) else str(value)


def _word(value: Any) -> str:
    """A stored value as YAML writes it, for looking it up in `values`."""
    return str(value).lower() if isinstance(value, bool) else str(value)

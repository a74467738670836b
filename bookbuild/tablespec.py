"""What a `table` fence asks for: its settings, read and checked.

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
  - {key: flag, head: Flag, code: true}         literal text; markdown: true is Markdown
  - {key: repo, head: Code, link: url}          the address that the record has under another key
  - {key: open, head: Open, values: {true: yes, false: no}}
missing: n/p                 what an absent key shows
unsupported: —               what an explicit null shows
legend: false                no line that explains those two; or a text in its place
notes: [doubt]               texts of the records as lettered notes; one with `fields` marks those columns only
note: One line under the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bookbuild.data import DataError, Record, is_number, nearest, parse_yaml, unit_of

_WORD, _LIST, _FLAG = (str, int, float), (list, str), (bool,)
_KEYS = {
    "label": (str,), "caption": (str,), "data": (str,), "rows": (str,), "only": _LIST, "where": (Mapping,),
    "sort": _LIST, "limit": (int,), "columns": (list,), "missing": _WORD, "unsupported": _WORD,
    "legend": (str, bool), "notes": _LIST, "note": (str,),
}  # fmt: skip
_COLUMN_KEYS = {
    "key": (str,), "head": _WORD, "unit": (str,), "digits": (int,), "code": _FLAG, "markdown": _FLAG,
    "link": (str,), "values": (Mapping,),
}  # fmt: skip
_LABEL = re.compile(r"tab-[\w-]+")
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


def parse_spec(text: str) -> Spec:
    """The specification in a fence's text; SpecError for what is no YAML, unknown or lacking."""
    try:
        raw = parse_yaml(text)
    except DataError as error:
        raise SpecError(error.text, line=error.line) from error
    if not isinstance(raw, Record):
        raise SpecError("the fence's content is not a mapping of settings", line=1)
    _check_settings(raw, _KEYS, "setting")
    for name in ("label", "caption", "data", "columns"):
        if not raw.get(name):
            raise SpecError(f"'{name}' is not given")
    if not _LABEL.fullmatch(raw["label"]):
        raise SpecError(f"label '{raw['label']}' is not of the form tab-name", near=raw["label"])
    where = raw.get("where") or {}
    for key, wanted in where.items():
        _check_test(str(key), wanted)
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


def _check_settings(raw: Mapping[str, Any], known: Mapping[str, tuple[type, ...]], what: str) -> None:
    """Every setting is a known one and of a kind that it takes."""
    for key, value in raw.items():
        if key not in known:
            near = nearest(key, set(known))
            hint = f"did you mean {near}?" if near else f"known: {', '.join(known)}"
            raise SpecError(f"unknown {what} '{key}'", near=str(key), hint=hint)
        if value is not None and (
            not isinstance(value, known[key]) or (value is True and known[key] == (int,))
        ):
            names = {
                Mapping: "a mapping",
                list: "a list",
                int: "a number",
                bool: "true or false",
                str: "a text",
            }
            wanted = " or ".join(names[kind] for kind in known[key] if kind in names)
            raise SpecError(f"{what} '{key}' takes {wanted}", near=f"{key}:")


def _check_test(key: str, wanted: Any) -> None:
    """What `where` asks of a key."""
    if not isinstance(wanted, Mapping):
        return
    if unknown := set(wanted) - _TESTS:
        raise SpecError(
            f"'{key}' asks for {', '.join(map(str, unknown))}", near=key, hint="not, exists, min, max"
        )
    if "not" in wanted:
        _check_test(key, wanted["not"])
    for bound in ("min", "max"):
        if bound in wanted and not is_number(wanted[bound]):
            raise SpecError(f"'{bound}' of '{key}' is not a number", near=key)
    if not isinstance(wanted.get("exists", True), bool):
        raise SpecError(f"'exists' of '{key}' is neither true nor false", near=key)


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
    _check_settings(entry, _COLUMN_KEYS, "column setting")
    key = str(entry["key"])
    digits = entry.get("digits")
    if digits is not None and not 0 <= digits <= 12:
        raise SpecError(f"digits of '{key}' is {digits}, not a number from 0 to 12", near=key)
    values = {stored_word(k): str(v) for k, v in (entry.get("values") or {}).items()}
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


def stored_word(value: Any) -> str:
    """A stored value as YAML writes it, for looking it up in `values`."""
    return str(value).lower() if isinstance(value, bool) else str(value)

"""The `table` fence: facts of book/data as a table with caption, units, notes and numbered sources."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TypeVar
from xml.etree.ElementTree import Element, SubElement

from bookbuild.data import DataError, Source
from bookbuild.markdown.captions import caption_head
from bookbuild.markdown.context import Context
from bookbuild.markdown.fences import Fence, add, atomic
from bookbuild.query import Cell, Column, Row, Spec, SpecError, load_rows, parse_spec

Item = TypeVar("Item")
_MEANINGS = {"n/p": "not published", "—": "not supported"}  # of the usual marks in unknown cells


def make_table(fence: Fence) -> Element | None:
    """The figure around a data table; what is wrong is reported and leaves nothing."""
    try:
        spec = parse_spec(fence.text)
        found = load_rows(spec, fence.context.data_dir)
    except SpecError as error:
        fence.report("table-spec", error.text, near=error.near, line=error.line, hint=error.hint)
        return None
    except DataError as error:
        place = f"{error.file.name}:{error.line} " if error.file else ""
        fence.report("table-data", f"{place}{error.text}", near=f"data: {spec.data}", hint=error.hint)
        return None
    return figure(spec, found, fence.context)


def figure(spec: Spec, found: list[Row], context: Context | None = None) -> Element:
    root = Element("figure", {"class": "table"})
    caption = SubElement(root, "figcaption")
    caption.text = spec.caption
    caption_head(caption, spec.label, context)
    scroll = SubElement(root, "div", {"class": "table-scroll"})
    table = SubElement(scroll, "table", {"class": "data-table", "id": spec.label, "data-name": spec.data})
    numeric = [any(row.cells[i].is_number for row in found) for i in range(len(spec.columns))]
    _head(table, spec.columns, numeric)
    sources = _numbered(s for row in found for s in row.sources)
    notes = _numbered(n for row in found for n in chain(row.notes, *(cell.notes for cell in row.cells)))
    body = SubElement(table, "tbody")
    for row in found:
        _row(body, row, spec.label, numeric, sources, notes)
    if notes:
        _notes(root, spec.label, notes)
    if legend := _legend(spec, found):
        add(root, "p", legend, class_="legend")
    if spec.note:
        SubElement(root, "p", {"class": "note"}).text = spec.note
    if sources:
        _sources(root, spec.label, sources)
    return root


def _numbered(items: Iterable[Item]) -> dict[Item, int]:
    """Each item once, with its number from 1 on."""
    return {item: number for number, item in enumerate(dict.fromkeys(items), 1)}


def _head(table: Element, columns: tuple[Column, ...], numeric: list[bool]) -> None:
    row = SubElement(SubElement(table, "thead"), "tr")
    for column, is_num in zip(columns, numeric, strict=True):
        cell = SubElement(row, "th", {"scope": "col"} | ({"class": "num"} if is_num else {}))
        cell.set("data-key", column.key)
        cell.text = column.head
        if column.unit and is_num:
            add(cell, "span", ", ", class_="comma")
            add(cell, "span", column.unit, class_="unit")


def _row(
    body: Element,
    row: Row,
    label: str,
    numeric: list[bool],
    sources: dict[Source, int],
    notes: dict[str, int],
) -> None:
    line = SubElement(body, "tr", {"id": f"{label}-{row.id}"} if row.id else {})
    for position, cell in enumerate(row.cells):
        element = SubElement(line, "td") if position else SubElement(line, "th", {"scope": "row"})
        _fill(element, cell, numeric[position])
        _mark(element, _note_marks(label, cell.notes, notes))
    marks = _note_marks(label, row.notes, notes)
    marks += [(f"{label}-source-{n}", str(n)) for n in sorted({sources[s] for s in row.sources})]
    _mark(line[0], marks)


def _note_marks(label: str, wanted: Iterable[str], notes: dict[str, int]) -> list[tuple[str, str]]:
    return [(f"{label}-note-{n}", _letter(n)) for n in sorted({notes[note] for note in wanted})]


def _mark(cell: Element, marks: list[tuple[str, str]]) -> None:
    if marks:
        mark = SubElement(cell, "sup", {"class": "mark"})
        for place, (target, text) in enumerate(marks):
            link = add(mark, "a", text, href=f"#{target}")
            if place < len(marks) - 1:
                link.tail = " "


def _letter(number: int) -> str:
    """a … z, aa …: notes are told from sources, which carry figures."""
    text = ""
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text


def _fill(element: Element, cell: Cell, in_numbers: bool) -> None:
    if cell.unknown:
        element.set("class", "num unknown" if in_numbers else "unknown")  # it stands where the figures stand
    elif cell.is_number:
        element.set("class", "num")
    if cell.is_number or cell.unknown:
        element.set("data-sort", cell.sort_key)
    holder = add(element, "a", href=cell.link) if cell.link else element
    if cell.unknown or not (cell.column.code or cell.column.markdown):
        atomic(holder, cell.text)
    elif cell.column.markdown:
        holder.text = cell.text
    else:
        add(holder, "code", cell.text)


def _legend(spec: Spec, found: list[Row]) -> str:
    """What the marks in unknown cells mean, those that stand in the table."""
    if spec.legend is not None:
        return spec.legend
    shown = {cell.text for row in found for cell in row.cells if cell.unknown}
    known = [f"{mark}: {words}" for mark, words in _MEANINGS.items() if mark in shown]
    return f"{'; '.join(known)}." if known else ""


def _notes(root: Element, label: str, notes: Iterable[str]) -> None:
    items = SubElement(root, "ol", {"class": "notes", "type": "a"})
    for number, text in enumerate(notes, 1):
        add(items, "li", text, id=f"{label}-note-{number}")


def _sources(root: Element, label: str, sources: Iterable[Source]) -> None:
    """The numbered list under the table; a date that all share is said once."""
    dates = {source.checked for source in sources}
    shared = dates.pop() if len(dates) == 1 else ""
    add(root, "p", f"Sources, checked {shared}:" if shared else "Sources:", class_="source")
    items = SubElement(root, "ol", {"class": "sources"})
    for number, source in enumerate(sources, 1):
        item = SubElement(items, "li", {"id": f"{label}-source-{number}"})
        if source.url:
            link = add(item, "a", source.words, href=source.url)
            link.tail = "" if shared or not source.checked else f", checked {source.checked}"
        else:
            add(item, "span", source.words)
            item[0].tail = "" if shared or not source.checked else f", checked {source.checked}"

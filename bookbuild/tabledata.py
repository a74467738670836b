"""The data tables of a rendered chapter as rows to compute with: what a reader sees, as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.model import Chapter


@dataclass(frozen=True)
class Cell:
    text: str  # as shown
    number: int | float | None = None  # where the cell is one, in its column's unit
    unknown: bool = False  # not published, or not supported: `text` says which


@dataclass(frozen=True)
class TableData:
    """One table. Every row has one cell per column."""

    name: str  # the table's id, unique in the book
    caption: str
    columns: tuple[str, ...]  # heads with their unit
    ids: tuple[str, ...]  # of the rows; "" where a row has none
    rows: tuple[tuple[Cell, ...], ...]
    sources: tuple[tuple[str, ...], ...]  # addresses, row by row

    def csv(self) -> str:
        """Numbers plain, unknown cells as the table words them, sources in the last column."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*self.columns, "Sources"])
        for row, sources in zip(self.rows, self.sources, strict=True):
            writer.writerow([*(c.text if c.number is None else c.number for c in row), " ".join(sources)])
        return out.getvalue()

    def json(self) -> str:
        """The same with null for every unknown cell."""
        rows: list[dict[str, Any]] = []
        for name, row, sources in zip(self.ids, self.rows, self.sources, strict=True):
            values = [None if c.unknown else c.text if c.number is None else c.number for c in row]
            rows.append({"id": name, **dict(zip(self.columns, values, strict=True)), "sources": list(sources)})
        table = {"table": self.name, "caption": self.caption, "columns": list(self.columns), "rows": rows}
        return json.dumps(table, ensure_ascii=False, indent=1) + "\n"


def table_data(chapter: Chapter) -> Iterator[TableData]:
    """Every data table of a chapter, in the page's order."""
    by_id = {e.get("id"): e for e in chapter.tree.iter() if e.get("id")}
    captions = {
        table: trees.text_of(figure.find("figcaption"))
        for figure in chapter.tree.iter("figure")
        for table in figure.iter("table")
        if figure.find("figcaption") is not None
    }
    for table in chapter.tree.iter("table"):
        name = table.get("id")
        if name and "data-table" in trees.classes(table):
            rows = list(table.iterfind("tbody/tr"))
            yield TableData(
                name=name,
                caption=captions.get(table, ""),
                columns=_columns(table),
                ids=tuple((row.get("id") or "").removeprefix(f"{name}-") for row in rows),
                rows=tuple(tuple(_cell(cell) for cell in row) for row in rows),
                sources=tuple(_sources(row, by_id) for row in rows),
            )


def _columns(table: Element) -> tuple[str, ...]:
    heads = table.findall("thead/tr")
    columns = [trees.text_of(cell) for cell in heads[-1]] if heads else []
    return tuple(name if columns.index(name) == i else f"{name} ({i + 1})" for i, name in enumerate(columns))


def _cell(cell: Element) -> Cell:
    text = _text_without_marks(cell)
    if "unknown" in trees.classes(cell):
        return Cell(text, unknown=True)
    if "num" in trees.classes(cell) and (plain := cell.get("data-sort")):
        number = float(plain)
        return Cell(text, int(number) if number.is_integer() and "." not in plain else number)
    return Cell(text)


def _is_mark(element: Element) -> bool:
    return element.tag == "sup" or "mark" in trees.classes(element)


def _text_without_marks(cell: Element) -> str:
    words = [cell.text or ""]
    for child in cell:
        words += ["" if _is_mark(child) else "".join(child.itertext()), child.tail or ""]
    return " ".join("".join(words).split())


def _sources(row: Element, by_id: dict[str | None, Element]) -> tuple[str, ...]:
    """The addresses that the row's source marks lead to, in the list under the table."""
    found: list[str] = []
    for link in row.iter("a"):
        note = by_id.get((link.get("href") or "").removeprefix("#"))
        for source in note.iter("a") if note is not None else ():
            if (url := source.get("href") or "").startswith(("http://", "https://")) and url not in found:
                found.append(url)
    return tuple(found)

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
class Row:
    id: str  # of the record; "" where there is none
    cells: tuple[Cell, ...]
    notes: tuple[tuple[int, str], ...]  # (column, words); column 0 speaks of the whole row
    sources: tuple[str, ...]  # addresses


@dataclass(frozen=True)
class TableData:
    """One table. Every row has one cell per column."""

    name: str  # the table's id, unique in the book
    caption: str
    heads: tuple[str, ...]  # of the columns, with their unit
    keys: tuple[str, ...]  # of the columns in the data file; a head where the page gives none
    rows: tuple[Row, ...]

    def csv(self) -> str:
        """Numbers plain, unknown cells as the table words them, notes and sources in the last columns."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*self.heads, "Notes", "Sources"])
        for row in self.rows:
            cells = [c.text if c.number is None else c.number for c in row.cells]
            notes = "; ".join(f"{self.heads[column]}: {words}" if column else words for column, words in row.notes)
            writer.writerow([*cells, notes, " ".join(row.sources)])
        return out.getvalue()

    def json(self) -> str:
        """The same by the data file's keys, with null for every unknown cell."""
        rows: list[dict[str, Any]] = []
        for row in self.rows:
            values = [None if c.unknown else c.text if c.number is None else c.number for c in row.cells]
            facts = dict(zip(self.keys, values, strict=True))
            notes = [{"key": self.keys[column] if column else None, "text": words} for column, words in row.notes]
            rows.append({"id": row.id, "values": facts, "notes": notes, "sources": list(row.sources)})
        columns = [{"key": key, "head": head} for key, head in zip(self.keys, self.heads, strict=True)]
        table = {"table": self.name, "caption": self.caption, "columns": columns, "rows": rows}
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
            heads = list(next(iter(table.findall("thead/tr")[-1:]), ()))
            yield TableData(
                name=name,
                caption=captions.get(table, ""),
                heads=tuple(trees.text_of(head) for head in heads),
                keys=_distinct([head.get("data-key") or trees.text_of(head) for head in heads]),
                rows=tuple(_row(row, name, by_id) for row in table.iterfind("tbody/tr")),
            )


def _distinct(keys: list[str]) -> tuple[str, ...]:
    """A key that stands twice, as two columns may show one value in two ways, gets its column's number."""
    return tuple(key if keys.index(key) == i else f"{key} ({i + 1})" for i, key in enumerate(keys))


def _row(row: Element, table: str, by_id: dict[str | None, Element]) -> Row:
    notes: dict[tuple[int, str], None] = {}  # an ordered set
    sources: dict[str, None] = {}
    for column, cell in enumerate(row):
        for link in cell.iter("a"):
            item = by_id.get((link.get("href") or "").removeprefix("#"))
            if item is None or item.tag != "li":
                continue
            addresses = _addresses(item)
            sources |= dict.fromkeys(addresses)
            if not addresses:
                notes[column, trees.text_of(item)] = None
    name = (row.get("id") or "").removeprefix(f"{table}-")
    return Row(name, tuple(_cell(cell) for cell in row), tuple(notes), tuple(sources))


def _addresses(item: Element) -> list[str]:
    return [url for a in item.iter("a") if (url := a.get("href") or "").startswith(("http://", "https://"))]


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

"""How wide and high a table will be, from the typeface's own widths. All sizes are points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from xml.etree.ElementTree import Element

SIZE = 8.5  # type size of tables in print.css
LINE, ROW = 11.2, 5.5  # of a line of text in them; around the lines of a row
PADDING = 11.0  # of a column, both sides together
_WRAP_AT = 150.0  # a column of words need not be wider than this

Rows = list[list[Element]]


@dataclass(frozen=True)
class Widths:
    """Of one column, in points at SIZE: its longest word, its longest cell."""

    word: float
    cell: float

    @property
    def wanted(self) -> float:
        return max(self.word, min(self.cell, _WRAP_AT)) + PADDING

    @property
    def least(self) -> float:
        return self.word + PADDING


def column_widths(rows: Rows) -> list[Widths]:
    """Widths of the columns; a cell over several columns shares its own among them."""
    words: dict[int, float] = {}
    cells: dict[int, float] = {}
    for row in rows:
        column = 0
        for cell in row:
            span = max(1, int(cell.get("colspan") or 1))
            pieces = cell_lines(cell)
            longest = max((text_width(p) for p in pieces), default=0.0) / span
            word = max((text_width(w) for p in pieces for w in re.split(r"[ \-/]", p)), default=0.0) / span
            for index in range(column, column + span):
                words[index] = max(words.get(index, 0.0), word)
                cells[index] = max(cells.get(index, 0.0), longest)
            column += span
    return [Widths(words[i], cells[i]) for i in sorted(words)]


def table_height(rows: Rows, columns: list[Widths], measure: float) -> float:
    """About how high the table is when it may be `measure` wide."""
    scale = min(1.0, measure / max(1.0, sum(c.wanted for c in columns)))
    height = 0.0
    for row in rows:
        lines = 1
        for cell, column in zip(row, columns, strict=False):
            room = max(1.0, column.wanted * scale - PADDING)
            lines = max(lines, sum(max(1, ceil(text_width(p) / room)) for p in cell_lines(cell)))
        height += lines * LINE + ROW
    return height


def cell_lines(cell: Element) -> list[str]:
    """The words of a cell, cut where it has line breaks."""
    return [line.strip() for line in "".join(_pieces(cell)).split("\n")]


def _pieces(element: Element) -> Iterator[str]:
    yield " ".join((element.text or "").split("\n"))
    for child in element:
        if child.tag == "br":
            yield "\n"
        yield from _pieces(child)
        yield " ".join((child.tail or "").split("\n"))


@lru_cache(maxsize=20000)
def text_width(text: str) -> float:
    """Points of a line of text in the tables' type at SIZE."""
    advances, default = _advances()
    return sum(advances.get(ord(c), default) for c in text) * SIZE


@lru_cache(maxsize=1)
def _advances() -> tuple[dict[int, float], float]:
    """Advance widths in em of the tables' typeface, and one for letters it lacks."""
    from fontTools.ttLib import TTFont

    from bookbuild.printing.fonts import SANS

    with TTFont(SANS.upright, lazy=True) as font:
        scale, metrics = font["head"].unitsPerEm, font["hmtx"]
        return {code: metrics[name][0] / scale for code, name in font.getBestCmap().items()}, 0.6

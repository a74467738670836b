"""Tables for paper: how wide they are, where they stand, and numbers that line up at the point.

Sizes are points. A table is set at its natural width where that fits; else over the whole type area, then
narrower and smaller down to SMALLEST, then on a turned page. Only a table too wide even for that breaks words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.common import Place

SIZE, SMALLEST = 8.5, 7.2  # type sizes of tables
CONDENSED = 0.89  # width of IBM Plex Sans at 80 % beside 100 %
PROSE = 362.0  # width beside the margin column
FULL = 431.0  # of the type area
TURNED = 640.0  # of a turned page; letter's, the shorter one
PADDING = 11.0  # of a column, both sides together
_WRAP_AT = 150.0  # a column of words need not be wider than this
_LONG = 16  # rows; a shorter table is never cut between pages
_INDENT = "\u2003" * 8 + "\u2002\u200a"  # in the heads' type as wide as the margin column
_NUMBER = re.compile(r"^[−–+-]?\d[\d,\u202f\u00a0]*(?:\.(\d+))?$")


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


def tables(tree: Element, place: Place) -> None:
    """Give every table its place and size, its heads a scope and its number columns their alignment."""
    for parent, table in trees.with_parents(tree):
        if table.tag != "table" or "highlighttable" in trees.classes(table):
            continue
        _heads(table)
        rows = [[cell for cell in row if cell.tag in ("th", "td")] for row in table.iter("tr")]
        block = _block(tree, parent, table)
        marks = set(placement(column_widths(rows)))
        if block not in list(tree) and marks:  # in a list or a box: nowhere to go but smaller
            marks = marks - {"wide", "turned"} | {"small"}
        block.set("class", " ".join(sorted(trees.classes(block) | marks)))
        if len(rows) > _LONG:
            _let_go_on(table, block)
        align_numbers(rows)


def _heads(table: Element) -> None:
    """Heads say what they are heads of; a unit stands on a line of its own."""
    for head in table.iterfind("thead/tr/th"):
        head.set("scope", head.get("scope", "col"))
        for parent, child in trees.with_parents(head):
            if child.tag == "span" and "comma" in trees.classes(child):
                trees.replace(parent, child, Element("br"))
    for head in table.iterfind("tbody/tr/th"):
        head.set("scope", head.get("scope", "row"))


def _block(tree: Element, parent: Element, table: Element) -> Element:
    """The figure around a table, or a new <div class="table">; scrolling has no use on paper."""
    for figure in tree.iter("figure"):
        if table in figure.iter("table"):
            if parent is not figure:
                trees.replace(figure, parent, table)
            return figure
    block = Element("div", {"class": "table"})
    trees.replace(parent, table, block)
    block.append(table)
    return block


def _let_go_on(table: Element, block: Element) -> None:
    """A long table may be cut; the pages after the first one say what goes on (print.css has the rest)."""
    table.set("class", " ".join(sorted(trees.classes(table) | {"long"})))
    label = next((e for e in block.iter("span") if "label" in trees.classes(e)), None)
    if label is None:
        return
    indent = "" if {"wide", "turned"} & trees.classes(block) else _INDENT
    table.set("data-continued", f"{indent}{trees.text_of(label).rstrip('.')}, continued")
    block.insert(list(block).index(table) + 1, Element("div", {"class": "table-end"}))


def placement(columns: list[Widths]) -> tuple[str, ...]:
    """The classes that say where a table of these columns stands: none is its natural width beside the margin."""
    wanted, least = sum(c.wanted for c in columns), sum(c.least for c in columns)
    small = SMALLEST / SIZE * CONDENSED
    if wanted <= PROSE:
        return ()
    if wanted <= FULL or least <= 0.8 * FULL:
        return ("wide",)
    if wanted * small <= FULL or least * small <= 0.9 * FULL:
        return ("wide", "small")
    if wanted <= TURNED or least <= 0.8 * TURNED:
        return ("turned",)
    if least * small <= TURNED:
        return ("turned", "small")
    return ("turned", "small", "broken")


def column_widths(rows: list[list[Element]]) -> list[Widths]:
    """Widths of the columns; a cell over several columns shares its own among them."""
    words: dict[int, float] = {}
    cells: dict[int, float] = {}
    for row in rows:
        column = 0
        for cell in row:
            span = max(1, int(cell.get("colspan") or 1))
            pieces = [line for line in _lines(cell)]
            longest = max((text_width(p) for p in pieces), default=0.0) / span
            word = max((text_width(w) for p in pieces for w in re.split(r"[ \-/]", p)), default=0.0) / span
            for index in range(column, column + span):
                words[index] = max(words.get(index, 0.0), word)
                cells[index] = max(cells.get(index, 0.0), longest)
            column += span
    return [Widths(words[i], cells[i]) for i in sorted(words)]


def _lines(cell: Element) -> list[str]:
    text = "".join("\n" if e.tag == "br" else "" for e in cell.iter())
    return ["".join(cell.itertext()).strip()] if not text else "".join(_with_breaks(cell)).split("\n")


def _with_breaks(element: Element):
    yield element.text or ""
    for child in element:
        if child.tag == "br":
            yield "\n"
        yield from _with_breaks(child)
        yield child.tail or ""


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


def align_numbers(rows: list[list[Element]]) -> None:
    """In a column of numbers with decimals, fill the shorter ones up so that the points stand below each other."""
    columns: dict[int, list[tuple[Element, int]]] = {}
    heads: dict[int, list[Element]] = {}
    unknown: dict[int, list[Element]] = {}
    for row in rows:
        if any(cell.get("colspan") for cell in row):
            continue
        for index, cell in enumerate(row):
            if cell.tag == "th":
                heads.setdefault(index, []).append(cell)
            elif "unknown" in trees.classes(cell):
                unknown.setdefault(index, []).append(cell)
            elif match := _NUMBER.match(trees.text_of(cell)):
                columns.setdefault(index, []).append((cell, len(match[1]) if match[1] else -1))
    for index, cells in columns.items():
        most = max(digits for _, digits in cells)
        for cell, digits in cells:
            if digits < most:
                filler = Element("span", {"class": "filler"})
                filler.text = "." * (digits < 0) + "0" * (most - max(digits, 0))
                cell.append(filler)
        for cell in [*(cell for cell, _ in cells), *heads.get(index, []), *unknown.get(index, [])]:
            cell.set("class", " ".join(sorted(trees.classes(cell) | {"num"})))

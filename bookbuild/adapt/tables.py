"""Tables for paper: how wide they are, where they stand, and numbers that line up at the point.

Sizes are points. A table is set at its natural width where that fits; else over the whole type area, then
narrower and smaller down to SMALLEST, then on a turned page. Only a table too wide even for that breaks words.
"""

from __future__ import annotations

import re
from copy import deepcopy
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.common import Place
from bookbuild.adapt.measure import PADDING, SIZE, Rows, Widths, column_widths, table_height

SMALLEST = 7.2  # type size of tables that do not fit at SIZE
CONDENSED = 0.89  # width of IBM Plex Sans at 80 % beside 100 %
PROSE = 362.0  # width beside the margin column
FULL = 431.0  # of the type area
TURNED = 640.0  # of a turned page; letter's, the shorter one
_LONG = 250.0  # a table less high than this is never cut between pages
_INDENT = "\u2003" * 8 + "\u2002\u200a"  # in the heads' type as wide as the margin column
_NUMBER = re.compile(r"^[−–+-]?\d[\d,\u202f\u00a0]*(?:\.(\d+))?$")


def tables(tree: Element, place: Place) -> None:
    """Give every table its place and size, its heads a scope and its number columns their alignment."""
    for parent, table in trees.with_parents(tree):
        if table.tag != "table" or "highlighttable" in trees.classes(table):
            continue
        _heads(table)
        rows = [[cell for cell in row if cell.tag in ("th", "td")] for row in table.iter("tr")]
        block = _block(tree, parent, table)
        columns = column_widths(rows)
        marks = set(placement(columns))
        if block not in list(tree) and marks:  # in a list or a box: nowhere to go but smaller
            marks = marks - {"wide", "turned"} | {"small"}
        measure = _measure(marks)
        if _whole_heads(columns, measure):
            marks.add("whole-heads")
        block.set("class", " ".join(sorted(trees.classes(block) | marks)))
        if table_height(rows, columns, measure) > _LONG:
            _let_go_on(table, block)
        align_numbers(rows)


def _measure(marks: set[str]) -> float:
    """The width that a table with these marks may have, as if it were set at SIZE."""
    width = TURNED if "turned" in marks else FULL if "wide" in marks else PROSE
    return width / (SMALLEST / SIZE * CONDENSED) if "small" in marks else width


def _whole_heads(columns: list[Widths], measure: float) -> bool:
    """Whether the first column, what a row is about, can stand unbroken while the others may wrap."""
    first, others = columns[0], columns[1:]
    return first.cell + PADDING + sum(0.4 * c.wanted + 0.6 * c.least for c in others) <= measure


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


def _figure(cell: Element) -> str:
    """A cell's words without the marks of its notes."""
    bare = deepcopy(cell)
    for parent, child in trees.with_parents(bare):
        if child.tag == "sup":
            trees.replace(parent, child)
    return trees.text_of(bare)


def align_numbers(rows: Rows) -> None:
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
            elif match := _NUMBER.match(_figure(cell)):
                columns.setdefault(index, []).append((cell, len(match[1]) if match[1] else -1))
    for index, cells in columns.items():
        most = max(digits for _, digits in cells)
        for cell, digits in cells:
            if digits < most:
                filler = Element("span", {"class": "filler"})
                filler.text = "." * (digits < 0) + "0" * (most - max(digits, 0))
                before = next((i for i, child in enumerate(cell) if child.tag == "sup"), len(cell))
                cell.insert(before, filler)
        for cell in [*(cell for cell, _ in cells), *heads.get(index, []), *unknown.get(index, [])]:
            cell.set("class", " ".join(sorted(trees.classes(cell) | {"num"})))

"""Tables written by hand: every row has the cells of its head, and what looks like a table is one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it.token import Token

from bookbuild.check.sources import Source
from bookbuild.model import Book, Problem

CODES = {
    "table-ragged": "a row with more or fewer cells than the head; the surplus is lost, the gap is blank",
    "table-unread": "lines that look like a table and are read as text",
}
_RULE = re.compile(r"^[ >]*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$")
_ROW = re.compile(r"^[ >]*\|.+\|\s*$")
_PIPE = re.compile(r"(?<!\\)\|")
_ITEM = re.compile(r"^[ >\t]*(?:(?:[-*+]|\d{1,9}[.)]) +)*")


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    for source in sources:
        read: set[int] = set()
        for token in source.tokens:
            if token.type == "table_open" and token.map:
                read.update(range(token.map[0] + 1, token.map[1] + 1))
                yield from _ragged(source, token)
        yield from _unread(source, read)


def cells(line: str) -> int:
    """How many cells GitHub sees: a pipe in code splits too, unless a backslash stands before it."""
    row = line.strip(" >\t")
    inner = row.removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return len(_PIPE.split(inner))


def _ragged(source: Source, table: Token) -> Iterator[Problem]:
    start, end = table.map or (0, 0)
    head = source.lines[start]
    wanted = cells(_ITEM.sub("", head) if table.level else head)  # a table may begin beside an item's sign
    for number in range(start + 2, end):
        found = cells(source.lines[number])
        if found != wanted:
            hint = "write a pipe inside a cell as \\|" if found > wanted else ""
            if "|" not in source.lines[number]:
                hint = "a blank line ends a table"
            text = f"this row has {found} cell{'s' * (found > 1)}, the head has {wanted}"
            yield source.problem(number + 1, "table-ragged", text, hint)


def _unread(source: Source, read: set[int]) -> Iterator[Problem]:
    """Rows between pipes that made no table, outside of code; one problem for each run of them."""
    told_until = 0
    for number, line in enumerate(source.lines, 1):
        if number in read or number in source.verbatim or not (_RULE.match(line) or _ROW.match(line)):
            continue
        if number == told_until + 1:
            told_until = number
            continue
        end = number
        while end < len(source.lines) and (_RULE.match(source.lines[end]) or _ROW.match(source.lines[end])):
            end += 1
        rule = next((n for n in range(number, end + 1) if _RULE.match(source.lines[n - 1])), 0)
        if not rule and end == number:  # one line between pipes may be a sentence: |x| + |y|
            continue
        told_until = end
        yield source.problem(rule or number, "table-unread", "not read as a table", _why(source, rule))


def _why(source: Source, rule: int) -> str:
    head = source.lines[rule - 2] if rule > 1 else ""
    if not rule:
        return "its second line must be |---|---|"
    if "|" not in head:
        return "no head stands before it"
    return f"the head has {cells(head)} cells, this line {cells(source.lines[rule - 1])}"

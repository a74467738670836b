"""Tables written by hand: every row has the cells of its head, and what looks like a table is one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bookbuild.check.sources import Source
from bookbuild.model import Book, Problem

CODES = {
    "table-ragged": "a row with more or fewer cells than the head; the surplus is lost, the gap is blank",
    "table-unread": "lines that look like a table and are read as text",
}
_DELIMITER = re.compile(r"^[ >]*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$")
_PIPE = re.compile(r"(?<!\\)\|")


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    for source in sources:
        read = set()
        for token in source.tokens:
            if token.type == "table_open" and token.map:
                read.update(range(*token.map))
                yield from _ragged(source, *token.map)
        yield from _unread(source, read)


def cells(line: str) -> int:
    """How many cells GitHub sees: a pipe in code splits too, unless a backslash stands before it."""
    row = line.strip(" >\t")
    inner = row.removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return len(_PIPE.split(inner))


def _ragged(source: Source, start: int, end: int) -> Iterator[Problem]:
    wanted = cells(source.lines[start])
    for number in range(start + 2, end):
        found = cells(source.lines[number])
        if found != wanted:
            hint = "write a pipe inside a cell as \\|" if found > wanted else ""
            text = f"this row has {found} cells, the head has {wanted}"
            yield source.problem(number + 1, "table-ragged", text, hint)


def _unread(source: Source, read: set[int]) -> Iterator[Problem]:
    """A line of dashes and pipes that made no table, outside of code."""
    code = set()
    for token in source.tokens:
        if token.type in ("fence", "code_block", "html_block", "front_matter") and token.map:
            code.update(range(*token.map))
    for number, line in enumerate(source.lines):
        if number in read or number in code or not _DELIMITER.match(line):
            continue
        head = source.lines[number - 1] if number else ""
        hint = (
            f"the head has {cells(head)} cells, this line {cells(line)}"
            if "|" in head
            else "no head stands before it"
        )
        yield source.problem(number + 1, "table-unread", "not read as a table", hint)

"""A page's Markdown as GitHub reads it: tokens with lines, parsed once and shared by the checks.

What GitHub does not know is brought to its terms first (markdown/structure.py), line for line, so that every number
stays true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from markdown_it.token import Token

from bookbuild.markdown.structure import read_gfm
from bookbuild.model import Book, Chapter, Problem

_VERBATIM = frozenset({"fence", "code_block", "html_block", "front_matter"})


@dataclass(frozen=True)
class Source:
    """One page: its text, its lines, and its tokens in GitHub's reading."""

    chapter: Chapter
    file: str  # as problems name it
    text: str

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _read(self) -> tuple[list[Token], dict[str, Any]]:
        found: dict[str, Any] = {}
        return _with_lines(read_gfm(self.text, found)), found

    @property
    def tokens(self) -> list[Token]:
        return self._read[0]

    @property
    def footnotes(self) -> Mapping[str, int]:
        """Names of the notes that are defined, with the place of their first mark; -1 for none."""
        refs = self._read[1].get("footnotes", {}).get("refs", {})
        return {name.removeprefix(":"): place for name, place in refs.items()}

    @cached_property
    def verbatim(self) -> frozenset[int]:
        """Lines (1-based) of code, raw HTML and front matter."""
        found: set[int] = set()
        for token in self.tokens:
            if token.type in _VERBATIM and token.map:
                found.update(range(token.map[0] + 1, token.map[1] + 1))
        return frozenset(found)

    def problem(self, line: int, code: str, text: str, hint: str = "", severity: str = "error") -> Problem:
        return Problem(self.file, line, code, text, hint, severity)

    def inlines(self) -> Iterator[Token]:
        """Every run of inline Markdown: a paragraph, a heading, a table cell."""
        return (token for token in self.tokens if token.type == "inline")

    def finder(self, block: Token) -> Finder:
        return Finder(self.lines, *(block.map or (0, 1)))


class Finder:
    """Finds the lines of a block's parts one after the other, so that the same words twice give two lines."""

    def __init__(self, lines: list[str], start: int, end: int) -> None:
        self._lines, self._first, self._end, self._place = lines, start + 1, end, 0

    @cached_property
    def _text(self) -> str:
        return "\n".join(self._lines[self._first - 1 : self._end])

    def __call__(self, *forms: str) -> int:
        """1-based line of the next of the forms in which something may be written, else the block's first line."""
        for start in (self._place, 0):
            for form in forms:
                place = self._text.find(form, start) if form else -1
                if place >= 0:
                    self._place = place + len(form)
                    return self._first + self._text.count("\n", 0, place)
        return self._first


def read_sources(book: Book) -> list[Source]:
    return [
        Source(chapter, shown(book, chapter.source), chapter.source.read_text(encoding="utf-8-sig"))
        for chapter in book.chapters
    ]


def shown(book: Book, path: Path) -> str:
    """A path as readers of messages know it: below the book's root where it lies there."""
    return path.relative_to(book.root).as_posix() if path.is_relative_to(book.root) else str(path)


def _with_lines(tokens: list[Token]) -> list[Token]:
    """A table's cells get the lines of their row, which the parser leaves out."""
    around = None
    for token in tokens:
        if token.map:
            around = token.map
        elif token.type == "inline":
            token.map = around
    return tokens

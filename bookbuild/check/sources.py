"""A page's Markdown as GitHub reads it: tokens with lines, parsed once and shared by the checks.

What GitHub does not know is brought to its terms first (markdown/structure.py), line for line, so that every number
stays true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markdown_it.token import Token

from bookbuild.markdown.structure import gfm_parser, opened_boxes, without_maths
from bookbuild.model import Book, Chapter, Problem


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
    def tokens(self) -> list[Token]:
        return _with_lines(gfm_parser().parse("\n".join(without_maths(opened_boxes(self.lines)[0]))))

    def problem(self, line: int, code: str, text: str, hint: str = "", severity: str = "error") -> Problem:
        return Problem(self.file, line, code, text, hint, severity)

    def line_of(self, block: Token | tuple[int, int], snippet: str) -> int:
        """1-based line on which `snippet` stands within a block, else the block's first."""
        start, end = block if isinstance(block, tuple) else (block.map or [0, 1])
        for number in range(start, min(end, len(self.lines))):
            if snippet in self.lines[number]:
                return number + 1
        return start + 1

    def inlines(self) -> Iterator[Token]:
        """Every run of inline Markdown: a paragraph, a heading, a table cell."""
        return (token for token in self.tokens if token.type == "inline")


def read_sources(book: Book) -> list[Source]:
    return [
        Source(chapter, shown(book, chapter.source), chapter.source.read_text(encoding="utf-8"))
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

"""One code fence of a page, as the checks of fences see it."""

from __future__ import annotations

from dataclasses import dataclass

from bookbuild.check.sources import Source
from bookbuild.model import Problem

Fault = tuple[int, str, str, str]  # line within the fence from 0, code, text, hint


@dataclass(frozen=True)
class Fence:
    source: Source
    line: int  # of the opening mark, 1-based
    language: str  # lower case, "" for none
    words: tuple[str, ...]  # what stands behind the language: run, title="x"
    text: str

    def problem(self, row: int, code: str, text: str, hint: str = "", severity: str = "error") -> Problem:
        """A problem in a row of the text, counted from 0; -1 is the opening mark."""
        return self.source.problem(self.line + 1 + row, code, text, hint, severity)


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())

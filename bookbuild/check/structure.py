"""A page's outline: GitHub and the site read the same one, headings go down by single steps, fences close."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from bookbuild.check.sources import Source
from bookbuild.markdown.structure import differences
from bookbuild.model import Book, Problem

CODES = {
    "structure-differs": "GitHub and the site read the page differently (a lost list, table, heading or link)",
    "heading-first": "a page without a first-level heading, or with more than one",
    "heading-skipped": "a heading more than one level below the one before it",
    "fence-open": "a code fence that is never closed",
}


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    for source in sources:
        yield from _headings(source)
        yield from _open_fences(source)
        for line, text in differences(source.text, source.chapter.tree):
            yield source.problem(line, "structure-differs", text, "the readings part here or shortly before")


def _headings(source: Source) -> Iterator[Problem]:
    levels = [(int(t.tag[1]), (t.map or [0])[0] + 1) for t in source.tokens if t.type == "heading_open"]
    tops = [line for level, line in levels if level == 1]
    if not tops:
        yield source.problem(
            1, "heading-first", "the page has no first-level heading", "begin it with '# Title'"
        )
    for line in tops[1:]:
        yield source.problem(line, "heading-first", "a second first-level heading", "use '##'")
    for (before, _), (level, line) in pairwise(levels):
        if level > before + 1:
            yield source.problem(line, "heading-skipped", f"level {level} follows level {before}")


def _open_fences(source: Source) -> Iterator[Problem]:
    for token in source.tokens:
        if token.type != "fence" or not token.map:
            continue
        start, end = token.map
        last = source.lines[min(end, len(source.lines)) - 1].strip(" >\t")
        if end - start < 2 or not last.startswith(token.markup) or last.strip(token.markup[0]):
            yield source.problem(start + 1, "fence-open", "the fence that opens here is not closed")

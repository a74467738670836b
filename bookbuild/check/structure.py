"""A page's outline: GitHub and the site read the same one, headings go down by single steps, fences close."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from markdown import Markdown

from bookbuild.check.sources import Source
from bookbuild.markdown.structure import SNIPPET, differences
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
        open_fences = list(_open_fences(source))
        yield from open_fences
        if not open_fences:  # behind one the two readings have nothing in common
            yield from _differences(book, source)


def _headings(source: Source) -> Iterator[Problem]:
    levels = [(int(t.tag[1]), (t.map or [0])[0] + 1) for t in source.tokens if t.type == "heading_open"]
    tops = [line for level, line in levels if level == 1]
    if not tops:
        hint = "begin it with '# Title'"
        yield source.problem(1, "heading-first", "the page has no first-level heading", hint)
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


def _differences(book: Book, source: Source) -> Iterator[Problem]:
    text, numbers = _with_snippets(book, source)
    tokens = source.tokens if text is source.text else None
    for line, words in differences(text, source.chapter.tree, tokens):
        line = numbers[min(line, len(numbers)) - 1]
        yield source.problem(line, "structure-differs", words, "the readings part here or shortly before")


def _with_snippets(book: Book, source: Source) -> tuple[str, list[int]]:
    """The text with what its snippets bring in, and the line of the page that each line of it comes from."""
    numbers = list(range(1, len(source.lines) + 1))
    wanted = [n for n in numbers if n not in source.verbatim and SNIPPET.match(source.lines[n - 1])]
    if not wanted:
        return source.text, numbers
    bases = [str(book.root), str(book.docs_dir)]
    settings = {"pymdownx.snippets": {"base_path": bases}}
    snippets = Markdown(extensions=["pymdownx.snippets"], extension_configs=settings).preprocessors["snippet"]
    lines, origins = [], []
    for number, line in zip(numbers, source.lines, strict=True):
        brought = snippets.run([line]) if number in wanted else [line]
        lines += brought
        origins += [number] * len(brought)
    return "\n".join(lines), origins

"""The settings at the head of a page: read as YAML, known keys only, none by accident."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from bookbuild.check.sources import Source
from bookbuild.data import DataError, Record, parse_yaml
from bookbuild.model import Book, Problem

CODES = {
    "frontmatter-key": "a key in a page's front matter that nothing reads",
    "frontmatter-yaml": "front matter that cannot be read; its lines appear as text",
    "frontmatter-stray": "first lines of a page that are swallowed as settings because they look like some",
}
KEYS = ("checked", "description", "hide", "search", "status", "tags", "title")
_BLOCK = re.compile(r"-{3}[ \t]*\n(.*?\n)?(?:\.{3}|-{3})[ \t]*(?:\n|\Z)", re.DOTALL)


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    for source in sources:
        if source.text.startswith("---"):
            yield from _read(source)
        elif source.chapter.meta:
            line = next((n for n, words in enumerate(source.lines, 1) if words.strip()), 1)
            yield source.problem(
                line, "frontmatter-stray", "'word: …' at the head of a page is taken as a setting",
                "begin the page with its '# Title'",
            )  # fmt: skip


def _read(source: Source) -> Iterator[Problem]:
    block = _BLOCK.match(source.text)
    if not block:
        yield source.problem(1, "frontmatter-yaml", "the front matter is not closed", "end it with '---'")
        return
    try:
        settings = parse_yaml(block[1] or "")
    except DataError as error:
        yield source.problem(
            1 + (error.line or 1), "frontmatter-yaml", error.text, "quote a value that holds ': '"
        )
        return
    if settings is not None and not isinstance(settings, Record):
        yield source.problem(
            2, "frontmatter-yaml", "the front matter is not a mapping of settings", "key: value"
        )
        return
    for key in settings or ():
        if key in KEYS:
            continue
        near = get_close_matches(str(key), KEYS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(KEYS)}"
        line = 1 + settings.key_lines.get(str(key), 1)
        yield source.problem(line, "frontmatter-key", f"unknown key '{key}'", hint)

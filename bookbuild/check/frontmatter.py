"""The settings at the head of a page: known keys only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from bookbuild.check.sources import Source
from bookbuild.model import Book, Problem

CODES = {"frontmatter-key": "a key in a page's front matter that nothing reads"}
KEYS = ("checked", "description", "hide", "search", "status", "tags", "title")


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    for source in sources:
        for key in source.chapter.meta:
            if key in KEYS:
                continue
            pattern = re.compile(rf"^\s*['\"]?{re.escape(str(key))}['\"]?\s*:")
            line = next((n for n, words in enumerate(source.lines, 1) if pattern.match(words)), 1)
            near = get_close_matches(str(key), KEYS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(KEYS)}"
            yield source.problem(line, "frontmatter-key", f"unknown key '{key}'", hint)

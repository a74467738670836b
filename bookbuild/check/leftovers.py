"""Notes to oneself that must not reach a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bookbuild.check.sources import Source
from bookbuild.model import Book, Problem

CODES = {"leftover": "a note to oneself (TODO, FIXME, …) or filler in the text; code may hold them"}
_LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|TBD|TBC)\b|\blorem ipsum\b", re.IGNORECASE)
_CAPITALS = frozenset({"TODO", "FIXME", "XXX", "TBD", "TBC"})


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    for source in sources:
        for token in source.tokens:
            if token.type == "inline":
                texts = [c.content for c in token.children or () if c.type in ("text", "html_inline")]
            elif token.type == "html_block":
                texts = [token.content]
            else:
                continue
            for text in texts:
                for found in _LEFTOVER.finditer(text):
                    if found[1] and found[1] not in _CAPITALS:  # "todo" may be a word of the text
                        continue
                    line = source.line_of(token, found[0])
                    yield source.problem(line, "leftover", f"'{found[0]}' is left in the text")

"""Notes to oneself that must not reach a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it.token import Token

from bookbuild.check.sources import Source, shown
from bookbuild.markdown.structure import OURS
from bookbuild.model import Book, Problem

CODES = {"leftover": "a note to oneself (TODO, FIXME, …) or filler in the text; code may hold them"}
_LEFTOVER = re.compile(r"\b(?:TODO|FIXME|XXX|TBD|TBC)\b|\b(?i:lorem ipsum)\b")  # "todo" may be a word
_COMMENT = re.compile(r"(?:^|\s)#.*")


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    for source in sources:
        for token in source.tokens:
            hits = [found for text in _texts(token) for found in _LEFTOVER.finditer(text)]
            if hits:
                find = source.finder(token)
                for found in hits:
                    yield source.problem(find(found[0]), "leftover", f"'{found[0]}' is left in the text")
    for path in sorted((book.docs_dir / "data").glob("*.y*ml")):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if found := _LEFTOVER.search(_COMMENT.sub("", line)):
                yield Problem(shown(book, path), number, "leftover", f"'{found[0]}' is left in the data")


def _texts(token: Token) -> Iterator[str]:
    """What readers of a block may see: words, alt texts, captions, fences that become a table or a picture."""
    if token.type == "inline":
        for child in token.children or ():
            if child.type in ("text", "html_inline", "image"):
                yield child.content
                yield str(child.attrs.get("title", ""))
    elif (
        token.type in ("html_block", "front_matter")
        or token.type == "fence"
        and (token.info.split() or [""])[0] in OURS
    ):
        yield token.content

"""One fault, one line: what MkDocs, our Markdown extensions and the checks say of the same place is told once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from urllib.parse import unquote

from bookbuild.check import links
from bookbuild.check.sources import Source
from bookbuild.model import Book, Problem

_QUOTED = re.compile(r"'([^']*)'")


def merged(book: Book, sources: list[Source], found: set[Problem]) -> Iterator[Problem]:
    """Every problem of the book and of the checks but those that another one says better."""
    written = {source.file: _Lines(source) for source in sources}
    rendering = set(book.problems)
    unread = {p.file for p in found if p.code == "frontmatter-yaml"}
    for problem in rendering:
        if not (problem.code == "mkdocs-link" and _is_told(problem, written.get(problem.file), found)):
            yield problem
    for problem in found:
        if problem.code == "link-anchor" and _is_reference(problem, rendering):
            continue
        if problem.code == "structure-differs" and problem.file in unread:  # its settings stand there as text
            continue
        yield problem


class _Lines:
    """On which lines of a page an address stands."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def of(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for line, href, _ in links.hrefs(self._source):
            found.setdefault(unquote(href), set()).add(line)
        return found


def _is_told(theirs: Problem, written: _Lines | None, found: set[Problem]) -> bool:
    """Whether a check names, with its line, the link or note that MkDocs means."""
    ours = {
        p.line for p in found if p.file == theirs.file and p.code.startswith(("link-", "image-", "footnote-"))
    }
    quoted = _QUOTED.search(theirs.text)
    if not ours or written is None or not quoted:
        return False
    target = unquote(quoted[1])
    if target.startswith("#fnref:"):
        return any(p.code == "footnote-unused" and f"[^{target[7:]}]" in p.text for p in found)
    return bool(ours & (written.of.get(target, set()) | {theirs.line}))


def _is_reference(ours: Problem, rendering: set[Problem]) -> bool:
    """Whether the anchor is that of a figure or table which a reference asks for in vain."""
    anchor = _QUOTED.search(ours.text)
    return bool(anchor) and any(
        (p.file, p.line, p.code) == (ours.file, ours.line, "reference-unknown")
        and f"'{anchor[1][1:]}'" in p.text
        for p in rendering
    )

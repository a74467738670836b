"""What a page refers to by name: link definitions and footnotes; and addresses that only GitHub makes links of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it.token import Token

from bookbuild.check.sources import Source
from bookbuild.model import Book, Problem

CODES = {
    "link-reference": "a reference link whose definition is missing",
    "link-bare": "an address in the text that GitHub makes a link of and the site does not",
    "footnote-missing": "a mark of a footnote that the page does not have",
    "footnote-unused": "a footnote that no mark leads to",
    "footnote-twice": "two footnotes of a page with the same name; only one is shown",
}
_REFERENCE = re.compile(r"(?<![\w\]])\[[^\[\]]+\]\[([^\[\]]*)\]")
_MARK = re.compile(r"\[\^([^\]\s]+)\](?!:)")
_DEFINITION = re.compile(r"^[ >]*\[\^([^\]\s]+)\]:")
_ADDRESS = re.compile(r"(?:(?<=^)|(?<=[\s*_~(]))(?:https?://|www\.)[^\s<]+\.[^\s<]+")


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    for source in sources:
        for token in source.inlines():
            text = _words(token)
            find = source.finder(token)
            for found in _REFERENCE.finditer(text):
                line = find(f"][{found[1]}]")
                yield source.problem(line, "link-reference", f"'{found[0]}' has no definition")
            for found in _MARK.finditer(text):
                line = find(found[0])
                yield source.problem(line, "footnote-missing", f"'{found[0]}' has no note", "[^name]: text")
            for found in _ADDRESS.finditer(text):
                line = find(found[0])
                hint = (
                    f"write <{'https://' if found[0].startswith('www') else ''}{found[0].rstrip('.,;:!?)')}>"
                )
                yield source.problem(line, "link-bare", f"'{found[0]}' is a link on GitHub only", hint)
        yield from _notes(source)


def _words(token: Token) -> str:
    """The text of a paragraph outside of links, code and raw HTML, which leave a letter behind."""
    words: list[str] = []
    depth = 0
    for child in token.children or ():
        depth += child.type == "link_open"
        if child.type == "text":
            words.append("x" * len(child.content) if depth else child.content)
        elif child.type in ("softbreak", "hardbreak"):
            words.append("\n")
        elif child.type in ("code_inline", "image", "html_inline", "footnote_ref"):
            words.append("x")
        depth -= child.type == "link_close"
    return "".join(words)


def _notes(source: Source) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for number, line in enumerate(source.lines, 1):
        found = _DEFINITION.match(line) if number not in source.verbatim else None
        if not found:
            continue
        name = found[1]
        if name in first:
            yield source.problem(number, "footnote-twice", f"'[^{name}]' is also on line {first[name]}")
        elif source.footnotes.get(name) == -1:
            yield source.problem(number, "footnote-unused", f"no mark leads to '[^{name}]'")
        first.setdefault(name, number)

"""The words of a page as passages with lines: paragraphs, headings, cells, captions, with code left out.

In a passage's text a newline is a line break of the source, `\\x00` stands for code, and `\\x01` opens a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from markdown_it.token import Token

from bookbuild.check.sources import Source
from bookbuild.model import Problem

CODE, LINK = "\x00", "\x01"
_QUOTED = re.compile(r'"[^"\n]{1,200}"|“[^”\n]{1,200}”')
_CAPTION = re.compile(r"^(\s*(?:caption|note): *)(.*)$")
_SENTENCE = re.compile(r"(?<=[.!?:])[)\"”]?\s+(?=[\x00\x01\"“(*]?[A-ZÄÖÜ0-9])|\n\n")


@dataclass(frozen=True)
class Passage:
    source: Source
    line: int  # of its first word, 1-based
    kind: str  # paragraph, heading, cell, caption, alt
    text: str
    place: int  # index of its token on the page
    section: str = ""  # words of the heading that it stands under

    def problem(self, at: int, code: str, text: str, hint: str = "", severity: str = "error") -> Problem:
        """A problem at a place of the text."""
        return self.source.problem(self.line + self.text.count("\n", 0, at), code, text, hint, severity)

    @cached_property
    def plain(self) -> str:
        """The text with quoted words blank: others' spelling is theirs."""
        return _QUOTED.sub(lambda found: " " * len(found[0]), self.text)

    def sentence(self, at: int) -> str:
        """The sentence around a place of the text."""
        start = 0
        for found in _SENTENCE.finditer(self.text):
            if found.start() >= at:
                return self.text[start : found.start()]
            start = found.end()
        return self.text[start:]


def passages(source: Source) -> list[Passage]:
    """Every passage of a page, in its order."""
    found: list[Passage] = []
    kind, section = "paragraph", ""
    for place, token in enumerate(source.tokens):
        line = (token.map or [0])[0] + 1
        if token.type in ("heading_open", "paragraph_open", "th_open", "td_open", "dt_open"):
            kind = {"h": "heading", "p": "paragraph", "t": "cell"}.get(token.tag[0], "paragraph")
        elif token.type == "inline":
            text = _text(token)
            if kind == "heading":
                section = text
            found.append(Passage(source, line, kind, text, place, section))
            found += _pictures(source, token, place, section)
        elif token.type == "fence" and token.info.strip() in ("table", "worked"):
            for row, words in enumerate(token.content.split("\n"), line + 1):
                if caption := _CAPTION.match(words):
                    found.append(Passage(source, row, "caption", _unmarked(caption[2]), place, section))
    return found


def _text(token: Token) -> str:
    parts: list[str] = []
    emphasis = 0
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "code_inline":
            parts.append(CODE)
        elif child.type == "link_open":
            parts.append(LINK)
        elif child.type == "em_open":
            emphasis = len(parts) + 1
        elif child.type == "em_close":
            words = "".join(parts[emphasis - 1 :])
            parts[emphasis - 1 :] = [f'"{words}"' if " " not in words else words]  # a word that is spoken of
        elif child.type in ("text", "text_special"):
            parts.append(child.content)
    return _without_formulas("".join(parts))


_FORMULA = re.compile(r"(?<![\\$\w])\$(?=\S)([^$\n]*[^\s$\\])\$(?![\w$])")


def _without_formulas(text: str) -> str:
    """Formulas become a number that keeps its place: what stands behind it may be its unit."""
    return _FORMULA.sub(lambda found: "0".rjust(len(found[0]), CODE), text)


def _pictures(source: Source, token: Token, place: int, section: str) -> Iterator[Passage]:
    line = (token.map or [0])[0] + 1
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            line += 1
        elif child.type == "image":
            yield Passage(source, line, "alt", child.content, place, section)
            if title := child.attrs.get("title"):
                yield Passage(source, line, "caption", _unmarked(str(title)), place, section)


def _unmarked(text: str) -> str:
    """Words of a caption without the code and the marks of links in them."""
    text = re.sub(r"`[^`]*`", CODE, text.strip().strip("\"'"))
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", rf"{LINK}\1", text)

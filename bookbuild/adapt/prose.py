"""Words as a typesetter sets them: pairs that stay together, curly quotes, names that are not hyphenated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.common import Place

NBSP = "\u00a0"
_LITERAL = {"code", "pre", "kbd", "samp", "script", "style", "textarea"}
_UNHYPHENATED = _LITERAL | {"table", "h1", "h2", "h3", "h4", "h5", "h6", "figcaption"}  # print.css says so
_BLOCKS = {"p", "li", "dt", "dd", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "figcaption", "div"}
_UNITS = r"""
    %|°C|×|x(?=\W|$)
  | (?:[kKMGTPE]i?|m|µ|μ|n)?(?:B|b|bit|bps|FLOPS|FLOPs|FLOP|OPS|W|Wh|Hz|s|m|V|A|g|T/s)(?:/(?:s|W|GPU|h|USD))?
  | (?:k|M|B|T|K)(?:\s(?=tokens|parameters|samples))?
  | USD|min|h|days?|hours?|years?|weeks?|months?|bits?|bytes?|GPUs?|nodes?|tokens?|lanes?|ranks?|layers?
"""
_PAIR = re.compile(rf"(?<=\d)[ ](?=(?:{_UNITS})(?![\w]))", re.VERBOSE)
_REFERENCE = re.compile(r"\b(Figure|Table|Chapter|Part|Section|Equation|p\.|pp\.|§) (?=\d|[IVX]+\b)")
_NAME = re.compile(r"\b(?=\w{8})\w*(?:[a-z][A-Z]|[A-Z]{2}|\w\d|\d\w)\w*\b")  # long enough to be hyphenated


def pairs(tree: Element, place: Place) -> None:
    """`3.35 TB/s` and `Figure 2.1` do not break across lines."""
    for holder, name in _texts(tree):
        text = getattr(holder, name)
        joined = _REFERENCE.sub(rf"\1{NBSP}", _PAIR.sub(NBSP, text))
        if joined != text:
            setattr(holder, name, joined)


def names(tree: Element, place: Place) -> None:
    """DeepSpeed, MI300X and the like are not hyphenated."""
    parents = {child: parent for parent in tree.iter() for child in parent}
    for holder, name in list(_texts(tree, _UNHYPHENATED)):
        text = getattr(holder, name)
        pieces = _NAME.split(text)
        if len(pieces) == 1:
            continue
        spans = []
        for match, after in zip(_NAME.finditer(text), pieces[1:], strict=True):
            span = Element("span", {"class": "name"})
            span.text, span.tail = match[0], after
            spans.append(span)
        setattr(holder, name, pieces[0])
        if name == "text":
            holder[:0] = spans
        else:
            siblings = parents[holder]
            behind = list(siblings).index(holder) + 1
            siblings[behind:behind] = spans


def quotes(tree: Element, place: Place) -> None:
    """In English, straight quotes and apostrophes become curly ones, by what stands before them in the block."""
    if not place.links.book.language.startswith("en"):
        return
    before = " "
    for holder, name in _texts(tree, breaks=True):
        if holder is None:
            before = " "
            continue
        text = getattr(holder, name)
        if "'" in text or '"' in text:
            text = "".join(_curl(text, i, before) for i in range(len(text)))
            setattr(holder, name, text)
        if text:
            before = text[-1]


def _curl(text: str, position: int, before: str) -> str:
    char = text[position]
    if char not in "'\"":
        return char
    previous = text[position - 1] if position else before
    opens = previous.isspace() or previous in "([{—–-/\u201c\u2018" + NBSP
    following = text[position + 1 : position + 2]
    if char == '"':
        return "\u201c" if opens else "\u201d"
    if opens and not following.isdigit():  # the '90s keep an apostrophe
        return "\u2018"
    return "\u2019"


def _texts(
    tree: Element, literal: set[str] = _LITERAL, breaks: bool = False
) -> Iterator[tuple[Element | None, str]]:
    """(element, "text" or "tail") of every run of words outside of `literal` elements.

    With `breaks`, (None, "") says where a block begins.
    """

    def walk(element: Element) -> Iterator[tuple[Element | None, str]]:
        space, name = trees.split_tag(element.tag)
        if breaks and name in _BLOCKS:
            yield None, ""
        if not space and name != "!" and name not in literal:
            if element.text:
                yield element, "text"
            for child in element:
                yield from walk(child)
                if child.tail:
                    yield child, "tail"

    yield from walk(tree)

"""Numbered blocks: the same number in every output, so that a place on paper is found again in the EPUB."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.common import Place

BLOCK = "data-block"  # "chapter's key:number", of a line of code "chapter's key:number.line"
_TAGS = {"p", "li", "dt", "dd", "tr", "pre", "figure", "h1", "h2", "h3", "h4", "h5", "h6"}


def blocks(tree: Element, place: Place) -> None:
    """Number the blocks in reading order. Comes first, while the tree is still the same for every output."""
    for number, element in enumerate(_blocks(tree)):
        element.set(BLOCK, f"{place.chapter.key}:{number}")


def _blocks(element: Element) -> Iterator[Element]:
    """Without notes, which stand at the foot on paper and behind the text elsewhere."""
    if element.tag in _TAGS:
        yield element
    if "footnote" not in trees.classes(element):
        for child in element:
            yield from _blocks(child)


def block_lines(tree: Element, place: Place) -> None:
    """Number the lines of code that another rewrite has made: a listing may be longer than a page."""
    for pre in tree.iter("pre"):
        if mark := pre.get(BLOCK):
            for number, line in enumerate(pre.iterfind("code/span")):
                if number and "line" in trees.classes(line):
                    line.set(BLOCK, f"{mark}.{number}")

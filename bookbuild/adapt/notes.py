"""Footnotes of Python-Markdown turned into notes that stand at the foot of the page they belong to."""

from __future__ import annotations

from copy import deepcopy
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.common import Place

_BLOCKS = {"p", "div", "ul", "ol", "li", "blockquote"}


def footnotes(tree: Element, place: Place) -> None:
    """Each note moves to its first reference (CSS floats it to the foot); later references link to it."""
    notes = _take_notes(tree)
    placed: dict[str, str] = {}
    for parent, child in trees.with_parents(tree):
        link = child.find("a") if child.tag == "sup" else None
        if link is None or "footnote-ref" not in trees.classes(link):
            continue
        name = unquote(link.get("href", "").removeprefix("#"))
        if name in placed:
            again = Element("sup", {"class": "footnote-again"})
            again.append(Element("a", {"href": f"#{name}"}))
            again[0].text = placed[name]
            trees.replace(parent, child, again)
        elif name in notes:
            note = notes[name]
            placed[name] = str(len(placed) + 1)
            note.set("data-number", placed[name])
            trees.replace(parent, child, note)


def _take_notes(tree: Element) -> dict[str, Element]:
    """Cut the list at the page's end out of the tree; id of the note → <span class="footnote">."""
    notes = {}
    for parent, child in trees.with_parents(tree):
        if child.tag != "div" or "footnote" not in trees.classes(child):
            continue
        for item in child.iterfind("ol/li"):
            if item.get("id"):
                notes[item.get("id")] = _inline(item)
        trees.replace(parent, child)
    return notes


def _inline(item: Element) -> Element:
    """A note's content as spans: it will stand inside of a paragraph."""
    note = deepcopy(item)
    note.tag, note.tail = "span", None
    note.set("class", "footnote")
    for parent, child in trees.with_parents(note):
        if child.tag == "a" and "footnote-backref" in trees.classes(child):
            trees.replace(parent, child)
    for element in note.iter():
        if element.tag in _BLOCKS:
            element.set("class", f"note-{element.tag}")
            element.tag = "span"
        if element.text:
            element.text = element.text.strip("\n")
    _trim(note)
    return note


def _trim(note: Element) -> None:
    """No blank before the first word, nor where the way back stood."""
    note.text = (note.text or "").lstrip()
    for element in note.iter("span"):
        if "note-p" in trees.classes(element):
            element.tail = (element.tail or "").lstrip("\n")
            if len(element):
                element[-1].tail = (element[-1].tail or "").rstrip(" \xa0\n")
            else:
                element.text = (element.text or "").rstrip(" \xa0\n")

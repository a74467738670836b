"""The table of contents, once as a tree, then as EPUB 3's nav and EPUB 2's NCX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from bookbuild import trees
from bookbuild.adapt.common import unique_id
from bookbuild.adapt.epub import TYPE
from bookbuild.epub.documents import Document
from bookbuild.model import Book, Chapter, Part
from bookbuild.printing.pages import part_id, roman

NCX = "http://www.daisy.org/z3986/2005/ncx/"


@dataclass(frozen=True)
class Entry:
    title: str
    href: str
    below: tuple[Entry, ...] = ()


def entries(book: Book, chosen: list[Chapter], places: Mapping[str, str]) -> tuple[Entry, ...]:
    """Part → chapter → section; `places` gives the href of every anchor of the book."""
    found = [_chapter(c, places) for c in book.front if c in chosen]
    for part in book.parts:
        own = tuple(_chapter(c, places) for c in part.chapters if c in chosen)
        if own and part_id(part) in places:
            found.append(Entry(part_title(part), places[part_id(part)], own))
        else:
            found += own
    return tuple(found)


def part_title(part: Part) -> str:
    return f"Part {roman(part.number)}. {part.title}"


def _chapter(chapter: Chapter, places: Mapping[str, str]) -> Entry:
    title = chapter.title if chapter.number is None else f"{chapter.number}. {chapter.title}"
    sections = [
        Entry(heading.text, places[anchor])
        for heading in chapter.headings
        if heading.level == 2
        and heading.id
        and heading.text
        and (anchor := unique_id(chapter, heading.id)) in places
    ]
    return Entry(title, places[chapter.key], tuple(sections))


def nav(toc: tuple[Entry, ...], landmarks: list[tuple[str, str, str]]) -> Document:
    """The contents page, which is also what readers' menus show. Landmarks: (epub:type, title, href)."""
    contents = Element(
        "nav", {TYPE: "toc", "role": "doc-toc", "id": "contents", "aria-labelledby": "contents-title"}
    )
    SubElement(contents, "h1", {"id": "contents-title"}).text = "Contents"
    contents.append(_list(toc))
    marks = Element("nav", {TYPE: "landmarks", "aria-label": "Landmarks", "hidden": "hidden"})
    rows = SubElement(marks, "ol")
    for kind, title, href in landmarks:
        SubElement(SubElement(rows, "li"), "a", {TYPE: kind, "href": href}).text = title
    return Document("nav.xhtml", "Contents", [contents, marks], "frontmatter")


def _list(toc: tuple[Entry, ...]) -> Element:
    rows = Element("ol")
    for entry in toc:
        row = SubElement(rows, "li")
        SubElement(row, "a", {"href": entry.href}).text = entry.title
        if entry.below:
            row.append(_list(entry.below))
    return rows


def ncx(toc: tuple[Entry, ...], identifier: str, title: str) -> bytes:
    """The same contents for readers of EPUB 2."""
    root = Element("ncx", {"version": "2005-1"})
    head = SubElement(root, "head")
    for name, content in (
        ("dtb:uid", identifier),
        ("dtb:depth", str(_depth(toc))),
        ("dtb:totalPageCount", "0"),
    ):
        SubElement(head, "meta", {"name": name, "content": content})
    SubElement(SubElement(root, "docTitle"), "text").text = title
    _points(SubElement(root, "navMap"), toc, 0)
    text = trees.to_xhtml(root).replace("<ncx", f'<ncx xmlns="{NCX}"', 1)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _depth(toc: tuple[Entry, ...]) -> int:
    return 1 + max((_depth(entry.below) for entry in toc), default=-1) if toc else 0


def _points(parent: Element, toc: tuple[Entry, ...], count: int) -> int:
    """Append a point for each entry; returns how many there are so far."""
    for entry in toc:
        count += 1
        point = SubElement(parent, "navPoint", {"id": f"point-{count}"})
        SubElement(SubElement(point, "navLabel"), "text").text = entry.title
        SubElement(point, "content", {"src": entry.href})
        count = _points(point, entry.below, count)
    return count

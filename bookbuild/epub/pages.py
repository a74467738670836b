"""The pages around the chapters: cover, title, part titles."""

from __future__ import annotations

from datetime import datetime
from xml.etree.ElementTree import Element, SubElement

from bookbuild import trees
from bookbuild.adapt.blocks import BLOCK
from bookbuild.adapt.epub import TYPE
from bookbuild.epub.contents import part_title
from bookbuild.epub.documents import Document
from bookbuild.model import Book, Chapter, Part
from bookbuild.printing.pages import LICENCE_URL, part_id, title_words


def cover(book: Book, picture: str) -> Document:
    section = Element("section", {TYPE: "cover", "class": "cover"})
    SubElement(section, "img", {"src": picture, "alt": f"Cover: {book.title}", "role": "doc-cover"})
    return Document("cover.xhtml", book.title, [section], "cover")


def title(book: Book, date: datetime) -> Document:
    """Title page and imprint."""
    words, subtitle = title_words(book)
    page = Element("section", {TYPE: "titlepage", "class": "titlepage"})
    SubElement(page, "h1").text = words
    if subtitle:
        SubElement(page, "p", {"class": "subtitle", "role": "doc-subtitle"}).text = (
            subtitle[:1].upper() + subtitle[1:]
        )
    if book.author:
        SubElement(page, "p", {"class": "author"}).text = book.author
    imprint = Element("section", {TYPE: "copyright-page", "class": "imprint"})
    if book.description:
        SubElement(imprint, "p").text = book.description
    if rights := rights_of(book):
        SubElement(imprint, "p").text = rights
    if "CC BY-SA 4.0" in rights:
        link = SubElement(imprint, "p")
        link.text = "The licence of the text: "
        SubElement(link, "a", {"href": LICENCE_URL}).text = LICENCE_URL.removeprefix("https://").rstrip("/")
    if book.url:
        place = SubElement(imprint, "p")
        place.text = "Read and search this book at "
        SubElement(place, "a", {"href": book.url}).text = book.url.removeprefix("https://").rstrip("/")
    SubElement(imprint, "p").text = f"Edition of {date.day} {date:%B %Y}."
    return Document("title.xhtml", book.title, [page, imprint], "frontmatter")


def rights_of(book: Book) -> str:
    return trees.text_of(trees.parse_fragment(book.copyright)) if book.copyright else ""


def part(part: Part, chapters: list[Chapter]) -> Document:
    section = Element("section", {TYPE: "part", "role": "doc-part", "class": "part", "id": part_id(part)})
    section.set("aria-label", part.title)
    section.set(BLOCK, part_id(part))
    title = part_title(part)
    number, _, words = title.partition(". ")
    head = SubElement(section, "h1")
    mark = SubElement(head, "span", {"class": "part-number"})
    mark.text, mark.tail = f"{number}.", f" {words}"
    rows = SubElement(section, "ul", {"class": "part-chapters"})
    for chapter in chapters:
        link = SubElement(SubElement(rows, "li"), "a", {"href": f"#{chapter.key}"})
        link.text = f"{chapter.number}. {chapter.title}"
    return Document(f"{part_id(part)}.xhtml", title, [section])

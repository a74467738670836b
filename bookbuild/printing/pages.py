"""The pages before and between the chapters, and the frame around each chapter, as element trees."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from xml.etree.ElementTree import Element, SubElement

from bookbuild import __version__, trees
from bookbuild.adapt.blocks import BLOCK
from bookbuild.model import Book, Chapter, Part

LICENCE_URL = "https://creativecommons.org/licenses/by-sa/4.0/"
_ROMAN = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def roman(number: int) -> str:
    words = ""
    for value, sign in _ROMAN:
        while number >= value:
            words, number = words + sign, number - value
    return words


def add(parent: Element, tag: str, text: str | None = None, **attributes: str) -> Element:
    """A new last child; `class_` stands for class, `_` in names for '-'."""
    names = {k.rstrip("_").replace("_", "-"): v for k, v in attributes.items()}
    child = SubElement(parent, tag, names)
    child.text = text
    return child


def title_words(book: Book) -> tuple[str, str]:
    """Title and subtitle: what stands before and after the first comma or colon of the book's name."""
    for sign in (":", ","):
        before, found, after = book.title.partition(sign)
        if found and after.strip():
            return before.strip(), after.strip()
    return book.title, ""


def cover(book: Book, drawing: str, date: datetime) -> Element:
    """`drawing` is the address of the picture that fills the page."""
    page = Element("section", {"class": "cover"})
    title, subtitle = title_words(book)
    add(page, "div", class_="cover-art", style=f"background-image: url('{drawing}')")
    words = add(page, "div", class_="cover-words")
    add(words, "p", title, class_="cover-title")
    if subtitle:
        add(words, "p", subtitle[:1].upper() + subtitle[1:], class_="cover-subtitle")
    foot = add(page, "div", class_="cover-foot")
    if book.author:
        add(foot, "p", book.author, class_="cover-author")
    add(foot, "p", f"{date:%B %Y}", class_="cover-date")
    return page


def imprint(book: Book, date: datetime, built_with: str) -> Element:
    """The copyright page."""
    page = Element("section", {"class": "imprint"})
    add(page, "p", book.title, class_="imprint-title")
    if book.description:
        add(page, "p", book.description)
    if book.author:
        add(page, "p", book.author)
    if book.copyright:
        add(page, "p", trees.text_of(trees.parse_fragment(book.copyright)))
    if "CC BY-SA 4.0" in book.copyright:
        text = add(
            page,
            "p",
            "The text is licensed under the Creative Commons Attribution-ShareAlike 4.0 International licence. "
            "You may share and adapt it for any purpose, also commercially, if you give credit, link to the "
            "licence, say what you changed, and pass your version on under the same licence: ",
        )
        add(text, "a", LICENCE_URL.removeprefix("https://").rstrip("/"), href=LICENCE_URL)
        text[-1].tail = "."
    if book.url:
        place = add(page, "p", "Read and search this book at ")
        add(place, "a", book.url.removeprefix("https://").rstrip("/"), href=book.url)
        place[-1].tail = "."
    add(page, "p", f"Edition of {date.day} {date:%B %Y}.")
    add(page, "p", f"Built with {built_with}. Set in Source Serif, IBM Plex Sans and JetBrains Mono.")
    return page


def contents(book: Book, chosen: list[Chapter]) -> Element:
    """Parts, chapters and their sections with page numbers; front matter first."""
    page = Element("nav", {"class": "contents", "id": "contents"})
    add(page, "h1", "Contents")
    if front := [c for c in book.front if c in chosen]:
        rows = add(page, "ol", class_="toc-front")
        for chapter in front:
            _row(rows, chapter, "toc-chapter roman")
    for part in book.parts:
        chapters = [c for c in part.chapters if c in chosen]
        if not chapters:
            continue
        if part.title:
            head = add(page, "p", class_="toc-part")
            add(head, "span", f"Part {roman(part.number)}", class_="toc-number")
            add(head, "a", part.title, href=f"#{part_id(part)}")
            add(head, "span", class_="toc-page", data_ref=f"#{part_id(part)}")
        rows = add(page, "ol", class_="toc-chapters")
        for chapter in chapters:
            _row(rows, chapter, "toc-chapter")
            for heading in chapter.headings:
                if heading.level == 2 and heading.id:
                    item = add(rows, "li", class_="toc-section")
                    target = f"#{chapter.key}--{heading.id}"
                    add(item, "a", heading.text, href=target)
                    add(item, "span", class_="toc-page", data_ref=target)
    return page


def list_of_labels(chosen: list[Chapter]) -> Element | None:
    """Figures and tables that have a number, with their pages; None where there are none."""
    page = Element("nav", {"class": "contents labels", "id": "figures-and-tables"})
    for title, tables in (("Figures", False), ("Tables", True)):
        found = [item for c in chosen for item in _labelled(c) if item[0] == tables]
        if found:
            add(page, "h1" if not len(page) else "h2", title)
            rows = add(page, "ol")
            for _, target, label, caption in found:
                item = add(rows, "li", class_="toc-label")
                add(item, "span", label, class_="toc-number")
                add(item, "a", caption, href=target)
                add(item, "span", class_="toc-page", data_ref=target)
    return page if len(page) else None


def _labelled(chapter: Chapter) -> Iterator[tuple[bool, str, str, str]]:
    """(is a table, address, number, first sentence of the caption) of a chapter's figures."""
    for figure in chapter.tree.iter("figure"):
        caption = figure.find("figcaption")
        label = caption.find("span[@class='label']") if caption is not None else None
        name = figure.get("id") or next((t.get("id") for t in figure.iter("table") if t.get("id")), None)
        if label is None or not name:
            continue
        words = trees.text_of(caption).removeprefix(trees.text_of(label)).strip()
        sentence, stop, _ = words.partition(". ")
        number = trees.text_of(label).rstrip(".").split()[-1]
        is_table = figure.find(".//table") is not None
        yield is_table, f"#{chapter.key}--{name}", number, sentence + "." * bool(stop)


def _row(rows: Element, chapter: Chapter, mark: str) -> None:
    item = add(rows, "li", class_=mark)
    if chapter.number is not None:
        add(item, "span", str(chapter.number), class_="toc-number")
    add(item, "a", chapter.title, href=f"#{chapter.key}")
    add(item, "span", class_="toc-page", data_ref=f"#{chapter.key}")


def part_id(part: Part) -> str:
    return f"part-{part.number}"


def part_page(part: Part, chapters: list[Chapter]) -> Element:
    page = Element("section", {"class": "part-page", "id": part_id(part), "data-title": part.title})
    page.set(BLOCK, part_id(part))
    add(page, "p", f"Part {roman(part.number)}", class_="part-number")
    add(page, "h1", part.title, data_bookmark=part.title)
    rows = add(page, "ul", class_="part-chapters")
    for chapter in chapters:
        item = add(rows, "li")
        add(item, "span", str(chapter.number), class_="toc-number")
        add(item, "a", chapter.title, href=f"#{chapter.key}")
    return page


def chapter_section(chapter: Chapter, tree: Element, level: int) -> Element:
    """The adapted tree under its opening; `level` is the chapter's own in the bookmarks."""
    section = Element("section", {"class": "chapter" if chapter.number is not None else "chapter front"})
    section.set("id", chapter.key)
    head = chapter.title if chapter.number is None else f"{chapter.number}\u2002{chapter.title}"
    opening = add(section, "header", class_="opening", data_head=head)
    if chapter.number is not None:
        add(opening, "p", str(chapter.number), class_="chapter-number")
    title = next((e for e in tree if e.tag == "h1"), None)
    if title is not None:
        trees.replace(tree, title)
    else:
        title = Element("h1")
        title.text = chapter.title
    title.set("data-bookmark", chapter.title)
    title.set("style", f"bookmark-level: {level}")
    opening.append(title)
    texts = {h.id: h.text for h in chapter.headings}
    for heading in tree.iter("h2"):
        name = heading.get("id", "").removeprefix(f"{chapter.key}--")
        heading.set("data-bookmark", texts.get(name) or trees.text_of(heading))
        heading.set("style", f"bookmark-level: {level + 1}")
    tree.set("class", "text")
    section.append(tree)
    return section


def document(book: Book, date: datetime, css: str, sections: list[Element]) -> Element:
    """The whole <html> tree."""
    html = Element("html", {"lang": book.language})
    head = add(html, "head")
    add(head, "title", book.title)
    for name, value in (
        ("author", book.author),
        ("description", book.description),
        ("generator", f"bookbuild {__version__}"),
        ("dcterms.created", f"{date:%Y-%m-%dT%H:%M:%SZ}"),
        ("dcterms.modified", f"{date:%Y-%m-%dT%H:%M:%SZ}"),
    ):
        if value:
            add(head, "meta", name=name, content=value)
    add(head, "style", css)
    body = add(html, "body")
    body.extend(sections)
    return html

"""The book as an EPUB 3.3: chapters adapted for reading systems, packed by EbookLib, dated and sorted by us."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from ebooklib import epub

from bookbuild.adapt.common import Place, adapt, unique_id
from bookbuild.adapt.epub import EPUB
from bookbuild.cover import cover_png
from bookbuild.dates import build_date
from bookbuild.epub import archive, contents, package, pages
from bookbuild.epub.documents import Document, chapter_documents, connect, place_pictures
from bookbuild.epub.names import FileNames
from bookbuild.epub.pictures import Pictures
from bookbuild.links import Inside, LinkMap
from bookbuild.model import Book, BookError, Chapter, Problem

Progress = Callable[[int, int], None]
_COVER = "images/cover.png"


def write_epub(
    book: Book,
    out: Path,
    *,
    chapters: set[str] | None = None,
    progress: Progress | None = None,
) -> dict[str, object]:
    """Write the EPUB of a book, or of the chapters with these source paths, to `out`, whole or not at all.

    Returns {"files": int (XHTML files), "warnings": list[Problem]}. Raises BookError where nothing is to be
    written, or `out` cannot be.
    """
    chosen = [c for c in book.chapters if chapters is None or c.path in chapters]
    if not chosen:
        raise BookError("epub-empty no chapter to write")
    date = build_date()
    warnings: list[Problem] = []
    pictures = Pictures(book.site_dir)
    body = _body(book, chosen, pictures, warnings, progress)
    places = connect(body)
    toc = contents.entries(book, chosen, places)
    cover, title = pages.cover(book, _COVER), pages.title(book, date)
    start = next((d for d in body if d.chapter and d.chapter.number is not None), body[0])
    landmarks = [("cover", "Cover", cover.name), ("titlepage", "Title page", title.name)]
    landmarks += [("toc", "Contents", "nav.xhtml#contents"), ("bodymatter", "Start of the text", start.name)]
    nav = contents.nav(toc, landmarks)
    uid = package.identifier(book, chapters)

    made = epub.EpubBook()
    package.describe(made, book, uid, date)
    package.describe_access(made, [title, *body])
    package.add_cover(made, _COVER, cover_png(book))
    package.add_styles(made)
    spine = [package.add_document(made, d, book.language) for d in (cover, title)]
    spine.append(package.add_document(made, nav, book.language, "nav"))
    spine += [package.add_document(made, d, book.language) for d in body]
    package.add_reading_order(made, spine, landmarks, contents.ncx(toc, uid, book.title))
    package.add_pictures(made, pictures)
    archive.write(made, out, date)
    return {"files": len(spine), "warnings": warnings}


def _body(
    book: Book, chosen: list[Chapter], pictures: Pictures, warnings: list[Problem], progress: Progress | None
) -> list[Document]:
    """Every file from the front matter to the last chapter, in reading order."""
    names, links = FileNames(), LinkMap(book)
    for taken in ("cover", "title", "nav", *(f"part-{p.number}" for p in book.parts)):
        names.take(taken, ".xhtml")
    documents: list[Document] = []
    done = 0

    def add(chapter: Chapter) -> None:
        nonlocal done
        tree = _adapted(book, chapter, chosen, links, pictures, warnings)
        documents.extend(chapter_documents(chapter, tree, names))
        done += 1
        if progress:
            progress(done, len(chosen))

    for chapter in (c for c in book.front if c in chosen):
        add(chapter)
    for part in book.parts:
        own = [c for c in part.chapters if c in chosen]
        if own and part.title:
            documents.append(pages.part(part, own))
        for chapter in own:
            add(chapter)
    return documents


def _adapted(
    book: Book,
    chapter: Chapter,
    chosen: list[Chapter],
    links: LinkMap,
    pictures: Pictures,
    warnings: list[Problem],
) -> Element:
    """A chapter's tree for reading systems; its links inside the book are `#id` until files are known."""

    def inside(target: Inside) -> str:
        if target.chapter in chosen:
            return "#" + unique_id(target.chapter, target.anchor)
        there = f"{target.chapter.url}#{target.anchor}" if target.anchor else target.chapter.url
        return urljoin(book.url, there) if book.url else ""

    def asset(path: str) -> str:
        picture = pictures.from_site(path)
        return picture.name if picture else ""

    def warn(code: str, text: str) -> None:
        file = os.path.relpath(chapter.source, book.root)
        warnings.append(Problem(file, 0, code, text, severity="warning"))

    tree = adapt(Place(chapter, links, inside, asset, warn), EPUB)
    place_pictures(tree, pictures, warn)
    return tree

"""The book as an EPUB 3.3: chapters adapted for reading systems, packed by EbookLib, dated and sorted by us."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ebooklib import epub

from bookbuild.adapt.epub import EPUB
from bookbuild.adapt.mathpics import formulas
from bookbuild.cover import cover_png
from bookbuild.dates import build_date
from bookbuild.epub import archive, contents, package, pages
from bookbuild.epub.documents import connect
from bookbuild.epub.edition import Edition, Progress
from bookbuild.epub.pagebreaks import mark_pages, page_list
from bookbuild.epub.pictures import Pictures
from bookbuild.model import Book, BookError
from bookbuild.pagemap import PageMap

_COVER = "images/cover.png"
_MATHS = {"mathml": EPUB, "images": (formulas, *EPUB)}


def write_epub(
    book: Book,
    out: Path,
    *,
    chapters: set[str] | None = None,
    progress: Progress | None = None,
    maths: str = "mathml",
    page_map: Callable[[], PageMap | None] | None = None,
) -> dict[str, object]:
    """Write the EPUB of a book, or of the chapters with these source paths, to `out`, whole or not at all.

    `maths` is "mathml", or "images" for readers that do not show it, Kindle first of all. `page_map` gives what
    write_pdf says of the pages of the same book, and is asked late, when all else is ready; without it, or
    where it gives nothing, the file has no list of pages. So the bytes depend on the book, the date, `maths`
    and the map, and on nothing else. Returns
    {"files": int (XHTML files), "warnings": list[Problem]}. Raises BookError where nothing is to be written,
    or `out` cannot be.
    """
    if maths not in _MATHS:
        raise BookError(f"maths '{maths}' is not known ({', '.join(_MATHS)})")
    chosen = [c for c in book.chapters if chapters is None or c.path in chapters]
    if not chosen:
        raise BookError("epub-empty no chapter to write")
    date = build_date()
    edition = Edition(book, chosen, _MATHS[maths], Pictures(book.site_dir))
    body = edition.documents(progress)
    toc = contents.entries(book, chosen, connect(body))
    breaks = mark_pages(body, page_map() if page_map else None)
    cover, title = pages.cover(book, _COVER), pages.title(book, date)
    start = next((d for d in body if d.chapter and d.chapter.number is not None), body[0])
    landmarks = [("cover", "Cover", cover.name), ("titlepage", "Title page", title.name)]
    landmarks += [("toc", "Contents", "nav.xhtml#contents"), ("bodymatter", "Start of the text", start.name)]
    nav = contents.nav(toc, landmarks)
    if breaks:
        nav.content.append(page_list(breaks))
    uid = package.identifier(book, chapters)

    made = epub.EpubBook()
    package.describe(made, book, uid, date)
    package.describe_access(made, [title, *body])
    if not edition.warnings:  # nothing that could not be shown
        package.describe_conformance(made, book)
    if breaks:
        package.describe_pages(made, book)
    package.add_cover(made, _COVER, cover_png(book))
    package.add_styles(made)
    spine = [package.add_document(made, d, book.language) for d in (cover, title)]
    spine.append(package.add_document(made, nav, book.language, "nav"))
    texts = [package.add_document(made, d, book.language) for d in body]
    edition.warn_of_large((d, len(item.content)) for d, item in zip(body, texts, strict=True))
    spine += texts
    package.add_reading_order(made, spine, landmarks, contents.ncx(toc, uid, book.title))
    package.add_pictures(made, edition.pictures)
    archive.write(made, out, date)
    return {"files": len(spine), "warnings": edition.warnings}

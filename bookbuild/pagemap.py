"""The page map of the last finished PDF of a content, kept so that an EPUB of the same content can have its pages.

`all` hands the map of the PDF it makes straight to the EPUB, whether one is kept or not: its bytes depend on the book and
the date alone. `epub` takes the kept one of the same content, builder and programs, as after `pdf`; without one, as in
a new clone or after --no-cache, its EPUB has no list of pages. A letter-size PDF and an excerpt keep and give none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

from bookbuild import trees
from bookbuild.cache import digest, read_cached, write_cached
from bookbuild.links import Asset, LinkMap
from bookbuild.model import Book

PageMap = list[tuple[str, str]]  # (label as printed, mark of the first block that begins on the page)


def keep(book: Book, pages: PageMap) -> None:
    write_cached(book.root, "pages", digest(*_content(book)), json.dumps(pages))


def kept(book: Book) -> PageMap | None:
    """The map of the last finished PDF of this content, if there was one."""
    try:
        return [(label, mark) for label, mark in json.loads(read_cached(book.root, "pages", digest(*_content(book))) or "")]
    except (ValueError, TypeError):
        return None


def _content(book: Book) -> Iterator[str | bytes]:
    """All that decides where a page ends: text, pictures, and the programs that lay them out."""
    yield from (version("weasyprint"), book.title, book.author, book.description, book.copyright, book.url)
    yield book.language
    yield from _builder(files("bookbuild"))
    links = LinkMap(book)
    for part in book.parts:
        yield f"{part.number} {part.title} {len(part.chapters)}"
    for chapter in book.chapters:
        yield from (chapter.key, str(chapter.number), chapter.title, trees.to_html(chapter.tree))
        for image in chapter.tree.iter("img"):
            match links.resolve(chapter, image.get("src", "")):
                case Asset(path) if (book.site_dir / path).is_file():
                    yield (book.site_dir / path).read_bytes()


def _builder(folder: Traversable) -> Iterator[bytes]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _builder(entry)
        elif entry.name.endswith((".py", ".css")):
            yield entry.read_bytes()

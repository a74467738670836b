"""The chapters that go into one EPUB, on their way from the site's trees to XHTML files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from bookbuild.adapt.common import Place, Rewrite, adapt, unique_id
from bookbuild.epub import pages
from bookbuild.epub.documents import Document, chapter_documents, place_drawings, place_pictures
from bookbuild.epub.names import FileNames
from bookbuild.epub.pictures import Pictures
from bookbuild.links import Inside, LinkMap
from bookbuild.model import Book, Chapter, Problem

Progress = Callable[[int, int], None]
REFUSED = 300_000  # bytes of a file


@dataclass
class Edition:
    book: Book
    chosen: list[Chapter]
    rewrites: tuple[Rewrite, ...]
    pictures: Pictures
    warnings: list[Problem] = field(default_factory=list)  # what could not be shown

    def __post_init__(self) -> None:
        self._links = LinkMap(self.book)
        self._keys = {chapter.key for chapter in self.chosen}

    def documents(self, progress: Progress | None) -> list[Document]:
        """Every file from the front matter to the last chapter, in reading order; links still have no file."""
        names = FileNames()
        for taken in ("cover", "title", "nav", *(pages.part_id(p) for p in self.book.parts)):
            names.take(taken, ".xhtml")
        found: list[Document] = []
        done = 0
        for part in (None, *self.book.parts):
            own = [c for c in (part.chapters if part else self.book.front) if c.key in self._keys]
            if part and own and part.title:
                found.append(pages.part(part, own))
            for chapter in own:
                found += chapter_documents(chapter, self._adapted(chapter), names)
                done += 1
                if progress:
                    progress(done, len(self.chosen))
        return found

    def warn_of_large(self, sizes: Iterable[tuple[Document, int]]) -> None:
        """Of files over REFUSED bytes, which had no heading to be cut at."""
        for document, size in sizes:
            if size > REFUSED and document.chapter:
                text = f"a file of {size // 1000} kB, which some readers are slow with or refuse"
                self._warn(document.chapter, "epub-large", text, "give it headings of level two, where it can be cut")

    def _adapted(self, chapter: Chapter) -> Element:
        def warn(code: str, text: str) -> None:
            self._warn(chapter, code, text)

        tree = adapt(Place(chapter, self._links, self._inside, self._asset, warn), self.rewrites)
        place_pictures(tree, self.pictures, warn)
        place_drawings(tree)
        return tree

    def _warn(self, chapter: Chapter, code: str, text: str, hint: str = "") -> None:
        file = os.path.relpath(chapter.source, self.book.root)
        self.warnings.append(Problem(file, 0, code, text, hint, severity="warning"))

    def _inside(self, target: Inside) -> str:
        """`#id` until files are known; a chapter that this edition leaves out is on the web, if the book is."""
        if target.chapter.key in self._keys:
            return "#" + unique_id(target.chapter, target.anchor)
        there = f"{target.chapter.url}#{target.anchor}" if target.anchor else target.chapter.url
        return urljoin(self.book.url, there) if self.book.url else ""

    def _asset(self, path: str) -> str:
        picture = self.pictures.from_site(path)
        return picture.name if picture else ""

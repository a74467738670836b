"""Where a rendered link leads: outside, to a place in the book, to a file of the site, or nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import unquote, urljoin, urlsplit

from bookbuild.model import Book, Chapter


@dataclass(frozen=True)
class External:
    url: str


@dataclass(frozen=True)
class Inside:
    chapter: Chapter
    anchor: str  # "" is the chapter's top; otherwise an id that exists there


@dataclass(frozen=True)
class Asset:
    path: str  # below the site's root, '/' separated


@dataclass(frozen=True)
class Broken:
    href: str
    why: str
    suggestion: str = ""


Target = External | Inside | Asset | Broken


class LinkMap:
    """Resolves the hrefs of rendered chapters. Anchors may arrive percent-encoded; they are decoded once."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self._by_url: dict[str, Chapter] = {}
        for chapter in book.chapters:
            address = unquote(chapter.url.removeprefix("./"))  # MkDocs has it percent-encoded
            self._by_url[address] = chapter
            self._by_url[address + "index.html"] = chapter

    def resolve(self, chapter: Chapter, href: str) -> Target:
        try:
            parts = urlsplit(href)
        except ValueError:  # as in http://[host]:8000
            return Broken(href, "not an address")
        if parts.scheme or parts.netloc:
            return External(href)
        if not parts.path:
            return self._anchor(chapter, parts.fragment, href)
        base = chapter.url.removeprefix("./")
        path = unquote(urlsplit(urljoin("/" + base, parts.path)).path).lstrip("/")
        if found := self._by_url.get(path):
            return self._anchor(found, parts.fragment, href)
        if path and (self.book.site_dir / path).is_file():
            return Asset(path)
        return Broken(href, "no such page or file")

    def _anchor(self, chapter: Chapter, fragment: str, href: str) -> Target:
        if not fragment:
            return Inside(chapter, "")
        for anchor in (fragment, unquote(fragment)):
            if anchor in chapter.ids:
                return Inside(chapter, anchor)
        return Broken(href, f"no anchor '{unquote(fragment)}' on {chapter.path}", self._nearest(chapter, fragment))

    @staticmethod
    def _nearest(chapter: Chapter, fragment: str) -> str:
        close = get_close_matches(unquote(fragment).lower(), sorted(chapter.ids), n=1, cutoff=0.5)
        return close[0] if close else ""

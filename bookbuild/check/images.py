"""Pictures: the file is there, the alt text says what it shows, a figure has a caption."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token

from bookbuild import trees
from bookbuild.check.links import broken_in
from bookbuild.check.sources import Finder, Source
from bookbuild.links import Broken, LinkMap
from bookbuild.model import Book, Problem

CODES = {
    "image-missing": "a picture whose file is not there, or not on the site",
    "image-remote": "a picture that readers would load from another host",
    "image-alt": "a picture without a text that says what it shows",
    "image-caption": "a picture that stands alone and has no caption; an error where it has a label",
}
_SUFFIXES = frozenset({".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif"})
_EMPTY_WORDS = frozenset(
    {"image", "img", "picture", "figure", "photo", "screenshot", "diagram", "alt", "alt text"}
)


@dataclass(frozen=True)
class _Picture:
    line: int
    src: str
    alt: str | None  # None: it has none; "" in raw HTML: its author says that there is nothing to say
    is_raw: bool = False
    is_alone: bool = False  # all that its paragraph holds
    is_titled: bool = False
    is_labelled: bool = False


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    links = LinkMap(book)
    for source in sources:
        broken = broken_in(links, source.chapter, "img", "src")
        for picture in _pictures(source):
            yield from _file(book, source, picture, broken)
            yield from _words(source, picture)


def _pictures(source: Source) -> Iterator[_Picture]:
    for token in source.inlines():
        find = source.finder(token)
        depth = 0  # of links around
        for child in token.children or ():
            depth += {"link_open": 1, "link_close": -1}.get(child.type, 0)
            if child.type == "image":
                yield _picture(token, child, find, depth)
            elif child.type == "html_inline":
                yield from _raw(child, find)
    for token in source.tokens:
        if token.type == "html_block":
            yield from _raw(token, source.finder(token))


def _picture(paragraph: Token, image: Token, find: Finder, links: int) -> _Picture:
    src = str(image.attrs.get("src", ""))
    rest = "".join(c.content or c.type for c in paragraph.children or () if c is not image).strip()
    attributes = rest if rest.startswith("{") and rest.endswith("}") else ""
    return _Picture(
        find(src, f"![{image.content}"),
        src,
        image.content or None,
        is_alone=not links and (not rest or bool(attributes)),
        is_titled="title" in image.attrs,
        is_labelled="#" in attributes,
    )


def _raw(token: Token, find: Finder) -> Iterator[_Picture]:
    if "<img" in token.content.lower():
        for element in trees.parse_fragment(token.content).iter("img"):
            src = element.get("src", "")
            yield _Picture(find(src), src, element.get("alt"), is_raw=True)


def _words(source: Source, picture: _Picture) -> Iterator[Problem]:
    alt = picture.alt
    shown = (alt or "").strip().lower()
    if alt is None or (not shown and not picture.is_raw):
        text, hint = f"'{picture.src}' has no alt text", "say what the picture shows"
        yield source.problem(picture.line, "image-alt", text, hint)
    elif shown in _EMPTY_WORDS or PurePosixPath(shown).suffix in _SUFFIXES:
        text, hint = f"'{alt}' says nothing about '{picture.src}'", "say what the picture shows"
        yield source.problem(picture.line, "image-alt", text, hint)
    if picture.is_alone and not picture.is_titled:
        severity = "error" if picture.is_labelled else "warning"
        hint = 'add one: ![alt](file "Caption."){#fig-name}'
        yield source.problem(picture.line, "image-caption", f"'{picture.src}' has no caption", hint, severity)


def _file(book: Book, source: Source, picture: _Picture, broken: dict[str, Broken]) -> Iterator[Problem]:
    line, src = picture.line, picture.src
    try:
        parts = urlsplit(src)
    except ValueError:  # link-address, told when the page was rendered
        return
    if parts.scheme == "data":
        return
    if parts.scheme or parts.netloc:
        yield source.problem(line, "image-remote", f"'{src}' is on another host", "keep a copy in the book")
        return
    here = posixpath.dirname(source.chapter.path)
    path = unquote(parts.path)
    target = posixpath.normpath(posixpath.join(here, path))
    if picture.is_raw:  # MkDocs leaves raw HTML alone: the address is judged as the site has it
        if not src or unquote(src) in broken:
            is_there = (book.docs_dir / target).is_file()
            hint = "raw HTML keeps its address as it is; write a Markdown picture" if is_there else ""
            hint = hint or _near(book, here, target)
            yield source.problem(line, "image-missing", f"'{src}' is not there on the site", hint)
    elif target.startswith(("../", "/")):
        place = "starts at the site's root" if path.startswith("/") else "lies outside of the book"
        hint = _near(book, here, target.lstrip("/")) or "keep it in the book, relative to this file"
        yield source.problem(line, "image-missing", f"'{src}' {place}", hint)
    elif not path or not (book.docs_dir / target).is_file():
        yield source.problem(line, "image-missing", f"'{src}' is not there", _near(book, here, target))
    elif not (book.site_dir / target).is_file():
        hint = "exclude_docs in the configuration leaves it out"
        yield source.problem(line, "image-missing", f"'{src}' is not on the site", hint)


def _near(book: Book, here: str, target: str) -> str:
    files = (p for p in book.docs_dir.rglob("*") if p.suffix.lower() in _SUFFIXES)
    known = sorted(p.relative_to(book.docs_dir).as_posix() for p in files)
    near = get_close_matches(target, known, n=1, cutoff=0.6)
    return f"did you mean {posixpath.relpath(near[0], here or '.')}?" if near else ""

"""Pictures: the file is there, the alt text says what it shows, a figure has a caption."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from difflib import get_close_matches
from urllib.parse import unquote, urlsplit

from bookbuild import trees
from bookbuild.check.sources import Source
from bookbuild.model import Book, Problem

CODES = {
    "image-missing": "a picture whose file is not there",
    "image-remote": "a picture that readers would load from another host",
    "image-alt": "a picture without a text that says what it shows",
    "image-caption": "a picture that stands alone and has no caption",
}


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    for source in sources:
        for line, src, alt, alone, titled in _images(source):
            yield from _file(book, source, line, src)
            if not alt.strip():
                yield source.problem(
                    line, "image-alt", f"'{src}' has no alt text", "say what the picture shows"
                )
            if alone and not titled:
                hint = 'add one: ![alt](file "Caption."){#fig-name}'
                yield source.problem(line, "image-caption", f"'{src}' has no caption", hint, "warning")


def _images(source: Source) -> Iterator[tuple[int, str, str, bool, bool]]:
    """(line, src, alt, whether it is all its paragraph holds, whether it has a caption)."""
    for token in source.inlines():
        children = token.children or ()
        for child in children:
            if child.type == "image":
                src = str(child.attrs.get("src", ""))
                rest = "".join(c.content for c in children if c is not child).strip()
                alone = not rest or (rest.startswith("{") and rest.endswith("}"))
                line = source.line_of(token, unquote(src))
                yield line, src, child.content, alone, "title" in child.attrs
            elif child.type == "html_inline":
                yield from _html_images(source, token.map or [0, 1], child.content)
    for token in source.tokens:
        if token.type == "html_block":
            yield from _html_images(source, token.map or [0, 1], token.content)


def _html_images(source: Source, block, html: str) -> Iterator[tuple[int, str, str, bool, bool]]:
    if "<img" not in html:
        return
    for element in trees.parse_fragment(html).iter("img"):
        src = element.get("src", "")
        alt = element.get("alt")
        decorative = alt == ""  # in HTML an author who writes alt="" says that there is nothing to say
        yield source.line_of(tuple(block), src), src, "decorative" if decorative else alt or "", False, True


def _file(book: Book, source: Source, line: int, src: str) -> Iterator[Problem]:
    parts = urlsplit(src)
    if parts.scheme == "data":
        return
    if parts.scheme or parts.netloc:
        yield source.problem(line, "image-remote", f"'{src}' is on another host", "keep a copy in the book")
        return
    here = posixpath.dirname(source.chapter.path)
    target = posixpath.normpath(posixpath.join(here, unquote(parts.path)))
    if not parts.path or not (book.docs_dir / target).is_file():
        suffixes = {".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp"}
        known = sorted(
            p.relative_to(book.docs_dir).as_posix() for p in book.docs_dir.rglob("*") if p.suffix in suffixes
        )
        near = get_close_matches(target, known, n=1, cutoff=0.6)
        hint = f"did you mean {posixpath.relpath(near[0], here or '.')}?" if near else ""
        yield source.problem(line, "image-missing", f"'{src}' is not there", hint)

"""Links from page to page: the target exists, and so does the place on it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from difflib import get_close_matches
from urllib.parse import unquote, urlsplit

from bookbuild import trees
from bookbuild.check.sources import Source
from bookbuild.model import Book, Chapter, Problem

CODES = {
    "link-page": "a link to a page or file that is not there",
    "link-anchor": "a link to a place that the page does not have",
    "link-absolute": "a link from the site's root; links inside the book are relative to the .md file",
    "link-outside": "a link to a file outside of the book's folder, which no reader of the site has",
    "link-reference": "a reference link whose definition is missing",
    "link-empty": "a link without a target",
}
_REFERENCE = re.compile(r"\[[^\[\]]+\]\[([^\[\]]*)\]")


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    by_path = {chapter.path: chapter for chapter in book.chapters}
    pages = sorted({p.relative_to(book.docs_dir).as_posix() for p in book.docs_dir.rglob("*.md")})
    for source in sources:
        for line, href in hrefs(source):
            yield from _judge(book, source, line, href, by_path, pages)
        yield from _references(source)


def hrefs(source: Source) -> Iterator[tuple[int, str]]:
    """(line, target) of every link of a page, those in raw HTML included."""
    for token in source.inlines():
        for child in token.children or ():
            if child.type == "link_open":
                href = str(child.attrs.get("href", ""))
                yield source.line_of(token, _written(source, token, href)), href
            elif child.type == "html_inline" and child.content.startswith("<a"):
                yield from _html_hrefs(source, token.map or [0, 1], child.content)
    for token in source.tokens:
        if token.type == "html_block":
            yield from _html_hrefs(source, token.map or [0, 1], token.content)


def _written(source: Source, token, href: str) -> str:
    """How an address stands in the source: markdown-it has percent-encoded it."""
    block = "\n".join(source.lines[slice(*(token.map or (0, 1)))])
    return next((form for form in (href, unquote(href)) if form and form in block), href)


def _html_hrefs(source: Source, block, html: str) -> Iterator[tuple[int, str]]:
    for element in trees.parse_fragment(html).iter("a"):
        if href := element.get("href"):
            yield source.line_of(tuple(block), href), href


def _judge(
    book: Book, source: Source, line: int, href: str, by_path: dict[str, Chapter], pages: list[str]
) -> Iterator[Problem]:
    parts = urlsplit(href)
    if parts.scheme or parts.netloc:
        return
    if not parts.path and not parts.fragment:
        yield source.problem(line, "link-empty", "the link has no target")
        return
    path = unquote(parts.path)
    if path.startswith("/"):
        yield source.problem(
            line, "link-absolute", f"'{path}' starts at the site's root", "write it relative to this file"
        )
        return
    here = posixpath.dirname(source.chapter.path)
    target = posixpath.normpath(posixpath.join(here, path)) if path else source.chapter.path
    if (book.docs_dir / target).is_dir() and (book.docs_dir / target / "index.md").is_file():
        target = posixpath.normpath(posixpath.join(target, "index.md"))
    if target.startswith(".."):
        yield source.problem(
            line, "link-outside", f"'{path}' lies outside of the book", "a tool is shown by a `script` fence"
        )
    elif target in by_path:
        yield from _anchor(source, line, by_path[target], parts.fragment)
    elif not (book.docs_dir / target).is_file():
        yield source.problem(line, "link-page", f"'{path}' is not there", _near_page(here, target, pages))


def _near_page(here: str, target: str, pages: list[str]) -> str:
    same_name = [p for p in pages if posixpath.basename(p) == posixpath.basename(target)]
    near = same_name[:1] or get_close_matches(target, pages, n=1, cutoff=0.6)
    return f"did you mean {posixpath.relpath(near[0], here or '.')}?" if near else ""


def _anchor(source: Source, line: int, page: Chapter, fragment: str) -> Iterator[Problem]:
    wanted = unquote(fragment)
    if not wanted or wanted in page.ids:
        return
    where = "this page" if page is source.chapter else page.path
    readable = sorted(i for i in page.ids if not i.startswith(("__", "fn:", "fnref:")))
    near = get_close_matches(wanted.lower(), readable, n=1, cutoff=0.5)
    yield source.problem(
        line, "link-anchor", f"no '#{wanted}' on {where}", f"did you mean #{near[0]}?" if near else ""
    )


def _references(source: Source) -> Iterator[Problem]:
    for token in source.inlines():
        for child in token.children or ():
            if child.type == "text" and (found := _REFERENCE.search(child.content)):
                line = source.line_of(token, found[0])
                yield source.problem(line, "link-reference", f"'{found[0]}' has no definition")

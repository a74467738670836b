"""Links from page to page: the target exists, and so does the place on it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cached_property
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from markdown_it.token import Token

from bookbuild import trees
from bookbuild.check.sources import Finder, Source
from bookbuild.links import Broken, LinkMap
from bookbuild.markdown.structure import WORD_SCHEMES
from bookbuild.model import Book, Chapter, Problem

CODES = {
    "link-page": "a link to a page or file that is not there",
    "link-anchor": "a link to a place that the page does not have",
    "link-absolute": "a link from the site's root; links inside the book are relative to the .md file",
    "link-outside": "a link to a file outside of the book's folder, which no reader of the site has",
    "link-unpublished": "a link to a file of the book's folder that the site leaves out",
    "link-scheme": "an address that no reader can follow: an unknown protocol, or none",
    "link-empty": "a link without a target",
}
_SCHEMES = ("http", "https", "mailto", "tel", "ftp", "doi")


class _Target:
    """What the links of a book may lead to."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.pages = {chapter.path: chapter for chapter in book.chapters}

    @cached_property
    def paths(self) -> list[str]:
        """Every page of the book's folder, in nav or not."""
        return sorted(p.relative_to(self.book.docs_dir).as_posix() for p in self.book.docs_dir.rglob("*.md"))

    def path_of(self, source: Source, path: str) -> str:
        """Where a link's path leads, below docs_dir; a folder is its index.md where it has one."""
        here = posixpath.dirname(source.chapter.path)
        target = posixpath.normpath(posixpath.join(here, path)) if path else source.chapter.path
        index = posixpath.normpath(posixpath.join(target, "index.md"))
        return index if (self.book.docs_dir / index).is_file() else target

    def is_published(self, target: str) -> bool:
        """Whether a file of docs_dir is on the site; pages stand there as HTML."""
        stem, suffix = posixpath.splitext(target)
        if suffix != ".md":
            return (self.book.site_dir / target).is_file()
        name = posixpath.basename(stem)
        as_index = posixpath.dirname(stem) if name in ("index", "README") else stem
        forms = (f"{stem}.html", posixpath.join(as_index, "index.html"))
        return any((self.book.site_dir / form).is_file() for form in forms)

    def near_page(self, source: Source, target: str) -> str:
        here = posixpath.dirname(source.chapter.path)
        same_name = [p for p in self.paths if posixpath.basename(p) == posixpath.basename(target)]
        near = same_name if len(same_name) == 1 else get_close_matches(target, self.paths, n=1, cutoff=0.6)
        return f"did you mean {posixpath.relpath(near[0], here or '.')}?" if near else ""


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    target, links = _Target(book), LinkMap(book)
    for source in sources:
        broken = broken_in(links, source.chapter, "a", "href")
        told = set()
        for line, href, is_raw in hrefs(source):
            for problem in _judge(target, source, line, href, is_raw):
                told.add(unquote(href))
                yield problem
        left = {href: why for href, why in broken.items() if href not in told}
        yield from _made(target, source, left, told)


def broken_in(links: LinkMap, chapter: Chapter, tag: str, key: str) -> dict[str, Broken]:
    """Addresses on the rendered page that lead nowhere, decoded."""
    found = {}
    for element in chapter.tree.iter(tag):
        href = element.get(key) or ""
        target = links.resolve(chapter, href) if href else None
        if isinstance(target, Broken) and not _is_off_nav(links.book, chapter, href):
            found[unquote(href)] = target
    return found


def _is_off_nav(book: Book, chapter: Chapter, href: str) -> bool:
    """Whether a page is meant that the site has and nav has not."""
    try:
        path = urlsplit(urljoin("/" + chapter.url.removeprefix("./"), href)).path
    except ValueError:
        return False
    page = unquote(path).lstrip("/") + "index.html"
    return page not in {f"{c.url.removeprefix('./')}index.html" for c in book.chapters} and (
        (book.site_dir / page).is_file()
    )


def hrefs(source: Source) -> Iterator[tuple[int, str, bool]]:
    """(line, target as written, whether in raw HTML) of every link of a page."""
    for token in source.inlines():
        find = source.finder(token)
        children = token.children or []
        for place, child in enumerate(children):
            if child.type == "link_open":
                href = str(child.attrs.get("href", ""))
                yield find(href, f"[{children[place + 1].content}"), href, False
            elif child.type == "html_inline":
                yield from _html_hrefs(child, find)
    for token in source.tokens:
        if token.type == "html_block":
            yield from _html_hrefs(token, source.finder(token))


def _html_hrefs(token: Token, find: Finder) -> Iterator[tuple[int, str, bool]]:
    if "<a" not in token.content.lower():
        return
    for element in trees.parse_fragment(token.content).iter("a"):
        if href := element.get("href"):
            yield find(href), href, True


def _judge(target: _Target, source: Source, line: int, href: str, is_raw: bool) -> Iterator[Problem]:
    try:
        parts = urlsplit(href)
    except ValueError:  # link-address, told when the page was rendered
        return
    path = unquote(parts.path)
    if parts.scheme in WORD_SCHEMES:
        return
    if parts.scheme or parts.netloc:
        yield from _elsewhere(source, line, href, parts)
    elif not path and not parts.fragment:
        yield source.problem(line, "link-empty", "the link has no target")
    elif path.startswith("/"):
        here = posixpath.dirname(source.chapter.path)
        there = (target.book.docs_dir / path.lstrip("/")).exists()
        hint = posixpath.relpath(path.lstrip("/"), here or ".") if there else "relative to this file"
        yield source.problem(line, "link-absolute", f"'{path}' starts at the site's root", f"write {hint}")
    elif not is_raw:  # MkDocs leaves raw HTML alone: there the address is judged as the site has it, by _made
        yield from _inside(target, source, line, path, parts.fragment)


def _elsewhere(source: Source, line: int, href: str, parts: SplitResult) -> Iterator[Problem]:
    text = f"'{href}' cannot be followed"
    if not parts.scheme:
        yield source.problem(line, "link-scheme", text, f"write https:{href}")
    elif parts.scheme not in _SCHEMES:
        near = get_close_matches(parts.scheme, _SCHEMES, n=1, cutoff=0.7)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(_SCHEMES)}"
        yield source.problem(line, "link-scheme", text, hint)
    elif parts.scheme in ("http", "https", "ftp") and not parts.hostname:
        yield source.problem(line, "link-scheme", text, "it names no host")


def _inside(target: _Target, source: Source, line: int, path: str, fragment: str) -> Iterator[Problem]:
    place = target.path_of(source, path)
    if place.startswith("../") or place == "..":
        hint = (
            "a tool is shown by a `script` fence" if "tools/" in place else "link to its address on the web"
        )
        yield source.problem(line, "link-outside", f"'{path}' lies outside of the book", hint)
    elif place in target.pages:
        yield from _anchor(target, source, line, target.pages[place], unquote(fragment))
    elif not (target.book.docs_dir / place).is_file():
        hint = target.near_page(source, place)
        if path.startswith("www."):
            hint = f"did you mean https://{path}?"
        yield source.problem(line, "link-page", f"'{path}' is not there", hint)
    elif not target.is_published(place):
        hint = "exclude_docs in the configuration leaves it out"
        yield source.problem(line, "link-unpublished", f"'{path}' is not on the site", hint)


def _anchor(target: _Target, source: Source, line: int, page: Chapter, wanted: str) -> Iterator[Problem]:
    if not wanted or wanted in page.ids:
        return
    where = "this page" if page is source.chapter else page.path
    hint = _near_anchor(target, source, page, wanted)
    yield source.problem(line, "link-anchor", f"no '#{wanted}' on {where}", hint and f"did you mean {hint}?")


def _near_anchor(target: _Target, source: Source, page: Chapter, wanted: str) -> str:
    """The same anchor on the one other page that has it, else the most similar one of this page."""
    others = [chapter.path for chapter in target.pages.values() if wanted in chapter.ids]
    if len(others) == 1:
        here = posixpath.dirname(source.chapter.path)
        return f"{posixpath.relpath(others[0], here or '.')}#{wanted}"
    readable = sorted(i for i in page.ids if not i.startswith(("__", "fn:", "fnref:")))
    near = get_close_matches(wanted.lower(), readable, n=1, cutoff=0.5)
    return f"#{near[0]}" if near else ""


def _made(target: _Target, source: Source, broken: dict[str, Broken], told: set[str]) -> Iterator[Problem]:
    """Addresses that lead nowhere on the site though no Markdown link says so: in raw HTML, in captions, in snippets."""
    fragments = {href.partition("#")[2] for href in told}
    names = {posixpath.basename(href.partition("#")[0]) for href in told}
    for href, why in broken.items():
        path, _, fragment = href.partition("#")
        of_note = fragment.startswith("fnref:")  # that is footnote-unused
        if of_note or (fragment and fragment in fragments) or (path and posixpath.basename(path) in names):
            continue
        line = _line_with(source, href, f"#{fragment}" if fragment else path)
        if why.why.startswith("no anchor"):
            hint = why.suggestion and f"did you mean #{why.suggestion}?"
            yield source.problem(line, "link-anchor", why.why, hint)
            continue
        place = target.path_of(source, path)
        hint = target.near_page(source, place)
        if (target.book.docs_dir / place).is_file():
            hint = "raw HTML keeps its address as it is; write a Markdown link"
        yield source.problem(line, "link-page", f"'{path}' is not there on the site", hint)


def _line_with(source: Source, *forms: str) -> int:
    for form in forms:
        for number, line in enumerate(source.lines, 1):
            if form in line or form in unquote(line):
                return number
    return 0

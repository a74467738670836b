"""Books made from HTML fragments, without MkDocs: for tests of what happens after rendering."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.common import Place
from bookbuild.links import Inside, LinkMap
from bookbuild.model import Book, Chapter, Heading, Part


def fragment_book(
    root: Path,
    parts: Mapping[str, Mapping[str, str]],
    front: Mapping[str, str] | None = None,
    **settings,
) -> Book:
    """A book of {part title: {source path: HTML}}; files of the site lie in root/'site'."""
    (root / "site").mkdir(parents=True, exist_ok=True)
    number = 0
    made = []
    for title, pages in parts.items():
        chapters = []
        for path, html in pages.items():
            number += 1
            chapters.append(fragment_chapter(root, path, html, number))
        made.append(Part(len(made) + 1, title, tuple(chapters)))
    return Book(
        title=settings.pop("title", "A book of fragments"),
        root=root,
        docs_dir=root / "docs",
        site_dir=root / "site",
        front=tuple(fragment_chapter(root, path, html, None) for path, html in (front or {}).items()),
        parts=tuple(made),
        **settings,
    )


def fragment_chapter(root: Path, path: str, html: str, number: int | None) -> Chapter:
    tree = trees.parse_fragment(html)
    headings = tuple(
        Heading(int(e.tag[1]), e.get("id", ""), trees.text_of(e))
        for e in tree.iter()
        if e.tag in ("h1", "h2", "h3", "h4")
    )
    stem = PurePosixPath(path).with_suffix("").as_posix()
    return Chapter(
        key=stem.replace("/", "-"),
        path=path,
        url=f"{stem}/",
        title=next((h.text for h in headings if h.level == 1), stem),
        number=number,
        tree=tree,
        headings=headings,
        ids=frozenset(e.get("id") for e in tree.iter() if e.get("id")),
        meta=MappingProxyType({}),
        source=root / "docs" / path,
    )


def place_in(book: Book, warnings: list[str] | None = None) -> Place:
    """The place of the book's first chapter, addressed as the PDF does."""
    chapter = next(iter(book.chapters))

    def inside(target: Inside) -> str:
        return f"#{target.chapter.key}--{target.anchor}" if target.anchor else f"#{target.chapter.key}"

    def warn(code: str, text: str) -> None:
        (warnings if warnings is not None else []).append(f"{code} {text}")

    return Place(chapter, LinkMap(book), inside, lambda path: f"/site/{path}", warn)


def rewritten(tmp_path: Path, html: str, *rewrites, warnings: list[str] | None = None) -> Element:
    """The tree of a one-chapter book after these rewrites."""
    book = fragment_book(tmp_path, {"": {"one.md": html}})
    place = place_in(book, warnings)
    tree = place.chapter.tree
    for rewrite in rewrites:
        rewrite(tree, place)
    return tree

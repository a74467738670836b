"""The book as a PDF: chapters adapted for paper, pages around them, one run of WeasyPrint."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from bookbuild import __version__
from bookbuild.adapt.common import Place, adapt, unique_id
from bookbuild.adapt.print import PRINT
from bookbuild.cover import art_svg
from bookbuild.dates import build_date
from bookbuild.links import Inside, LinkMap
from bookbuild.model import Book, BookError, Chapter, Problem
from bookbuild.printing import engine, pages
from bookbuild.printing.fonts import MONO, SANS, SERIF, font_faces

TYPE_AREA = 152.0  # mm, as print.css has it
PAPERS = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}  # mm
Progress = Callable[[int, int], None]


def write_pdf(
    book: Book,
    out: Path,
    *,
    paper: str = "a4",
    chapters: set[str] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the PDF of a book, or of the chapters with these source paths, to `out`, whole or not at all.

    Returns {"pages": int, "links": int (links inside the book and out of it), "warnings": list[Problem],
    "page_map": PageMap (label and first block of each page)}.
    Raises BookError for a paper or chapters that do not exist and where WeasyPrint cannot run.
    """
    if paper not in PAPERS:
        raise BookError(f"paper '{paper}' is not known ({', '.join(PAPERS)})")
    chosen = [c for c in book.chapters if chapters is None or c.path in chapters]
    if not chosen:
        raise BookError("no chapter to print")
    engine.load()
    warnings: list[Problem] = []
    date = build_date()
    whole = chapters is None
    sections = _sections(book, chosen, whole, paper, date, warnings)
    html = pages.document(book, date, style_sheet(paper), sections)
    estimate = max(1, sum(len(" ".join(c.tree.itertext()).split()) for c in chosen) // 330 + 2 * len(chosen))
    done = 0

    def page_done(number: int) -> None:
        nonlocal done
        done = max(done, number)
        if progress:
            progress(done, max(done, estimate))

    def say(message: str) -> None:
        message = message.replace(f"{book.site_dir.as_uri()}/", "")
        warnings.append(Problem(out.name, 0, "pdf-weasyprint", message, severity="warning"))

    roots = (book.site_dir, *(face.upright.parent for face in (SERIF, SANS, MONO)))
    data, count, places = engine.render_pdf(html, roots=roots, say=say, page_done=page_done)
    temporary = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, out)
    finally:
        temporary.unlink(missing_ok=True)
    if progress:
        progress(count, count)
    links = sum(1 for e in html.iter("a") if e.get("href"))
    return {"pages": count, "links": links, "warnings": warnings, "page_map": places}


def _sections(
    book: Book, chosen: list[Chapter], whole: bool, paper: str, date: datetime, warnings: list[Problem]
) -> list[Element]:
    """Everything between <body> and </body>, in order."""
    sections = []
    if whole:
        width, height = PAPERS[paper]
        drawing = b64encode(art_svg(width, height).encode()).decode("ascii")
        built_with = (
            f"bookbuild {__version__}, MkDocs {version('mkdocs')} and WeasyPrint {version('weasyprint')}"
        )
        sections.append(pages.cover(book, f"data:image/svg+xml;base64,{drawing}", date))
        sections.append(pages.imprint(book, date, built_with))
        sections.append(pages.contents(book, chosen))
        if (labels := pages.list_of_labels(chosen)) is not None:
            sections.append(labels)
    links = LinkMap(book)
    for chapter in (c for c in book.front if c in chosen):
        tree = _adapted(book, chapter, chosen, links, warnings)
        sections.append(pages.chapter_section(chapter, tree, level=1))
    start = len(sections)
    for part in book.parts:
        own = [c for c in part.chapters if c in chosen]
        titled = whole and bool(part.title)
        if own and titled:
            sections.append(pages.part_page(part, own))
        for chapter in own:
            tree = _adapted(book, chapter, chosen, links, warnings)
            sections.append(pages.chapter_section(chapter, tree, level=2 if titled else 1))
    if start < len(sections):
        first = sections[start]
        first.set("class", f"{first.get('class')} start")
    return sections


def _adapted(
    book: Book, chapter: Chapter, chosen: list[Chapter], links: LinkMap, warnings: list[Problem]
) -> Element:
    def inside(target: Inside) -> str:
        if target.chapter in chosen:
            return "#" + unique_id(target.chapter, target.anchor)
        there = f"{target.chapter.url}#{target.anchor}" if target.anchor else target.chapter.url
        return urljoin(book.url, there) if book.url else ""

    def asset(path: str) -> str:
        return (book.site_dir / path).as_uri()

    def warn(code: str, text: str) -> None:
        file = os.path.relpath(chapter.source, book.root)
        warnings.append(Problem(file, 0, code, text, severity="warning"))

    return adapt(Place(chapter, links, inside, asset, warn), PRINT)


def style_sheet(paper: str) -> str:
    """Fonts, paper size and print.css as one sheet."""
    width, height = PAPERS[paper]
    sheet = files("bookbuild").joinpath("styles", "print.css").read_text(encoding="utf-8")
    inner = 0.45 * (width - TYPE_AREA)
    outer = width - TYPE_AREA - inner
    size = f"""
@page {{ size: {width}mm {height}mm }}
@page :left {{ margin-left: {outer:.2f}mm; margin-right: {inner:.2f}mm }}
@page :right {{ margin-left: {inner:.2f}mm; margin-right: {outer:.2f}mm }}
@page cover {{ margin: 0 }}
@page turned {{ size: {height}mm {width}mm }}
.cover {{ height: {height}mm }}
"""
    return f"{font_faces()}\n{sheet}\n{size}"

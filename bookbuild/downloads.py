"""The files to take away, PDF and EPUB: which chapters they hold, and writing them side by side."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

from bookbuild.aside import Aside, is_possible
from bookbuild.model import Book, BookError, Problem
from bookbuild.pagemap import PageMap, keep, kept
from bookbuild.progress import Progress, Stage, counted


@dataclass
class Downloads:
    made: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    failed: bool = False


def write_downloads(
    names: list[str],
    book: Book,
    folder: Path,
    progress: Progress,
    *,
    globs: tuple[str, ...] = (),
    paper: str = "a4",
    maths: str = "mathml",
    jobs: int = 1,
) -> Downloads:
    """Write `names` ("pdf", "epub") into a folder; one that fails says so and does not keep the other back.

    With more than one job the EPUB is made in a process of its own while the PDF is laid out; it then waits for
    the PDF's pages (see pagemap.py), so that its bytes are the same however many jobs there are.
    """
    result = Downloads()
    if not names:
        return result
    chapters = chosen(book, globs)
    stem = f"{book.slug}-excerpt" if globs else book.slug
    folder.mkdir(parents=True, exist_ok=True)
    writers = {"pdf": partial(_pdf, paper=paper), "epub": partial(_epub, maths=maths)}
    work = {name: partial(writers[name], book, folder / f"{stem}.{name}", chapters) for name in names}
    counted_pages = paper == "a4" and not globs
    places = kept(book) if names == ["epub"] and counted_pages else None
    beside = len(names) > 1 and jobs > 1 and is_possible()
    aside = Aside(lambda take: work["epub"](None, page_map=take)) if beside else None
    try:
        for name in names:
            doing = work[name]
            if name == "epub":
                doing = aside or partial(doing, page_map=lambda places=places: places)
            if (facts := _write(name, doing, progress, result)) is not None:
                result.made.append(folder / f"{stem}.{name}")
            if name == "pdf":
                places = facts["page_map"] if facts and counted_pages else None
                if places:
                    keep(book, places)
                if aside:
                    aside.tell(places)
    finally:
        if aside:
            aside.stop()
    return result


def _write(
    name: str, work: Aside | Callable[[Stage], dict[str, Any]], progress: Progress, result: Downloads
) -> dict[str, Any] | None:
    """What the work says of itself; None where it failed, which is then said."""
    try:
        with progress.stage(name) as stage:
            facts = work.result() if isinstance(work, Aside) else work(stage)
            noun = "page" if "pages" in facts else "document"
            stage.note = counted(facts.get("pages") or facts["files"], noun)
            if isinstance(work, Aside):  # the time shown is what was left to wait for
                stage.note += " beside the PDF"
    except BookError as error:
        print(error, file=sys.stderr)
        result.failed = True
        return None
    result.problems += facts["warnings"]
    return facts


def _pdf(
    book: Book, out: Path, chapters: set[str] | None, stage: Stage | None, *, paper: str
) -> dict[str, Any]:
    from bookbuild.pdf import write_pdf

    return write_pdf(book, out, paper=paper, chapters=chapters, progress=stage)


def _epub(
    book: Book,
    out: Path,
    chapters: set[str] | None,
    stage: Stage | None,
    *,
    maths: str,
    page_map: Callable[[], PageMap | None],
) -> dict[str, Any]:
    from bookbuild.epub import write_epub

    return write_epub(book, out, chapters=chapters, progress=stage, maths=maths, page_map=page_map)


def chosen(book: Book, globs: tuple[str, ...]) -> set[str] | None:
    """The source paths of the chapters that globs name; None, without globs, is the whole book.

    A glob may also be a folder (`compute`) or leave out `.md`. Raises BookError for one that names nothing.
    """
    if not globs:
        return None
    paths = [chapter.path for chapter in book.chapters]
    found: set[str] = set()
    for glob in globs:
        forms = (glob, f"{glob.rstrip('/')}/*", f"{glob}.md")
        matching = {path for path in paths if any(fnmatch(path, form) for form in forms)}
        if not matching:
            raise BookError(f"--chapter {glob}: no chapter has such a path; there are {', '.join(paths)}")
        found |= matching
    return found

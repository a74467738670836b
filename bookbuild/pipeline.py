"""The stages of a build and their order; each stage's module is imported when its turn comes."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from bookbuild.model import Book, BookError, Problem
from bookbuild.progress import Progress
from bookbuild.staging import MARKER, refuse_foreign, staged

PANGO = (
    "pdf-pango WeasyPrint cannot load Pango; install it (Debian, Ubuntu: apt-get install libpango-1.0-0 "
    "libpangoft2-1.0-0 libharfbuzz-subset0; Fedora: dnf install pango; Alpine: apk add pango; macOS: brew install pango)"
)


@dataclass(frozen=True)
class Options:
    config: Path
    output: Path
    chapters: tuple[str, ...] = ()  # globs over source paths; none: the whole book
    paper: str = "a4"
    jobs: int = 1
    strict: bool | None = (
        None  # None: errors fail. True: warnings too, and nothing is written. False: none fails
    )
    format: str = "text"


def run(command: str, options: Options, progress: Progress) -> int:
    """Do what one command of build.py asks; the exit code."""
    if command == "clean":
        return clean(options)
    if command == "serve":
        return serve(options, progress)
    return build(command, options, progress)


def build(command: str, options: Options, progress: Progress) -> int:
    """Run `all`, `site`, `pdf`, `epub` or `check`; the exit code is 1 where a problem or a missing output says so."""
    with _site_folder(command, options) as site:
        _prepare(options, progress)
        book = _render(options, site, progress)
        problems = _check(book, options, progress)
        if options.strict and problems:
            raise BookError(f"strict: {_count(problems)}, nothing written")
        outputs = [name for name in ("pdf", "epub") if command in ("all", name)]
        folder = (site if command == "all" else options.output.resolve()) / "downloads"
        made, failed = _downloads(outputs, book, folder, options, progress)
        if command in ("all", "site") and (publish := _module("publish")):
            publish.publish(book, made)
    if command != "check":
        _tell(command, made, options, progress)
    errors = options.strict is not False and any(p.severity == "error" for p in problems)
    return 1 if failed or errors else 0


@contextmanager
def _site_folder(command: str, options: Options) -> Iterator[Path]:
    """Where the site is rendered: beside its place when it is wanted, otherwise somewhere for a moment."""
    if command in ("all", "site"):
        with staged(options.output) as site:
            yield site
        return
    if command != "check":
        refuse_foreign(options.output)
    with tempfile.TemporaryDirectory(prefix="bookbuild-") as folder:
        yield Path(folder, "site")


def _prepare(options: Options, progress: Progress) -> None:
    """Make what the pages use and no one commits or draws by hand: web fonts, figures that are out of date."""
    from bookbuild.fonts import fonts_folder, make_fonts
    from bookbuild.outline import docs_dir, read_config

    read_config(options.config)  # a YAML error is named here, with its line
    if folder := fonts_folder(options.config):
        with progress.stage("fonts") as stage:
            stage.note = f"{len(make_fonts(folder))} files"
    docs = docs_dir(options.config)
    if (figures := _module("figures")) and (docs / "figures").is_dir():
        with progress.stage("figures"):
            figures.draw_all(options.config.parent, docs)


def _render(options: Options, site: Path, progress: Progress) -> Book:
    with progress.stage("site") as stage:
        from bookbuild.render import render

        book = render(options.config, site, stage)
        stage.note = f"{len(list(book.chapters))} pages"
    return book


def _check(book: Book, options: Options, progress: Progress) -> list[Problem]:
    """Print what rendering and the checks found, once each and in the files' order."""
    with progress.stage("check") as stage:
        check = _module("check")
        found = check.check(book) if check and hasattr(check, "check") else []
        problems = sorted({*book.problems, *found})
        stage.note = _count(problems)
    report = _module("check.report")
    if report:
        print(report.report(problems, options.format), end="")
    else:
        for problem in problems:
            print(problem)
    return problems


def _downloads(
    names: list[str], book: Book, folder: Path, options: Options, progress: Progress
) -> tuple[list[Path], bool]:
    """Write PDF and EPUB; one that fails says so in a line and does not keep the other from being made."""
    chapters = _chosen(book, options.chapters)
    stem = f"{book.slug}-excerpt" if chapters else book.slug
    writers: dict[str, Callable] = {"pdf": _write_pdf, "epub": _write_epub}
    made, failed = [], False
    for name in names:
        out = folder / f"{stem}.{name}"
        out.parent.mkdir(parents=True, exist_ok=True)
        try:
            with progress.stage(name) as stage:
                writers[name](book, out, chapters, options, stage)
            made.append(out)
        except BookError as error:
            print(error, file=sys.stderr)
            failed = True
    return made, failed


def _write_pdf(book: Book, out: Path, chapters: set[str] | None, options: Options, stage) -> None:
    try:
        pdf = import_module("bookbuild.pdf")
    except OSError as error:  # WeasyPrint says so when a shared library is not there
        raise BookError(f"{PANGO}: {error}".splitlines()[0]) from error
    facts = pdf.write_pdf(book, out, paper=options.paper, chapters=chapters, progress=stage)
    if facts and "pages" in facts:
        stage.note = f"{facts['pages']} pages"


def _write_epub(book: Book, out: Path, chapters: set[str] | None, options: Options, stage) -> None:
    import_module("bookbuild.epub").write_epub(book, out, chapters=chapters, progress=stage)


def _chosen(book: Book, globs: tuple[str, ...]) -> set[str] | None:
    """The paths of the chapters that --chapter names; None is the whole book."""
    if not globs:
        return None
    chosen: set[str] = set()
    paths = [chapter.path for chapter in book.chapters]
    for glob in globs:
        names = (glob, f"{glob.rstrip('/')}/*", f"{glob}.md")  # a folder and a bare name are meant too
        found = {path for path in paths if any(fnmatch(path, name) for name in names)}
        if not found:
            raise BookError(f"--chapter {glob}: no chapter matches; there are {', '.join(paths)}")
        chosen |= found
    return chosen


def _tell(command: str, made: list[Path], options: Options, progress: Progress) -> None:
    output = options.output
    if command in ("all", "site"):
        progress.say(f"wrote {output / 'index.html'}")
    for path in made:
        place = output / "downloads" / path.name
        progress.say(f"wrote {place} ({place.stat().st_size / 1e6:.1f} MB)")
    if command in ("pdf", "epub"):
        (output / MARKER).touch()


def serve(options: Options, progress: Progress) -> int:
    """Live preview until Ctrl-C."""
    _prepare(options, progress)
    from bookbuild.render import serve as preview

    preview(options.config)
    return 0


def clean(options: Options) -> int:
    """Remove what builds leave: the output folder and the cache; .venv stays."""
    refuse_foreign(options.output)
    for folder in (options.output, cache_dir(options)):
        if folder.is_dir():
            shutil.rmtree(folder)
    return 0


def forget(options: Options) -> None:
    """Drop every cached result, so that the next build computes all of them."""
    shutil.rmtree(cache_dir(options), ignore_errors=True)


def cache_dir(options: Options) -> Path:
    return options.config.parent / ".cache"


def _count(problems: list[Problem]) -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    counted = [f"{n} {word}{'s' * (n != 1)}" for n, word in ((errors, "error"), (warnings, "warning")) if n]
    return ", ".join(counted) or "no problems"


def _module(name: str) -> ModuleType | None:
    return import_module(f"bookbuild.{name}") if find_spec(f"bookbuild.{name}") else None

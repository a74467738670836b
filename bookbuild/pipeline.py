"""The stages of a build and their order; each stage's module is imported when its turn comes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bookbuild import unchanged
from bookbuild.downloads import Downloads, write_downloads
from bookbuild.model import Book, BookError, Problem
from bookbuild.progress import Progress, counted, size
from bookbuild.staging import MARKER, refuse_foreign, staged


@dataclass(frozen=True)
class Options:
    config: Path
    output: Path
    chapters: tuple[str, ...] = ()  # globs over source paths; none: the whole book
    paper: str = "a4"
    maths: str = "mathml"  # of the EPUB, or "images"
    jobs: int = 1
    strict: bool | None = None  # None: errors fail; True: warnings too, nothing written; False: none
    format: str = "text"


def run(command: str, options: Options, progress: Progress) -> int:
    """Do what one command of build.py asks; the exit code."""
    if command == "clean":
        return clean(options)
    if command == "serve":
        return serve(options, progress)
    if command == "check" and (known := _recalled(options, progress)) is not None:
        return _judge(known, options)
    return build(command, options, progress)


def build(command: str, options: Options, progress: Progress) -> int:
    """Run `all`, `site`, `pdf`, `epub` or `check`; the exit code is 1 where a problem or a missing output says so."""
    with _site_folder(command, options) as site:
        _prepare(options, progress)
        state = unchanged.state(options.config, options.output) if command == "check" else ""
        book = _render(options, site, progress)
        found = _check(book, progress)
        if command == "check":
            unchanged.remember(options.config, state, found)
            return _judge(found, options)
        if options.format != "json":  # which is one document, at the end
            _show(found, options)
        names = [name for name in ("pdf", "epub") if command in ("all", name)]
        files = Downloads() if options.strict and found else _download(names, book, site, options, progress)
        problems = [*found, *files.problems]
        _show(problems if options.format == "json" else files.problems, options)
        if options.strict and problems:
            raise BookError(f"strict: {_count(problems)}, nothing written")
        if command in ("all", "site"):
            _publish(book, files.made)
        elif names:
            _deliver(files.made, options.output, whole=not options.chapters)
    _tell(command, files.made, options, progress)
    return 1 if files.failed or _fails(problems, options) else 0


def _recalled(options: Options, progress: Progress) -> list[Problem] | None:
    """What the last check found, where nothing has changed since."""
    known = unchanged.recalled(options.config, unchanged.state(options.config, options.output))
    if known is not None:
        with progress.stage("check") as stage:
            stage.note = f"{_count(known)}; nothing has changed since the last check"
    return known


def _judge(problems: list[Problem], options: Options) -> int:
    """Print what a check found; the exit code."""
    if problems or options.format != "text":
        _show(problems, options)
    if options.strict and problems:
        raise BookError(f"strict: {_count(problems)}, nothing written")
    return 1 if _fails(problems, options) else 0


def _fails(problems: list[Problem], options: Options) -> bool:
    return options.strict is not False and any(p.severity == "error" for p in problems)


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
            stage.note = counted(len(make_fonts(folder)), "file")
    docs = docs_dir(options.config)
    if (docs / "figures").is_dir():
        from bookbuild.figures import draw_all

        with progress.stage("figures", "figures") as stage:
            draw_all(options.config.parent, docs, stage)


def _render(options: Options, site: Path, progress: Progress) -> Book:
    with progress.stage("site") as stage:
        from bookbuild.render import render

        book = render(options.config, site, stage)
        stage.note = counted(len(list(book.chapters)), "page")
    return book


def _check(book: Book, progress: Progress) -> list[Problem]:
    """What rendering and the checks found, once each and in the files' order."""
    with progress.stage("check") as stage:
        from bookbuild.check import check

        problems = check(book)
        stage.note = _count(problems)
    return problems


def _show(problems: list[Problem], options: Options) -> None:
    from bookbuild.check.report import report

    print(report(problems, options.format), end="", flush=True)


def _download(names: list[str], book: Book, site: Path, options: Options, progress: Progress) -> Downloads:
    chosen = {"globs": options.chapters, "paper": options.paper, "maths": options.maths, "jobs": options.jobs}
    return write_downloads(names, book, site / "downloads", progress, **chosen)


def _publish(book: Book, made: list[Path]) -> None:
    from bookbuild.publish import publish

    publish(book, made)


def _deliver(made: list[Path], output: Path, *, whole: bool) -> None:
    """Put single downloads where a whole build would, each in one step; a site there learns of whole books."""
    folder = output / "downloads"
    folder.mkdir(parents=True, exist_ok=True)
    (output / MARKER).touch()
    for path in made:
        partial = folder / f".{path.name}.{os.getpid()}"
        shutil.copyfile(path, partial)
        os.replace(partial, folder / path.name)
    if whole:
        from bookbuild.publish import renew

        renew(output, [folder / path.name for path in made])


def _tell(command: str, made: list[Path], options: Options, progress: Progress) -> None:
    output = options.output
    if command in ("all", "site"):
        progress.say(f"wrote {output / 'index.html'}")
    for path in made:
        place = output / "downloads" / path.name
        progress.say(f"wrote {place} ({size(place)})")


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
    named = [counted(n, word) for n, word in ((errors, "error"), (len(problems) - errors, "warning")) if n]
    return ", ".join(named) or "no problems"

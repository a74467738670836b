"""Render the book with MkDocs, one time and in process, and collect it. The only module that imports mkdocs."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from jinja2 import TemplateNotFound
from mkdocs.commands import build as mkdocs_build
from mkdocs.commands import serve as mkdocs_serve
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, MkDocsException
from mkdocs.plugins import BasePlugin
from mkdocs.structure.pages import Page

from bookbuild import trees
from bookbuild.logs import LogCollector
from bookbuild.model import Book, BookError, Chapter, Heading, Part, Problem
from bookbuild.outline import Entry, read_outline

Progress = Callable[[int, int], None]  # pages done, pages in all


class _Collector(BasePlugin):
    """Keeps each page's HTML fragment as the theme gets it."""

    def __init__(self, progress: Progress | None) -> None:
        self.pages: dict[str, Page] = {}
        self.fragments: dict[str, str] = {}
        self.total = 0
        self.progress = progress

    def on_files(self, files, *, config):
        self.total = len(files.documentation_pages())
        return files

    def on_page_content(self, html, *, page, config, files):
        self.fragments[page.file.src_uri] = html
        self.pages[page.file.src_uri] = page
        if self.progress:
            self.progress(len(self.fragments), self.total)
        return html


@contextmanager
def _listening(config_file: Path) -> Iterator[LogCollector]:
    """Collect what MkDocs logs instead of letting it reach the terminal; a stop of its own is a BookError."""
    logs = LogCollector(config_file)
    logger = logging.getLogger("mkdocs")
    logger.addHandler(logs)
    propagate, logger.propagate = logger.propagate, False
    try:
        yield logs
    except (MkDocsException, Abort) as error:
        said = "\n".join(str(p) for p in logs.problems if p.severity == "error")
        raise BookError(said or f"{Path(config_file).name}: config {' '.join(str(error).split())}") from error
    except BookError:
        raise
    except Exception as error:  # of a theme, a plugin or an extension, any kind there is
        raise BookError(str(_failure(error, logs, Path(config_file)))) from error
    finally:
        logger.removeHandler(logs)
        logger.propagate = propagate


def _failure(error: Exception, logs: LogCollector, config_file: Path) -> Problem:
    """What stopped MkDocs, at the page that it was at, with the place in the code for those who mend that."""
    said = next((p for p in reversed(logs.problems) if p.code == "page-failed"), None)
    place = said or Problem(config_file.name, 0, "page-failed", "")
    words = (
        f"no template {error.name}" if isinstance(error, TemplateNotFound) else " ".join(str(error).split())
    )
    frame = traceback.extract_tb(error.__traceback__)[-1]
    hint = f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"
    return replace(place, text=words or "the page cannot be rendered", hint=hint)


def load(config_file: Path, site_dir: Path | None = None) -> MkDocsConfig:
    """MkDocs' own view of a configuration; a wrong one is a BookError, a line for each wrong setting."""
    with _listening(config_file):
        return load_config(str(config_file), site_dir=site_dir and str(site_dir))


def render(config_file: Path, site_dir: Path | None = None, progress: Progress | None = None) -> Book:
    """Build the site into `site_dir` and return the book that was rendered on the way."""
    collector = _Collector(progress)
    with _listening(config_file) as logs:
        config = load_config(str(config_file), site_dir=site_dir and str(site_dir))
        config.strict = False  # problems are counted by build.py, all of them, not only the first
        config.plugins["bookbuild-collector"] = collector
        try:
            config.plugins.on_startup(command="build", dirty=False)
            mkdocs_build.build(config)
        finally:
            config.plugins.on_shutdown()
    return _book(config, collector, tuple(logs.problems))


def serve(config_file: Path) -> None:
    """Live preview of the site at dev_addr until interrupted; MkDocs says on standard error what it does."""
    logger = logging.getLogger("mkdocs")
    logger.addHandler(logging.StreamHandler())
    logger.setLevel(logging.INFO)
    tools = Path(config_file).parent / "tools"
    mkdocs_serve.serve(str(config_file), livereload=True, watch=[str(tools)] if tools.is_dir() else [])


def _book(config: MkDocsConfig, collector: _Collector, problems: tuple[Problem, ...]) -> Book:
    outline = read_outline(Path(config.config_file_path))

    def chapters(entries: tuple[Entry, ...]) -> tuple[Chapter, ...]:
        known = [e for e in entries if e.path in collector.pages]  # MkDocs has named the missing ones
        return tuple(_chapter(e, collector.pages[e.path], collector.fragments[e.path]) for e in known)

    parts = []
    for section in outline.sections:
        if found := chapters(section.entries):
            parts.append(Part(len(parts) + 1, section.title, found))
    return Book(
        title=config.site_name,
        root=Path(config.config_file_path).resolve().parent,
        docs_dir=Path(config.docs_dir).resolve(),
        site_dir=Path(config.site_dir).resolve(),
        front=chapters(outline.front),
        parts=tuple(parts),
        description=config.site_description or "",
        author=config.site_author or "",
        copyright=config.copyright or "",
        language=str(getattr(config.theme, "locale", None) or config.theme.get("language", "en")),
        url=config.site_url or "",
        extra=MappingProxyType(dict(config.extra)),
        problems=problems,
    )


def _chapter(entry: Entry, page: Page, fragment: str) -> Chapter:
    tree = trees.parse_fragment(fragment)
    headings = tuple(
        Heading(int(e.tag[1]), e.get("id", ""), heading_text(e))
        for e in tree.iter()
        if isinstance(e.tag, str) and len(e.tag) == 2 and e.tag[0] == "h" and e.tag[1] in "123456"
    )
    ids = {v for e in tree.iter() for k in ("id", "name") if (v := e.get(k)) and (k == "id" or e.tag == "a")}
    return Chapter(
        key=PurePosixPath(entry.path).with_suffix("").as_posix().replace("/", ".").replace(" ", "-"),
        path=entry.path,
        url=page.url,
        title=_title(entry, page, headings),
        number=entry.number,
        tree=tree,
        headings=headings,
        ids=frozenset(ids),
        meta=MappingProxyType(dict(page.meta)),
        source=Path(page.file.abs_src_path).resolve(),
    )


def _title(entry: Entry, page: Page, headings: tuple[Heading, ...]) -> str:
    """MkDocs' choice; where that is the page's first heading, its words without the markup MkDocs leaves in."""
    named = entry.title or page.meta.get("title")
    if not named and headings and headings[0].level == 1:
        return headings[0].text
    return str(named or page.title or "")


def heading_text(element) -> str:
    """A heading's words without its permalink and footnote marks."""
    words = []

    def walk(node) -> None:
        if node.text:
            words.append(node.text)
        for child in node:
            marks = trees.classes(child)
            if "headerlink" not in marks and not (
                child.tag == "sup" and (child.get("id") or "").startswith("fnref")
            ):
                walk(child)
            if child.tail:
                words.append(child.tail)

    walk(element)
    return " ".join("".join(words).split())

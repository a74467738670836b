"""Which page of which book is being rendered, whatever site tool (MkDocs, Zensical) runs Python-Markdown.

Extensions ask at run time: both tools attach what they know to the `Markdown` object only after the
extensions were loaded.
"""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import markdown

from bookbuild.markdown.index import Index, read_index
from bookbuild.model import Problem
from bookbuild.outline import docs_dir

log = logging.getLogger("mkdocs.bookbuild")  # below MkDocs' own logger, so that --strict counts it


@dataclass(frozen=True)
class Context:
    config_file: Path  # mkdocs.yml
    page: str  # source path below docs_dir, '/' separated

    @property
    def root(self) -> Path:
        return self.config_file.parent

    @property
    def docs_dir(self) -> Path:
        return docs_dir(self.config_file)

    @property
    def data_dir(self) -> Path:
        return self.docs_dir / "data"

    @property
    def tools_dir(self) -> Path:
        return self.root / "tools"

    @cached_property
    def index(self) -> Index:
        """The book's figures and tables, as the sources are while this page is rendered."""
        return read_index(self.config_file)

    @property
    def source(self) -> Path:
        return self.docs_dir / self.page

    def line_of(self, snippet: str) -> int:
        """1-based line of the page's source where `snippet` first stands, 0 if nowhere."""
        text = self.source.read_text(encoding="utf-8")
        position = text.find(snippet)
        return text.count("\n", 0, position) + 1 if position >= 0 else 0

    def line_of_block(self, block: str) -> int:
        """Like `line_of` for lines that may stand indented or quoted in the source."""
        wanted = [line.strip() for line in block.strip().splitlines()]
        lines = [
            line.lstrip(" \t>").rstrip() for line in self.source.read_text(encoding="utf-8").splitlines()
        ]
        for start in range(len(lines) - len(wanted) + 1) if wanted else ():
            if lines[start] == wanted[0] and lines[start : start + len(wanted)] == wanted:
                return start + 1
        return 0

    def report(
        self, code: str, text: str, *, near: str = "", line: int = 0, hint: str = "", severity: str = "error"
    ) -> None:
        """Log a problem: build.py collects the record's `problem`, MkDocs prints and counts the line.

        Its line is `line`, or where `near` first stands in the page's source.
        """
        file = self.source.relative_to(self.root) if self.source.is_relative_to(self.root) else self.source
        problem = Problem(
            file.as_posix(), line or (self.line_of(near) if near else 0), code, text, hint, severity
        )
        log.warning("%s", problem, extra={"problem": problem})


def set_context(md: markdown.Markdown, context: Context) -> None:
    """For tests and tools that run Python-Markdown themselves."""
    md.bookbuild_context = context  # type: ignore[attr-defined]


def get_context(md: markdown.Markdown) -> Context | None:
    """The page at hand, or None where `md` runs outside of a book."""
    if found := getattr(md, "bookbuild_context", None):
        return found
    if "relpath" in md.treeprocessors:  # MkDocs
        here = md.treeprocessors["relpath"]
        found = Context(Path(here.config.config_file_path).resolve(), here.file.src_uri)
    elif "rendering_context" in md.preprocessors:  # Zensical
        here = md.preprocessors["rendering_context"]
        found = Context(_zensical_config(Path(here.config["root_dir"])), here.page.path)
    else:
        return None
    set_context(md, found)  # both tools make a `Markdown` for each page
    return found


def _zensical_config(root: Path) -> Path:
    """Zensical tells the configuration's folder only; its name is on the command line, or one that it looks for."""
    words = [word for argument in sys.argv for word in argument.split("=", 1)]
    given = [Path(name).name for option, name in pairwise(words) if option in ("-f", "--config-file")]
    files = [root / name for name in (*given, "mkdocs.yml", "mkdocs.yaml")]
    return next((file for file in files if file.is_file()), files[-2]).resolve()

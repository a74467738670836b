"""A base book of two clean pages, into which each test plants one fault."""

from __future__ import annotations

import pytest

from bookbuild.check import check
from bookbuild.render import render

CONFIG = """\
site_name: Base
docs_dir: docs
theme: {name: material, font: false}
plugins: []
markdown_extensions:
  - bookbuild.markdown
  - admonition
  - attr_list
  - footnotes
  - tables
  - toc:
      permalink: true
      slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}
  - pymdownx.details
  - pymdownx.snippets: {base_path: [docs], check_paths: true}
  - pymdownx.superfences
  - pymdownx.tabbed: {alternate_style: true}
nav:
  - One: one.md
  - Two: folder/two.md
"""
ONE = "# One\n\nTo [two](folder/two.md#größe--co).\n\n## Again\n\n## Again\n"
TWO = "# Two\n\n## Größe & Co\n\nText.\n"
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>'


class Planted:
    """Write pages and data, then ask what the checks say."""

    def __init__(self, root):
        self.root = root
        self.write("mkdocs.yml", CONFIG)
        self.write("docs/one.md", ONE)
        self.write("docs/folder/two.md", TWO)
        self.write("docs/figures/plot.svg", PICTURE)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def problems(self) -> list:
        """What the checks find, and what our Markdown extensions said while the pages were rendered."""
        book = render(self.root / "mkdocs.yml", self.root / "site")
        own = [p for p in book.problems if not p.code.startswith(("mkdocs", "nav-"))]
        return sorted({*own, *check(book)})

    def found(self) -> list[tuple[str, int, str]]:
        return [(p.file, p.line, p.code) for p in self.problems()]


@pytest.fixture
def planted(tmp_path):
    return Planted(tmp_path)

"""A base book of two clean pages, into which each test plants one fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookbuild.check import check
from bookbuild.render import render

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """\
site_name: Base
docs_dir: docs
theme: {name: null, custom_dir: theme}
plugins: []
validation:
  nav: {omitted_files: warn}
  links: {not_found: warn, anchors: warn, absolute_links: warn, unrecognized_links: warn}
exclude_docs: /data/
nav:
  - One: one.md
  - Two: folder/two.md
"""
ONE = "# One\n\nTo [two](folder/two.md#größe--co).\n\n## Again\n\n## Again\n"
TWO = "# Two\n\n## Größe & Co\n\nText.\n"
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>'


def extensions() -> str:
    """The Markdown extensions of the real book, so that the checks are held to what it is written with."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    start = text.index("markdown_extensions:")
    return text[start : text.index("\nnav:", start)] + "\n"


class Planted:
    """Write pages and data, then ask what the checks say."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("mkdocs.yml", CONFIG + extensions())
        self.write("theme/main.html", "{{ page.content }}")
        self.write("docs/one.md", ONE)
        self.write("docs/folder/two.md", TWO)
        self.write("docs/figures/plot.svg", PICTURE)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def problems(self) -> list:
        return check(render(self.root / "mkdocs.yml", self.root / "site"))

    def found(self) -> list[tuple[str, int, str]]:
        return [(p.file, p.line, p.code) for p in self.problems()]


@pytest.fixture
def planted(tmp_path):
    return Planted(tmp_path)

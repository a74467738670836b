"""A desk for one page: a tiny book in a temporary folder, its page through Markdown, and what was reported."""

from __future__ import annotations

import logging
from pathlib import Path
from xml.etree.ElementTree import Element

import markdown
import pytest
from pymdownx.slugs import slugify

from bookbuild import trees
from bookbuild.markdown.context import Context, set_context
from bookbuild.model import Problem

# what both mkdocs.yml files name
EXTENSIONS = [
    "bookbuild.markdown", "abbr", "admonition", "attr_list", "def_list", "footnotes", "md_in_html", "tables", "toc",
    "pymdownx.details", "pymdownx.highlight", "pymdownx.inlinehilite", "pymdownx.keys", "pymdownx.smartsymbols",
    "pymdownx.snippets", "pymdownx.superfences", "pymdownx.tabbed", "pymdownx.tasklist",
]  # fmt: skip
SETTINGS = {
    "toc": {"slugify": slugify(case="lower")},
    "pymdownx.highlight": {"anchor_linenums": False, "pygments_lang_class": True},
    "pymdownx.superfences": {"relaxed_headers": True},
    "pymdownx.tabbed": {"alternate_style": True},
    "pymdownx.tasklist": {"custom_checkbox": True},
}
NAV = "nav: [index.md, {Part: [page.md, other.md]}]"


class Desk:
    """`page.md` is chapter 1, `other.md` chapter 2, `index.md` front matter."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self.write("mkdocs.yml", f"site_name: Desk\ndocs_dir: docs\n{NAV}\n")
        for name in ("index", "page", "other"):
            self.write(f"docs/{name}.md", f"# {name.capitalize()}\n")

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def html(self, text: str, page: str = "page.md") -> str:
        """The page's HTML as Markdown gives it."""
        self.write(f"docs/{page}", text)
        md = markdown.Markdown(extensions=EXTENSIONS, extension_configs=SETTINGS)
        set_context(md, Context(self.root / "mkdocs.yml", page))
        return md.convert(text)

    def tree(self, text: str, page: str = "page.md") -> Element:
        """The page as a browser would parse it."""
        return trees.parse_fragment(self.html(text, page))

    def wrong(self, text: str, page: str = "page.md") -> list[str]:
        """What is reported about a page, as the lines that an author reads."""
        self.problems.clear()
        self.html(text, page)
        return [str(problem) for problem in self.problems]


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path)

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            desk.problems.append(record.problem)

    collector = Collector()
    logger = logging.getLogger("mkdocs.bookbuild")
    logger.addHandler(collector)
    propagate, logger.propagate = logger.propagate, False
    yield desk
    logger.removeHandler(collector)
    logger.propagate = propagate

"""A built site as trees: what a page says, and what a browser would load for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

import tinycss2
import tinyhtml5

from bookbuild import trees

_LOADING = {"src", "srcset", "poster", "data", "background"}
_LOADED_LINKS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest", "apple-touch-icon"}


def parse_page(file: Path) -> Element:
    return tinyhtml5.parse(file.read_text(encoding="utf-8"), namespace_html_elements=False)


def pages(site: Path) -> dict[str, Path]:
    """Every page of a site by its place below the root."""
    return {p.relative_to(site).as_posix(): p for p in sorted(site.rglob("*.html"))}


def article(file: Path) -> Element:
    return next(e for e in parse_page(file).iter("article"))


def content(element: Element) -> tuple[str, list[str]]:
    """(all words, all ids) of a page's text, without the buttons and marks that a theme hangs on it."""
    ids: list[str] = []
    words: list[str] = []

    def walk(node: Element) -> None:
        names = trees.classes(node)
        if names & {"headerlink", "md-content__button", "md-source-file", "md-tags"} or node.tag in ("script", "style"):
            return
        if node.get("id") not in (None, "", "__skip"):  # Zensical's target of "skip to content"
            ids.append(node.get("id", ""))
        words.append(node.text or "")
        for child in node:
            walk(child)
            words.append(child.tail or "")

    walk(element)
    return " ".join("".join(words).split()), ids


def loads(file: Path) -> Iterator[str]:
    """Every address that a browser fetches by itself for an HTML or CSS file."""
    if file.suffix == ".css":
        yield from css_loads(file.read_text(encoding="utf-8"))
        return
    for element in parse_page(file).iter():
        _, tag = trees.split_tag(element.tag)
        rel = set((element.get("rel") or "").lower().split())
        for key, value in element.items():
            _, name = trees.split_tag(key)
            if name in _LOADING and tag != "a":
                yield from (part.split()[0] for part in value.split(",") if part.strip()) if name == "srcset" else [value]
            elif name == "href" and ((tag == "link" and rel & _LOADED_LINKS) or tag in ("use", "image")):
                yield value
            elif name == "style":
                yield from css_loads(value)
        if tag == "style":
            yield from css_loads(element.text or "")


def css_loads(css: str) -> Iterator[str]:
    """url(…) and @import of a style sheet or a style attribute."""

    def walk(tokens, after_import: bool = False) -> Iterator[str]:
        for token in tokens or ():
            if token.type == "url" or (token.type == "string" and after_import):
                yield token.value
            elif token.type == "function" and token.lower_name == "url":
                yield from (a.value for a in token.arguments if a.type == "string")
            for part in ("prelude", "content", "arguments"):
                if isinstance(inner := getattr(token, part, None), list):
                    importing = token.type == "at-rule" and token.lower_at_keyword == "import" and part == "prelude"
                    yield from walk(inner, importing)

    yield from walk(tinycss2.parse_component_value_list(css, skip_comments=True))
    sheet = tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)
    yield from walk([rule for rule in sheet if rule.type == "at-rule" and rule.lower_at_keyword == "import"])


def copy_book(root: Path, target: Path) -> Path:
    """A copy of what the site tools read, so that a build leaves no trace in the work tree; its mkdocs.yml."""
    for name in ("book", "tools"):
        if (root / name).is_dir():
            shutil.copytree(root / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "fonts"))
    shutil.copytree(root / "bookbuild" / "theme", target / "bookbuild" / "theme")
    shutil.copy(root / "mkdocs.yml", target / "mkdocs.yml")
    return target / "mkdocs.yml"


def run_tool(*command: str, cwd: Path, **variables: str) -> str:
    """Run a program of this environment; what it printed. A failure shows it."""
    program = Path(sys.executable).with_name(command[0])
    env = {k: v for k, v in os.environ.items() if k not in ("SITE_URL", "REPO_URL", "EDIT_URI")}
    env |= {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": "", **variables}
    done = subprocess.run(
        [str(program), *command[1:]], cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed
    return printed

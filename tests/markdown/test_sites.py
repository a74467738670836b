"""Plain MkDocs and Zensical build the mini book strictly and say the same on every page."""

from __future__ import annotations

import shutil
import subprocess
import zipfile

import pytest
from conftest import MINIBOOK
from sitetree import article, content, pages, run_tool

from bookbuild import trees

TOOLS = {"mkdocs": ("mkdocs", "build", "--strict"), "zensical": ("zensical", "build", "--strict")}


def copy(target) -> None:
    shutil.copytree(MINIBOOK.parent, target, ignore=shutil.ignore_patterns("site", ".cache", "__pycache__"))


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """The site that each tool makes of a copy of the mini book; a warning would fail the build."""
    found = {}
    for name, command in TOOLS.items():
        root = tmp_path_factory.mktemp(name) / "book"
        copy(root)
        run_tool(*command, cwd=root)
        found[name] = root / "site"
    return found


def test_same_pages(sites, minibook):
    assert list(pages(sites["mkdocs"])) == list(pages(sites["zensical"]))
    assert len(pages(sites["mkdocs"])) == len(list(minibook.chapters)) + 1  # and 404.html


def test_same_words_and_anchors(sites):
    for place, page in pages(sites["mkdocs"]).items():
        assert content(article(page)) == content(article(pages(sites["zensical"])[place])), place


def test_same_links_pictures_and_formulas(sites):
    chapters = {place: page for place, page in pages(sites["mkdocs"]).items() if place != "404.html"}  # the theme's own
    for place, page in chapters.items():
        assert parts(article(page)) == parts(article(pages(sites["zensical"])[place])), place


def test_same_as_build_py(sites, minibook):
    """The tree that PDF, EPUB and the checks get says what the plain site says."""
    for chapter in minibook.chapters:
        page = sites["mkdocs"] / chapter.url.removeprefix("./") / "index.html"
        ours, theirs = content(chapter.tree), content(article(page))
        assert ours == theirs, chapter.path


def parts(element) -> list[tuple[str, ...]]:
    """What a page leads to and shows, in order."""
    found = []
    for e in element.iter():
        space, tag = trees.split_tag(e.tag)
        if tag == "a" and e.get("href") is not None and "md-content__button" not in trees.classes(e):
            found.append(("a", e.get("href", "")))
        elif tag in ("img", "table", "figure", "input", "ul", "ol", "li", "pre"):
            found.append((tag, e.get("src") or "", e.get("alt") or ""))
        elif space == trees.MATHML and tag == "math":
            found.append((tag, e.get("alttext") or ""))
        elif space == trees.SVG and tag in ("svg", "text", "path", "rect"):
            found.append((tag, e.get("aria-label") or trees.text_of(e), e.get("d") or "", e.get("fill") or ""))
    return found


def test_the_pages_hold_every_construct(minibook):
    """Otherwise sites could agree about too little."""
    marks = {mark for c in minibook.chapters for e in c.tree.iter() for mark in trees.classes(e)}
    tags = {trees.split_tag(e.tag)[1] for c in minibook.chapters for e in c.tree.iter()}
    assert {
        "admonition", "tabbed-set", "highlight", "data-table", "script", "diagram", "maths", "footnote", "keys",
        "task-list", "tool-file", "sources", "notes", "legend", "label", "worked",
    } <= marks  # fmt: skip
    assert {"details", "abbr", "dl", "figure", "figcaption", "math", "svg", "blockquote", "table", "kbd"} <= tags


@pytest.mark.parametrize("tool", TOOLS)
def test_a_problem_of_ours_is_told_with_its_line(tool, tmp_path):
    """MkDocs counts it as a warning and fails when strict; Zensical prints it."""
    copy(tmp_path / "book")
    page = tmp_path / "book" / "docs" / "second" / "tables.md"
    page.write_text(page.read_text(encoding="utf-8").replace("data: chips", "data: chops", 1), encoding="utf-8")
    with pytest.raises((AssertionError, subprocess.CalledProcessError)) as caught:
        printed = run_tool(*TOOLS[tool], cwd=tmp_path / "book")
        assert tool == "zensical", printed  # it knows nothing of our warnings and goes on
        raise AssertionError(printed)
    assert "docs/second/tables.md:6: table-spec no data file chops.yml (did you mean chips?)" in str(caught.value)


def test_values_and_sums_are_words(sites, minibook_epub):
    """Filled in from the data by both site tools, and in the EPUB; a number and its unit do not part."""
    wanted = ["3.35\u00a0TB/s", "26\u202f800\u00a0Gbps", "700\u00a0W", "8 × 700\u00a0W = 5.6\u00a0kW", "2 × 70e9\u00a0B = 140\u00a0GB", "3,350\u00a0GB/s"]
    for site in sites.values():
        spans = article(site / "second" / "maths" / "index.html").iter("span")
        assert [s.text for s in spans if s.get("class") in ("value", "sum")] == wanted
    with zipfile.ZipFile(minibook_epub) as book:
        texts = [book.read(name).decode() for name in book.namelist() if name.endswith(".xhtml")]
    for words in wanted:  # which keeps a factor with its sign besides
        assert any(words in text.replace("8\u00a0×", "8 ×").replace("2\u00a0×", "2 ×") for text in texts), words
    assert not any("val:" in text or "sum:" in text for text in texts)

"""Zensical reads the same mkdocs.yml and gives the same pages, anchors and text."""

from __future__ import annotations

import pytest
from sitetree import article, content, copy_book, loads, pages, parse_page, run_tool
from support import ROOT


@pytest.fixture(scope="module")
def zensical(tmp_path_factory):
    """The site of `zensical build --strict` on a copy of the tree."""
    root = tmp_path_factory.mktemp("zensical")
    copy_book(ROOT, root)
    run_tool("zensical", "build", "--strict", cwd=root, REPO_URL="https://gitlab.com/o/r")
    return root / "site"


def test_same_pages(zensical, realbook):
    assert list(pages(zensical)) == list(pages(realbook.site_dir))


def test_same_text_and_anchors(zensical, realbook):
    """Word for word and id for id, in the same order, on every page."""
    ours, theirs = pages(realbook.site_dir), pages(zensical)
    for place in ours:
        assert content(article(theirs[place])) == content(article(ours[place])), place


def test_same_theme(zensical):
    """Our overrides are at work: the style sheets, the edit link, no mark for the theme's star counter, our 404 page."""
    page = parse_page(zensical / "conventions" / "index.html")
    assert {"../assets/site.css", "../assets/constructs.css", "../assets/site.js"} <= set(
        loads(zensical / "conventions" / "index.html")
    )
    edits = [e.get("href") for e in page.iter("a") if "edit" in (e.get("rel") or "").split()]
    assert edits == ["https://gitlab.com/o/r/-/edit/main/book/conventions.md"]
    assert not [e for e in page.iter() if e.get("data-md-component") == "source"]
    assert "does not exist" in content(article(zensical / "404.html"))[0]


def test_files_for_authors_stay_out_of_the_site(zensical):
    """Data and the programs that draw figures are no pages and are not published by the site tools."""
    assert not (zensical / "data").exists()
    assert not list(zensical.glob("figures/*.py"))

"""Zensical reads the same mkdocs.yml and gives the same pages, anchors and text."""

from __future__ import annotations

import os

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


def test_a_changed_figure_of_the_data_reaches_the_page_of_an_earlier_build(tmp_path):
    """Zensical keeps pages whose Markdown is the same; `watch` tells it of the files from which they are made."""
    copy_book(ROOT, tmp_path)
    run_tool("zensical", "build", cwd=tmp_path)
    data, page = tmp_path / "book/data/hbm_generations.yml", tmp_path / "site/compute/index.html"
    text = data.read_text(encoding="utf-8")
    assert "pin_rate_gbps: 6.4\n" in text and "6.5432" not in page.read_text(encoding="utf-8")
    data.write_text(text.replace("pin_rate_gbps: 6.4\n", "pin_rate_gbps: 6.5432\n"), encoding="utf-8")
    os.utime(data, (data.stat().st_atime, data.stat().st_mtime + 2))  # it looks at whole seconds
    run_tool("zensical", "build", cwd=tmp_path)
    assert "6.5432" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["mkdocs.yaml", "other.yml"])
def test_the_configuration_may_have_another_name(tmp_path, name):
    """Numbers of figures come from its nav, not from that of a mkdocs.yml beside it."""
    (tmp_path / "docs").mkdir()
    config = "site_name: S\ndocs_dir: docs\nmarkdown_extensions: [bookbuild.markdown, attr_list]\nnav: [%s]\n"
    (tmp_path / name).write_text(config % "index.md, P: [a.md, b.md]")
    if name == "other.yml":
        (tmp_path / "mkdocs.yml").write_text(config % "index.md, P: [b.md, a.md]")
    for page in ("index", "a", "b"):
        (tmp_path / f"docs/{page}.md").write_text(f'# {page}\n\n![x](x.svg "Picture."){{#fig-{page}}}\n')
    (tmp_path / "docs/x.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    run_tool("zensical", "build", *(["-f", name] if name == "other.yml" else []), cwd=tmp_path)
    assert "Figure 2.1. Picture." in content(article(tmp_path / "site/b/index.html"))[0]

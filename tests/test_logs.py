"""MkDocs' own words become problems with the file and line where an author mends them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookbuild.render import render

CONFIG = """\
site_name: Tiny
theme: {name: mkdocs}
validation:
  nav: {omitted_files: warn, not_found: warn}
  links: {not_found: warn, anchors: warn, absolute_links: warn, unrecognized_links: warn}
nav:
  - index.md
"""


@pytest.fixture
def problems(tmp_path: Path):
    def problems(page: str, config: str = CONFIG, **more: str) -> list[tuple]:
        (tmp_path / "docs").mkdir()
        (tmp_path / "mkdocs.yml").write_text(config)
        for name, text in {"index.md": page, **more}.items():
            (tmp_path / "docs" / name).write_text(text)
        book = render(tmp_path / "mkdocs.yml", tmp_path / "site")
        return [(p.file, p.line, p.code, p.severity) for p in book.problems]

    return problems


def test_a_page_without_a_fault_has_none(problems):
    assert problems("# Home\n\n[up](#home)\n") == []


@pytest.mark.parametrize(
    ("link", "severity"),
    [("gone.md", "error"), ("#gone", "error"), ("/absolute.md", "warning"), ("gone/", "warning")],
)
def test_a_link_is_told_at_its_line(problems, link, severity):
    assert problems(f"# Home\n\n\nSee [it]({link}).\n") == [("docs/index.md", 4, "mkdocs-link", severity)]


def test_a_page_that_nav_names_in_vain_is_told_at_nav_s_line(problems):
    assert problems("# Home\n", CONFIG + "  - gone.md\n") == [("mkdocs.yml", 8, "nav-missing", "error")]


def test_pages_outside_of_nav_are_told_one_by_one(problems):
    found = problems("# Home\n", **{"a b.md": "# A\n", "c.md": "# C\n"})
    assert found == [(f"docs/{name}.md", 0, "nav-omitted", "warning") for name in ("a b", "c")]


def test_a_setting_is_told_at_its_line(problems):
    assert problems("# Home\n", CONFIG + "surplus: 1\n") == [("mkdocs.yml", 8, "config", "warning")]

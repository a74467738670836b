"""DAISY Ace over the books' EPUBs: no violation of any impact."""

from __future__ import annotations

import zipfile

import pytest
from acetools import violations
from fragmentbook import fragment_book
from oddbook import DOTS, site_with, write

from bookbuild.epub import write_epub


@pytest.mark.parametrize("which", ["realbook_epub", "minibook_epub"])
def test_ace_finds_no_violation(which, request, tmp_path):
    assert violations(request.getfixturevalue(which), tmp_path) == []


def test_ace_finds_no_violation_where_the_pages_of_the_pdf_are_marked(minibook, minibook_pdf, tmp_path):
    write_epub(minibook, tmp_path / "book.epub", page_map=lambda: minibook_pdf[1]["page_map"])
    assert violations(tmp_path / "book.epub", tmp_path) == []


def test_ace_finds_a_picture_without_alternative_text(tmp_path):
    """Planted into a good file: the checker runs, and what it says reaches the test above."""
    site_with(tmp_path, {"p.png": DOTS})
    good, bad = tmp_path / "good.epub", tmp_path / "bad.epub"
    write(fragment_book(tmp_path, {"P": {"one.md": '<h1>X</h1><p><img src="../p.png" alt="Dots"></p>'}}), good)
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(bad, "w") as target:
        for info in source.infolist():
            target.writestr(info, source.read(info).replace(b' alt="Dots"', b""))
    (tmp_path / "of-good").mkdir()
    assert violations(good, tmp_path / "of-good") == []
    [line] = violations(bad, tmp_path)
    assert line.startswith("one.xhtml: critical image-alt")

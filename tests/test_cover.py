"""The cover, drawn from code."""

from __future__ import annotations

import io

import pytest
from fragmentbook import fragment_book
from PIL import Image

from bookbuild import trees
from bookbuild.cover import GROUND, INK, cover_png, cover_shapes, cover_svg, line_width
from bookbuild.printing.fonts import SANS
from bookbuild.printing.pages import title_words


def book(tmp_path, title="A title, with a subtitle"):
    return fragment_book(tmp_path, {"P": {"a.md": "<h1>A</h1>"}}, title=title, author="A. Uthor")


def test_it_is_a_picture_of_the_size_that_shops_ask_for(tmp_path):
    picture = Image.open(io.BytesIO(cover_png(book(tmp_path))))
    assert picture.size == (1600, 2560)
    ground = tuple(int(GROUND[i : i + 2], 16) for i in (1, 3, 5))
    assert picture.convert("RGB").getpixel((5, 5)) == ground


def test_the_same_book_has_the_same_cover(tmp_path):
    assert cover_png(book(tmp_path), 320, 512) == cover_png(book(tmp_path), 320, 512)


def test_the_svg_is_well_formed_and_has_no_text_that_needs_a_font(tmp_path):
    svg = trees.parse_xml(cover_svg(book(tmp_path)))
    names = {trees.split_tag(e.tag)[1] for e in svg.iter()}
    assert names == {"svg", "path"}


@pytest.mark.parametrize(
    "title", ["Short", "A much longer title of a book that needs several lines, and a subtitle"]
)
def test_words_stay_on_the_cover(tmp_path, title):
    letters = [s for s in cover_shapes(book(tmp_path, title), 1600, 2560) if s.fill == INK]
    points = [p for shape in letters for _, own in shape.path for p in own]
    assert len(letters) >= 2
    assert all(0.05 * 1600 <= x <= 0.95 * 1600 and 0.03 * 2560 <= y <= 0.97 * 2560 for x, y in points)


def test_a_line_is_as_wide_as_its_letters():
    """IBM Plex Sans' figures are 600 units of 1,000 wide."""
    assert line_width("12345", SANS, {"wght": 400}, 100) == pytest.approx(300)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Title, the book", ("Title", "the book")),
        ("Title: more", ("Title", "more")),
        ("Title", ("Title", "")),
    ],
)
def test_a_name_is_cut_into_title_and_subtitle(tmp_path, name, words):
    assert title_words(book(tmp_path, name)) == words

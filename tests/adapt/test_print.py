"""Boxes, tabs, tasks, pictures, formulas and links on paper."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace

import pytest
from fragmentbook import fragment_book, place_in, rewritten
from PIL import Image

from bookbuild import trees
from bookbuild.adapt.common import adapt
from bookbuild.adapt.figures import pictures
from bookbuild.adapt.mathpics import formulas
from bookbuild.adapt.print import PRINT, admonitions, site_only, tabs, task_lists

SVG = f"{{{trees.SVG}}}svg"
TABS = """<div class="tabbed-set tabbed-alternate"><input checked id="t1" name="t" type="radio"><input id="t2"
name="t" type="radio"><div class="tabbed-labels"><label for="t1">Linux</label><label for="t2"><code>mac</code> OS</label>
</div><div class="tabbed-content"><div class="tabbed-block"><p>apt</p></div><div class="tabbed-block"><p>brew</p></div>
</div></div>"""


def test_an_admonition_carries_a_drawn_icon_with_a_name(tmp_path):
    html = '<div class="admonition warning"><p class="admonition-title">Mind</p><p>Text</p></div>'
    icon = rewritten(tmp_path, html, admonitions).find(f".//p/{SVG}")
    assert icon.findtext(f"{{{trees.SVG}}}title") == "Warning"
    assert icon.find(f"{{{trees.SVG}}}path").get("stroke") not in (None, "none")
    assert icon.tail == "Mind"


def test_an_admonition_without_title_still_has_its_icon(tmp_path):
    tree = rewritten(tmp_path, '<div class="admonition tip"><p>Text</p></div>', admonitions)
    assert tree.find(f".//{SVG}") is not None


def test_details_are_open_and_titled(tmp_path):
    tree = rewritten(
        tmp_path, "<details class='note'><summary>Why</summary><p>So.</p></details>", admonitions
    )
    assert tree.find(".//details") is None
    assert [trees.text_of(p) for p in tree.iter("p")] == ["NoteWhy", "So."]  # the icon's name, then the title


def test_every_tab_is_shown_under_its_label(tmp_path):
    tree = rewritten(tmp_path, TABS, tabs, site_only)
    assert [trees.text_of(p) for p in tree.iter("p")] == ["Linux", "apt", "mac OS", "brew"]
    assert tree.find(".//input") is None


def test_tasks_are_ticked_or_not(tmp_path):
    html = (
        '<ul class="task-list"><li class="task-list-item"><label class="task-list-control"><input type="checkbox" '
        'disabled checked><span class="task-list-indicator"></span></label> Done</li><li class="task-list-item">'
        '<input type="checkbox" disabled> Open</li></ul>'
    )
    tree = rewritten(tmp_path, html, task_lists)
    assert [trees.text_of(e) for e in tree.iter("li")] == ["☑ Done", "☐ Open"]


def test_a_formula_becomes_a_picture_with_its_tex_as_alt(tmp_path):
    html = r'<p>So <math alttext="\frac{a}{b}"><mfrac><mi>a</mi><mi>b</mi></mfrac></math>.</p>'
    [image] = rewritten(tmp_path, html, formulas).iter("img")
    assert image.get("alt") == r"\frac{a}{b}"
    drawn = trees.parse_xml(b64decode(image.get("src").partition(",")[2]).decode())
    rects = list(drawn.iter(f"{{{trees.SVG}}}rect"))
    assert rects, "a fraction has a bar"
    assert "vertical-align:-" in image.get("style"), "its denominator hangs below the line"
    assert image.tail == "."


def test_a_formula_that_cannot_be_drawn_is_said_and_kept_as_words(tmp_path, monkeypatch):
    monkeypatch.setattr("bookbuild.adapt.mathpics._picture", lambda tex, block: 1 / 0)
    warnings: list[str] = []
    tree = rewritten(tmp_path, '<p><math alttext="x^2"></math></p>', formulas, warnings=warnings)
    assert trees.text_of(tree) == "x^2"
    assert len(warnings) == 1 and warnings[0].startswith("pdf-formula")


def test_no_picture_comes_from_the_web(tmp_path):
    warnings: list[str] = []
    html = '<p><img src="https://example.org/a.png" alt="A picture"></p>'
    tree = rewritten(tmp_path, html, pictures, warnings=warnings)
    assert tree.find(".//img") is None and trees.text_of(tree) == "A picture"
    assert len(warnings) == 1 and "https://example.org/a.png" in warnings[0]


def test_pictures_of_pixels_are_printed_at_200_dots_an_inch(tmp_path):
    """400 pixels at 200 dpi are two inches, 144 points."""
    site = tmp_path / "site"
    site.mkdir()
    for name in ("shot.png", "shot.jpg"):
        Image.new("RGB", (400, 300)).save(site / name)
        tree = rewritten(tmp_path, f'<p><img src="../{name}" alt="x"></p>', pictures)
        assert tree.find(".//img").get("style") == "width:144.0pt"


def test_the_dark_one_of_two_pictures_is_not_printed(tmp_path):
    html = '<p><img src="a.svg#only-light" alt="light"><img src="a.svg#only-dark" alt="dark"></p>'
    assert [e.get("alt") for e in rewritten(tmp_path, html, pictures).iter("img")] == ["light"]


def test_links_say_where_they_lead_and_ids_are_unique(tmp_path):
    book = fragment_book(
        tmp_path,
        {
            "P": {
                "a.md": '<h1 id="a">A</h1><p><a href="#x">1</a><a href="../b/#x">2</a><a href="https://w.org/">3</a>'
                '<a href="../gone/">4</a></p><h2 id="x">X</h2>',
                "b.md": '<h1 id="b">B</h1><h2 id="x">X</h2>',
            }
        },
    )
    tree = adapt(place_in(book), PRINT)
    links = [(e.get("href"), e.get("class")) for e in tree.iter("a")]
    assert links == [
        ("#a--x", "here section"),
        ("#b--x", "elsewhere"),
        ("https://w.org/", "outside"),
        (None, None),
    ]
    assert tree.find("h2").get("id") == "a--x"
    assert next(iter(book.chapters)).tree.find("h2").get("id") == "x", "the book itself stays as it was"


def test_a_picture_is_scaled_to_the_measure_and_to_the_page(tmp_path):
    """Type area 430 pt, height 500 pt: 860 by 430 is halved, 200 by 1,000 as well."""
    site = tmp_path / "site"
    site.mkdir()
    for name, width, height in (("wide", 860, 430), ("high", 200, 1000), ("small", 100, 50)):
        (site / f"{name}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="{height}pt"></svg>'
        )
    html = "".join(f'<figure><img src="../{n}.svg" alt="x"></figure>' for n in ("wide", "high", "small"))
    tree = rewritten(tmp_path, html, pictures)
    widths = [float(e.get("style").removeprefix("width:").removesuffix("pt")) for e in tree.iter("img")]
    assert widths == [pytest.approx(430, abs=2), pytest.approx(100), pytest.approx(100)]
    assert ["wide" in trees.classes(e) for e in tree.iter("figure")] == [True, False, False]


def test_links_to_a_section_of_the_chapter_are_told_from_links_to_a_note(tmp_path):
    html = '<h1 id="t">T</h1><p><a href="#s">1</a><a href="#n">2</a></p><h2 id="s">S</h2><p id="n">N</p>'
    tree = adapt(place_in(fragment_book(tmp_path, {"": {"one.md": html}})), PRINT)
    assert [e.get("class") for e in tree.iter("a")] == ["here section", "here"]


def test_pages_of_the_front_matter_are_named_in_roman(tmp_path):
    book = fragment_book(
        tmp_path, {"P": {"b.md": '<h1>B</h1><p><a href="../a/">A</a></p>'}}, {"a.md": "<h1>A</h1>"}
    )
    place = place_in(book)
    second = [*book.chapters][1]
    tree = adapt(replace(place, chapter=second), PRINT)
    assert tree.find(".//a").get("class") == "elsewhere roman"


def test_a_drawing_in_the_page_fits_and_has_a_title(tmp_path):
    """1,000 px are 750 pt; the type area has 431."""
    html = '<figure><svg aria-label="A loop" width="1000" height="200" viewBox="0 0 1000 200"></svg></figure>'
    tree = rewritten(tmp_path, html, pictures)
    svg = tree.find(f".//{SVG}")
    assert float(svg.get("width").removesuffix("pt")) == pytest.approx(431, abs=1)
    assert float(svg.get("height").removesuffix("pt")) == pytest.approx(86.2, abs=0.5)
    assert svg.findtext(f"{{{trees.SVG}}}title") == "A loop"
    assert "wide" in trees.classes(tree.find("figure"))


def test_the_width_that_an_author_gives_is_kept(tmp_path):
    """24 CSS pixels are 18 points."""
    tree = rewritten(tmp_path, '<p>A dot <img src="dot.png" alt="x" width="24"> in a line.</p>', pictures)
    assert tree.find(".//img").get("style") == "width:18.0pt"

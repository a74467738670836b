"""Each construct of the text as a reading system gets it."""

from __future__ import annotations

import re

from epubtools import Epub, X, classes, epub_words, local, text, words
from oddbook import MATHS, fragment_book, write, written


def test_both_tabs_stand_there_with_their_labels(tmp_path):
    """mkdocs-print-site-plugin#53"""
    html = (
        '<h1>X</h1><div class="tabbed-set tabbed-alternate" data-tabs="1:2"><input checked id="__tabbed_1_1" name="__tabbed_1" '
        'type="radio"><input id="__tabbed_1_2" name="__tabbed_1" type="radio"><div class="tabbed-labels"><label for="__tabbed_1_1">'
        'Linux</label><label for="__tabbed_1_2">macOS</label></div><div class="tabbed-content"><div class="tabbed-block"><p>apt</p>'
        '</div><div class="tabbed-block"><p>brew</p></div></div></div>'
    )
    section = written(tmp_path, html).sections("one")[0]
    assert epub_words([section])[-4:] == ["Linux", "apt", "macOS", "brew"]


def test_details_are_open_sections(tmp_path):
    section = written(
        tmp_path, "<h1>X</h1><details class='note'><summary>More</summary><p>Hidden</p></details>"
    ).sections("one")[0]
    assert epub_words([section])[-2:] == ["More", "Hidden"] and not list(section.iter(f"{X}details"))


def test_admonitions_are_asides_that_say_their_kind(tmp_path):
    """In words also: the icon has a title, as a colour would say nothing to a screen reader."""
    kinds = {"warning": "note", "tip": "doc-tip", "example": "doc-example"}
    html = "".join(
        f'<div class="admonition {k}"><p class="admonition-title">Mind</p><p>Text</p></div>' for k in kinds
    )
    asides = list(written(tmp_path, f"<h1>X</h1>{html}").sections("one")[0].iter(f"{X}aside"))
    assert [a.get("role") for a in asides] == list(kinds.values())
    assert [next(e.text for e in a.iter() if local(e) == "title").lower() for a in asides] == list(kinds)


def test_code_keeps_its_lines_and_indentation(tmp_path):
    """d2l-en#2585; also where a reader has no CSS, and where a coloured run crosses a line's end."""
    source = 'def f(x):\n    """A\n    doc."""\n\n        return x\n'
    html = source.replace('"""A\n    doc."""', '<span class="sd">"""A\n    doc."""</span>')
    pre = next(
        written(tmp_path, f"<h1>X</h1><pre><span></span><code>{html}</code></pre>")
        .sections("one")[0]
        .iter(f"{X}pre")
    )
    assert "".join(pre.itertext()) == source
    assert [e.get("class") for e in pre.iter(f"{X}span") if "line" in classes(e)] == [
        "line",
        "line in4",
        "line in4",
        "line",
        "line in8",
    ]


def test_numbers_of_lines_do_not_come_into_the_code(tmp_path):
    html = (
        '<h1>X</h1><table class="highlighttable"><tbody><tr><th colspan="2" class="filename"><span class="filename">a.txt</span></th>'
        '</tr><tr><td class="linenos"><pre>1\n2</pre></td><td class="code"><div>'
        "<pre><code>a\nb\n</code></pre></div></td></tr></tbody></table>"
    )
    section = written(tmp_path, html).sections("one")[0]
    assert not list(section.iter(f"{X}table"))
    assert epub_words([section]) == ["X", "a.txt", "a", "b"]
    assert "".join(next(section.iter(f"{X}pre")).itertext()) == "a\nb\n"


def test_annotations_of_code_are_numbered_below_it(tmp_path):
    html = '<h1>X</h1><div class="highlight"><pre><code>x <span class="c1"># (1)!</span>\n</code></pre></div><ol><li>Why</li></ol>'
    section = written(tmp_path, html).sections("one")[0]
    assert [text(e) for e in section.iter(f"{X}span") if "annotation" in classes(e)] == ["1"]
    assert [classes(e) for e in section.iter(f"{X}ol")] == [{"annotations"}]


def test_cells_carry_the_names_of_their_columns(tmp_path):
    """So that a row can be shown as a list where the table does not fit."""
    html = "<h1>X</h1><table><thead><tr><th>Part</th><th>GiB</th><th>TB/s</th></tr></thead><tbody><tr><td>A</td><td>1</td><td>2</td></tr></tbody></table>"
    cells = list(written(tmp_path, html).sections("one")[0].iter(f"{X}td"))
    assert [c.get("data-label") for c in cells] == ["Part", "GiB", "TB/s"]


def table(columns: int, cell: str, attributes: str = "") -> str:
    row = "".join(f"<td>{cell}</td>" for _ in range(columns))
    return f"<table><thead><tr>{'<th>Head</th>' * columns}</tr></thead><tbody><tr>{row}</tr><tr><td{attributes}>x</td></tr></tbody></table>"


def test_wider_tables_give_way_to_lists_on_wider_screens(tmp_path):
    """The class names the width; one whose cells span columns or rows cannot be a list, its words break instead."""
    html = table(2, "12") + table(5, "12345") + table(12, "123456") + table(3, "12", ' colspan="3"')
    marks = [
        e.get("class") for e in written(tmp_path, f"<h1>X</h1>{html}").sections("one")[0].iter(f"{X}table")
    ]
    kinds = [re.fullmatch(r"(below|break)(\d+)", mark).groups() for mark in marks]
    assert [kind for kind, _ in kinds] == ["below", "below", "below", "break"]
    two, five, twelve = (int(width) for _, width in kinds[:3])
    assert two < five < twelve


def test_a_caption_stands_first_or_last_in_its_figure(tmp_path):
    """quarto-cli#5234"""
    html = '<h1>X</h1><figure id="f"><table><tbody><tr><td>1</td></tr></tbody></table><figcaption>Table 1.</figcaption><p>Source</p></figure>'
    figure = next(written(tmp_path, html).sections("one")[0].iter(f"{X}figure"))
    assert [local(e) for e in figure] == ["div", "figcaption"]
    assert words([figure], ()) == ["1", "Table", "1.", "Source"]


def test_tasks_show_their_boxes(tmp_path):
    html = (
        '<h1>X</h1><ul class="task-list">'
        + "".join(
            f'<li class="task-list-item"><label class="task-list-control"><input type="checkbox" disabled{c}>'
            f'<span class="task-list-indicator"></span></label> {w}</li>'
            for c, w in (("", "open"), (" checked", "done"))
        )
        + "</ul>"
    )
    assert [text(li) for li in written(tmp_path, html).sections("one")[0].iter(f"{X}li")] == [
        "☐ open",
        "☑ done",
    ]


def test_inline_svg_is_kept_as_written(oddbook_epub):
    """aerkalov/ebooklib#294: names with capitals, references between its parts."""
    source = Epub(oddbook_epub).data["EPUB/svg.xhtml"].decode()
    for kept in (
        'viewBox="0 0 30 10"',
        'preserveAspectRatio="xMidYMid"',
        "<linearGradient",
        'gradientUnits="userSpaceOnUse"',
    ):
        assert kept in source
    assert (
        'id="svg--fade"' in source
        and 'fill="url(#svg--fade)"' in source
        and 'xlink:href="#svg--box"' in source
    )


def test_formulas_stay_mathml_with_their_source(oddbook_epub):
    math = next(e for e in Epub(oddbook_epub).sections("maths")[0].iter() if local(e) == "math")
    assert math.get("alttext") == "\\frac{a}{b}" and math.get("display") == "block"


def test_formulas_can_be_pictures_for_readers_without_mathml(tmp_path):
    """The picture says the formula's source; as high as the text it stands in."""
    out = tmp_path / "b.epub"
    write(fragment_book(tmp_path, {"P": {"one.md": f"<h1>X</h1>{MATHS}"}}), out, maths="images")
    book = Epub(out)
    image = next(book.sections("one")[0].iter(f"{X}img"))
    assert image.get("alt") == "\\frac{a}{b}"
    assert re.search(r"width:\s*[\d.]+em", image.get("style"))
    assert book.manifest[book.pictures("one")[0]].get("media-type") == "image/svg+xml"
    assert "MathML" not in book.metadata("schema:accessibilityFeature")

"""Tables on paper: where they stand and how numbers line up."""

from __future__ import annotations

import pytest
from fragmentbook import rewritten

from bookbuild import trees
from bookbuild.adapt.measure import PADDING, Widths, text_width
from bookbuild.adapt.tables import FULL, PROSE, TURNED, placement, tables


def table(columns: int, cell: str = "12.5", head: str = "Head", rows: int = 2) -> str:
    heads = "".join(f"<th>{head}</th>" for _ in range(columns))
    body = f"<tr>{''.join(f'<td>{cell}</td>' for _ in range(columns))}</tr>" * rows
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def of_width(total: float, columns: int = 4) -> list[Widths]:
    each = total / columns - PADDING
    return [Widths(word=each, cell=each)] * columns


@pytest.mark.parametrize(
    ("width", "marks"),
    [
        (PROSE - 1, ()),
        (PROSE + 1, ("wide",)),
        (FULL + 1, ("wide", "small")),
        (FULL + 150, ("turned",)),
        (TURNED + 1, ("turned", "small")),
        (TURNED * 2, ("turned", "small", "broken")),
    ],
)
def test_a_table_gets_no_more_than_it_needs(width, marks):
    assert placement(of_width(width)) == marks


def test_wide_columns_of_words_wrap_before_a_table_shrinks():
    assert placement([Widths(word=40, cell=2000), Widths(word=40, cell=100)]) == ()


def test_text_width_is_the_typeface_s_own():
    """IBM Plex Sans' figures are 600 units of 1,000 wide, so ten of them at 8.5 pt are 51 pt."""
    assert text_width("0123456789") == pytest.approx(51.0)


def test_a_table_in_a_box_is_never_turned(tmp_path):
    tree = rewritten(
        tmp_path, f'<div class="admonition">{table(14, "1234567.8", "Throughput")}</div>', tables
    )
    [block] = [e for e in tree.iter("div") if "table" in trees.classes(e)]
    assert not {"wide", "turned"} & trees.classes(block) and "small" in trees.classes(block)


def test_heads_say_what_they_are_heads_of(tmp_path):
    html = table(1).replace("<td>12.5</td>", "<th>Row</th>", 1)
    scopes = [e.get("scope") for e in rewritten(tmp_path, html, tables).iter("th")]
    assert scopes == ["col", "row"]


def test_decimals_are_filled_up_without_changing_what_is_read(tmp_path):
    cells = ["80", "3.35", "4.8", "n/p", "1,979"]
    html = f"<table><tbody>{''.join(f'<tr><td>{c}</td></tr>' for c in cells)}</tbody></table>"
    tree = rewritten(tmp_path, html, tables)
    fillers = [[f.text for f in td.iter("span")] for td in tree.iter("td")]
    assert fillers == [[".00"], [], ["0"], [], [".00"]]
    assert ["num" in trees.classes(td) for td in tree.iter("td")] == [True, True, True, False, True]


def test_what_is_unknown_in_a_column_of_numbers_stands_below_them(tmp_path):
    html = '<table><tbody><tr><td>3</td></tr><tr><td class="unknown">n/p</td></tr></tbody></table>'
    tree = rewritten(tmp_path, html, tables)
    assert all("num" in trees.classes(td) for td in tree.iter("td"))


def test_a_note_s_mark_does_not_move_the_number(tmp_path):
    html = '<table><tbody><tr><td>3.5</td></tr><tr><td>4<sup class="mark">a</sup></td></tr></tbody></table>'
    second = list(rewritten(tmp_path, html, tables).iter("td"))[1]
    assert [child.tag for child in second] == ["span", "sup"]
    assert (second.text, second[0].text) == ("4", ".0")

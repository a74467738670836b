"""val: and sum: links: what the page shows, and what is named with its line."""

from __future__ import annotations

import pytest

from bookbuild import trees
from bookbuild.markdown.structure import differences

CHIPS = """\
meta: {title: Chips}
derived:
  ridge_flop_per_byte: {words: peak over bandwidth, of: {p: peak_tflops, b: memory.rate_tb_per_s}, formula: p / b, digits: 3}
records:
  - id: h100
    name: H100
    peak_tflops: 989.4
    power_w: 700
    links: 18
    fp4_tflops: null
    memory: {rate_tb_per_s: 3.35, size_gb: 80, reported_mib: 81559}
    sources: [{title: A sheet, checked: "2026-12-01", fields: [peak_tflops, memory]}]
  - id: both
    power_w: 1
"""
OTHER = "records:\n  - {id: both, power_w: 2, sources: [{url: https://www.example.org/a, checked: 2026-11-30}]}\n"
SHOWN = [  # link, what a reader sees
    ("[3.35 TB/s](val:h100/memory.rate_tb_per_s)", "3.35\u00a0TB/s"),
    ("[3,350 GB/s](val:h100/memory.rate_tb_per_s)", "3,350\u00a0GB/s"),
    ("[26.8 Tbps](val:h100/memory.rate_tb_per_s)", "26.8\u00a0Tbps"),
    ("[3.4 TB/s](val:h100/memory.rate_tb_per_s)", "3.4\u00a0TB/s"),
    ("[3.35](val:h100/memory.rate_tb_per_s)", "3.35"),
    ("[0.7 kW](val:h100/power_w)", "0.7\u00a0kW"),
    ("[85.5 GB](val:h100/memory.reported_mib)", "85.5\u00a0GB"),
    ("[18](val:h100/links)", "18"),
    ("[18 links](val:h100/links)", "18\u00a0links"),
    ("[H100](val:h100/name)", "H100"),
    ("[?](val:h100/memory.rate_tb_per_s)", "3.35\u00a0TB/s"),
    ("[GB/s](val:h100/memory.rate_tb_per_s)", "3350\u00a0GB/s"),
    ("[?](val:h100/derived.ridge_flop_per_byte)", "295\u00a0FLOPs/byte"),
    ("[295.3 FLOPs per byte](val:chips/h100/derived.ridge_flop_per_byte)", "295.3\u00a0FLOPs per byte"),
    ("[2 W](val:other/both/power_w)", "2\u00a0W"),
    ("[2 × 70e9 B = 140 GB](sum:)", "2 × 70e9\u00a0B = 140\u00a0GB"),
    ("[8 × 700 W = 5.6 kW](sum:h100/power_w)", "8 × 700\u00a0W = 5.6\u00a0kW"),
    ("[989 TFLOPS / 3.35 TB/s = 295 FLOPs/B](sum:h100/peak_tflops,h100/memory.rate_tb_per_s)", None),
    ("[2 * 3 * 4 = 24](sum:)", "2 * 3 * 4 = 24"),
    ("**[3.35 TB/s](val:h100/memory.rate_tb_per_s)**", "3.35\u00a0TB/s"),
]
# link, code, what the line must say: the right value, or the name that was meant
FAULTS = [
    ("[3 W](val:h10/power_w)", "value-unknown", "did you mean h100?"),
    ("[3 W](val:h100/power_watt)", "value-unknown", "did you mean power_w?"),
    ("[3 W](val:chip/h100/power_w)", "value-unknown", "did you mean chips?"),
    ("[1 W](val:both/power_w)", "value-unknown", "chips/both or other/both"),
    ("[3 W](val:power_w)", "value-unknown", "record-id/key"),
    ("[80 GB](val:h100/memory)", "value-unknown", "no single value"),
    ("[80](val:h100/fp4_tflops)", "value-unknown", "null"),
    ("[700 GB](val:h100/power_w)", "value-unit", "it is 700 W"),
    ("[989 TOPS](val:h100/peak_tflops)", "value-unit", "it is 989.4 TFLOPS"),
    ("[700 wats](val:h100/power_w)", "value-unit", "it is 700 W"),
    ("[about 700 W](val:h100/power_w)", "value-unit", "it is 700 W"),
    ("[18 GB](val:h100/links)", "value-unit", "it is 18"),
    ("[3.36 TB/s](val:h100/memory.rate_tb_per_s)", "value-stale", "is 3.35 TB/s"),
    ("[3,300 GB/s](val:h100/memory.rate_tb_per_s)", "value-stale", "is 3,350 GB/s"),
    ("[80 GiB](val:h100/memory.size_gb)", "value-stale", "is 75 GiB"),
    ("[296](val:h100/derived.ridge_flop_per_byte)", "value-stale", "is 295"),
    ("[H200](val:h100/name)", "value-stale", "is H100"),
    ("[2 × 70e9 B = 150 GB](sum:)", "sum-wrong", "it is 140 GB"),
    ("[8 × 700 W = 5.5 kW](sum:h100/power_w)", "sum-wrong", "it is 5.6 kW"),
    ("[8 × 600 W = 4.8 kW](sum:h100/power_w)", "sum-stale", "which is 700 W (in place of 600 W?)"),
    ("[10 GB + 1 GiB = 11 GB](sum:)", "unit-mix", "binary and decimal"),
    ("[8 × 400 Gbps = 400 GB/s](sum:)", "unit-mix", "bits and bytes"),
    ("[8 × x = 9](sum:)", "sum-unread", "x"),
    ("[8 × 700 W = 5.6 kW](sum:h100/power)", "value-unknown", "did you mean power_w?"),
]


@pytest.fixture
def book(desk):
    desk.write("docs/data/chips.yml", CHIPS)
    desk.write("docs/data/other.yml", OTHER)
    return desk


@pytest.mark.parametrize(("link", "words"), SHOWN)
def test_what_a_reader_sees(book, link, words):
    """The data's value in the unit and with the digits of the words, number and unit together on one line."""
    assert book.wrong(f"# P\n\nSay {link} here.\n") == []
    span = next(e for e in book.tree(f"# P\n\nSay {link} here.\n").iter("span"))
    assert span.get("class") in ("value", "sum")
    if words:
        assert trees.text_of(span).replace(" ", " ") == words.replace("\u00a0", " ")
        assert span.text == words


@pytest.mark.parametrize(("link", "code", "says"), FAULTS)
def test_faults_are_named_with_their_line_and_what_is_right(book, link, code, says):
    [problem] = book.wrong(f"# P\n\nWords.\n\n| a |\n|---|\n| {link} |\n")
    assert problem.startswith(f"docs/page.md:7: {code} ")
    assert says in problem


def test_the_page_shows_what_the_data_say(book):
    tree = book.tree("# P\n\n[3.36 TB/s](val:h100/memory.rate_tb_per_s) and [3,000 GB/s](val:h100/memory.rate_tb_per_s)\n")
    assert [span.text for span in tree.iter("span")] == ["3.35\u00a0TB/s", "3,350\u00a0GB/s"]


def test_a_stale_value_is_a_warning_and_a_wrong_sum_an_error(book):
    book.wrong("# P\n\n[701 W](val:h100/power_w) [1 + 1 = 3](sum:)\n")
    assert [(p.code, p.severity) for p in book.problems] == [("value-stale", "warning"), ("sum-wrong", "error")]


def test_the_same_link_twice_is_two_lines(book):
    found = book.wrong("# P\n\n[701 W](val:h100/power_w)\n\n`[701 W]`\n\n[701 W](val:h100/power_w)\n")
    assert [line.split()[0] for line in found] == ["docs/page.md:3:", "docs/page.md:7:"]


def test_the_source_stands_in_the_title(book):
    tree = book.tree("# P\n\n[?](val:h100/peak_tflops) [?](val:h100/derived.ridge_flop_per_byte) [2 W](val:other/both/power_w)\n")
    assert [span.get("title") for span in tree.iter("span")] == [
        "A sheet; checked 2026-12-01",
        "peak over bandwidth; A sheet; checked 2026-12-01",
        "example.org/a; checked 2026-11-30",
    ]


def test_code_and_escaped_brackets_stay(book):
    html = book.html("# P\n\n`[3 W](val:no/no)` \\[3 W](val:no/no)\n\n```text\n[3 W](val:no/no)\n```\n")
    assert not book.problems
    assert html.count("[3 W](val:no/no)") == 3


def test_no_link_is_left_and_github_sees_the_same(book):
    """Neither side counts them as links; a link on the page's own side would be a difference."""
    text = "# P\n\n- [700 W](val:h100/power_w) and [1 + 1 = 2](sum:), [other](other.md)\n"
    tree = book.tree(text)
    assert [a.get("href") for a in tree.iter("a")] == ["other.md"]
    assert list(differences(text, tree)) == []


def test_a_table_may_ask_for_a_computed_key(book):
    fence = "```table\nlabel: tab-x\ncaption: X\ndata: chips\nwhere: {id: h100}\ncolumns: [name: Name, {key: derived.ridge_flop_per_byte, head: Ridge}]\n```\n"
    assert book.wrong(f"# P\n\n{fence}") == []
    cells = [trees.text_of(cell) for cell in book.tree(f"# P\n\n{fence}").iter("td")]
    assert any(cell.startswith("295") for cell in cells)

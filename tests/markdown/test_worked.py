"""The `worked` fence: what is given, the formulas with symbols and numbers, what comes out, and what is said about a wrong one."""

from __future__ import annotations

import pytest
from support import MINIBOOK

from bookbuild import trees

FENCE = "# Page\n\nSee [Table](#tab-read).\n\n```worked\n{}\n```\n"
SPEC = "calculator: read-time\nlabel: tab-read\ncaption: A `case`"


@pytest.fixture
def page(desk):
    """The desk with the mini book's data."""
    for path in MINIBOOK.parent.glob("docs/data/*.yml"):
        desk.write(f"docs/data/{path.name}", path.read_text(encoding="utf-8"))
    return desk


def rows(figure, body: int) -> list[list[str]]:
    """The words of one body's rows, symbols as TeX."""
    found = []
    for row in figure.findall(".//tbody")[body]:
        cells = []
        for cell in row:
            math = cell.find(f".//{{{trees.MATHML}}}math")
            cells.append(trees.text_of(cell) if math is None else math.get("alttext"))
        found.append(cells)
    return found


def formulas(figure) -> list[str]:
    return [m.get("alttext") for m in figure.iter(f"{{{trees.MATHML}}}math") if m.get("display") == "block"]


def test_inputs_results_and_formulas(page):
    figure = page.tree(FENCE.format(SPEC)).find(".//figure")
    assert trees.classes(figure) == {"table", "worked"} and figure.get("data-calculator") == "read-time"
    assert trees.text_of(figure.find("figcaption")) == "Table 1.1. A case"
    assert figure.find("figcaption/code").text == "case"
    assert rows(figure, 0) == [
        ["Parameters", "N", "70", "B parameters"],
        ["Bytes per parameter", "w", "2", "B, BF16"],
        ["Chips", "n", "1", ""],
        ["Bandwidth (Alpha 1)", "W", "3.35", "TB/s"],
    ]
    assert rows(figure, 1) == [["Time", "t", "41.8", "ms"], ["Alone?", "a", "one chip", ""]]
    size, time, alone = formulas(figure)
    assert r"S &= N\,w \\ &= 70\times 10^{9} \cdot 2\,\text{B} \\ &= 140\,\text{GB}" in size
    assert r"\frac{140\,\text{GB}}{1 \cdot 3.35\,\text{TB/s}} \\ &\approx 41.8\,\text{ms}" in time
    assert r"a &= 1 \quad \left(n = 1\right) \\ &= 1 \quad \text{(one chip)}" in alone
    assert page.problems == []


def test_note_and_sources(page):
    figure = page.tree(FENCE.format(SPEC)).find(".//figure")
    assert trees.text_of(figure.find("p[@class='note']")) == "Nothing else is read meanwhile."
    source = figure.find("p[@class='source']")
    assert trees.text_of(source) == "Sources: the sum itself; A page about it. Checked 2026-01-02."
    assert source.find("a").get("href") == "https://example.org/reading"


def test_references_and_anchor(page):
    tree = page.tree(FENCE.format(SPEC))
    assert tree.find(".//table").get("id") == "tab-read"
    assert trees.text_of(tree.find(".//p/a")) == "Table 1.1"


def test_other_inputs(page):
    """Numbers in the input's unit, ids of presets, words of a choice."""
    tree = page.tree(FENCE.format(SPEC + "\ninputs: {params: 8, width: FP8, chips: 2, rate: alpha-2}"))
    assert rows(tree, 0)[3] == ["Bandwidth (Alpha 2)", "W", "8", "TB/s"]
    assert rows(tree, 1) == [
        ["Time", "t", "0.5", "ms"],
        ["Alone?", "a", "several chips", ""],
    ]  # 8 GB / 16 TB/s


def test_a_preset_goes_to_every_input_that_takes_it(page):
    """A conditional shows what the case takes, and why; what it does not take is not given."""
    tree = page.tree(FENCE.format(SPEC + "\npresets: [beta-1]\ninputs: {chips: 2}"))
    assert rows(tree, 0)[3] == ["Bandwidth (Beta 1)", "W", "5.3", "TB/s"]
    assert r"a &= 0 \quad \left(n \ne 1\right)" in formulas(tree)[2]


def test_only_some_outputs_and_what_they_need(page):
    tree = page.tree(FENCE.format(SPEC + "\noutputs: [alone]"))
    assert [row[0] for row in rows(tree, 0)] == ["Chips"]
    assert len(formulas(tree)) == 1


def test_without_label_and_caption_the_question_stands_there(page):
    tree = page.tree("# Page\n\n```worked\ncalculator: read-time\n```\n")
    words = trees.text_of(tree.find(".//figcaption"))
    assert words == "How long does a chip take to read all weights once?"
    assert page.problems == []


def test_the_datum_that_changes_changes_the_example(page):
    path = "docs/data/chips.yml"
    text = (page.root / path).read_text(encoding="utf-8")
    page.write(path, text.replace("bandwidth_tb_per_s: 3.35", "bandwidth_tb_per_s: 4.00"))
    assert rows(page.tree(FENCE.format(SPEC)), 1)[0] == ["Time", "t", "35", "ms"]  # 140 / 4


WRONG = [
    ("calculator: read-tim\nlabel: tab-read", 6, "worked-spec no calculator 'read-tim' (did you mean read-time?)"),
    ("label: tab-read", 5, "worked-spec a worked example names its calculator"),
    (SPEC + "\ninput: {chips: 2}", 9, "worked-spec unknown setting 'input' (did you mean inputs?)"),
    (SPEC + "\ninputs: {chip: 2}", 9, "worked-spec 'read-time' has no input 'chip' (did you mean chips?)"),
    (SPEC + "\ninputs: {chips: 2000}", 9, "worked-spec chips is 2000, outside of 1 to 1000"),
    (SPEC + "\ninputs: {rate: alhpa-1}", 9, "worked-spec 'alhpa-1' is no value of rate (did you mean alpha-1?)"),
    (SPEC + "\ninputs: {width: 3}", 9, "worked-spec width is 3 (it is one of 2, 1)"),
    (SPEC + "\npresets: [alpha]", 9, "worked-spec no input of 'read-time' has a preset 'alpha' (did you mean alpha-"),
    (SPEC + "\npresets: alpha-1", 9, "worked-spec presets is a list of names"),
    (SPEC + "\ninputs: [2]", 9, "worked-spec inputs is a mapping"),
    (SPEC + "\noutputs: [tim]", 9, "worked-spec 'read-time' has no output 'tim' (there are time, alone)"),
    ("calculator: read-time\nlabel: fig-read", 7, "worked-spec label 'fig-read' does not begin with tab-"),
    ("calculator: [read-time\nlabel: tab-read", 7, "worked-spec YAML"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "line", "words"), WRONG)
def test_what_is_wrong_is_said_with_its_line(page, spec, line, words):
    found = [w for w in page.wrong(FENCE.format(spec)) if "worked-" in w]
    assert len(found) == 1
    assert found[0].startswith(f"docs/page.md:{line}: {words}")


def test_a_definition_that_cannot_be_read_is_named_with_its_own_line(page):
    path = "docs/data/calculators.yml"
    text = (page.root / path).read_text(encoding="utf-8")
    page.write(path, text.replace("formula: params * width", "formula: params * breadth"))
    [line] = page.wrong(FENCE.format(SPEC))
    assert line.startswith(
        "docs/page.md:6: worked-data calculators.yml:44 size: unknown name 'breadth' at column 10"
    )


def test_without_calculators(desk):
    [line] = desk.wrong(FENCE.format(SPEC))
    assert line.startswith("docs/page.md:6: worked-data no data file calculators.yml")

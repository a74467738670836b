"""The `table` fence: what stands in its cells, where units, notes and sources go, and what is said about a wrong one."""

from __future__ import annotations

import pytest

from bookbuild import trees

DATA = """\
meta: {title: Parts, checked: "2026-01-02"}
records:
  - id: one
    name: One
    status: available
    dense_peak: {bf16_tflops: 989.5, fp4_tflops: null}
    memory: {capacity_gb: 80, bandwidth_tb_per_s: 3.350}
    price_usd: 25000
    sources:
      - {title: A sheet, url: https://example.org/a, how: vendor, checked: "2026-01-02"}
      - {title: About memory, url: https://example.org/b, how: lookup, checked: "2026-01-02", fields: [memory]}
    conflicts: [The shop says 81 GB.]
  - id: two
    name: Two
    status: available
    dense_peak: {bf16_tflops: 10066.3, fp4_tflops: 20132}
    memory: {capacity_gb: 192}
    sources:
      - {title: A sheet, url: https://example.org/a, how: vendor, checked: "2026-01-02"}
  - id: three
    name: Three
    status: announced
    dense_peak: {bf16_tflops: 5}
    sources:
      - {url: https://example.org/c/, how: vendor, checked: "2026-01-03"}
"""
SPEC = """\
# Page

```table
label: tab-parts
caption: Parts, by `bf16` rate
data: parts
columns:
  - name: Part
  - dense_peak.bf16_tflops: BF16
  - dense_peak.fp4_tflops: FP4
  - {key: memory.bandwidth_tb_per_s, head: Bandwidth, digits: 1}
```
"""


@pytest.fixture
def book(desk):
    desk.write("docs/data/parts.yml", DATA)
    return desk


def rows(tree):
    return [[cell.text for cell in row] for row in tree.findall(".//tbody/tr")]


def cells(tree, mark: str):
    return [[c.get("data-sort") for c in row if mark in trees.classes(c)] for row in tree.findall(".//tbody/tr")]


def with_line(line: str) -> str:
    return SPEC.replace("columns:\n", f"{line}\ncolumns:\n")


def test_heads_carry_the_unit_of_the_key_once(book):
    heads = [trees.text_of(cell) for cell in book.tree(SPEC).iter("th") if cell.get("scope") == "col"]
    assert heads == ["Part", "BF16, TFLOPS", "FP4, TFLOPS", "Bandwidth, TB/s"]


def test_numbers_as_stored_or_to_the_digits_asked_for(book):
    found = rows(book.tree(SPEC))
    assert [row[1] for row in found] == ["989.5", "10\u202f066.3", "5"]
    assert found[0][3] == "3.4"  # 3.35 to one digit


def test_absent_and_null_are_told_apart_and_explained(book):
    tree = book.tree(SPEC)
    assert [row[2] for row in rows(tree)] == ["—", "20\u202f132", "n/p"]
    assert trees.text_of(tree.find(".//p[@class='legend']")) == "n/p: not published; —: not supported."
    assert cells(tree, "unknown") == [[""], [""], ["", ""]]


def test_numbers_sort_by_a_plain_number(book):
    assert cells(book.tree(SPEC), "num") == [["989.5", "", "3.35"], ["10066.3", "20132", ""], ["5", "", ""]]


def test_the_figure_has_label_number_and_a_caption_with_markdown(book):
    tree = book.tree(SPEC)
    table = tree.find(".//table")
    assert (table.get("id"), table.get("class"), table.get("data-name")) == ("tab-parts", "data-table", "parts")
    assert trees.text_of(tree.find(".//figcaption")) == "Table 1.1. Parts, by bf16 rate"
    assert tree.find(".//figcaption/code").text == "bf16"


def test_rows_have_lasting_ids_and_the_first_column_is_their_head(book):
    body = book.tree(SPEC).findall(".//tbody/tr")
    assert [row.get("id") for row in body] == ["tab-parts-one", "tab-parts-two", "tab-parts-three"]
    assert all(row[0].tag == "th" and row[0].get("scope") == "row" for row in body)


def test_sources_are_listed_once_and_each_row_leads_to_its_own(book):
    tree = book.tree(SPEC)
    items = [trees.text_of(item) for item in tree.findall(".//ol[@class='sources']/li")]
    assert items == [
        "A sheet, checked 2026-01-02",
        "About memory, checked 2026-01-02",
        "example.org/c, checked 2026-01-03",
    ]
    ids = {e.get("id") for e in tree.iter()}
    marks = [[a.get("href") for a in row.findall(".//sup/a")] for row in tree.findall(".//tbody/tr")]
    assert marks == [["#tab-parts-source-1", "#tab-parts-source-2"], ["#tab-parts-source-1"], ["#tab-parts-source-3"]]
    assert all(href[1:] in ids for row in marks for href in row)


def test_a_source_of_figures_that_are_not_shown_is_left_out(book):
    tree = book.tree(SPEC.replace("  - {key: memory.bandwidth_tb_per_s, head: Bandwidth, digits: 1}\n", ""))
    assert "About memory" not in trees.text_of(tree.find(".//ol[@class='sources']"))


def test_a_date_that_all_sources_share_is_said_once(book):
    tree = book.tree(with_line("where: {status: available}"))
    assert trees.text_of(tree.find(".//p[@class='source']")) == "Sources, checked 2026-01-02:"
    assert [trees.text_of(i) for i in tree.findall(".//ol[@class='sources']/li")] == ["A sheet", "About memory"]


def test_notes_of_records_are_lettered(book):
    tree = book.tree(with_line("notes: [conflicts]"))
    assert [trees.text_of(i) for i in tree.findall(".//ol[@class='notes']/li")] == ["The shop says 81 GB."]
    assert tree.find(".//tbody/tr/th/sup/a").text == "a"


def test_the_line_under_the_table_is_markdown(book):
    tree = book.tree(with_line("note: See [the other page](other.md)."))
    assert tree.find(".//p[@class='note']/a").get("href") == "other.md"


def test_words_of_the_data_are_no_markdown(desk):
    desk.write("docs/data/parts.yml", "records: [{id: a, name: '*x* <b> `y` [z](w)', dense_peak: {bf16_tflops: 1}}]")
    tree = desk.tree(SPEC.replace("  - dense_peak.fp4_tflops: FP4\n", "").split("  - {key")[0] + "```\n")
    assert rows(tree) == [["*x* <b> `y` [z](w)", "1"]]


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        ("where: {status: announced}", ["three"]),
        ("where: {status: [available, announced]}", ["one", "two", "three"]),
        ("where: {status: {not: announced}}", ["one", "two"]),
        ("where: {status: {not: [announced, available]}, name: One}", []),
        ("where: {memory.capacity_gb: {exists: true}}", ["one", "two"]),
        ("where: {dense_peak.fp4_tflops: {exists: false}}", ["one", "three"]),
        ("where: {memory.capacity_gb: {min: 100}}", ["two"]),
        ("where: {dense_peak.bf16_tflops: {min: 5, max: 1000}}", ["one", "three"]),
        ("only: [three, one]", ["three", "one"]),
        ("sort: [-dense_peak.bf16_tflops]", ["two", "one", "three"]),
        ("sort: dense_peak.bf16_tflops", ["three", "one", "two"]),
        ("sort: [-memory.capacity_gb]", ["two", "one", "three"]),
        ("sort: [status, -name]", ["three", "two", "one"]),
        ("{sort: name, limit: 2}", ["one", "three"]),
    ],
)
def test_which_records_and_in_which_order(book, line, ids):
    """Unknown values sort last, whatever the direction."""
    line = line.strip("{}").replace(", limit", "\nlimit") if line.startswith("{") else line
    found = [row.get("id").removeprefix("tab-parts-") for row in book.tree(with_line(line)).findall(".//tbody/tr")]
    assert found == ids
    if not ids:
        assert [p.text for p in book.problems] == ["no record of parts is asked for"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("dense_peak.fp4_tflops", "dense_peak.fp4_tflop"), "docs/page.md:10: table-spec no record of parts has a 'dense_peak.fp4_tflop' (did you mean dense_peak.fp4_tflops?)"),
        (("data: parts", "data: part"), "docs/page.md:6: table-spec no data file part.yml (did you mean parts?)"),
        (("data: parts", "data: parts\nrows: record"), "docs/page.md:7: table-spec no list 'record' in the data file (did you mean records?)"),
        (("data: parts", "data: parts\nonly: [one, twoo]"), "docs/page.md:7: table-spec no record 'twoo' in parts (did you mean two?)"),
        (("data: parts", "data: parts\nwhere: {statu: x}"), "docs/page.md:7: table-spec no record of parts has a 'statu' (did you mean status?)"),
        (("data: parts", "data: parts\nsort: [-nam]"), "docs/page.md:7: table-spec no record of parts has a 'nam' (did you mean name?)"),
        (("data: parts", "data: parts\nlimit: many"), "docs/page.md:7: table-spec setting 'limit' takes a number"),
        (("data: parts", "data: parts\nwhere: {name: {over: 3}}"), "docs/page.md:7: table-spec 'name' asks for over (not, exists, min, max)"),
        (("data: parts", "data: parts\ncaptoin: x"), "docs/page.md:7: table-spec unknown setting 'captoin' (did you mean caption?)"),
        (("  - name: Part", "  - name"), "docs/page.md:8: table-spec column 'name' has no head (name: Head)"),
        (("head: Bandwidth", "heed: Bandwidth"), "docs/page.md:11: table-spec unknown column setting 'heed' (did you mean head?)"),
        (("dense_peak.fp4_tflops: FP4", "dense_peak: Peaks"), "docs/page.md:10: table-spec 'dense_peak' is a group of values (dense_peak.bf16_tflops)"),
        (("caption: Parts, by `bf16` rate", "caption: [Parts"), "docs/page.md:6: table-spec YAML: did not find expected ',' or ']'"),
        (("label: tab-parts", "label: tab-parts\nlabel: tab-x"), "docs/page.md:5: table-spec key 'label' stands twice, first on line 1"),
        (("label: tab-parts", "label: parts"), "docs/page.md:4: table-spec label 'parts' is not of the form tab-name"),
        (("caption: Parts, by `bf16` rate\n", ""), "docs/page.md:3: table-spec 'caption' is not given"),
    ],
)  # fmt: skip
def test_a_wrong_fence_is_one_problem_with_its_line(book, change, problem):
    assert change[0] in SPEC
    assert book.wrong(SPEC.replace(*change, 1)) == [problem]


def test_a_fence_that_is_no_mapping(book):
    assert book.wrong("```table\njust words\n```\n") == [
        "docs/page.md:2: table-spec the fence's content is not a mapping of settings"
    ]


def test_a_data_file_that_is_no_yaml_is_named_with_its_line(desk):
    desk.write("docs/data/parts.yml", "records:\n  - id: one\n   name: One\n")
    [problem] = desk.wrong(SPEC)
    assert problem.startswith("docs/page.md:6: table-data parts.yml:3 YAML:")


def test_a_wrong_fence_in_an_admonition_has_its_line_too(book):
    fence = SPEC.split("\n\n", 1)[1].replace("data: parts", "data: nothing")
    text = "# Page\n\n!!! note\n\n" + "".join(f"    {line}\n" for line in fence.splitlines())
    assert book.wrong(text) == ["docs/page.md:8: table-spec no data file nothing.yml"]


def test_links_to_a_table_that_failed_still_lead_to_its_place(book):
    tree = book.tree(SPEC.replace("data: parts", "data: nothing"))
    assert tree.find(".//div[@id='tab-parts']") is not None


def test_a_fence_within_a_fence_is_only_shown(book):
    tree = book.tree("````markdown\n" + SPEC + "````\n")
    assert tree.find(".//table") is None
    assert "label: tab-parts" in trees.text_of(tree)


def test_changed_data_are_read_anew(book):
    assert rows(book.tree(SPEC))[2][1] == "5"
    book.write("docs/data/parts.yml", DATA.replace("{bf16_tflops: 5}", "{bf16_tflops: 55.25}"))
    assert rows(book.tree(SPEC))[2][1] == "55.25"


def test_columns_of_literals_markdown_links_and_words(desk):
    desk.write(
        "docs/data/parts.yml",
        "records:\n  - {id: a, flag: --x_y, text: 'an *aside*', url: 'https://example.org/', open: true, tags: [p, q]}\n",
    )
    tree = desk.tree(
        "```table\nlabel: tab-a\ncaption: A\ndata: parts\ncolumns:\n  - {key: flag, head: Flag, code: true}\n"
        "  - {key: text, head: Text, markdown: true}\n  - {key: id, head: Id, link: url}\n"
        "  - {key: open, head: Open, values: {true: by all means}}\n  - tags: Tags\n```\n"
    )
    row = tree.find(".//tbody/tr")
    assert row[0].find("code").text == "--x_y"
    assert row[1].find("em").text == "aside"
    assert row[2].find("a").get("href") == "https://example.org/"
    assert [trees.text_of(cell) for cell in row[3:]] == ["by all means", "p, q"]

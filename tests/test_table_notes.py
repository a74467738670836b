"""Doubts of a record mark the figures that they are about, and only those."""

from __future__ import annotations

from bookbuild.data import parse_yaml
from bookbuild.markdown.table_html import figure
from bookbuild.query import parse_spec, rows

DATA = """
records:
  - id: one
    name: One
    memory: {bandwidth_tb_per_s: 8.0, capacity_gb: 180}
    power_w: 1000
    doubt:
      - {fields: [memory.bandwidth_tb_per_s], text: the bus says 7.67}
      - {fields: [power_w], text: one source only}
  - id: two
    name: Two
    memory: {bandwidth_tb_per_s: 4.0, capacity_gb: 96}
    power_w: 700
    doubt:
      - {fields: [memory], text: press reports}
      - {text: about the whole part}
"""
SPEC = """
label: tab-x
caption: X
data: parts
columns:
  - name: Part
  - memory.bandwidth_tb_per_s: Bandwidth
  - memory.capacity_gb: Capacity
notes: [doubt]
"""


def table():
    spec = parse_spec(SPEC)
    return figure(spec, rows(spec, parse_yaml(DATA)))


def marks(cell) -> list[tuple[str, str]]:
    return [(link.text, link.get("href")) for link in cell.iterfind("sup/a")]


def test_a_doubt_marks_the_cells_of_its_fields():
    one, two = table().findall(".//tbody/tr")
    assert [marks(cell) for cell in one] == [[], [("a", "#tab-x-note-1")], []]
    assert [marks(cell) for cell in two[1:]] == [[("c", "#tab-x-note-3")], [("c", "#tab-x-note-3")]]


def test_a_doubt_without_fields_marks_the_row():
    _, two = table().findall(".//tbody/tr")
    assert marks(two[0]) == [("b", "#tab-x-note-2")]


def test_a_doubt_about_figures_that_are_not_shown_is_left_out():
    notes = ["".join(item.itertext()) for item in table().findall(".//ol[@class='notes']/li")]
    assert notes == ["the bus says 7.67", "about the whole part", "press reports"]


def test_a_figure_that_is_not_there_is_not_doubted():
    data = DATA.replace("bandwidth_tb_per_s: 4.0, ", "")
    spec = parse_spec(SPEC)
    _, two = figure(spec, rows(spec, parse_yaml(data))).findall(".//tbody/tr")
    assert (two[1].text, marks(two[1])) == ("n/p", [])


def test_a_mark_does_not_change_what_sorts():
    one, _ = table().findall(".//tbody/tr")
    assert one[1].text == "8.0"
    assert one[1].get("data-sort") == "8"

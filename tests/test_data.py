"""Values of data files: how they are found, which unit their key names, how they are written."""

from __future__ import annotations

import os

import pytest

from bookbuild.data import (
    MISSING,
    DataError,
    lookup,
    number_text,
    parse_yaml,
    read_data,
    records,
    sources,
    unit_of,
)
from bookbuild.facts import find

FILE = """\
meta: {title: Parts, checked: "2026-01-02"}
records:
  - id: one
    memory: {bandwidth_tb_per_s: 3.350, type: HBM3}
    power_w: null
    sources:
      - {title: Sheet, url: https://example.org/, checked: "2026-01-02", fields: [memory]}
      - {title: Whole, checked: "2026-01-03"}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parts.yml").write_text(FILE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("memory.bandwidth_tb_per_s", "TB/s"),
        ("dense_peak.bf16_tflops", "TFLOPS"),
        ("int8_tops", "TOPS"),
        ("capacity_gb", "GB"),
        ("l2_mib", "MiB"),
        ("clock_mhz", "MHz"),
        ("power_w", "W"),
        ("per_port_gbps", "Gbps"),
        ("pin_rate_gbit_per_s", "Gbit/s"),
        ("price_usd", "USD"),
        ("price_usd_per_gpu_hour", "USD/gpu hour"),
        ("cost_usd_per_h", "USD/h"),
        ("tokens_per_s_per_gpu", "tokens/s/GPU"),
        ("bits_per_channel", "bits/channel"),
        ("latency_us", "µs"),
        ("area_mm2", "mm²"),
        ("links", ""),
        ("dies_per_stack_max", ""),
        ("name", ""),
        ("w", ""),  # a name alone is no unit
        ("links_per_gpu", ""),
    ],
)
def test_the_end_of_a_key_names_the_unit(key, unit):
    assert unit_of(key) == unit


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("3.350", "3.350"),
        ("8.0", "8.0"),
        ("80", "80"),
        ("9999", "9999"),
        ("10000", "10\u202f000"),
        ("10066.3", "10\u202f066.3"),
        ("1234567.25", "1\u202f234\u202f567.25"),
        ("-12345", "−12\u202f345"),
        ("-0.5", "−0.5"),
        ("1.0e+13", "10\u202f000\u202f000\u202f000\u202f000"),
        ("2.5e-3", "0.0025"),
    ],
)
def test_numbers_are_shown_as_stored(written, shown):
    assert number_text(parse_yaml(f"a: {written}")["a"]) == shown


@pytest.mark.parametrize(
    ("written", "digits", "shown"),
    [
        ("2.765", 2, "2.77"),  # a float holds 2.76499…
        ("2.675", 2, "2.68"),
        ("8", 2, "8.00"),
        ("989.5", 0, "990"),
        ("12345.678", 1, "12\u202f345.7"),
        ("-1.25", 1, "−1.3"),
    ],
)
def test_digits_round_what_was_written(written, digits, shown):
    assert number_text(parse_yaml(f"a: {written}")["a"], digits) == shown


def test_computed_numbers_need_no_written_form():
    assert [number_text(v) for v in (0.1 + 0.2, 2.0, 140e9, 7)] == ["0.3", "2", "140\u202f000\u202f000\u202f000", "7"]


def test_absent_and_null_are_told_apart(folder):
    [record] = records(read_data(folder / "parts.yml"))
    assert lookup(record, "power_w") is None
    assert lookup(record, "memory.capacity_gb") is MISSING
    assert lookup(record, "memory.type.deeper") is MISSING
    assert lookup(record, "memory.type") == "HBM3"


def test_a_fact_carries_unit_sources_and_line(folder):
    fact = find(folder, "parts", "one", "memory.bandwidth_tb_per_s")
    assert (fact.text, fact.value, fact.line) == ("3.350 TB/s", 3.35, 3)
    assert [(s.words, s.checked) for s in fact.sources] == [("Sheet", "2026-01-02"), ("Whole", "2026-01-03")]


def test_sources_of_other_fields_do_not_count(folder):
    [record] = records(read_data(folder / "parts.yml"))
    assert [s.title for s in sources(record, ["power_w"])] == ["Whole"]
    assert [s.title for s in sources(record, ["memory.type"])] == ["Sheet", "Whole"]
    assert [s.title for s in sources(record)] == ["Sheet", "Whole"]


@pytest.mark.parametrize(
    ("asked", "text", "hint"),
    [
        (("part", "one", "power_w"), "no data file part.yml", "did you mean parts?"),
        (("parts", "onee", "power_w"), "no record 'onee' in parts.yml", "did you mean one?"),
        (("parts", "one", "powr_w"), "record 'one' has no 'powr_w'", "did you mean power_w?"),
    ],
)
def test_what_is_not_there_is_named(folder, asked, text, hint):
    with pytest.raises(DataError) as caught:
        find(folder, *asked)
    assert (caught.value.text, caught.value.hint) == (text, hint)


def test_a_key_that_stands_twice_is_an_error_with_its_line():
    with pytest.raises(DataError, match="key 'b' stands twice, first on line 2") as caught:
        parse_yaml("a: 1\nb: 2\nc: 3\nb: 4\n")
    assert caught.value.line == 4


def test_a_file_is_read_anew_when_it_has_changed(folder):
    file = folder / "parts.yml"
    first = read_data(file)
    assert read_data(file) is first
    file.write_text(FILE.replace("3.350", "4.000"), encoding="utf-8")
    os.utime(file, ns=(1, 1))
    assert find(folder, "parts", "one", "memory.bandwidth_tb_per_s").text == "4.000 TB/s"


def test_values_are_plain_numbers_to_everybody_else(folder):
    value = find(folder, "parts", "one", "memory.bandwidth_tb_per_s").value
    assert (value * 2, isinstance(value, float), f"{value:.1f}") == (6.7, True, "3.4")

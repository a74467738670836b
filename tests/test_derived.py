"""Values that follow from others are computed when a data file is read."""

from __future__ import annotations

import pytest

from bookbuild.data import DataError, number_text, read_data
from bookbuild.facts import find, find_anywhere

HEAD = "derived:\n"
RULE = "  ridge_flop_per_byte: {words: w, of: {p: peak_tflops, b: rate_tb_per_s}, formula: %s}\n"
ROWS = "records:\n  - {id: one, peak_tflops: 990, rate_tb_per_s: 3.3}\n  - {id: two, peak_tflops: 990}\n"


def write(path, text):
    file = path / "chips.yml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_rule_gives_every_record_that_has_its_inputs_a_value(tmp_path):
    """990e12 FLOPS over 3.3e12 bytes/s are 300 FLOPs per byte."""
    content = read_data(write(tmp_path, HEAD + RULE % "p / b" + ROWS))
    one, two = content["records"]
    assert one["derived"]["ridge_flop_per_byte"] == pytest.approx(300)
    assert "derived" not in two


def test_units_are_converted_by_the_keys_names(tmp_path):
    """81,559 MiB are 81559 × 2**20 bytes, 85.52 GB; twice 450 GB/s are 7.2 Tbps."""
    text = (
        "derived:\n  size_gb: {words: w, of: {x: size_mib}, formula: x}\n"
        "  both_tbps: {words: w, of: {x: one_gb_per_s}, formula: 2 * x}\n"
        "records:\n  - {id: a, size_mib: 81559, one_gb_per_s: 450}\n"
    )
    write(tmp_path, text)
    assert find(tmp_path, "chips", "a", "derived.size_gb").value == pytest.approx(81559 * 2**20 / 1e9)
    assert find_anywhere(tmp_path, "a/derived.both_tbps").text == "7.2 Tbps"


def test_digits_are_for_show_only(tmp_path):
    """100 / 3 shows as 33.3 with three digits; a table that asks for two decimals gets them from the exact value."""
    text = "derived:\n  x_w: {words: w, of: {a: a_w}, formula: a / 3, digits: 3}\nrecords:\n  - {id: a, a_w: 100}\n"
    write(tmp_path, text)
    value = find(tmp_path, "chips", "a", "derived.x_w").value
    assert number_text(value) == "33.3"
    assert number_text(value, 2) == "33.33"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (HEAD + RULE % "p / c" + ROWS, 2, "unknown name 'c'"),
        (HEAD + RULE % "p + b" + ROWS, 2, "units do not fit"),
        (HEAD + RULE % "p * b" + ROWS, 2, "the formula gives"),
        (HEAD + (RULE % "p / b").replace("peak_tflops", "peak_tflop") + ROWS, 2, "no record has 'peak_tflop'"),
        (HEAD + "  x_w: {of: {a: power_w}}\n" + ROWS, 2, "is not {words, of, formula, digits}"),
        ("records:\n  - id: one\n    derived: {x: 3}\n", 3, "types 'derived'"),
    ],
)
def test_a_rule_that_does_not_hold_water_is_named(tmp_path, text, line, says):
    with pytest.raises(DataError) as error:
        read_data(write(tmp_path, text))
    assert (error.value.line, error.value.file) == (line, tmp_path / "chips.yml")
    assert says in error.value.text


MEASURED = (
    'derived:\n  of_peak_percent: {words: w, of: {m: measured_tflops, p: "chips/{part}/peak.{dtype}_tflops"}, formula: m / p, digits: 3}\n'
    "records:\n  - {id: run, part: one, dtype: bf16, measured_tflops: 751}\n  - {id: other, part: one, dtype: fp8, measured_tflops: 1}\n"
    "  - {id: nameless, measured_tflops: 1}\n"
)


def test_a_rule_may_take_a_value_of_another_file(tmp_path):
    """751 of 989.4 TFLOPS are 75.9 %; after the peak is mended to 1000, 75.1 %. What names no peak has no efficiency."""
    chips = write(tmp_path, "records:\n  - {id: one, peak: {bf16_tflops: 989.4}}\n")
    (tmp_path / "runs.yml").write_text(MEASURED, encoding="utf-8")
    assert find_anywhere(tmp_path, "run/derived.of_peak_percent").text == "75.9 %"
    assert [("derived" in r) for r in read_data(tmp_path / "runs.yml")["records"]] == [True, False, False]
    chips.write_text("records:\n  - {id: one, peak: {bf16_tflops: 1000.0}}\n", encoding="utf-8")
    assert find_anywhere(tmp_path, "run/derived.of_peak_percent").text == "75.1 %"


def test_a_record_that_another_file_does_not_have_is_named(tmp_path):
    write(tmp_path, "records:\n  - {id: ones, peak: {bf16_tflops: 989.4}}\n")
    (tmp_path / "runs.yml").write_text(MEASURED, encoding="utf-8")
    with pytest.raises(DataError, match="no record 'one' in chips") as error:
        read_data(tmp_path / "runs.yml")
    assert (error.value.line, error.value.hint) == (4, "did you mean ones?")

"""A calculator that would mislead its readers is found with the line that an author has to mend."""

from __future__ import annotations

import pytest

DATA = "docs/data/calculators.yml"
CHIPS = """\
meta: {title: Chips, checked: "2026-12-01"}
records:
  - id: one
    name: One
    bandwidth_gb_per_s: 2000
    sources: [{url: "https://example.org/one", how: vendor, checked: "2026-12-01"}]
"""
GOOD = """\
meta: {title: Calculators, checked: "2026-12-01"}
records:
  - id: reading
    name: Time to read
    question: How long does it take to read the weights?
    inputs:
      - name: params
        title: Parameters
        symbol: N
        unit: Gparam
        default: 70
        min: 1
        max: 1000
        help: All of them.
      - {name: width, title: Bytes per parameter, symbol: w, unit: B, default: 2, min: 1, max: 4, help: Two for BF16.}
      - name: rate
        title: Bandwidth
        symbol: W
        unit: TB/s
        preset_from: chips/bandwidth_gb_per_s
        default: one
        min: 0.1
        max: 10
        help: Of the memory.
    constants:
      - {name: c, title: Passes, value: 1}
    steps:
      - name: size
        title: Size
        symbol: S
        unit: GB
        digits: 3
        formula: c * params * width
    outputs:
      - name: time
        title: Time
        symbol: t
        unit: ms
        digits: 3
        formula: size / rate
    check:
      - inputs: {params: 70}
        output: time
        value: 70
        tolerance: 0.01
        source: "by hand: 140 GB / 2 TB/s"
    sources: [{title: a sum, how: arithmetic, checked: "2026-12-01"}]
"""


@pytest.fixture
def sums(planted):
    planted.write("docs/data/chips.yml", CHIPS)
    planted.write(DATA, GOOD)
    return planted


def test_good_calculators_pass(sums):
    assert sums.problems() == []


SPARE = "      - {name: spare, title: Spare, symbol: x, default: 1, min: 0, max: 2, help: For nothing.}\n"
FAULTS = [
    ("unknown name", "formula: size / rate", "formula: sise / rate", 40, "calculator-formula"),
    ("name of a later step", "formula: c * params * width", "formula: c * params * time", 33, "calculator-formula"),
    ("not the language", "formula: size / rate", "formula: size // rate", 40, "calculator-formula"),
    ("unknown function", "formula: size / rate", "formula: ceiling(size) / rate", 40, "calculator-formula"),
    ("no result", "formula: size / rate", "formula: size / (rate - rate)", 40, "calculator-formula"),
    ("sum of two dimensions", "formula: size / rate", "formula: size / rate + size", 40, "calculator-unit"),
    ("branches of two dimensions", "formula: size / rate", "formula: size / rate if c > 0 else size", 40, "calculator-unit"),
    ("result of another dimension", "unit: ms", "unit: GB", 40, "calculator-unit"),
    ("no unit", "unit: ms", "unit: mss", 38, "calculator-unit"),
    ("unit of an input", "unit: TB/s", "unit: TB/sec0", 19, "calculator-unit"),
    ("default above the range", "default: 70", "default: 7000", 7, "calculator-range"),
    ("default below the range", "default: 2, min: 1", "default: 0, min: 1", 15, "calculator-range"),
    ("range turned round", "        min: 0.1\n        max: 10", "        min: 10\n        max: 0.1", 16, "calculator-range"),
    ("preset out of range", "        max: 10\n", "        max: 1\n", 16, "calculator-range"),
    ("unknown preset", "default: one", "default: two", 21, "calculator-preset"),
    ("unknown key of a preset", "chips/bandwidth_gb_per_s", "chips/bandwith_gb_per_s", 20, "calculator-preset"),
    ("unknown file of a preset", "chips/bandwidth", "chops/bandwidth", 20, "calculator-preset"),
    ("no check", GOOD[GOOD.index("    check:") : GOOD.index("    sources:")], "", 3, "calculator-unchecked"),
    ("wrong value", "value: 70\n", "value: 71\n", 42, "calculator-wrong"),
    ("tolerance that lets all pass", "tolerance: 0.01", "tolerance: 7", 42, "calculator-wrong"),
    ("check of an unknown output", "output: time", "output: tim", 42, "calculator-input"),
    ("check with an unknown input", "inputs: {params: 70}", "inputs: {parms: 70}", 42, "calculator-input"),
    ("check out of range", "inputs: {params: 70}", "inputs: {params: 7000}", 42, "calculator-range"),
    ("input that nothing needs", "    constants:\n", SPARE + "    constants:\n", 25, "calculator-unused"),
    ("constant that nothing needs", "formula: c * params * width", "formula: params * width", 26, "calculator-unused"),
    ("name twice", "name: width, title", "name: params, title", 15, "calculator-definition"),
    ("no name for a formula", "name: c, title", "name: 2c, title", 26, "calculator-definition"),
    ("default that is no number", "default: 70", "default: [70]", 11, "calculator-definition"),
    ("symbol that is no TeX", "symbol: S", 'symbol: "\\\\nonsense{S}"', 28, "calculator-symbol"),
    ("no inputs", "    inputs:\n      - name: params", "    input:\n      - name: params", 3, "calculator-definition"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "code"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_planted_fault_is_found_on_its_line(sums, old, new, line, code):
    assert GOOD.count(old) == 1
    sums.write(DATA, GOOD.replace(old, new))
    assert (DATA, line, code) in sums.found()


def test_the_right_value_and_name_are_said(sums):
    sums.write(DATA, GOOD.replace("value: 70\n", "value: 71\n"))
    [problem] = sums.problems()
    assert "comes out as 70 ms, not as 71" in problem.text and "140 GB / 2 TB/s" in problem.hint
    sums.write(DATA, GOOD.replace("size / rate", "sise / rate"))
    [problem] = sums.problems()
    assert "unknown name 'sise' at column 1" in problem.text and problem.hint == "did you mean size?"


def test_a_changed_fact_breaks_the_check_that_rests_on_it(sums):
    """The published value was for 2 TB/s; a data file that says otherwise is found at once, cache or not."""
    assert sums.problems() == []
    sums.write("docs/data/chips.yml", CHIPS.replace("2000", "2500"))
    [problem] = sums.problems()
    assert (problem.code, problem.line) == ("calculator-wrong", 42)


def test_real_calculators_are_clean(realbook):
    from bookbuild.check import calculators

    assert list(calculators.run(realbook, [])) == []

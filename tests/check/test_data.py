"""Facts without a source, a date or the right form are found with the record's name and line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

DATA = "docs/data/chips.yml"
BOOK = Path(__file__).resolve().parents[2] / "book"
GOOD = """\
meta: {title: Chips, checked: "2026-12-01"}
records:
  - id: one
    rate_tflops: 10.5
    sources: [{url: "https://example.org/one", how: vendor, checked: "2026-12-01"}]
  - id: two
    rate_tflops: 20
    sources:
      - url: https://example.org/two
        how: vendor
        checked: "2026-12-01"
"""
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "records": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "sources"],
                "properties": {
                    "id": {"$ref": "common.schema.json#/$defs/id"},
                    "note": {"type": "string"},
                    "rate_tflops": {"type": "number", "exclusiveMinimum": 0},
                    "sources": {"type": "array"},
                },
                "additionalProperties": False,
            },
        }
    },
}
COMMON = {"$schema": SCHEMA["$schema"], "$defs": {"id": {"type": "string", "pattern": "^[a-z]+$"}}}


@pytest.fixture
def facts(planted):
    planted.write("docs/data/schema/chips.schema.json", json.dumps(SCHEMA))
    planted.write("docs/data/schema/common.schema.json", json.dumps(COMMON))
    planted.write(DATA, GOOD)
    return planted


def test_good_data_pass(facts):
    assert facts.problems() == []


FAULTS = [
    (
        "no source",
        '    sources: [{url: "https://example.org/one", how: vendor, checked: "2026-12-01"}]\n',
        "",
        3,
        "data-unsourced",
    ),
    (
        "empty sources",
        '[{url: "https://example.org/one", how: vendor, checked: "2026-12-01"}]',
        "[]",
        3,
        "data-unsourced",
    ),
    (
        "source without address",
        "      - url: https://example.org/two\n        how",
        "      - how",
        9,
        "data-unsourced",
    ),
    ("no date", '        checked: "2026-12-01"\n', "", 9, "data-undated"),
    ("same id twice", "id: two", "id: one", 6, "data-twice"),
    ("wrong type", "rate_tflops: 20", "rate_tflops: fast", 7, "data-schema"),
    ("below the minimum", "rate_tflops: 20", "rate_tflops: -1", 7, "data-schema"),
    ("unknown key", "rate_tflops: 20", "rate_tflop: 20", 7, "data-schema"),
    (
        "source of a key that is not there",
        "      - url: https://example.org/two\n",
        "      - url: https://example.org/two\n        fields: [rate_tflop]\n",
        10,
        "data-field",
    ),
    ("leftover", "id: two\n", "id: two # TODO\n    note: TODO\n", 7, "leftover"),
    ("pattern of the common schema", "id: two", "id: Two", 6, "data-schema"),
    ("no YAML", "records:", "records: [", None, "data-yaml"),
    ("key twice", "    rate_tflops: 20\n", "    rate_tflops: 20\n    rate_tflops: 21\n", 8, "data-yaml"),
]


@pytest.mark.parametrize(("old", "new", "line", "code"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_planted_fault_is_found_on_its_line(facts, old, new, line, code):
    assert GOOD.count(old) == 1
    facts.write(DATA, GOOD.replace(old, new))
    [problem] = facts.problems()
    assert (problem.file, problem.code) == (DATA, code)
    assert line is None or problem.line == line


def test_record_is_named(facts):
    facts.write(DATA, GOOD.replace("rate_tflops: 20", "rate_tflops: fast"))
    [problem] = facts.problems()
    assert "'two'" in problem.text and "rate_tflops" in problem.text


def test_key_meant_is_named(facts):
    facts.write(DATA, GOOD.replace("/two\n", "/two\n        fields: [rate_tflop]\n"))
    [problem] = facts.problems()
    assert "rate_tflops" in problem.hint


def test_second_run_says_the_same(facts):
    """What the schema says is remembered, and forgotten when data or schema change."""
    facts.write(DATA, GOOD.replace("rate_tflops: 20", "rate_tflops: fast"))
    first = facts.problems()
    assert first and facts.problems() == first
    facts.write("docs/data/schema/chips.schema.json", json.dumps({"type": "object"}))
    assert facts.problems() == []
    facts.write("docs/data/schema/chips.schema.json", json.dumps(SCHEMA))
    facts.write(DATA, GOOD)
    assert facts.problems() == []


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ('{"type": "nonsense"}', 1),
        ('{\n"type": object}', 2),
        ('{"properties": {"records": {"$ref": "gone.schema.json"}}}', 1),
    ],
    ids=["unknown type", "no JSON", "reference to nowhere"],
)
def test_a_schema_that_is_none(facts, schema, line):
    facts.write("docs/data/schema/chips.schema.json", schema)
    assert facts.found() == [("docs/data/schema/chips.schema.json", line, "data-schema")]


def test_data_file_without_schema(facts):
    facts.write("docs/data/more.yml", "records: []\n")
    assert facts.found() == [("docs/data/more.yml", 1, "data-unschemed")]


@pytest.mark.parametrize(
    ("key", "code"), [("sources", "data-unsourced"), ("year", "data-schema"), ("id", "data-schema")]
)
def test_real_record_that_loses_a_key_is_found_by_line(planted, key, code):
    """The last accelerator of the book without its sources, its year, its id."""
    shutil.copytree(BOOK / "data", planted.root / "docs" / "data")
    file = planted.root / "docs" / "data" / "accelerators.yml"
    lines = file.read_text(encoding="utf-8").split("\n")
    start = max(n for n, line in enumerate(lines) if line.startswith("  - id: "))
    head = "  - id:" if key == "id" else f"    {key}:"
    cut = next(n for n in range(start, len(lines)) if lines[n].startswith(head))
    end = cut + 1
    while end < len(lines) and lines[end].startswith("      "):
        end += 1
    lines[cut:end] = ["  -"] if key == "id" else []
    file.write_text("\n".join(lines), encoding="utf-8")
    [problem] = planted.problems()
    line = start + 2 if key == "id" else start + 1
    assert (problem.file, problem.line, problem.code) == ("docs/data/accelerators.yml", line, code)


TABLE = """\
# One

```table
label: tab-parts
caption: Parts
data: parts
columns: [id: Part, memory.size_gb: Size, power_w: Power, %s: More]
```
"""
PART = """\
derived:
  gb_per_w: {words: size over power, of: {size: memory.size_gb, power: power_w}, formula: size / power, digits: 2}
records:
  - id: a
    memory:
      size_gb: 80
      type: HBM
    power_w: 700
    sources:
      - {title: Sheet, how: vendor, checked: "2026-12-01", fields: [%s]}
"""


@pytest.mark.parametrize(
    ("column", "fields", "found"),
    [
        ("memory.type", "memory, power_w", []),
        ("memory.type", "memory.size_gb, power_w", [(7, "memory.type")]),
        ("derived.gb_per_w", "memory", [(8, "power_w")]),
        ("derived.gb_per_w", "memory.size_gb, power_w", []),
    ],
)
def test_what_a_table_prints_is_covered_by_a_source(planted, column, fields, found):
    """The first column names the row; a computed value is covered by the sources of what it is computed from."""
    planted.write("docs/data/parts.yml", PART % fields)
    planted.write(
        "docs/folder/two.md", "# Größe & Co\n\n## Größe & Co\n\n" + TABLE.removeprefix("# One\n\n") % column
    )
    problems = [p for p in planted.problems() if p.code == "data-uncovered"]
    assert [(p.line, p.text.split("prints its ")[1].split(",")[0]) for p in problems] == found


def test_a_value_in_two_tables_is_one_fault(planted):
    planted.write("docs/data/parts.yml", PART % "memory")
    again = TABLE.replace("tab-parts", "tab-again").removeprefix("# One\n")
    planted.write("docs/folder/two.md", "## Größe & Co\n\n" + TABLE % "memory.type" + again % "memory.type")
    assert [p.line for p in planted.problems() if p.code == "data-uncovered"] == [8]


def test_a_computed_column_has_the_marks_of_its_sources(planted):
    from bookbuild.data import read_data
    from bookbuild.query import parse_spec, rows

    planted.write("docs/data/parts.yml", PART % "memory, power_w")
    spec = parse_spec("label: tab-x\ncaption: C\ndata: parts\ncolumns: [id: Part, derived.gb_per_w: Ratio]\n")
    [row] = rows(spec, read_data(planted.root / "docs/data/parts.yml"))
    assert [source.title for source in row.sources] == ["Sheet"]

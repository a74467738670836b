"""Every code of the checks is documented, and some test plants a fault for it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from support import ROOT

from bookbuild.check import FAMILIES, codes

SOURCES = sorted(p for p in (ROOT / "bookbuild").rglob("*.py"))
TESTS = "\n".join(
    p.read_text(encoding="utf-8")
    for p in sorted((ROOT / "tests").rglob("test_*.py"))
    if p.name != "test_codes.py"
)


@pytest.mark.parametrize("code", sorted(codes()))
def test_a_test_plants_a_fault_for_the_code(code):
    assert re.search(rf"""["']{re.escape(code)}["'\s:]|: {re.escape(code)} """, TESTS), (
        f"no test names {code}"
    )


def test_no_code_has_two_meanings_within_the_families():
    names = [code for family in FAMILIES for code in family.CODES]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
def test_every_code_that_the_sources_write_is_documented(family):
    """A code in a family's modules that no list names would reach readers unexplained."""
    stem = family.__name__.rpartition(".")[2]
    modules = [p for p in SOURCES if p.parent.name == "check" and p.stem.startswith(stem.rstrip("s"))]
    prefixes = {code.partition("-")[0] for code in family.CODES}
    written = {
        word
        for path in modules
        for word in re.findall(r'"([a-z]+-[a-z-]+)"', path.read_text(encoding="utf-8"))
        if word.partition("-")[0] in prefixes and f'"{word}", ' in path.read_text(encoding="utf-8")
    }
    assert written <= set(codes())


def test_the_list_of_codes_is_printed_from_the_code():
    done = subprocess.run(
        [sys.executable, "-m", "bookbuild.check"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(codes())

"""The same problems as text, JSON and annotations."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import bookbuild.markdown
from bookbuild.check import FAMILIES, check, codes
from bookbuild.check.report import report
from bookbuild.model import Problem

PROBLEMS = [
    Problem("a.md", 3, "link-page", "'x.md' is not there", "did you mean y.md?"),
    Problem("a.md", 9, "link-page", "100% gone\nreally"),
    Problem("b,c.md", 0, "image-caption", "no caption", severity="warning"),
]


def test_text_has_a_line_a_problem_and_a_summary_by_code():
    lines = report(PROBLEMS[:1] + PROBLEMS[2:]).splitlines()
    assert lines[0] == "a.md:3: link-page 'x.md' is not there (did you mean y.md?)"
    assert lines[1] == "b,c.md: image-caption no caption"
    assert lines[2] == "2 problems, 1 of them errors: 1 image-caption, 1 link-page"


def test_one_problem_needs_no_summary_and_none_no_text():
    assert len(report(PROBLEMS[:1]).splitlines()) == 1
    assert report([]) == ""


def test_json_holds_every_field():
    read = json.loads(report(PROBLEMS, "json"))
    assert [Problem(**p) for p in read["problems"]] == PROBLEMS


def test_github_annotations_escape_what_ends_a_command():
    first, second, third = report(PROBLEMS, "github").splitlines()
    assert first == "::error file=a.md,line=3,title=link-page::'x.md' is not there (did you mean y.md?)"
    assert second.endswith("::100%25 gone%0Areally")
    assert third.startswith("::warning file=b%2Cc.md,title=")


def test_every_code_is_documented_once():
    named = [code for family in FAMILIES for code in family.CODES]
    assert len(named) == len(set(named)) and set(named) <= set(codes())
    printed = subprocess.run(
        [sys.executable, "-m", "bookbuild.check"], capture_output=True, text=True, check=True
    ).stdout
    assert [line.split()[0] for line in printed.splitlines()] == sorted(codes())


def test_codes_that_the_markdown_extensions_report_are_documented():
    calls = (
        node
        for path in Path(bookbuild.markdown.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "report"
    )
    used = {c.args[0].value for c in calls if c.args and isinstance(c.args[0], ast.Constant)}
    assert used and used <= set(codes())


def test_mini_book_is_clean(minibook):
    assert [p for p in check(minibook) if p.severity == "error"] == []


def test_real_book_is_clean(realbook):
    assert check(realbook) == []

"""A pipe inside of code inside of a table (Python-Markdown#436)."""

from __future__ import annotations

from bookbuild import trees


def test_an_escaped_pipe_in_code_keeps_the_columns_and_loses_its_escape(desk):
    tree = desk.tree("| a | b |\n|---|---|\n| `x \\| y` | `#!bash ls \\| wc` |\n")
    assert [[trees.text_of(c) for c in row] for row in tree.findall(".//tbody/tr")] == [["x | y", "ls | wc"]]


def test_code_outside_of_tables_is_shown_as_it_is(desk):
    assert trees.text_of(desk.tree("`x \\| y`")) == "x \\| y"

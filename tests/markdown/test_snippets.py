"""Snippets are found from the book's root; a missing one is an error with file and line (pymdown-extensions#335)."""

from __future__ import annotations

import pytest

from bookbuild import trees


@pytest.fixture
def book(desk, monkeypatch, tmp_path_factory):
    desk.write("parts/hello.txt", "Hello from the part.\n# --8<-- [start:one]\nSection one.\n# --8<-- [end:one]\n")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    return desk


@pytest.mark.parametrize(
    "text",
    ['--8<-- "parts/hello.txt"', "--8<--\nparts/hello.txt\n--8<--", '```text\n--8<-- "parts/hello.txt"\n```'],
)
def test_a_snippet_is_found_from_the_root_whatever_the_working_directory(book, text):
    assert "Hello from the part." in trees.text_of(book.tree(text))
    assert book.problems == []


def test_a_section_of_a_file(book):
    assert trees.text_of(book.tree('--8<-- "parts/hello.txt:one"')) == "Section one."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('# P\n\n--8<-- "parts/gone.txt"\n', "docs/page.md:3: snippet-missing no snippet 'parts/gone.txt'"),
        ("# P\n\n--8<--\nparts/gone.txt\n--8<--\n", "docs/page.md:4: snippet-missing no snippet 'parts/gone.txt'"),
        ('# P\n\n    --8<-- "parts/hello.txt:two"\n', "docs/page.md:3: snippet-missing no snippet 'parts/hello.txt:two'"),
        ('# P\n\n--8<-- "../outside.txt"\n', "docs/page.md:3: snippet-missing no snippet '../outside.txt'"),
    ],
)
def test_a_missing_snippet_is_reported(book, text, problem):
    assert book.wrong(text) == [problem]


def test_the_rest_of_the_page_is_still_there(book):
    assert trees.text_of(book.tree('Before.\n\n--8<-- "parts/gone.txt"\n\nAfter.')) == "Before. After."


def test_an_escaped_snippet_is_text(book):
    assert '--8<-- "parts/gone.txt"' in trees.text_of(book.tree('```text\n;--8<-- "parts/gone.txt"\n```'))
    assert book.problems == []

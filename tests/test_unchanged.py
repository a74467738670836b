"""A check of a book in which nothing has changed tells what the last one found, and any change is looked at."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support import ROOT

CONFIG = "site_name: T\ndocs_dir: docs\ntheme: {name: null, custom_dir: theme}\nplugins: []\nmarkdown_extensions: [bookbuild.markdown]\n"


@pytest.fixture
def book(tmp_path):
    for name, text in {
        "mkdocs.yml": CONFIG,
        "theme/main.html": "{{ page.content }}",
        "docs/index.md": "# T\n\nTo [x](no.md).\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def check(folder, *options: str, **env: str) -> tuple[int, str, bool]:
    """Exit code, problems, and whether the book was rendered for them."""
    done = subprocess.run(
        [
            sys.executable,
            ROOT / "build.py",
            "check",
            "--no-bootstrap",
            "--config",
            folder / "mkdocs.yml",
            *options,
        ],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        check=False,
    )
    return done.returncode, done.stdout, "nothing has changed" not in done.stderr


def test_the_second_check_says_the_same_without_rendering(book):
    code, said, rendered = check(book)
    assert (code, rendered) == (1, True)
    assert "docs/index.md:3: link-page" in said
    assert check(book) == (1, said, False)


@pytest.mark.parametrize("name", ["docs/index.md", "mkdocs.yml", "theme/main.html"])
def test_a_change_is_looked_at(book, name):
    check(book)
    with (book / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert check(book)[2]


def test_a_new_file_and_another_address_are_looked_at(book):
    """A page that was missing may be there now; settings may come from the environment."""
    check(book)
    assert check(book, SITE_URL="https://example.org/")[2]
    (book / "docs" / "no.md").write_text("# No\n", encoding="utf-8")
    code, said, rendered = check(book)
    assert (code, rendered) == (0, True)
    assert "link-page" not in said


def test_the_formats_and_strict_are_those_of_this_call(book):
    check(book)
    code, said, rendered = check(book, "--format", "json")
    assert (code, rendered) == (1, False)
    assert '"link-page"' in said
    assert check(book, "--no-strict")[0] == 0


def test_no_cache_looks_anew(book):
    check(book)
    assert check(book, "--no-cache")[2]

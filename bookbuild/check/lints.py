"""Lints of the text: units, words and form, each passage for itself, then what pages repeat of each other.

`lint-ignore.yml` beside the pages lists what is right although a lint says otherwise, each entry with its reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple
from functools import lru_cache
from pathlib import Path

from bookbuild.cache import digest, read_cached, write_cached
from bookbuild.check import ignore, lints_form, lints_places, lints_units, lints_words, prose
from bookbuild.check.sources import Source
from bookbuild.model import Book, Problem

KIND = "lints"
_MODULES = (lints_units, lints_words, lints_places, lints_form)
LINTS = {code: meaning for module in _MODULES for code, meaning in module.CODES.items()}
CODES = LINTS | ignore.CODES


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    """What the lints find and the book's list does not name; then what is wrong with the list."""
    found = [problem for source in sources for problem in _page(book.root, source)]
    found += lints_form.repeated([(source, prose.passages(source)) for source in sources])
    yield from ignore.applied(book, sources, found, LINTS)


def _page(root: Path, source: Source) -> list[Problem]:
    """The problems of one page by itself, kept in `.cache/` under a hash of its text and of the lints."""
    key = digest(source.text, source.file, _stamp())
    known = read_cached(root, KIND, key)
    if known is not None:
        return [Problem(*fields) for fields in json.loads(known)]
    found = [
        problem
        for passage in prose.passages(source)
        for module in _MODULES
        for problem in module.run(passage)
    ]
    write_cached(root, KIND, key, json.dumps([astuple(problem) for problem in found]))
    return found


@lru_cache(maxsize=1)
def _stamp() -> str:
    """A hash of the lints themselves, so that a changed one judges anew."""
    here = Path(__file__).parent
    names = [*sorted(here.glob("lints*.py")), here / "prose.py", here / "words.txt"]
    return digest(*(path.read_bytes() for path in names))

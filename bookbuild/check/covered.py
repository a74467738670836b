"""What a table prints has a source: one of its record's `sources` stands for the value's key, or for the whole record."""

from __future__ import annotations

from collections.abc import Iterator

from bookbuild.check.sources import Source, shown
from bookbuild.data import MISSING, DataError, Record, data_file, line_of, lookup, origins, read_data, sources
from bookbuild.model import Book, Problem
from bookbuild.query import chosen
from bookbuild.tablespec import Spec, parse_spec

CODES = {"data-uncovered": "a value that a table prints and no source of its record stands for"}


def run(book: Book, pages: list[Source]) -> Iterator[Problem]:
    told: set[tuple[str, str, str]] = set()  # a value in two tables is one fault
    for spec in _tables(pages):
        path = data_file(book.docs_dir / "data", spec.data)
        try:
            content = read_data(path)
            records = chosen(spec, content)
        except DataError:  # rendering has said it
            continue
        for record in records:
            for key in _uncovered(record, spec, content):
                name = str(record.get("id", "?"))
                if (spec.data, name, key) not in told:
                    told.add((spec.data, name, key))
                    text = f"record '{name}': {spec.label} prints its {key}, which no source covers"
                    hint = "add the key to the fields of the source that has it"
                    yield Problem(shown(book, path), line_of(record, key), "data-uncovered", text, hint)


def _tables(pages: list[Source]) -> Iterator[Spec]:
    for page in pages:
        for token in page.tokens:
            if token.type == "fence" and token.info.split()[:1] == ["table"]:
                try:
                    yield parse_spec(token.content)
                except DataError:
                    continue


def _uncovered(record: Record, spec: Spec, content: Record) -> Iterator[str]:
    """Keys of the columns behind the first, which names the row."""
    if not record.get("sources"):  # data-unsourced says it
        return
    for column in spec.columns[1:]:
        for key in origins(content, column.key):
            if lookup(record, key) not in (MISSING, None) and not sources(record, [key]):
                yield key

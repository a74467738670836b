"""The facts of book/data: every file against its schema, every record with a source and a date."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry, Resource

from bookbuild.check.sources import Source, shown
from bookbuild.data import DataError, Record, read_data
from bookbuild.model import Book, Problem

CODES = {
    "data-yaml": "a data file that cannot be read",
    "data-schema": "a data file that does not fit its schema, or a schema that is none",
    "data-unschemed": "a data file without a schema beside it",
    "data-unsourced": "a record without a source",
    "data-undated": "a record whose source does not say when it was checked",
    "data-twice": "two records of one file with the same id",
}


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    folder = book.docs_dir / "data"
    schemas = folder / "schema"
    for path in sorted(folder.glob("*.y*ml")):
        name = shown(book, path)
        try:
            content = read_data(path)
        except DataError as error:
            yield Problem(name, error.line, "data-yaml", error.text, error.hint)
            continue
        yield from _records(name, content)
        schema = schemas / f"{path.stem}.schema.json"
        if schema.is_file():
            yield from _against(schema, shown(book, schema), name, content)
        elif schemas.is_dir():
            yield Problem(name, 1, "data-unschemed", "no schema", f"write {shown(book, schema)}")


def _records(name: str, content: Record) -> Iterator[Problem]:
    """What no schema needs to say: ids stand once, and somebody looked, somewhere, on some day."""
    for key, rows in content.items():
        if not isinstance(rows, list):
            continue
        seen: dict[Any, int] = {}
        for row in rows:
            if not isinstance(row, Record):
                continue
            label = f"record '{row.get('id', '?')}' of {key}"
            if "id" in row and row["id"] in seen:
                yield Problem(name, row.line, "data-twice", f"{label} stands on line {seen[row['id']]} too")
            seen.setdefault(row.get("id"), row.line)
            yield from _provenance(name, label, row)


def _provenance(name: str, label: str, row: Record) -> Iterator[Problem]:
    found = row.get("sources")
    if not isinstance(found, list) or not found:
        yield Problem(
            name, row.line, "data-unsourced", f"{label} has no source", "sources: [{url, how, checked}]"
        )
        return
    for source in found:
        if not isinstance(source, Record):
            yield Problem(
                name, row.line, "data-unsourced", f"{label}: a source is a mapping with url or title"
            )
        elif not source.get("url") and not source.get("title"):
            yield Problem(name, source.line, "data-unsourced", f"{label}: a source without url or title")
        elif not source.get("checked"):
            yield Problem(
                name, source.line, "data-undated", f"{label}: a source without the date it was checked"
            )


def _against(schema: Path, schema_name: str, name: str, content: Record) -> Iterator[Problem]:
    try:
        validator = _validator(schema, _stamps(schema.parent))
    except (ValueError, LookupError, SchemaError) as error:
        yield Problem(schema_name, 1, "data-schema", f"not a schema: {getattr(error, 'message', error)}")
        return
    for error in validator.iter_errors(content):
        for leaf in _leaves(error):
            if not _told(leaf):
                yield Problem(name, _line(content, leaf), "data-schema", _words(content, leaf))


def _stamps(folder: Path) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((p.name, p.stat().st_mtime_ns) for p in folder.glob("*.json")))


@lru_cache(maxsize=64)
def _validator(schema: Path, _stamp: tuple[tuple[str, int], ...]) -> Draft202012Validator:
    """A schema with those beside it, to which it may refer by file name."""
    known = {p.name: json.loads(p.read_text(encoding="utf-8")) for p in schema.parent.glob("*.json")}
    Draft202012Validator.check_schema(known[schema.name])
    resources = ((name, Resource.from_contents(contents)) for name, contents in known.items())
    return Draft202012Validator(known[schema.name], registry=Registry().with_resources(resources))


def _leaves(error: ValidationError) -> Iterable[ValidationError]:
    """The errors that say what to mend: those below an anyOf that got furthest."""
    if (
        not error.context
        or error.validator == "anyOf"
        and all(e.validator == "required" for e in error.context)
    ):
        return [error]
    deepest = max(len(e.absolute_path) for e in error.context)
    return [leaf for e in error.context if len(e.absolute_path) == deepest for leaf in _leaves(e)]


def _told(error: ValidationError) -> bool:
    """Whether _provenance has said it in words of its own."""
    path = list(error.absolute_path)
    in_source = len(path) == 4 and path[2] == "sources"
    if error.validator == "anyOf" and in_source:
        return True
    missing = error.validator == "required" and error.message.split("'")[1:2]
    return bool(missing) and (
        missing == ["sources"] and len(path) == 2 or missing == ["checked"] and in_source
    )


def _line(content: Record, error: ValidationError) -> int:
    """The line of the deepest mapping or key on the way to the fault."""
    line, value = content.line or 1, content
    for step in error.absolute_path:
        if isinstance(value, Record):
            line = value.key_lines.get(str(step), line)
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            break
        if isinstance(value, Record) and value.line:
            line = value.line
    if error.validator == "additionalProperties" and isinstance(value, Record):
        extra = [k for k in value if f"'{k}'" in error.message]
        line = value.key_lines.get(extra[0], line) if extra else line
    return line


def _words(content: Record, error: ValidationError) -> str:
    """'record nvidia-h100-sxm, memory.type: 5 is not of type string'."""
    path = list(error.absolute_path)
    where = ".".join(str(step) for step in path)
    if len(path) >= 2 and isinstance(path[1], int):
        record = content[path[0]][path[1]]
        name = record.get("id", path[1]) if isinstance(record, dict) else path[1]
        rest = ".".join(str(step) for step in path[2:])
        where = f"record '{name}'" + (f", {rest}" if rest else "")
    message = error.message if len(error.message) < 160 else f"{error.message[:157]}…"
    return f"{where}: {message}" if where else message

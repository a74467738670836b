"""The facts of book/data: every file against its schema, every record with a source and a date."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, UnknownType, ValidationError
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from bookbuild.cache import cached_text, digest
from bookbuild.check.sources import Source, shown
from bookbuild.data import MISSING, DataError, Record, keys_of, lookup, nearest, read_data
from bookbuild.model import Book, Problem

CODES = {
    "data-yaml": "a data file that cannot be read",
    "data-schema": "a data file that does not fit its schema, or a schema that is none",
    "data-unschemed": "a data file without a schema beside it",
    "data-unsourced": "a record without a source",
    "data-undated": "a record whose source does not say when it was checked",
    "data-twice": "two records of one file with the same id",
    "data-field": "a source or a doubt about a key that its record does not have",
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
            yield from _against(book, schema, path, content)
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
            yield from _fields(name, label, row)


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


def _fields(name: str, label: str, row: Record) -> Iterator[Problem]:
    """What a source or a doubt names must be there, else it speaks for nothing."""
    for part in ("sources", "doubt"):
        for entry in row.get(part) or () if isinstance(row.get(part), list) else ():
            if not isinstance(entry, Record) or not isinstance(entry.get("fields"), list):
                continue
            line = entry.key_lines.get("fields", entry.line)
            for key in entry["fields"]:
                if lookup(row, str(key)) is MISSING:
                    near = nearest(str(key), keys_of([row]))
                    hint = f"did you mean {near}?" if near else ""
                    yield Problem(name, line, "data-field", f"{label}, {part}: it has no '{key}'", hint)


def _against(book: Book, schema: Path, path: Path, content: Record) -> Iterator[Problem]:
    """What the schema says; remembered, because it takes longer than all other checks together."""
    beside = sorted(schema.parent.glob("*.json"))
    texts = [schema.name, *(part for p in beside for part in (p.name, p.read_bytes()))]
    key = digest(version("jsonschema"), path.read_bytes(), Path(__file__).read_bytes(), *texts)
    found = cached_text(book.root, "data-schema", key, lambda: json.dumps(_faults(schema, beside, content)))
    for of_schema, line, text in json.loads(found):
        yield Problem(shown(book, schema if of_schema else path), line, "data-schema", text)


def _faults(schema: Path, beside: list[Path], content: Record) -> list[tuple[bool, int, str]]:
    """(whether the schema itself is wrong, line, text) of each fault."""
    try:
        validator = _validator(schema.name, beside)
        errors = list(validator.iter_errors(content))
    except json.JSONDecodeError as error:
        return [(True, error.lineno, f"not JSON: {error.msg}")]
    except (ValueError, SchemaError, Unresolvable, UnknownType) as error:
        return [(True, 1, f"not a schema: {' '.join(str(getattr(error, 'message', error)).split())}")]
    leaves = (leaf for error in errors for leaf in _leaves(error))
    return [(False, _line(content, leaf), _words(content, leaf)) for leaf in leaves if not _told(leaf)]


def _validator(name: str, beside: list[Path]) -> Draft202012Validator:
    """A schema with those beside it, to which it may refer by file name."""
    known = {p.name: json.loads(p.read_text(encoding="utf-8")) for p in beside}
    Draft202012Validator.check_schema(known[name])
    resources = [(n, Resource.from_contents(text, DRAFT202012)) for n, text in known.items()]
    return Draft202012Validator(known[name], registry=Registry().with_resources(resources))


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

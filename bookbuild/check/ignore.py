"""The book's list of what is right although a lint says otherwise: `lint-ignore.yml` beside the pages.

- code: heading-case
  file: index.md                 # below the pages' folder
  text: "# Machine Learning"     # words of the line that is meant
  reason: The book's own title.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from bookbuild.check.sources import Source, shown
from bookbuild.data import nearest
from bookbuild.model import Book, Problem

NAME = "lint-ignore.yml"
CODES = {
    "ignore-entry": f"an entry of {NAME} that cannot be read: code, file, text and reason are needed",
    "ignore-unused": f"an entry of {NAME} that no longer matches anything",
}
_KEYS = frozenset({"code", "file", "text", "reason"})


@dataclass(frozen=True)
class Entry:
    code: str
    file: str  # below the pages' folder
    text: str  # that the line holds
    line: int  # in the list


def applied(
    book: Book, sources: list[Source], found: list[Problem], known: Mapping[str, str]
) -> Iterator[Problem]:
    """The problems that no entry names, and those of the list itself."""
    path = book.docs_dir / NAME
    if not path.is_file():
        yield from found
        return
    entries, wrong = _read(path, shown(book, path), known)
    yield from wrong
    pages = {source.file: source for source in sources}
    used: set[Entry] = set()
    for problem in found:
        page = pages[problem.file]
        line = page.lines[problem.line - 1] if 0 < problem.line <= len(page.lines) else ""
        matching = [
            e for e in entries if e.code == problem.code and e.file == page.chapter.path and e.text in line
        ]
        used.update(matching)
        if not matching:
            yield problem
    for entry in entries:
        if entry not in used:
            text = f"nothing in {entry.file} that {entry.code} finds holds '{entry.text}'"
            yield Problem(
                shown(book, path), entry.line, "ignore-unused", text, "take the entry out", "warning"
            )


def _read(path: Path, name: str, known: Mapping[str, str]) -> tuple[list[Entry], list[Problem]]:
    text = path.read_text(encoding="utf-8")
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 1
        return [], [Problem(name, line, "ignore-entry", f"no YAML: {' '.join(str(error).split())}")]
    if data is None:
        return [], []
    if not isinstance(data, list):
        return [], [Problem(name, 1, "ignore-entry", "a list of entries is expected")]
    entries, wrong = [], []
    for value, place in zip(data, node.value, strict=True):
        line = place.start_mark.line + 1
        if said := _fault(value, known):
            wrong.append(Problem(name, line, "ignore-entry", *said))
        else:
            entries.append(Entry(value["code"], value["file"], value["text"], line))
    return entries, wrong


def _fault(value: object, known: Mapping[str, str]) -> tuple[str, str] | None:
    if not isinstance(value, dict) or value.keys() != _KEYS:
        return "an entry has the keys code, file, text and reason", ""
    if not all(isinstance(part, str) and part.strip() for part in value.values()):
        return "code, file, text and reason are words, none of them empty", ""
    if value["code"] not in known:
        near = nearest(value["code"], set(known))
        return f"no lint has the code {value['code']}", f"did you mean {near}?" if near else ""
    return None

"""Which figures and tables the book has and what numbers they carry, found by reading nav and sources.

A Markdown extension sees one page, yet "Figure 2.3" may stand before that figure or on another page. So the sources are
scanned for labels, each file once until it changes. What counts, in the order of the page: a `table`, `worked` or `mermaid`
fence with a label, a picture with one alone in its paragraph, and a caption before a Markdown table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bookbuild.markdown.structure import Fences
from bookbuild.outline import docs_dir, read_config, read_outline

LABEL = r"(?:fig|tab)-[\w-]+"
KINDS = {"fig": "Figure", "tab": "Table"}
_SPEC_LABEL = re.compile(rf"^label:\s*[\"']?({LABEL})[\"']?\s*(?:#.*)?$")
_DIAGRAM = re.compile(rf"^%%\s*caption:.*#({LABEL})\s*$")
_OWN = {"table": _SPEC_LABEL, "worked": _SPEC_LABEL, "mermaid": _DIAGRAM}
_PICTURE = re.compile(rf"^[ >]*!\[.*\]\(.*\)\{{[^}}]*#({LABEL})[^}}]*\}}\s*$")
_CAPTION = re.compile(rf"^[ >]*Table:\s.*\{{#({LABEL})\}}\s*$")


@dataclass(frozen=True)
class Label:
    name: str
    page: str  # source path below docs_dir
    line: int
    number: str  # '2.1'

    @property
    def words(self) -> str:
        """'Figure 2.1'"""
        return f"{KINDS[self.name[:3]]} {self.number}"


@dataclass(frozen=True)
class Index:
    labels: dict[str, tuple[Label, ...]]  # more than one place is an author's mistake
    chapters: dict[str, int | None]  # numbers by source path

    def on_page(self, page: str) -> list[Label]:
        return [label for found in self.labels.values() for label in found if label.page == page]

    def find(self, name: str, page: str = "") -> Label | None:
        """The label, the one on `page` first where the name stands twice."""
        found = self.labels.get(name, ())
        return next((label for label in found if label.page == page), found[0] if found else None)


def label_of(fence: str) -> str:
    """The label that a `table` or `mermaid` fence gives itself, "" for none."""
    for line in fence.splitlines():
        if found := _SPEC_LABEL.match(line) or _DIAGRAM.match(line):
            return found[1]
    return ""


def labels_in(text: str) -> Iterator[tuple[str, int]]:
    """(label, 1-based line) in a page's source; what stands in fences of other languages is not read."""
    fences, language = Fences(), ""
    for number, line in enumerate(text.splitlines(), 1):
        inside = bool(fences.mark)
        if fences.take(line):
            if not inside:
                language = fences.language
            elif language in _OWN and (found := _OWN[language].match(line.lstrip(" >"))):
                yield found[1], number
                language = ""  # one fence, one label
        elif found := _PICTURE.match(line) or _CAPTION.match(line):
            yield found[1], number


@lru_cache(maxsize=2048)
def _labels_of(path: Path, _stamp: tuple[int, int]) -> tuple[tuple[str, int], ...]:
    return tuple(labels_in(path.read_text(encoding="utf-8")))


def read_index(config_file: Path) -> Index:
    """The book's index; cheap to ask for again as long as no source has changed."""
    folder = docs_dir(config_file)
    read_config(config_file)
    files = []
    for entry in read_outline(config_file):
        try:
            stat = (folder / entry.path).stat()
        except OSError:  # MkDocs names a page of nav that is not there
            continue
        files.append((entry.path, entry.number, (stat.st_mtime_ns, stat.st_size)))
    return _index(folder, tuple(files))


@lru_cache(maxsize=8)
def _index(folder: Path, files: tuple[tuple[str, int | None, tuple[int, int]], ...]) -> Index:
    labels: dict[str, tuple[Label, ...]] = {}
    counts: dict[tuple[int | None, str], int] = {}
    for page, chapter, stamp in files:
        for name, line in _labels_of(folder / page, stamp):
            counter = (chapter, name[:3])  # front matter counts through, without a chapter's number
            counts[counter] = counts.get(counter, 0) + 1
            number = f"{chapter}.{counts[counter]}" if chapter is not None else str(counts[counter])
            labels[name] = (*labels.get(name, ()), Label(name, page, line, number))
    return Index(labels, {page: number for page, number, _ in files})

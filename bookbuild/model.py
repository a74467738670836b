"""What a book is once it has been rendered: frozen records that every output and check reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.etree.ElementTree import Element


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong, with the place where an author can mend it."""

    file: str  # relative to the book's root where possible
    line: int  # 1-based; 0 when the whole file is meant
    code: str  # e.g. "link-broken"; documented in bookbuild/check/
    text: str
    hint: str = ""
    severity: str = "error"  # "error" ends in exit 1, "warning" is only printed

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}: {self.code} {self.text}{hint}"


class BookError(Exception):
    """Wrong input that stops a build; its text is the one line that the user reads."""


@dataclass(frozen=True)
class Heading:
    level: int  # 1 to 6
    id: str  # as on the site, without the leading '#'
    text: str


@dataclass(frozen=True)
class Chapter:
    """One page of the book. `tree` is shared: outputs deep-copy it before they change anything."""

    key: str  # unique, safe as id prefix and file name: 'compute.index'
    path: str  # source below docs_dir, '/' separated: 'compute/index.md'
    url: str  # address below the site's root, as MkDocs has it: 'compute/'
    title: str
    number: int | None  # None for front matter
    tree: Element  # <article> around the page's HTML fragment; HTML tags without namespace
    headings: tuple[Heading, ...]
    ids: frozenset[str]  # every id and name on the page
    meta: Mapping[str, Any]  # front matter
    source: Path  # absolute path of the Markdown file


@dataclass(frozen=True)
class Part:
    number: int
    title: str
    chapters: tuple[Chapter, ...]


@dataclass(frozen=True)
class Book:
    title: str
    root: Path  # folder of mkdocs.yml
    docs_dir: Path
    site_dir: Path
    front: tuple[Chapter, ...]  # pages outside of any part, in nav order
    parts: tuple[Part, ...]
    description: str = ""
    author: str = ""
    copyright: str = ""
    language: str = "en"
    url: str = ""  # public address, "" when unknown
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    problems: tuple[Problem, ...] = ()  # what rendering itself found

    @property
    def chapters(self) -> Iterator[Chapter]:
        """Every chapter in reading order, front matter first."""
        yield from self.front
        for part in self.parts:
            yield from part.chapters

    @property
    def slug(self) -> str:
        """Stem of the downloads' file names."""
        wanted = self.extra.get("slug")
        if wanted:
            return str(wanted)
        words = "".join(c if c.isalnum() else " " for c in self.title.lower()).split()
        return "-".join(words) or "book"

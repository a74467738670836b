"""Which pages a book has, in which order and with which numbers, straight from mkdocs.yml.

Chapters count through the whole book. Pages that stand before the first section of `nav` are front
matter without a number. The Markdown extensions number figures with this, the renderer chapters.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from bookbuild.model import BookError


@dataclass(frozen=True)
class Entry:
    path: str  # below docs_dir
    title: str | None  # as nav has it; None: the page's own
    number: int | None


@dataclass(frozen=True)
class Section:
    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Outline:
    front: tuple[Entry, ...]
    sections: tuple[Section, ...]

    def __iter__(self) -> Iterator[Entry]:
        yield from self.front
        for section in self.sections:
            yield from section.entries


class _Loader(yaml.SafeLoader):
    """Accepts the tags that MkDocs configurations use, without importing what they name."""


def _env(loader: yaml.Loader, node: yaml.Node) -> Any:
    names = loader.construct_sequence(node) if isinstance(node, yaml.SequenceNode) else [node.value]
    *tried, last = names if len(names) > 1 else [*names, None]
    return next((os.environ[name] for name in tried if name in os.environ), last)


def _opaque(loader: yaml.Loader, suffix: str, node: yaml.Node) -> str:
    return suffix


_Loader.add_constructor("!ENV", _env)
_Loader.add_constructor("!relative", lambda loader, node: node.value)
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _opaque)


@lru_cache(maxsize=8)
def _load(path: Path, _stamp: tuple[int, int]) -> Mapping[str, Any]:
    try:
        config = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise BookError(f"{path.name}:{line}: config-yaml {error.problem}") from error
    if not isinstance(config, dict):
        raise BookError(f"{path.name}:1: config-yaml not a mapping of settings")
    if "INHERIT" in config:
        parent = (path.parent / config.pop("INHERIT")).resolve()
        config = {**read_config(parent), **config}
    return config


def read_config(path: Path) -> Mapping[str, Any]:
    """The settings of a mkdocs.yml; read anew only when the file has changed."""
    stat = path.stat()
    return _load(path.resolve(), (stat.st_mtime_ns, stat.st_size))


def docs_dir(config_file: Path) -> Path:
    return (config_file.parent / read_config(config_file).get("docs_dir", "docs")).resolve()


def read_outline(config_file: Path) -> Outline:
    """The outline that `nav` gives, or the folders' own order where there is no `nav`."""
    nav = read_config(config_file).get("nav") or _nav_of_folder(docs_dir(config_file))
    pages_before: list[Entry] = []
    groups: list[tuple[str, list[tuple[str | None, str]]]] = []
    flat: list[tuple[str | None, str]] = []
    for item in nav:
        title, value = _pair(item)
        if isinstance(value, list):
            groups.append((title or "", list(_pages(value))))
        elif not _is_page(value):
            continue
        elif groups:
            groups.append((title or PurePosixPath(value).stem, [(title, value)]))
        else:
            flat.append((title, value))
    if not groups:  # a flat book is one part without a name
        groups.append(("", [p for p in flat if p[1] != "index.md"]))
        flat = [p for p in flat if p[1] == "index.md"]
    pages_before = [Entry(path, title, None) for title, path in flat]
    sections, number = [], 0
    for title, pages in groups:
        entries = []
        for page_title, path in pages:
            number += 1
            entries.append(Entry(path, page_title, number))
        sections.append(Section(title, tuple(entries)))
    return Outline(tuple(pages_before), tuple(sections))


def _pair(item: Any) -> tuple[str | None, Any]:
    if isinstance(item, dict) and len(item) == 1:
        [(title, value)] = item.items()
        return str(title), value
    return None, item


def _is_page(value: Any) -> bool:
    return isinstance(value, str) and value.endswith((".md", ".markdown")) and "://" not in value


def _pages(items: list[Any]) -> Iterator[tuple[str | None, str]]:
    for item in items:
        title, value = _pair(item)
        if isinstance(value, list):
            yield from _pages(value)
        elif _is_page(value):
            yield title, value


def _nav_of_folder(folder: Path, prefix: str = "") -> list[Any]:
    names = sorted(folder.iterdir(), key=lambda p: (p.stem not in ("index", "README"), p.is_dir(), p.name))
    nav: list[Any] = []
    for entry in names:
        if entry.name.startswith("."):
            continue
        if entry.suffix == ".md":
            nav.append(prefix + entry.name)
        elif entry.is_dir() and (below := _nav_of_folder(entry, f"{prefix}{entry.name}/")):
            nav.append({entry.name.replace("-", " ").capitalize(): below})
    return nav

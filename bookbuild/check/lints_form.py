"""The form of pages: headings in sentence case and without links, a paragraph a line, nothing told twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bookbuild.check.lints_words import field_words
from bookbuild.check.prose import CODE, LINK, Passage
from bookbuild.check.sources import Source
from bookbuild.model import Problem

CODES = {
    "heading-case": "a heading with capitals inside that are no names; headings are in sentence case",
    "heading-link": "a link in a heading",
    "paragraph-wrapped": "a paragraph that is wrapped by hand; one paragraph is one line of source",
    "paragraph-twice": "25 words or more that another page has, too",
}
WRAPPED = 50  # columns from which a line that goes on counts as wrapped by hand
SHINGLE = 25  # words in a row that make a repetition
_TITLED = re.compile(r"^[A-Z][a-z]+(?:['’]s)?$")
_SIMPLE = re.compile(r"[^\W_]+")


def run(passage: Passage) -> Iterator[Problem]:
    if passage.kind == "heading":
        yield from _heading(passage)
    elif passage.kind == "paragraph":
        yield from _wrapped(passage)


def _heading(passage: Passage) -> Iterator[Problem]:
    if LINK in passage.text:
        yield passage.problem(0, "heading-link", "a link in a heading", "link in the text below it")
    names, first = field_words(), True
    odd = []
    for word in passage.plain.replace(LINK, "").split():
        bare = word.strip("()[],.;:!?\"'“”*_")
        if (
            bare
            and not first
            and any(part not in names and _TITLED.match(part) for part in _parts(bare, names))
        ):
            odd.append(bare)
        first = bool(word) and word[-1] in ":?!." or first and not any(c.isalnum() or c == CODE for c in word)
    if odd:
        text = f"capital letters inside of a heading: {', '.join(odd)}"
        hint = "sentence case; names of the field stand in bookbuild/check/words.txt"
        yield passage.problem(0, "heading-case", text, hint, "warning")


def _parts(word: str, names: frozenset[str]) -> list[str]:
    base = re.sub(r"['’]s?$", "", word)
    return [] if base in names else re.split(r"[-/–]", base)


def _wrapped(passage: Passage) -> Iterator[Problem]:
    lines = passage.text.split("\n")
    for row, line in enumerate(lines[:-1]):
        source = (
            passage.source.lines[passage.line - 1 + row]
            if passage.line + row <= len(passage.source.lines)
            else ""
        )
        if (
            len(source) >= WRAPPED
            and lines[row + 1].strip()
            and not source.endswith(("  ", "\\"))
            and line.strip()
        ):
            hint = "one paragraph, one line of source"
            yield passage.problem(0, "paragraph-wrapped", "the paragraph is wrapped by hand", hint)
            return


def repeated(pages: list[tuple[Source, list[Passage]]]) -> Iterator[Problem]:
    """Passages that have 25 words in a row of a page before, whatever their markup and capitals."""
    seen: dict[tuple[str, ...], tuple[str, int]] = {}
    for source, passages in pages:
        fresh: dict[tuple[str, ...], tuple[str, int]] = {}
        for passage in passages:
            if passage.kind in ("heading", "cell"):
                continue
            words = _SIMPLE.findall(passage.text.lower())
            runs = [tuple(words[k : k + SHINGLE]) for k in range(len(words) - SHINGLE + 1)]
            other = next((seen[r] for r in runs if r in seen), None)
            if other:
                where = f"{other[0]}:{other[1]}"
                text = f"these words stand in {where}, too"
                yield passage.problem(0, "paragraph-twice", text, "say it once and link to it", "warning")
            fresh.update((r, (source.file, passage.line)) for r in runs)
        seen |= {r: place for r, place in fresh.items() if r not in seen}

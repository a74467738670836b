"""Above and below: right where the thing stands next to the sentence, wrong across a heading and in books that reflow."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it.token import Token

from bookbuild.check.prose import LINK, Passage
from bookbuild.model import Problem

CODES = {"where-bare": "above or below that points across a heading or at nothing; link to the place instead"}
_THINGS = {
    "table": "table",
    "figure": "figure",
    "plot": "figure",
    "diagram": "figure",
    "picture": "figure",
    "list": "list",
    "steps": "list",
    "points": "list",
    "code": "code",
    "script": "code",
    "command": "code",
    "commands": "code",
    "snippet": "code",
    "listing": "code",
    "example": "code",
    "output": "code",
    "formula": "maths",
    "equation": "maths",
}
_BARE_PLACE = re.compile(
    r"\b(?:(?:see|as|shown|described|mentioned|noted|discussed|explained|listed|given|introduced|defined) (above|below)\b"
    r"|the (section|chapter|part|paragraph|discussion|" + "|".join(_THINGS) + r")s? (above|below)\b"
    r"|the (above|below)[- ](?:mentioned )?(section|chapter|" + "|".join(_THINGS) + r")s?\b)",
    re.IGNORECASE,
)
NEAR = 4  # blocks within which a thing counts as standing above or below


def run(passage: Passage) -> Iterator[Problem]:
    for found in _BARE_PLACE.finditer(passage.plain):
        if LINK in passage.sentence(found.start()):
            continue
        thing = (found[2] or found[5] or "").lower()
        where = (found[1] or found[3] or found[4]).lower()
        if thing in _THINGS and _stands(passage, _THINGS[thing], where):
            continue
        text = f"'{found[0]}' does not say where"
        yield passage.problem(
            found.start(), "where-bare", text, "link to the figure, the table or the heading", "warning"
        )


def _stands(passage: Passage, kind: str, where: str) -> bool:
    """Whether a block of the kind stands near the passage on that side, with no heading between."""
    step = 1 if where == "below" else -1
    if kind == "maths":  # a formula in a block of its own is no token
        start, lines = passage.line - 1, passage.source.lines
        near = lines[start + 1 : start + 7] if step > 0 else lines[max(0, start - 6) : start][::-1]
        return any(line.strip().startswith("$$") for line in _until_heading(near))
    tokens, place, blocks = passage.source.tokens, passage.place, 0
    while 0 <= (place := place + step) < len(tokens) and blocks < NEAR:
        token = tokens[place]
        if token.type.startswith("heading_"):
            return False
        if kind in _kinds(token):
            return True
        blocks += token.level == 0 and token.nesting != -step
    return False


def _until_heading(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("#"):
            return
        yield line


def _kinds(token: Token) -> frozenset[str]:
    """What a block may be called in a sentence."""
    if token.type == "fence":
        language = (token.info.split() or [""])[0]
        return frozenset({{"table": "table", "worked": "table", "mermaid": "figure"}.get(language, "code")})
    if token.type == "inline" and any(child.type == "image" for child in token.children or ()):
        return frozenset({"figure"})
    name = token.type.rpartition("_")[0]
    known = {
        "table": "table",
        "bullet_list": "list",
        "ordered_list": "list",
        "code_block": "code",
        "code": "code",
    }
    return frozenset({known[name]}) if name in known else frozenset()

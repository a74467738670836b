"""Problems as text for people, as JSON for programs, as annotations for GitHub's pages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from bookbuild.model import Problem

FORMATS = ("text", "json", "github")


def report(problems: Sequence[Problem], format: str = "text") -> str:
    """All problems in one of FORMATS, ending in a line break unless empty."""
    if format == "json":
        return json.dumps({"schema_version": 1, "problems": [asdict(p) for p in problems]}, indent=2) + "\n"
    lines = (
        [_annotation(p) for p in problems]
        if format == "github"
        else [*map(str, problems), *_summary(problems)]
    )
    return "".join(f"{line}\n" for line in lines)


def _summary(problems: Sequence[Problem]) -> list[str]:
    """One line that counts by code, where there is more than one problem."""
    if len(problems) < 2:
        return []
    counts = Counter(p.code for p in problems)
    errors = sum(p.severity == "error" for p in problems)
    by_code = ", ".join(f"{n} {code}" for code, n in sorted(counts.items(), key=lambda c: (-c[1], c[0])))
    return [f"{len(problems)} problems, {errors} of them errors: {by_code}"]


def _annotation(problem: Problem) -> str:
    kind = "error" if problem.severity == "error" else "warning"
    place = f"file={_escaped(problem.file, ':,')}" + (f",line={problem.line}" if problem.line else "")
    text = problem.text + (f" ({problem.hint})" if problem.hint else "")
    return f"::{kind} {place},title={_escaped(problem.code, ':,')}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    """GitHub's own escapes of workflow commands: % first, then line ends, in properties also : and ,"""
    for sign in "%\r\n" + more:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text

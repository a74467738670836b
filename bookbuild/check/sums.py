"""Sums in formulas: `$2 \\cdot 1410 \\cdot 10^6 \\cdot 432 \\cdot 256 = 311.9$ TFLOPS` is computed again where it can be read.

Read are plain numbers with \\cdot, \\times, /, +, −, \\frac, powers and brackets; what holds a symbol is left alone. The unit
behind the formula may bring its prefix along, so 311.9 TFLOPS may be 311.9 or 311.9e12. sum: links say more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from bookbuild.check.sources import Source
from bookbuild.expression import ExpressionError, evaluate, parse
from bookbuild.model import Book, Problem
from bookbuild.sums import UNIT, in_words
from bookbuild.units import UnitError, parse_unit

CODES = {"sum-wrong": "a sum whose result is another"}
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_MATHS = re.compile(r"(?<![\\$])\$(?=[^\s$])([^$]+?)(?<=\S)\$(?!\d)")
_DISPLAY = re.compile(r"\$\$([^$]+)\$\$")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_WORDS = [
    (re.compile(r"\{,\}|\\[,;:! ]|\\left|\\right|\\(?:displaystyle|thinspace)"), ""),
    (re.compile(r"\\cdot|\\times"), "*"),
    (re.compile(r"\\div"), "/"),
    (re.compile(r"\^\s*\{\s*([-−]?\d+)\s*\}|\^\s*(\d)"), lambda m: f"**({m[1] or m[2]})"),
    (re.compile(r"\\%"), "/100"),
    (re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), ""),
    (re.compile("−"), "-"),
]
_PLAIN = re.compile(r"[\d.\s*/+()-]+")
_STEP = re.compile(r"(=|\\approx(?![a-z])|≈)")
_RESULT = re.compile(r"\d[\d.]*(?:\s*\*\s*10\s*\*\*\s*\(-?\d+\))?")


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    for source in sources:
        if "$" not in source.text:
            continue
        lines = [_CODE.sub(lambda m: " " * len(m[0]), line) for line in source.lines]
        for number, line in enumerate(lines, 1):
            if number in source.verbatim or "$" not in line:
                continue
            for pattern in (_DISPLAY, _MATHS):
                for match in pattern.finditer(line):
                    yield from (
                        source.problem(number, "sum-wrong", text, hint)
                        for text, hint in wrong(match[1], line[match.end() :])
                    )


def wrong(tex: str, behind: str = "") -> Iterator[tuple[str, str]]:
    """(what, hint) of each step of a formula that does not hold; `behind` begins with the unit of its result."""
    parts = _STEP.split(tex)
    readable = [_read(part) for part in parts[::2]]
    for (left, right), sign, (tex_left, tex_right) in zip(pairwise(readable), parts[1::2], pairwise(parts[::2]), strict=False):
        if left is None or right is None or not re.search(r"[*/+-]", left) or not _RESULT.fullmatch(right):
            continue  # a symbol; or two numbers, whose units alone can tell
        try:
            computed, shown = evaluate(parse(left), {}), evaluate(parse(right), {})
        except ExpressionError:
            continue
        last = _last(right) * (0.5 if sign == "=" else 1)
        scales = _scales(behind) if tex_right is parts[-1] else [1.0]
        if any(abs(computed / scale - shown) <= last * (1 + 1e-9) + 1e-12 * shown for scale in scales):
            continue
        scale = min(scales, key=lambda s: abs(computed / s - shown))
        mantissa = right.partition("*")[0].strip()
        right_words = in_words(computed / scale / (_last(right) * 10 ** _decimals(mantissa)), _decimals(mantissa))
        yield f"${' '.join(tex_left.split())}$ is not {' '.join(tex_right.split())}", f"it is {right_words}{right[len(mantissa):].replace('**', '^')}"


def _read(tex: str) -> str | None:
    """The part as an expression of plain numbers, None where it holds anything else."""
    text = tex
    while (done := _FRACTION.sub(r"((\1)/(\2))", text)) != text:
        text = done
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    text = text.strip()
    return text if text and _PLAIN.fullmatch(text) else None


def _decimals(number: str) -> int:
    return len(number.partition(".")[2])


def _last(result: str) -> float:
    """How much one in the last digit of a result counts."""
    mantissa, _, power = result.partition("*")
    exponent = re.search(r"\*\*\s*\((-?\d+)\)", power)
    return 10.0 ** (int(exponent[1]) if exponent else 0) * 10.0 ** -_decimals(mantissa.strip())


def _scales(behind: str) -> list[float]:
    """1 and what the prefix of the unit behind a formula stands for: TFLOPS 1e12, GB 1e9, % 0.01."""
    match = UNIT.match(behind)
    if not match:
        return [1.0]
    try:
        unit = parse_unit(match[1])
        if "bytes" in unit.kinds:  # which the registry counts in bits
            return [1.0, unit.scale / 8 ** unit.base.dimensionality.get("[information]", 0)]
        return [1.0, unit.scale]
    except UnitError:
        return [1.0]

"""Sums as they stand in the text, '2 × 70e9 B = 140 GB': read, computed again with units, compared to the shown digits.

Operators × · * / + − - ^ ** √ ( ); numbers as 70e9, 10^9, 1,024, 70B (K, M, B, T right behind the digits) and with thin
spaces; units behind the numbers. Several steps may follow one another: a = b ≈ c.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

from bookbuild.expression import ExpressionError, evaluate, parse
from bookbuild.expression_units import quantity
from bookbuild.units import Unit, UnitError, dimension, fits, mixed, parse_unit, registry

_SPACES = "\u202f\u2009\u00a0"
_SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = re.compile(
    rf"(?P<digits>\d{{1,3}}(?:[,{_SPACES}]\d{{3}})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?P<exponent>[eE][+-]?\d+)?"
    r"(?P<times>[KMBT](?![A-Za-z/µ]))?"
)
_POWER = re.compile(r"\s*(?:\^|\*\*)\s*(?P<braced>\{)?(?P<sign>[−-]?)(?P<digits>\d+)(?(braced)\})|(?P<super>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_WORD = r"(?:[A-Za-zµμ°]+[²³]?|%)"
UNIT = re.compile(rf"[ {_SPACES}]?({_WORD}(?:\s*/\s*{_WORD}(?![A-Za-z])|\s+per\s+{_WORD})*)")
_SIGNS = {"×": "*", "·": "*", "*": "*", "⋅": "*", "/": "/", "÷": "/", "+": "+", "−": "-", "-": "-", "–": "-", "(": "(", ")": ")"}
_TIMES = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_STEP = re.compile(r"\s*([=≈])\s*")


class SumError(ValueError):
    """A sum that cannot be read or that is wrong; `code` as the checks name it."""

    def __init__(self, code: str, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.code, self.text, self.hint = code, text, hint


@dataclass(frozen=True)
class Shown:
    """A number as it is written: its value, and how much the last digit counts."""

    value: float  # without its unit
    last: float
    unit: Unit | None
    text: str

    @property
    def decimals(self) -> int:
        digits = NUMBER.match(self.text)
        return len(digits["digits"].partition(".")[2]) if digits else 0

    def quantity(self) -> Any:
        return self.unit.quantity(self.value) if self.unit else self.value

    def agrees(self, value: Any, units: float = 0.5) -> bool:
        """Whether a quantity, as far as its unit fits, is this number at the shown precision."""
        number = in_unit(value, self.unit)
        return number is not None and abs(number - self.value) <= self.last * units * (1 + 1e-9) + 1e-12 * abs(number)

    def like(self, value: Any) -> str:
        """A value in the unit and with the digits of this number."""
        number = in_unit(value, self.unit)
        words = in_words(number / (self.last * 10**self.decimals), self.decimals) if number is not None else str(value)
        match = NUMBER.match(self.text)
        return words + self.text[match.end("digits") :] if match else words


def in_unit(value: Any, unit: Unit | None) -> float | None:
    """The number that a quantity has in a unit; None where it cannot have it."""
    base = unit.base if unit else None
    if not fits(value, base):
        return None
    plain = value.magnitude if hasattr(value, "magnitude") else value
    return float(plain) / (unit.scale if unit else 1.0)


def in_words(number: float, decimals: int) -> str:
    """1234.5 → '1,234.5', as the text writes numbers."""
    return f"{number:,.{decimals}f}".replace("-", "−")


def read_number(text: str, place: int = 0) -> tuple[Shown, int] | None:
    """The number with its power and unit at a place of a text, and where it ends."""
    match = NUMBER.match(text, place)
    if not match:
        return None
    plain = re.sub(rf"[,{_SPACES}]", "", match["digits"])
    factor = float(f"1{match['exponent'] or ''}".replace("E", "e")) * _TIMES.get(match["times"] or "", 1.0)
    value = float(plain + (match["exponent"] or "")) * _TIMES.get(match["times"] or "", 1.0)
    last, end = factor * 10.0 ** -len(plain.partition(".")[2]), match.end()
    if power := _POWER.match(text, end):
        digits = power["super"].translate(_SUPER) if power["super"] else power["sign"].replace("−", "-") + power["digits"]
        value, end = value ** int(digits), power.end()
        last = value if plain == "10" else 1.0
    unit = None
    if found := UNIT.match(text, end):
        unit, end = parse_unit(found[1]), found.end()
    return Shown(value, last, unit, text[place:end]), end


@dataclass(frozen=True)
class Side:
    """What stands between two signs of equality."""

    text: str
    formula: str  # with v0, v1 … for the numbers
    numbers: tuple[Shown, ...]

    @cached_property
    def value(self) -> Any:
        values = {f"v{i}": number.quantity() for i, number in enumerate(self.numbers)}
        try:
            formula = parse(self.formula)
            unit = getattr(quantity(formula, values), "units", None)  # which knows units alone
            number = evaluate(formula, {name: getattr(v, "magnitude", v) for name, v in values.items()})
        except ExpressionError as error:
            code = "sum-wrong" if "units do not fit" in error.text else "sum-unread"
            raise SumError(code, f"'{self.text}': {error.text}", error.hint) from None
        except (OverflowError, TypeError):
            raise SumError("sum-unread", f"'{self.text}' has no finite real result") from None
        if not isfinite(number):
            raise SumError("sum-unread", f"'{self.text}' is too large a number")
        return number if unit is None or unit.dimensionless else registry().Quantity(number, unit)

    @property
    def shown(self) -> Shown | None:
        """The side as one number, where it is one: '140 GB' or '1.4 × 10^11 B'."""
        if self.formula == "v0":
            return self.numbers[0]
        if self.formula == "v0 * v1" and self.numbers[1].text.startswith("10") and not self.numbers[0].unit:
            one, ten = self.numbers
            return Shown(one.value * ten.value, one.last * ten.value, ten.unit, self.text)
        return None

    @property
    def rounding(self) -> float:
        """Half a unit of the last decimal, relative to its number, of the roughest number with decimals."""
        return max((0.5 * n.last / n.value for n in self.numbers if n.decimals and n.value), default=1e-9)


@dataclass(frozen=True)
class Sum:
    text: str
    sides: tuple[Side, ...]
    signs: tuple[str, ...]

    @property
    def numbers(self) -> Iterator[Shown]:
        for side in self.sides:
            yield from side.numbers


def read_sum(text: str) -> Sum:
    """Read a sum; SumError for what is none."""
    parts = _STEP.split(text.strip())
    sides, signs = parts[::2], parts[1::2]
    if not signs or not all(sides):
        raise SumError("sum-unread", f"'{text}' is no sum", "write an expression, = and its result")
    return Sum(text, tuple(_side(side) for side in sides), tuple(signs))


def _side(text: str) -> Side:
    formula, numbers, place = [], [], 0
    while place < len(text):
        char = text[place]
        if char.isspace():
            place += 1
        elif text.startswith("**", place):
            formula.append("**")
            place += 2
        elif char == "^":
            formula.append("**")
            place += 1
        elif char == "√":
            rest = text[place + 1 :].lstrip()
            root = read_number(rest)
            formula.append("sqrt" if rest.startswith("(") else f"sqrt(v{len(numbers)})")
            place = len(text) - len(rest) + (root[1] if root else 0)
            numbers += [root[0]] if root else []
        elif char in _SIGNS:
            formula.append(_SIGNS[char])
            place += 1
        else:
            place = _number(text, place, formula, numbers)
    return Side(text, " ".join(formula).replace("sqrt (", "sqrt("), tuple(numbers))


def _number(text: str, place: int, formula: list[str], numbers: list[Shown]) -> int:
    try:
        found = read_number(text, place)
    except UnitError as error:
        raise SumError("sum-unread", f"'{text}': {error.text}", error.hint) from None
    except (OverflowError, ZeroDivisionError):
        raise SumError("sum-unread", f"'{text}' holds too large a number") from None
    if not found:
        raise SumError("sum-unread", f"'{text}' cannot be read from '{text[place : place + 12]}' on")
    formula.append(f"v{len(numbers)}")
    numbers.append(found[0])
    return found[1]


def check_sum(found: Sum) -> None:
    """Compute each step again; SumError for the first that does not hold, with the right result."""
    exact = found.sides[0].value
    for before, sign, after in zip(found.sides, found.signs, found.sides[1:], strict=False):
        _check_mix(before, after)
        if not (_equal(before.value, sign, before, after) or _equal(exact, sign, before, after)):
            raise _wrong(before, after)


def _check_mix(before: Side, after: Side) -> None:
    units = [n.unit for n in (*before.numbers, *after.numbers) if n.unit]
    with_unit = [n for n in before.numbers if n.unit and n.unit.kinds]
    converts = len(with_unit) <= 1 and len(before.numbers) == 1 and after.shown is not None
    if not converts and (words := mixed(units)):
        raise SumError("unit-mix", f"'{before.text} = {after.text}' mixes {words}", "convert one of them in a step of its own")


def _equal(value: Any, sign: str, before: Side, after: Side) -> bool:
    if shown := after.shown:
        return shown.agrees(value, 1.0 if sign == "≈" else 0.5)
    other = after.value
    if dimension(value) != dimension(other) and not fits(value, getattr(other, "units", None)):
        return False
    one, two = (float(getattr(v, "magnitude", v)) for v in (value, other))
    return abs(one - two) <= (before.rounding + after.rounding) * max(abs(one), abs(two))


def _wrong(before: Side, after: Side) -> SumError:
    value = before.value
    shown = after.shown
    if in_unit(value, shown.unit if shown else None) is None and shown:
        units = getattr(value, "units", "a plain number")
        name = f"in {shown.unit.text}" if shown.unit else "without a unit"
        return SumError("sum-wrong", f"'{before.text}' is no value {name}", f"it is {units or 'a plain number'}")
    right = shown.like(value) if shown else f"{getattr(value, 'magnitude', value):.6g}"
    return SumError("sum-wrong", f"'{before.text}' is not {after.text}", f"it is {right}")

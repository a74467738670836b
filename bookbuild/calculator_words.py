"""Values of a calculator as a reader sees them: rounded, with units, in words and in TeX."""

from __future__ import annotations

import math
import re

from bookbuild.calculators import Case, Constant, Input, Result
from bookbuild.data import number_text
from bookbuild.expression_tex import Term, as_taken, number, scientific, text, with_numbers
from bookbuild.expression_units import physical, unit_scale

_COUNTED = re.compile(r"^([kMGT]?)(param|token|sample|request|GPU|FLOP)s?$")
_PREFIXES = {"": "", "k": "K ", "M": "M ", "G": "B ", "T": "T "}  # of counts; the book's table of units
_WORDS = {"param": "parameters", "token": "tokens", "sample": "samples", "request": "requests"}
_ONE = {"param": "parameter", "token": "token", "sample": "sample", "request": "request"}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def unit_words(unit: str) -> str:
    """'Gparam' → 'B parameters', 'tokens/s' → 'tokens/s', 'USD/Mtoken' → 'USD/M tokens', 'B/token' → 'B/token'."""
    first, *below = unit.split("/")
    return "/".join([_counted(first, False), *(_counted(word, True) for word in below)])


def _counted(word: str, below: bool) -> str:
    match = _COUNTED.match(word)
    if not match:
        return word
    prefix, thing = match[1], match[2]
    if thing == "FLOP":
        return word if below else f"{prefix}FLOPs"
    if thing == "GPU":
        return word
    return f"{_PREFIXES[prefix]}{_ONE[thing] if below and not prefix else _WORDS[thing]}"


def value_words(value: float, digits: int = 6) -> str:
    """A number for readers: whole ones to ten million as they are, others to `digits` that count, 3.79 × 10²⁵."""
    plain, exponent = scientific(value, digits)
    power = f"10{str(exponent).translate(_RAISED)}"
    if not exponent:
        return _grouped(plain)
    return power if plain == "1" else f"{_grouped(plain)} × {power}"


def _grouped(plain: str) -> str:
    """Groups of three as everywhere in the book."""
    return number_text(float(plain), len(plain.partition(".")[2]))


def is_exact(value: float, digits: int) -> bool:
    """Whether what is shown of a value is all of it."""
    plain, exponent = scientific(value, digits)
    return math.isclose(float(plain) * 10.0**exponent, value, rel_tol=1e-9)


def terms(case: Case) -> dict[str, Term]:
    """What stands for each name in the formulas of a case."""
    calculator = case.calculator
    found = {}
    for c in calculator.constants.values():
        found[c.name] = Term(_constant(c), c.value * unit_scale(c.unit), _constant(c))
    for part in (*calculator.inputs.values(), *calculator.results.values()):
        found[part.name] = Term(part.symbol, case.base[part.name], _written(case, part), part.choices)
    return found


def _constant(constant: Constant) -> str:
    """The bare number, as in the literature; with its unit where that is not a base one."""
    unit = "" if unit_scale(constant.unit) == 1 else rf"\,{text(unit_words(constant.unit))}"
    return f"{number(constant.value)}{unit}"


def _written(case: Case, part: Input | Result) -> str:
    """A value within a formula: counts and shares as plain numbers, what has a dimension with its unit."""
    if not hasattr(physical(1.0, part.unit), "to") or _is_share(part.unit):
        return number(case.base[part.name])
    return rf"{number(case.value(part.name))}\,{text(unit_words(part.unit))}"


def _is_share(unit: str) -> bool:
    return unit == "%"


def equation(case: Case, result: Result, known: dict[str, Term] | None = None) -> str:
    """symbol = formula = the same with numbers = value, one below the other, as TeX; of a conditional what is taken."""
    known = known or terms(case)
    symbols, conditions = as_taken(result.formula, known)
    numbers = with_numbers(result.formula, known)
    value = case.value(result.name)
    sign = "=" if is_exact(value, result.digits) else r"\approx"
    unit = rf"\,{text(unit_words(result.unit))}" if result.unit else ""
    last = f"{number(value, result.digits)}{unit}"
    if words := result.choices.get(value):
        last = rf"{last} \quad {text(f'({words})')}"
    reasons = r",\; ".join(conditions)
    why = rf" \quad \left({reasons}\right)" if reasons else ""
    lines = [f"{result.symbol} &= {symbols}{why}"]
    if numbers not in (symbols, last, number(value, result.digits)):
        lines.append(f"&= {numbers}")
    if numbers != last:
        lines.append(f"&{sign} {last}")
    body = r" \\ ".join(lines)
    return rf"\begin{{aligned}} {body} \end{{aligned}}"

"""The calculators of book/data/calculators.yml: what they are made of, and how a case is computed.

A definition names its inputs with units and ranges, then steps and outputs, each a formula (expression.py) over what stands
before it. Formulas compute in base units (B, FLOP, s, W, USD, one), so that none of them holds a factor of conversion;
`unit` says how a value is given and shown. One definition gives the worked example in the book, the form on the site
(`as_page_data`), the answer of the command line and the test against a published value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bookbuild.data import (
    DataError,
    Source,
    is_number,
    nearest,
)
from bookbuild.expression import Expression, ExpressionError, evaluate, javascript, used_names
from bookbuild.expression_units import unit_scale
from bookbuild.presets import Preset


class Fault(DataError):
    """What is wrong with a definition or a case; `code` names the kind as the checks do."""

    def __init__(self, code: str, text: str, line: int = 0, hint: str = "") -> None:
        super().__init__(text, hint=hint, line=line)
        self.code = code


@dataclass(frozen=True)
class Input:
    name: str  # as in the formulas
    title: str
    symbol: str  # TeX
    unit: str
    default: float
    low: float
    high: float
    step: float
    help: str
    preset: str  # id of the record that gives the default, "" for none
    presets: Mapping[str, Preset]
    choices: Mapping[float, str]
    line: int

    @property
    def scale(self) -> float:
        return unit_scale(self.unit)


@dataclass(frozen=True)
class Constant:
    name: str
    title: str
    value: float
    unit: str
    line: int


@dataclass(frozen=True)
class Result:
    """A step on the way or an output."""

    name: str
    title: str
    symbol: str
    unit: str
    digits: int  # that count
    formula: Expression
    help: str
    choices: Mapping[float, str]
    is_output: bool
    line: int
    formula_line: int

    @property
    def scale(self) -> float:
        return unit_scale(self.unit)


@dataclass(frozen=True)
class Published:
    """A case whose answer is known from elsewhere."""

    inputs: Mapping[str, Any]
    output: str
    value: float
    tolerance: float
    source: str
    line: int


@dataclass(frozen=True)
class Calculator:
    id: str
    name: str
    question: str
    note: str
    inputs: Mapping[str, Input]
    constants: Mapping[str, Constant]
    results: Mapping[str, Result]  # steps and outputs in the order of their evaluation
    checks: tuple[Published, ...]
    sources: tuple[Source, ...]
    line: int

    @property
    def outputs(self) -> list[Result]:
        return [result for result in self.results.values() if result.is_output]

    def needed(self, wanted: list[str]) -> set[str]:
        """The names that these results are computed from, themselves included."""
        found: set[str] = set()
        waiting = list(wanted)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.results[name].formula.names if name in self.results else ()
        return found


@dataclass(frozen=True)
class Case:
    """A calculator with numbers put in. `base` holds every name's value in base units."""

    calculator: Calculator
    base: Mapping[str, float]
    chosen: Mapping[str, str] = field(default_factory=dict)  # input → id of the preset that it comes from

    def needed(self, wanted: list[str]) -> set[str]:
        """The names that these results rest on in this case, themselves included."""
        found: set[str] = set()
        waiting = list(wanted)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                result = self.calculator.results.get(name)
                waiting += used_names(result.formula, self.base) if result else ()
        return found

    def value(self, name: str) -> float:
        """In the unit in which it is given or shown."""
        part = self.calculator.inputs.get(name) or self.calculator.results[name]
        return self.base[name] / part.scale


def evaluate_case(calculator: Calculator, given: Mapping[str, Any] | None = None) -> Case:
    """The case of these inputs, in their units (numbers, ids of presets, words of choices), the others at their default.

    Fault for an unknown input, a value out of its range, and for a formula that has no result.
    """
    base = {name: c.value * unit_scale(c.unit) for name, c in calculator.constants.items()}
    chosen: dict[str, str] = {}
    for name in given or ():
        if name not in calculator.inputs:
            near = nearest(name, set(calculator.inputs))
            hint = f"did you mean {near}?" if near else f"there are {', '.join(calculator.inputs)}"
            raise Fault("calculator-input", f"'{calculator.id}' has no input '{name}'", hint=hint)
    for name, entry in calculator.inputs.items():
        value, preset = _value_of(entry, (given or {}).get(name, entry.preset or entry.default))
        base[name] = value * entry.scale
        if preset:
            chosen[name] = preset
    for name, result in calculator.results.items():
        try:
            base[name] = evaluate(result.formula, base)
        except ExpressionError as error:
            raise Fault("calculator-formula", f"{name}: {error}", result.formula_line, error.hint) from error
    return Case(calculator, base, chosen)


def _value_of(entry: Input, given: Any) -> tuple[float, str]:
    """(value in the input's unit, id of the preset that gave it)"""
    preset = ""
    if isinstance(given, str) and given in entry.presets:
        given, preset = entry.presets[given].base / entry.scale, given
    elif isinstance(given, str):
        by_words = {words: value for value, words in entry.choices.items()}
        if given not in by_words:
            near = nearest(given, {*entry.presets, *by_words})
            hint = f"did you mean {near}?" if near else ""
            raise Fault("calculator-input", f"'{given}' is no value of {entry.name}", hint=hint)
        given = by_words[given]
    if not is_number(given):
        raise Fault("calculator-input", f"{entry.name} is not a number")
    if entry.choices and float(given) not in entry.choices:
        known = ", ".join(f"{value:g}" for value in entry.choices)
        raise Fault("calculator-range", f"{entry.name} is {given:g}", hint=f"it is one of {known}")
    if not entry.low <= given <= entry.high:
        text = f"{entry.name} is {given:g}, outside of {entry.low:g} to {entry.high:g}"
        raise Fault("calculator-range", text, hint=f"in {entry.unit}" if entry.unit else "")
    return float(given), preset


def as_page_data(calculator: Calculator) -> dict[str, Any]:
    """What a script in a page needs: it computes `v[name] = given * scale`, then each result's `js`, shown divided by scale."""

    def described(part: Input | Result) -> Iterator[tuple[str, Any]]:
        for key in ("name", "title", "symbol", "unit", "help"):
            yield key, getattr(part, key)
        yield "scale", part.scale
        yield "choices", [{"value": value, "label": words} for value, words in part.choices.items()]

    return {
        "id": calculator.id,
        "name": calculator.name,
        "question": calculator.question,
        "constants": {c.name: c.value * unit_scale(c.unit) for c in calculator.constants.values()},
        "inputs": [
            dict(described(entry))
            | {
                "default": entry.default,
                "min": entry.low,
                "max": entry.high,
                "step": entry.step,
                "preset": entry.preset,
            }
            | {
                "presets": [
                    {"id": p.id, "name": p.name, "value": p.base / entry.scale}
                    for p in entry.presets.values()
                ]
            }
            for entry in calculator.inputs.values()
        ],
        "results": [
            dict(described(r)) | {"digits": r.digits, "output": r.is_output, "js": javascript(r.formula)}
            for r in calculator.results.values()
        ],
    }

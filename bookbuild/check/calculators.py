"""The calculators of book/data: formulas that can be read and whose units fit, ranges, and published values come out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import bookbuild
from bookbuild.cache import cached_text, digest
from bookbuild.calculator_records import FILE, read_calculator
from bookbuild.calculators import Calculator, Fault, evaluate_case
from bookbuild.check.sources import Source, shown
from bookbuild.data import DataError, data_file, nearest, read_data, records
from bookbuild.expression import ExpressionError
from bookbuild.expression_units import dimension_words, physical, quantity, same_dimension
from bookbuild.markdown.maths import MathsError, mathml
from bookbuild.model import Book, Problem

CODES = {
    "calculator-definition": "a calculator's definition that cannot be read",
    "calculator-formula": "a formula that is none, names what is not there, or has no result",
    "calculator-unit": "a unit that is none, or a formula whose units do not fit",
    "calculator-symbol": "a symbol that is no TeX",
    "calculator-preset": "a preset whose data file, key or record is not there",
    "calculator-range": "a default or a case outside of its range",
    "calculator-input": "a case that gives an input which the calculator does not have",
    "calculator-unchecked": "a calculator without a case whose answer is known",
    "calculator-wrong": "a known answer that does not come out",
    "calculator-unused": "an input, constant or step that no output needs",
}


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    path = data_file(book.docs_dir / "data", FILE)
    if not path.is_file():
        return
    name = shown(book, path)
    for line, code, text, hint in json.loads(
        cached_text(book.root, "calculators", _key(path), lambda: json.dumps(_all_faults(path)))
    ):
        yield Problem(name, line, code, text, hint)


def _key(path: Path) -> str:
    """Of all data files, because presets may come from any, and of the code."""
    code = Path(bookbuild.__file__).parent
    parts = [
        *sorted(path.parent.glob("*.y*ml")),
        *sorted(code.glob("*calc*.py")),
        *sorted(code.glob("expression*.py")),
    ]
    parts += [Path(__file__), *(code / n for n in ("presets.py", "units.py", "data.py", "markdown/maths.py"))]
    return digest(*(part for p in parts for part in (p.name, p.read_bytes())))


def _all_faults(path: Path) -> list[tuple[int, str, str, str]]:
    try:
        found = records(read_data(path))
    except DataError:  # data-yaml and data-schema say it
        return []
    faults = []
    for record in found:
        try:
            calculator = read_calculator(record, path.parent)
            faults += [_told(calculator.id, fault) for fault in _faults(calculator)]
        except Fault as fault:
            faults.append(_told(str(record.get("id")), fault))
    return faults


def _told(name: str, fault: Fault) -> tuple[int, str, str, str]:
    return fault.line, fault.code, f"{name}: {fault.text}", fault.hint


def _faults(calculator: Calculator) -> Iterator[Fault]:
    """What is wrong with a definition that can be read."""
    ranges = list(_ranges(calculator))
    yield from ranges
    units = list(_units(calculator))
    yield from units
    yield from _symbols(calculator)
    yield from _unused(calculator)
    if not calculator.checks:
        hint = "check: [{inputs, output, value, tolerance, source}]"
        yield Fault("calculator-unchecked", "no case whose answer is known", calculator.line, hint)
    if ranges or units:  # what they give is no news
        return
    try:
        evaluate_case(calculator)
    except Fault as fault:
        yield fault
        return
    yield from _wrong(calculator)


def _ranges(calculator: Calculator) -> Iterator[Fault]:
    for entry in calculator.inputs.values():
        text = f"{entry.name}: default {entry.default:g} {entry.unit}".rstrip()
        if entry.low > entry.high:
            yield Fault(
                "calculator-range", f"{entry.name}: min {entry.low:g} is above max {entry.high:g}", entry.line
            )
        elif entry.choices and entry.default not in entry.choices:
            known = ", ".join(f"{value:g}" for value in entry.choices)
            yield Fault("calculator-range", f"{text} is none of its choices", entry.line, f"they are {known}")
        elif not entry.low <= entry.default <= entry.high:
            where = f"outside of {entry.low:g} to {entry.high:g}"
            yield Fault("calculator-range", f"{text} is {where}", entry.line)
        elif outside := [
            p.id for p in entry.presets.values() if not entry.low <= p.base / entry.scale <= entry.high
        ]:
            where = f"{entry.low:g} to {entry.high:g}"
            yield Fault(
                "calculator-range", f"{entry.name}: preset {outside[0]} is outside of {where}", entry.line
            )


def _units(calculator: Calculator) -> Iterator[Fault]:
    """Whether each formula gives what its result's unit says, both sides of every sum alike."""
    values = {entry.name: physical(entry.default, entry.unit) for entry in calculator.inputs.values()}
    values |= {c.name: physical(c.value, c.unit) for c in calculator.constants.values()}
    for result in calculator.results.values():
        wanted = physical(1.0, result.unit)
        try:
            found = quantity(result.formula, values)
        except ExpressionError as error:
            yield Fault("calculator-unit", f"{result.name}: {error}", result.formula_line, error.hint)
            return
        if not same_dimension(found, wanted):
            text = f"{result.name} comes out as {dimension_words(found)}, not as {result.unit or 'a plain number'}"
            yield Fault("calculator-unit", text, result.formula_line)
            return
        values[result.name] = found


def _symbols(calculator: Calculator) -> Iterator[Fault]:
    for part in (*calculator.inputs.values(), *calculator.results.values()):
        try:
            mathml(part.symbol)
        except MathsError as error:
            yield Fault("calculator-symbol", f"{part.name}: {error} in ${part.symbol}$", part.line)


def _unused(calculator: Calculator) -> Iterator[Fault]:
    needed = calculator.needed([output.name for output in calculator.outputs])
    for part in (*calculator.inputs.values(), *calculator.constants.values(), *calculator.results.values()):
        if part.name not in needed:
            yield Fault("calculator-unused", f"no output needs '{part.name}'", part.line)


def _wrong(calculator: Calculator) -> Iterator[Fault]:
    for known in calculator.checks:
        if known.output not in calculator.results:
            near = nearest(known.output, set(calculator.results))
            hint = f"did you mean {near}?" if near else ""
            yield Fault("calculator-input", f"no output '{known.output}'", known.line, hint)
            continue
        try:
            value = evaluate_case(calculator, known.inputs).value(known.output)
        except Fault as fault:
            yield Fault(fault.code, f"check: {fault.text}", known.line, fault.hint)
            continue
        if abs(value - known.value) > known.tolerance:
            unit = calculator.results[known.output].unit
            text = f"{known.output} comes out as {value:.8g} {unit}".rstrip() + f", not as {known.value:.8g}"
            yield Fault("calculator-wrong", text, known.line, f"source: {known.source}")
        elif known.tolerance > abs(known.value) * 0.05 and known.value:
            yield Fault(
                "calculator-wrong", f"a tolerance of {known.tolerance:g} lets too much pass", known.line
            )

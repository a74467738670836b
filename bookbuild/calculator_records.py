"""Reads calculators.yml into calculators.py's records; what cannot be read is a Fault with its line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from keyword import iskeyword
from pathlib import Path
from types import MappingProxyType

from bookbuild.calculators import Calculator, Constant, Fault, Input, Published, Result
from bookbuild.data import DataError, Record, data_file, is_number, nearest, read_data, records, sources
from bookbuild.expression import FUNCTIONS, NAME, ExpressionError, parse
from bookbuild.expression_units import unit_scale
from bookbuild.presets import Preset, presets

FILE = "calculators"


def load(data_dir: Path) -> Mapping[str, Calculator]:
    """Every calculator by its id; DataError or Fault, with file and line, for the first that is wrong.

    Cheap to ask for again as long as no data file has changed.
    """
    stamps = []
    for path in sorted(data_dir.glob("*.y*ml")):
        stat = path.stat()
        stamps.append((path.name, stat.st_mtime_ns, stat.st_size))
    return _load(data_dir, tuple(stamps))


@lru_cache(maxsize=4)
def _load(data_dir: Path, _stamps: tuple[tuple[str, int, int], ...]) -> Mapping[str, Calculator]:
    path = data_file(data_dir, FILE)
    found = {}
    for record in records(read_data(path)):
        try:
            found[str(record.get("id"))] = read_calculator(record, data_dir)
        except Fault as fault:
            fault.file = path
            raise
    return MappingProxyType(found)


def read_calculator(record: Record, data_dir: Path) -> Calculator:
    """One record as a calculator. Fault for the first thing that cannot be read, with its line."""
    _names_stand_once(record)
    inputs = {e.name: e for e in (_input(r, data_dir) for r in _list(record, "inputs"))}
    constants = {c.name: c for c in map(_constant, _list(record, "constants", optional=True))}
    results: dict[str, Result] = {}
    for key in ("steps", "outputs"):
        for entry in _list(record, key, optional=key == "steps"):
            result = _result(entry, key == "outputs", {*inputs, *constants, *results})
            results[result.name] = result
    checks = tuple(_published(r) for r in _list(record, "check", optional=True))
    return Calculator(
        id=_text(record, "id"), name=_text(record, "name"), question=_text(record, "question"),
        note=str(record.get("note") or ""), inputs=inputs, constants=constants, results=results,
        checks=checks, sources=tuple(sources(record)), line=record.line,
    )  # fmt: skip


def _input(record: Record, data_dir: Path) -> Input:
    name, unit = _name(record), _unit(record)
    choices = _choices(record)
    found: Mapping[str, Preset] = {}
    if wanted := record.get("preset_from"):
        line = record.key_lines.get("preset_from", record.line)
        try:
            found = presets(data_dir, wanted)
        except DataError as error:
            raise Fault("calculator-preset", f"{name}: {error.text}", line, error.hint) from error
    default, line = record.get("default"), record.key_lines.get("default", record.line)
    preset = default if isinstance(default, str) else ""
    if preset and preset not in found:
        near = nearest(preset, set(found))
        hint = f"did you mean {near}?" if near else ""
        raise Fault("calculator-preset", f"{name}: no preset '{preset}'", line, hint)
    value = found[preset].base / unit_scale(unit) if preset else default
    low, high = (min(choices), max(choices)) if choices else (record.get("min"), record.get("max"))
    for key, number in (("default", value), ("min", low), ("max", high)):
        if not is_number(number):
            raise Fault(
                "calculator-definition",
                f"{name}: {key} is not a number",
                record.key_lines.get(key, record.line),
            )
    return Input(
        name=name, title=_text(record, "title"), symbol=_text(record, "symbol"), unit=unit, default=float(value),
        low=low, high=high, step=record.get("step") or 0, help=str(record.get("help") or ""), preset=preset,
        presets=found, choices=choices, line=record.line,
    )  # fmt: skip


def _constant(record: Record) -> Constant:
    value = record.get("value")
    if not is_number(value):
        raise Fault("calculator-definition", "a constant's value is not a number", record.line)
    return Constant(_name(record), _text(record, "title"), value, _unit(record), record.line)


def _result(record: Record, is_output: bool, known: set[str]) -> Result:
    name, line = _name(record), record.key_lines.get("formula", record.line)
    try:
        formula = parse(str(record.get("formula") or ""), known)
    except ExpressionError as error:
        raise Fault("calculator-formula", f"{name}: {error}", line, error.hint) from error
    digits = record.get("digits", 4)
    if not isinstance(digits, int) or not 1 <= digits <= 15:
        raise Fault("calculator-definition", f"{name}: digits is a whole number from 1 to 15", record.line)
    return Result(
        name=name, title=_text(record, "title"), symbol=_text(record, "symbol"), unit=_unit(record), digits=digits,
        formula=formula, help=str(record.get("help") or ""), choices=_choices(record), is_output=is_output,
        line=record.line, formula_line=line,
    )  # fmt: skip


def _published(record: Record) -> Published:
    given = record.get("inputs") or {}
    value, tolerance = record.get("value"), record.get("tolerance")
    if not isinstance(given, Mapping) or not is_number(value) or not is_number(tolerance):
        text = "a check has inputs, output, value, tolerance and source"
        raise Fault("calculator-definition", text, record.line)
    return Published(given, _text(record, "output"), value, tolerance, _text(record, "source"), record.line)


def _list(record: Record, key: str, optional: bool = False) -> list[Record]:
    found = record.get(key)
    if found is None and optional:
        return []
    if not isinstance(found, list) or not found or not all(isinstance(entry, Record) for entry in found):
        raise Fault(
            "calculator-definition",
            f"'{key}' is not a list of mappings",
            record.key_lines.get(key, record.line),
        )
    return found


def _text(record: Record, key: str) -> str:
    if not isinstance(record.get(key), str):
        raise Fault("calculator-definition", f"no '{key}'", record.line)
    return record[key]


def _name(record: Record) -> str:
    name = record.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name) or name in FUNCTIONS or iskeyword(name):
        hint = "letters, digits and _, no function and no word of Python"
        raise Fault("calculator-definition", f"'{name}' is no name for a formula", record.line, hint)
    return name


def _unit(record: Record) -> str:
    unit = str(record.get("unit") or "")
    try:
        unit_scale(unit)
    except ExpressionError as error:
        line = record.key_lines.get("unit", record.line)
        raise Fault("calculator-unit", f"{record.get('name')}: {error.text}", line, error.hint) from error
    return unit


def _choices(record: Record) -> dict[float, str]:
    found = record.get("choices") or []
    return {float(entry["value"]): str(entry["label"]) for entry in found}


def _names_stand_once(record: Record) -> None:
    seen: dict[str, int] = {}
    for key in ("inputs", "constants", "steps", "outputs"):
        for entry in _list(record, key, optional=True):
            name = str(entry.get("name"))
            if name in seen:
                text = f"'{name}' stands on line {seen[name]} too"
                raise Fault("calculator-definition", text, entry.line)
            seen[name] = entry.line

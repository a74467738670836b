"""Values that follow from others of the same record: computed when a data file is read, never typed.

    derived:                                   # beside `records:` in the data file
      ridge_bf16_flop_per_byte:                # its unit is in its name, as always
        words: dense BF16 peak over memory bandwidth
        of: {peak: dense_peak.bf16_tflops, bandwidth: memory.bandwidth_tb_per_s}
        formula: peak / bandwidth              # bookbuild/expression.py, in base units
        digits: 3                              # that count, where nobody asks for others

A key of another file is written file/{field that names the record}/key, and may hold more fields of the record:

    of: {measured: measured_tflops, peak: "accelerators/{part}/dense_peak.{dtype}_tflops"}

Tables, val: links, presets and plots find them as `derived.ridge_bf16_flop_per_byte`, on every record that has what `of` names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from bookbuild.data import (
    MISSING,
    Computed,
    DataError,
    Record,
    data_file,
    is_number,
    keys_of,
    lookup,
    nearest,
    read_data,
    records,
    unit_of,
)

KEY = "derived"


@dataclass(frozen=True)
class Rule:
    name: str
    words: str
    of: Mapping[str, str]  # name in the formula → dotted key
    formula: Any  # Expression
    digits: int
    line: int


def add_derived(content: Record, path: Path) -> tuple[Path, ...]:
    """Give every record of a data file's lists its computed values; the other files that they come from.

    DataError for a rule that does not hold water.
    """
    rules = list(_rules(content.get(KEY)))
    for rows in content.values():
        if not isinstance(rows, list):
            continue
        for row in rows:
            if isinstance(row, Record) and KEY in row:
                line = row.key_lines.get(KEY, row.line)
                raise DataError(f"record '{row.get('id', '?')}' types '{KEY}'", hint="it is computed", line=line)
    for rule in rules:
        _apply(rule, content, path)
    others = {data_file(path.parent, key.partition("/")[0]) for rule in rules for key in rule.of.values() if "/" in key}
    return tuple(sorted(others))


def _apply(rule: Rule, content: Record, path: Path) -> None:
    from bookbuild.expression import ExpressionError, evaluate
    from bookbuild.expression_units import (
        physical,
        quantity,
        same_dimension,
        unit_scale,
    )

    rows = [r for rows in content.values() if isinstance(rows, list) for r in rows if isinstance(r, Record)]
    unit, given = unit_of(rule.name), {name: unit_of(key) for name, key in rule.of.items()}
    known = keys_of(rows)
    for key in rule.of.values():
        if "/" not in key and key not in known:
            near = nearest(key, known)
            raise DataError(f"derived.{rule.name}: no record has '{key}'", hint=near and f"did you mean {near}?", line=rule.line)
    try:
        found = quantity(rule.formula, {name: physical(1.0, u) for name, u in given.items()})
        if not same_dimension(found, physical(1.0, unit)):
            raise DataError(f"derived.{rule.name}: the formula gives {getattr(found, 'units', 'a plain number')}", line=rule.line)
        for row in rows:
            values = {name: _value(row, key, rule, path) for name, key in rule.of.items()}
            if all(is_number(value) for value in values.values()):
                base = {name: value * unit_scale(given[name]) for name, value in values.items()}
                number = evaluate(rule.formula, base) / unit_scale(unit)
                row.setdefault(KEY, Record())[rule.name] = _computed(number, rule.digits)
    except ExpressionError as error:
        raise DataError(f"derived.{rule.name}: {error}", hint=error.hint, line=rule.line) from None


def _value(row: Record, key: str, rule: Rule, path: Path) -> Any:
    """A record's own value, or that of the record of another file which it names; MISSING where it has none."""
    if "/" not in key:
        return lookup(row, key)
    file, record_id, rest = (key.split("/") + ["", ""])[:3]
    try:
        record_id, rest = record_id.format_map(row), rest.format_map(row)
    except (KeyError, ValueError, IndexError, AttributeError):  # it names none
        return MISSING
    if data_file(path.parent, file) == path:
        raise DataError(f"derived.{rule.name}: '{key}' is of this file", hint="keys of the same record only", line=rule.line)
    others = {str(r.get("id")): r for r in records(read_data(data_file(path.parent, file)))}
    if record_id not in others:
        near = nearest(record_id, set(others))
        text = f"derived.{rule.name}: no record '{record_id}' in {file}"
        raise DataError(text, hint=near and f"did you mean {near}?", line=row.line)
    return lookup(others[record_id], rest)


def _computed(number: float, digits: int) -> Computed:
    exact = Decimal(f"{number:.{digits}g}")
    shown = f"{exact:f}"
    return Computed(float(f"{number:.12g}"), shown)


def _rules(found: Any) -> Iterator[Rule]:
    from bookbuild.expression import ExpressionError, parse

    if found is None:
        return
    if not isinstance(found, Record):
        raise DataError(f"'{KEY}' is a mapping of names to rules", line=1)
    for name, rule in found.items():
        line = found.key_lines.get(name, found.line)
        of = rule.get("of") if isinstance(rule, Record) else None
        if not isinstance(of, Record) or not rule.get("formula") or set(rule) - {"words", "of", "formula", "digits"}:
            raise DataError(f"derived.{name} is not {{words, of, formula, digits}}", line=line)
        try:
            formula = parse(str(rule["formula"]), set(of))
        except ExpressionError as error:
            line = rule.key_lines.get("formula", line)
            raise DataError(f"derived.{name}: {error}", hint=error.hint, line=line) from None
        yield Rule(name, str(rule.get("words") or ""), dict(of), formula, int(rule.get("digits") or 4), line)


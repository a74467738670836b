"""Values that follow from others of the same record: computed when a data file is read, never typed.

    derived:                                   # beside `records:` in the data file
      ridge_bf16_flop_per_byte:                # its unit is in its name, as always
        words: dense BF16 peak over memory bandwidth
        of: {peak: dense_peak.bf16_tflops, bandwidth: memory.bandwidth_tb_per_s}
        formula: peak / bandwidth              # bookbuild/expression.py, in base units
        digits: 3                              # that count, where nobody asks for others

Tables, val: links, presets and plots find them as `derived.ridge_bf16_flop_per_byte`, on every record that has what `of` names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bookbuild.data import (
    Computed,
    DataError,
    Record,
    is_number,
    keys_of,
    lookup,
    nearest,
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


def add_derived(content: Record) -> None:
    """Give every record of a data file's lists its computed values; DataError for a rule that does not hold water."""
    rules = list(_rules(content.get(KEY)))
    for rows in content.values():
        if not isinstance(rows, list):
            continue
        for row in rows:
            if isinstance(row, Record) and KEY in row:
                line = row.key_lines.get(KEY, row.line)
                raise DataError(f"record '{row.get('id', '?')}' types '{KEY}'", hint="it is computed", line=line)
    for rule in rules:
        _apply(rule, content)


def _apply(rule: Rule, content: Record) -> None:
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
        if key not in known:
            near = nearest(key, known)
            raise DataError(f"derived.{rule.name}: no record has '{key}'", hint=near and f"did you mean {near}?", line=rule.line)
    try:
        found = quantity(rule.formula, {name: physical(1.0, u) for name, u in given.items()})
        if not same_dimension(found, physical(1.0, unit)):
            raise DataError(f"derived.{rule.name}: the formula gives {getattr(found, 'units', 'a plain number')}", line=rule.line)
        for row in rows:
            values = {name: lookup(row, key) for name, key in rule.of.items()}
            if all(is_number(value) for value in values.values()):
                base = {name: value * unit_scale(given[name]) for name, value in values.items()}
                number = evaluate(rule.formula, base) / unit_scale(unit)
                row.setdefault(KEY, Record())[rule.name] = _computed(number, rule.digits)
    except ExpressionError as error:
        raise DataError(f"derived.{rule.name}: {error}", hint=error.hint, line=rule.line) from None


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


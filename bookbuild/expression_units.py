"""Formulas over quantities with units: what cannot be added or compared is an error, in both branches of an `if`.

Dimensions are physics' and the field's: bytes, FLOPs, seconds, watts, dollars. What is only counted (tokens, parameters,
samples, devices) is a plain number here, as in the formulas themselves: 12·l·h² is a number of parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from bookbuild.expression import CALLS, Condition, Expression, ExpressionError, apply, fold
from bookbuild.units import UnitError, parse_unit

# what the registry calls the base of a dimension → what it is called here, and how much of that it is
_PHYSICAL = {
    "bit": ("byte", 1 / 8), "byte": ("byte", 1.0), "second": ("second", 1.0), "flop": ("flop", 1.0), "op": ("op", 1.0),
    "usd": ("usd", 1.0), "eur": ("eur", 1.0), "kilogram": ("kilogram", 1.0), "gram": ("kilogram", 1e-3),
    "meter": ("meter", 1.0), "kelvin": ("kelvin", 1.0), "ampere": ("ampere", 1.0),
}  # fmt: skip


class _Quantities:
    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def number(self, value: float) -> float:
        return value

    def name(self, name: str, node: ast.expr) -> Any:
        if name not in self.values:
            raise ExpressionError(f"no value for '{name}'", node.col_offset + 1)
        return self.values[name]

    def negative(self, value: Any) -> Any:
        return -value

    def binary(self, sign: str, left: Any, right: Any, node: ast.expr) -> Any:
        if (
            sign == "/" and _magnitude(right) == 0
        ):  # in a branch that no case takes: the units are what counts
            right = right + 1 * right.units if hasattr(right, "units") else 1.0
        return self._same(lambda: apply(sign, left, right), node)

    def call(self, function: str, arguments: list[Any], node: ast.expr) -> Any:
        if function == "sqrt":
            return self._same(lambda: arguments[0] ** 0.5, node)
        if function in ("min", "max"):
            return self._same(lambda: CALLS[function](*arguments), node)
        try:
            return self._same(lambda: float(CALLS[function](_plain(arguments[0]))), node)
        except (ValueError, OverflowError) as error:
            if isinstance(error, ExpressionError):
                raise
            return 1.0  # log(-1) has no value, and no unit either

    def choose(self, condition: Condition, then: ast.expr, other: ast.expr) -> Any:
        left, right = fold(condition.left, self), fold(condition.right, self)
        chosen = self._same(
            lambda: condition.holds(left, right) if _alike(left, right) else None, condition.left
        )
        first, second = fold(then, self), fold(other, self)
        self._same(lambda: _alike(first, second), other)
        if _is_zero(first) or _is_zero(second):  # a plain 0 has every unit
            return (first if chosen else second) + 0 * (second if _is_zero(first) else first)
        return first if chosen else second

    def _same(self, compute: Callable[[], Any], node: ast.expr) -> Any:
        from pint.errors import DimensionalityError, OffsetUnitCalculusError

        try:
            return compute()
        except (DimensionalityError, OffsetUnitCalculusError) as error:
            raise ExpressionError(
                f"units do not fit: {' '.join(str(error).split())}", node.col_offset + 1
            ) from None
        except ZeroDivisionError:
            raise ExpressionError("division by zero", node.col_offset + 1) from None


def _magnitude(value: Any) -> float:
    return value.magnitude if hasattr(value, "magnitude") else value


def _plain(value: Any) -> float:
    return value.to("").magnitude if hasattr(value, "to") else value


def _is_zero(value: Any) -> bool:
    return not hasattr(value, "to") and value == 0


def _alike(left: Any, right: Any) -> bool:
    """True, or pint's own error where two values cannot be added."""
    if not _is_zero(left) and not _is_zero(right):
        left + right  # for its error
    return True


def quantity(expression: Expression, values: Mapping[str, Any]) -> Any:
    """The formula's value over pint quantities; ExpressionError where units do not fit."""
    return fold(expression.node, _Quantities(values))


# ---- units ----


@lru_cache(maxsize=512)
def unit_scale(unit: str) -> float:
    """How many base units (B, FLOP, s, W, USD, one) a unit is: 'GB/s' → 1e9; ExpressionError for one that is none."""
    return _base(unit)[0]


def physical(value: float, unit: str) -> Any:
    """A value in `unit` as a quantity in base units; counts (token, parameter, device …) are plain numbers."""
    scale, dimensions = _base(unit)
    found = value * scale
    for name, power in dimensions:
        found = found * _dimensions().Quantity(1.0, name) ** power
    return found


def same_dimension(left: Any, right: Any) -> bool:
    """Whether two results of `quantity` or `physical` can be added."""
    return _dimension(left) == _dimension(right)


def dimension_words(value: Any) -> str:
    """'byte / second'; 'a plain number'"""
    return f"{value.units}" if _dimension(value) else "a plain number"


def _dimension(value: Any) -> dict[str, float]:
    return dict(value.dimensionality) if hasattr(value, "to") else {}


@lru_cache(maxsize=1)
def _dimensions() -> Any:
    """A registry that knows the bases alone; pint's own takes a byte for a plain number."""
    from pint import UnitRegistry

    units = UnitRegistry(None)
    for name in {name for name, _ in _PHYSICAL.values()}:
        units.define(f"{name} = [{name}]")
    return units


@lru_cache(maxsize=512)
def _base(unit: str) -> tuple[float, tuple[tuple[str, float], ...]]:
    """(scale, powers of the bases) of a unit."""
    if not unit:
        return 1.0, ()
    try:
        found = parse_unit(unit)
    except UnitError as error:
        raise ExpressionError(error.text, hint=error.hint) from error
    scale, powers, one = found.scale, [], found.quantity(1.0)
    for name, power in one.unit_items() if hasattr(one, "unit_items") else ():
        if base := _PHYSICAL.get(name.lower()):
            scale *= base[1] ** power
            powers.append((base[0], float(power)))
    return scale, tuple(sorted(powers))

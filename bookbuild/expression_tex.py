r"""Formulas as TeX: with symbols, `6\,N\,D`, or with the numbers of a case put in, `6 \cdot 405\times 10^{9} \cdot …`."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bookbuild.expression import Condition, Expression, evaluate, fold

_SUM, _PRODUCT, _FRACTION, _ATOM = 1, 2, 3, 4  # how tightly a piece holds together
_RELATIONS = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne"}
# what neither latex2mathml nor ziamath reads within \text, escaped or not
_UNREAD = str.maketrans({"{": "(", "}": ")", "&": "+", "<": "‹", ">": "›", "\\": None, "$": None})


@dataclass(frozen=True)
class Term:
    """What stands for a name: its symbol in TeX, and in a case its value and how that is written."""

    symbol: str
    value: float = math.nan  # in base units
    written: str = ""  # the value in TeX, with its unit
    choices: Mapping[float, str] = field(default_factory=dict)  # words for the values of a choice


class _Piece(NamedTuple):
    tex: str
    holds: int


class _Symbols:
    """Names as symbols; a conditional as cases."""

    def __init__(self, terms: Mapping[str, Term]) -> None:
        self.terms = terms

    def number(self, value: float) -> _Piece:
        return _Piece(number(value), _PRODUCT if "times" in number(value) else _ATOM)

    def name(self, name: str, node: ast.expr) -> _Piece:
        return _Piece(self.terms[name].symbol, _ATOM)

    def negative(self, value: _Piece) -> _Piece:
        return _Piece(f"-{_within(value, _PRODUCT)}", _SUM)

    def binary(self, sign: str, left: _Piece, right: _Piece, node: ast.expr) -> _Piece:
        if sign == "/":
            return _Piece(rf"\frac{{{left.tex}}}{{{right.tex}}}", _FRACTION)
        if sign == "**":
            if right.tex == "0.5":
                return _Piece(rf"\sqrt{{{left.tex}}}", _ATOM)
            return _Piece(rf"{_within(left, _ATOM)}^{{{right.tex}}}", _FRACTION)
        if sign == "*":
            factor = _within(right, _PRODUCT)
            return _Piece(f"{_within(left, _PRODUCT)}{self.dot(factor)}{factor}", _PRODUCT)
        return _Piece(f"{left.tex} {sign} {_within(right, _SUM if sign == '+' else _PRODUCT)}", _SUM)

    def dot(self, factor: str) -> str:
        return r" \cdot " if factor[:1].isdigit() else r"\,"

    def call(self, function: str, arguments: list[_Piece], node: ast.expr) -> _Piece:
        inner = ", ".join(piece.tex for piece in arguments)
        match function:
            case "sqrt":
                return _Piece(rf"\sqrt{{{inner}}}", _ATOM)
            case "ceil" | "floor":
                return _Piece(rf"\left\l{function} {inner} \right\r{function}", _ATOM)
            case "exp":
                return _Piece(rf"e^{{{inner}}}", _FRACTION)
        name = "ln" if function == "log" else function
        return _Piece(rf"\{name}\left({inner}\right)", _FRACTION)

    def choose(self, condition: Condition, then: ast.expr, other: ast.expr) -> _Piece:
        rows = [(fold(then, self).tex, rf"\text{{if }} {self._condition(condition)}")]
        while isinstance(other, ast.IfExp):  # one list of cases, not cases within cases
            inner = _Chained(self, rows)
            other = fold(other, inner)
        rows.append((fold(other, self).tex, r"\text{otherwise}"))
        lines = r" \\ ".join(rf"{value} & {words}" for value, words in rows)
        return _Piece(rf"\begin{{cases}} {lines} \end{{cases}}", 0)

    def _condition(self, condition: Condition) -> str:
        left, right = condition.left, condition.right
        if isinstance(left, ast.Name) and isinstance(right, ast.Constant) and condition.sign in ("==", "!="):
            words = self.terms[left.id].choices.get(float(right.value))  # type: ignore[arg-type]
            if words:
                return text(words if condition.sign == "==" else f"not {words}")
        return f"{fold(left, self).tex} {_RELATIONS[condition.sign]} {fold(right, self).tex}"


class _Chained:
    """Takes one `if` of a chain; gives back what stands behind its `else`."""

    def __init__(self, symbols: _Symbols, rows: list[tuple[str, str]]) -> None:
        self.symbols, self.rows = symbols, rows

    def choose(self, condition: Condition, then: ast.expr, other: ast.expr) -> ast.expr:
        words = self.symbols._condition(condition)
        self.rows.append((fold(then, self.symbols).tex, rf"\text{{if }} {words}"))
        return other


class _Taken(_Symbols):
    """Names as symbols; of a conditional the branch that a case takes, and why."""

    def __init__(self, terms: Mapping[str, Term]) -> None:
        super().__init__(terms)
        self.reasons: list[Condition] = []

    def choose(self, condition: Condition, then: ast.expr, other: ast.expr) -> _Piece:
        values = {name: term.value for name, term in self.terms.items()}
        holds = condition.holds(evaluate(condition.left, values), evaluate(condition.right, values))
        reason = condition if holds else condition.turned()
        if reason.sign == "==":  # what a name is makes what it is not no news
            self.reasons = [
                r for r in self.reasons if r.sign != "!=" or ast.dump(r.left) != ast.dump(reason.left)
            ]
        self.reasons.append(reason)
        return fold(then if holds else other, self)


class _Numbers(_Taken):
    """Names as the numbers of a case."""

    def name(self, name: str, node: ast.expr) -> _Piece:
        written = self.terms[name].written
        single = not any(mark in written for mark in (r"\,\text", r"\times"))
        return _Piece(written, _SUM if written.startswith("-") else _ATOM if single else _PRODUCT)

    def dot(self, factor: str) -> str:
        return r" \cdot "


def _within(piece: _Piece, wanted: int) -> str:
    return piece.tex if piece.holds >= wanted else rf"\left({piece.tex}\right)"


def with_symbols(expression: Expression, terms: Mapping[str, Term]) -> str:
    return fold(expression.node, _Symbols(terms)).tex


def as_taken(expression: Expression, terms: Mapping[str, Term]) -> tuple[str, list[str]]:
    """(formula with symbols as a case takes it, conditions under which it does), in TeX."""
    taken = _Taken(terms)
    formula = fold(expression.node, taken).tex
    return formula, [taken._condition(reason) for reason in taken.reasons]


def with_numbers(expression: Expression, terms: Mapping[str, Term]) -> str:
    return fold(expression.node, _Numbers(terms)).tex


def text(words: str) -> str:
    """Words within a formula."""
    parts = words.translate(_UNREAD).split("%")  # within \\text it begins a comment
    return r"\%".join(rf"\text{{{part}}}" if part else "" for part in parts)


def number(value: float, digits: int = 6) -> str:
    r"""A number in TeX: 131\,072, 0.41, 405\times 10^{9}, 3.79\times 10^{25}; `digits` that count where it is not whole."""
    mantissa, exponent = scientific(value, digits)
    if exponent:
        return rf"10^{{{exponent}}}" if mantissa == "1" else rf"{mantissa}\times 10^{{{exponent}}}"
    whole, point, rest = mantissa.partition(".")
    sign, whole = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return sign + (f"{int(whole):,}".replace(",", r"\,") if len(whole) >= 5 else whole) + point + rest


def scientific(value: float, digits: int = 6) -> tuple[str, int]:
    """(plain number, power of ten behind it or 0): whole numbers to ten million as they are, then by thousands."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}", 0
    if abs(value) < 1e7 and value == int(value):
        return str(int(value)), 0
    magnitude = math.floor(math.log10(abs(value)))
    if -4 <= magnitude < 7:
        return _plain(value, digits, magnitude), 0
    exponent = 3 * (magnitude // 3) if -12 <= magnitude < 15 else magnitude
    return _plain(value / 10.0**exponent, digits, magnitude - exponent), exponent


def _plain(value: float, digits: int, magnitude: int) -> str:
    rounded = f"{value:.{max(digits - 1 - magnitude, 0)}f}"
    return rounded.rstrip("0").rstrip(".") if "." in rounded else rounded

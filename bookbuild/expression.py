"""The formula language of book/data/calculators.yml: a small part of Python's expressions, over floats.

    expression = number | name | -x | x + y | x - y | x * y | x / y | x ** y | f(x, …) | x if a < b else y

Functions are min, max, ceil, floor, sqrt, log (natural) and exp; a comparison stands in the condition of `if … else` and
nowhere else. One parse serves every reader: `evaluate` computes in Python, `javascript` writes the same sum for a page,
expression_units.py computes with units so that a formula that adds bytes to seconds is found, expression_tex.py sets it.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol

LONGEST = 1000  # characters; a longer formula is better cut into steps
DEEPEST = 40  # operations inside of each other
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
FUNCTIONS = {
    "min": 0,
    "max": 0,
    "ceil": 1,
    "floor": 1,
    "sqrt": 1,
    "log": 1,
    "exp": 1,
}  # arguments; 0: two or more
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
CALLS: dict[str, Callable[..., float]] = {
    "min": min, "max": max, "ceil": math.ceil, "floor": math.floor,
    "sqrt": math.sqrt, "log": math.log, "exp": math.exp,
}  # fmt: skip
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class ExpressionError(ValueError):
    """A formula that is none, or a sum that has no result; `column` (1-based) says where in the formula."""

    def __init__(self, text: str, column: int = 0, hint: str = "") -> None:
        super().__init__(f"{text} at column {column}" if column else text)
        self.text, self.column, self.hint = text, column, hint


@dataclass(frozen=True)
class Expression:
    """A formula that has been read; `names` stand in the order of their first use."""

    text: str
    node: ast.expr
    names: tuple[str, ...]


class Algebra(Protocol):
    """What a reader of formulas does with each kind of node; `fold` brings it there."""

    def number(self, value: float) -> Any: ...
    def name(self, name: str, node: ast.expr) -> Any: ...
    def negative(self, value: Any) -> Any: ...
    def binary(self, sign: str, left: Any, right: Any, node: ast.expr) -> Any: ...
    def call(self, function: str, arguments: list[Any], node: ast.expr) -> Any: ...
    def choose(self, condition: Condition, then: ast.expr, other: ast.expr) -> Any: ...


@dataclass(frozen=True)
class Condition:
    """`left sign right` of a conditional."""

    left: ast.expr
    sign: str
    right: ast.expr

    def turned(self) -> Condition:
        """The condition that holds where this one does not."""
        return Condition(self.left, _OPPOSITE[self.sign], self.right)

    def holds(self, left: Any, right: Any) -> bool:
        return _COMPARE[self.sign](left, right)


# ---- reading ----


def parse(text: str, known: Mapping[str, Any] | set[str] | None = None) -> Expression:
    """Read a formula; ExpressionError for what the language does not have, and for a name that `known` lacks."""
    line = " ".join(text.split())
    if not line:
        raise ExpressionError("an empty formula")
    if len(line) > LONGEST:
        raise ExpressionError(f"a formula of more than {LONGEST} characters", hint="cut it into steps")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's opinion about `1(2)` comes as our error
            node = ast.parse(line, mode="eval").body
    except SyntaxError as error:
        hint = "write a power as **" if "^" in line else ""
        raise ExpressionError("not a formula", min(error.offset or 1, len(line)), hint) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError("not a formula") from error
    names: dict[str, ast.Name] = {}
    for found in _checked(node, 1):
        names.setdefault(found.id, found)
    for name, found in names.items():
        if known is not None and name not in known:
            near = get_close_matches(name, sorted(known), n=1)
            raise ExpressionError(
                f"unknown name '{name}'", found.col_offset + 1, f"did you mean {near[0]}?" if near else ""
            )
    return Expression(line, node, tuple(names))


def _checked(node: ast.expr, depth: int) -> Iterator[ast.Name]:
    """The names in a formula that holds only what the language has; the first thing that it has not is an error."""
    column = node.col_offset + 1
    if depth > DEEPEST:
        raise ExpressionError(
            f"more than {DEEPEST} operations inside of each other", column, "cut it into steps"
        )
    depth += 1
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            if not _finite(node.value):
                raise ExpressionError("a number too large", column)
        case ast.Name():
            if node.id in FUNCTIONS:
                raise ExpressionError(f"'{node.id}' is a function", column, f"write {node.id}(…)")
            if not NAME.fullmatch(node.id):
                raise ExpressionError(f"the name '{node.id}' is not plain letters, digits and _", column)
            yield node
        case ast.UnaryOp(op=ast.USub()):
            yield from _checked(node.operand, depth)
        case ast.BinOp() if type(node.op) in _SIGNS:
            yield from _checked(node.left, depth)
            yield from _checked(node.right, depth)
        case ast.IfExp():
            yield from _checked(node.body, depth)
            yield from _condition(node.test, depth)
            yield from _checked(node.orelse, depth)
        case ast.Call(func=ast.Name()):
            yield from _called(node, depth)
        case ast.Compare():
            raise ExpressionError(
                "a comparison as a value", column, "it belongs between 'if' and 'else': 1 if a < b else 0"
            )
        case ast.BinOp(op=ast.BitXor()):
            raise ExpressionError("'^' is no power", (node.left.end_col_offset or 0) + 1, "write **")
        case _:
            raise ExpressionError(f"not allowed in a formula: {_kind(node)}", column)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _condition(test: ast.expr, depth: int) -> Iterator[ast.Name]:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _COMPARISONS:
        raise ExpressionError(
            "a condition is one comparison", test.col_offset + 1, "a < b, a <= b, a == b, …"
        )
    yield from _checked(test.left, depth)
    yield from _checked(test.comparators[0], depth)


def _called(node: ast.Call, depth: int) -> Iterator[ast.Name]:
    name, column = node.func.id, node.col_offset + 1  # type: ignore[attr-defined]
    if name not in FUNCTIONS:
        near = get_close_matches(name, FUNCTIONS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(FUNCTIONS)}"
        raise ExpressionError(f"unknown function '{name}'", column, hint)
    wanted, given = FUNCTIONS[name], len(node.args)
    if node.keywords or (given < 2 if wanted == 0 else given != wanted):
        raise ExpressionError(f"{name} takes {wanted or 'two or more'} value{'s' * (wanted != 1)}", column)
    for argument in node.args:
        yield from _checked(argument, depth)


def _kind(node: ast.expr) -> str:
    """'a string', 'attribute', … : what stands there, in words."""
    if isinstance(node, ast.Constant):
        return f"the constant {node.value!r}"
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp)):
        return f"the operator {type(node.op).__name__.lower()}"
    return type(node).__name__.lower()


# ---- walking ----


def fold(node: ast.expr, on: Algebra) -> Any:
    """What an algebra makes of a formula, from its leaves up. A conditional's branches are the algebra's to walk."""
    match node:
        case ast.Constant():
            return on.number(float(node.value))  # type: ignore[arg-type]
        case ast.Name():
            return on.name(node.id, node)
        case ast.UnaryOp():
            return on.negative(fold(node.operand, on))
        case ast.BinOp():
            return on.binary(_SIGNS[type(node.op)], fold(node.left, on), fold(node.right, on), node)
        case ast.Call():
            return on.call(node.func.id, [fold(a, on) for a in node.args], node)  # type: ignore[attr-defined]
        case ast.IfExp(test=ast.Compare() as test):
            condition = Condition(test.left, _COMPARISONS[type(test.ops[0])], test.comparators[0])
            return on.choose(condition, node.body, node.orelse)
    raise AssertionError(ast.dump(node))  # parse lets nothing else through


class _Floats:
    def __init__(self, values: Mapping[str, float]) -> None:
        self.values = values

    def number(self, value: float) -> float:
        return value

    def name(self, name: str, node: ast.expr) -> float:
        if name not in self.values:
            raise ExpressionError(f"no value for '{name}'", node.col_offset + 1)
        return float(self.values[name])

    def negative(self, value: float) -> float:
        return -value

    def binary(self, sign: str, left: float, right: float, node: ast.expr) -> float:
        return self._real(lambda: apply(sign, left, right), node)

    def call(self, function: str, arguments: list[float], node: ast.expr) -> float:
        return self._real(lambda: float(CALLS[function](*arguments)), node)

    def choose(self, condition: Condition, then: ast.expr, other: ast.expr) -> float:
        return fold(
            then if condition.holds(fold(condition.left, self), fold(condition.right, self)) else other, self
        )

    def _real(self, compute: Callable[[], Any], node: ast.expr) -> float:
        try:
            value = compute()
        except ZeroDivisionError:
            raise ExpressionError("division by zero", node.col_offset + 1) from None
        except (ValueError, OverflowError):
            value = math.nan
        if isinstance(value, complex) or not math.isfinite(value):
            raise ExpressionError("no finite number comes out", node.col_offset + 1)
        return value


def apply(sign: str, left: Any, right: Any) -> Any:
    """left sign right, for whatever has these operators."""
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
    return left**right


def evaluate(expression: Expression | ast.expr, values: Mapping[str, float]) -> float:
    """The formula's value; ExpressionError where there is no finite real one."""
    node = expression.node if isinstance(expression, Expression) else expression
    return fold(node, _Floats(values))


class _Used(_Floats):
    def __init__(self, values: Mapping[str, float]) -> None:
        super().__init__(values)
        self.names: set[str] = set()

    def name(self, name: str, node: ast.expr) -> float:
        self.names.add(name)
        return super().name(name, node)


def used_names(expression: Expression, values: Mapping[str, float]) -> set[str]:
    """The names that the value rests on in this case: those of the conditions and of the branches that are taken."""
    used = _Used(values)
    fold(expression.node, used)
    return used.names


# ---- JavaScript ----


class _JavaScript:
    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def number(self, value: float) -> str:
        return repr(value).removesuffix(".0")

    def name(self, name: str, node: ast.expr) -> str:
        return f"{self.prefix}{name}"

    def negative(self, value: str) -> str:
        return f"(-{value})"

    def binary(self, sign: str, left: str, right: str, node: ast.expr) -> str:
        return f"Math.pow({left}, {right})" if sign == "**" else f"({left} {sign} {right})"

    def call(self, function: str, arguments: list[str], node: ast.expr) -> str:
        return f"Math.{function}({', '.join(arguments)})"

    def choose(self, condition: Condition, then: ast.expr, other: ast.expr) -> str:
        sign = {"==": "===", "!=": "!=="}.get(condition.sign, condition.sign)
        test = f"{fold(condition.left, self)} {sign} {fold(condition.right, self)}"
        return f"(({test}) ? {fold(then, self)} : {fold(other, self)})"


def javascript(expression: Expression, prefix: str = "v.") -> str:
    """The formula as a JavaScript expression; names become `v.name`, so that none is a word of that language."""
    return fold(expression.node, _JavaScript(prefix))

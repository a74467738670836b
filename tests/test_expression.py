"""The formula language: what it takes, what it refuses and where, and that Python, JavaScript and TeX mean the same."""

from __future__ import annotations

import math
import random

import pytest
from nodejs import in_node

from bookbuild.expression import ExpressionError, evaluate, javascript, parse, used_names
from bookbuild.expression_tex import Term, as_taken, number, text, with_numbers, with_symbols
from bookbuild.expression_units import physical, quantity, unit_scale
from bookbuild.markdown.maths import mathml

# ---- what it refuses ----

WRONG = [
    ("", 0, "empty"),
    ("(a", 1, "not a formula"),
    ("a b", 3, "not a formula"),
    ("a + unknown", 5, "unknown name"),
    ("a ^ b", 2, "no power"),
    ("a // b", 1, "not allowed"),
    ("a % b", 1, "not allowed"),
    ("a and b", 1, "not allowed"),
    ("not a", 1, "not allowed"),
    ("+a", 1, "not allowed"),
    ("'a'", 1, "not allowed"),
    ("True", 1, "not allowed"),
    ("1j", 1, "not allowed"),
    ("a.real", 1, "not allowed"),
    ("a[0]", 1, "not allowed"),
    ("[a]", 1, "not allowed"),
    ("lambda: a", 1, "not allowed"),
    ("(a := 1)", 2, "not allowed"),
    ("f'{a}'", 1, "not allowed"),
    ("1 + __import__('os')", 5, "unknown function"),
    ("a.__class__()", 1, "not allowed"),
    ("sqrt", 1, "is a function"),
    ("sqrt(a, b)", 1, "takes 1 value"),
    ("min(a)", 1, "takes two or more"),
    ("max(a, b, key=a)", 1, "takes two or more"),
    ("max(*a, b)", 5, "not allowed"),
    ("a < b", 1, "comparison as a value"),
    ("1 if a else b", 6, "one comparison"),
    ("1 if a < b < 3 else 0", 6, "one comparison"),
    ("1 if a in b else 0", 6, "one comparison"),
    ("1e999", 1, "too large"),
    ("-" * 60 + "a", 41, "inside of each other"),
    ("a" + "+ a" * 500, 0, "more than 1000"),
]


@pytest.mark.parametrize(("text", "column", "words"), WRONG)
def test_what_the_language_does_not_have_is_named_with_its_place(text, column, words):
    with pytest.raises(ExpressionError, match=words) as caught:
        parse(text, {"a", "b"})
    assert caught.value.column == column


def test_a_near_name_is_proposed():
    with pytest.raises(ExpressionError) as caught:
        parse("layer * 2", {"layers", "heads"})
    assert caught.value.hint == "did you mean layers?"
    with pytest.raises(ExpressionError) as caught:
        parse("ceiling(a)")
    assert caught.value.hint == "did you mean ceil?"


# ---- what it computes ----

RIGHT = [
    ("1 + 2 * 3", 7),
    ("(1 + 2) * 3", 9),
    ("-2 ** 2", -4),
    ("2 ** 3 ** 2", 512),
    ("7 - 3 - 2", 2),
    ("8 / 4 / 2", 1),
    ("2 ** -1", 0.5),
    ("min(3, 1, 2) + max(1, 5)", 6),
    ("ceil(2.1) + floor(2.9)", 5),
    ("sqrt(9) + log(exp(2))", 5),
    ("1 if 2 >= 2 else 0", 1),
    ("1 if 2 != 2 else 3 if 1 == 1 else 4", 3),
    ("5 if 1 < 2 else 1 / 0", 5),
    ("1_000 * 1e3", 1e6),
]


@pytest.mark.parametrize(("text", "value"), RIGHT)
def test_value(text, value):
    assert evaluate(parse(text), {}) == value


@pytest.mark.parametrize(
    "text", ["1 / (2 - 2)", "sqrt(-1)", "log(0)", "(-8) ** 0.5", "1e300 * 1e300", "exp(1000)", "0 ** -1"]
)
def test_no_result_is_an_error_and_no_infinity(text):
    with pytest.raises(ExpressionError):
        evaluate(parse(text), {})


def some_formula(chance: random.Random, depth: int) -> str:
    """A formula over a, b, c, of whatever the language has."""
    if depth == 0:
        return chance.choice(["a", "b", "c", "2", "0.5", "3e2"])
    one, two, three, four = (some_formula(chance, depth - 1) for _ in range(4))
    kind = chance.randrange(9)
    if kind < 4:
        return f"({one} {'+-*/'[kind]} {two})"
    if kind == 4:
        sign = chance.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"({three} if {one} {sign} {two} else {four})"
    if kind == 5:
        return f"{chance.choice(['min', 'max'])}({one}, {two}, {three})"
    if kind == 6:
        return f"{chance.choice(['ceil', 'floor'])}({one})"
    if kind == 7:
        return f"-{one} ** {chance.choice([2, 0.5, -1])}"
    return f"sqrt({one} ** 2) + log(2 + {two} ** 2) + exp(-{three} ** 2)"


def test_javascript_gives_the_same_value():
    """2,000 formulas of the whole language over random values."""
    chance = random.Random(7)
    jobs, wanted = [], []
    while len(jobs) < 2000:
        formula = parse(some_formula(chance, chance.randrange(1, 4)))
        values = {name: chance.uniform(0.1, 50) for name in "abc"}
        try:
            wanted.append(evaluate(formula, values))
        except ExpressionError:
            continue
        jobs.append((javascript(formula), values))
    for (js, _), ours, theirs in zip(jobs, wanted, in_node(jobs), strict=True):
        assert math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12), js


def test_javascript_does_not_take_names_for_words_of_its_own():
    assert in_node([(javascript(parse("var * new + this")), {"var": 2, "new": 3, "this": 4})]) == [10]


# ---- units ----


def test_scales():
    assert unit_scale("GB/s") == 1e9
    assert unit_scale("MiB") == 2**20
    assert unit_scale("Gbps") == 125e6  # bits in bytes
    assert unit_scale("TFLOPS") == 1e12
    assert unit_scale("Gparam") == 1e9
    assert math.isclose(unit_scale("USD/Mtoken"), 1e-6)
    assert math.isclose(unit_scale("%"), 0.01)
    assert unit_scale("kWh") == 3.6e6


@pytest.mark.parametrize("unit", ["foo", "GB/", "1/0", "__import__('os')"])
def test_what_is_no_unit(unit):
    with pytest.raises(ExpressionError, match="unit"):
        unit_scale(unit)


GIVEN = {
    "size": physical(3, "GB"),
    "time": physical(2, "s"),
    "work": physical(1, "TFLOP"),
    "tokens": physical(5, "Ttoken"),
    "price": physical(2, "USD/h"),
}


def test_units_that_fit():
    assert quantity(parse("size / time"), GIVEN).check("[byte]/[second]")
    assert quantity(parse("max(size, 0)"), GIVEN).check("[byte]")
    assert quantity(parse("size if time > 0 else 0"), GIVEN).check("[byte]")
    assert quantity(parse("sqrt(time * time)"), GIVEN).check("[second]")
    assert quantity(parse("tokens + 1"), GIVEN) == 5e12 + 1  # a count is a number


def test_units_do_not_depend_on_the_numbers():
    """What has no value in this case has its units all the same."""
    given = GIVEN | {"none": physical(0, "s")}
    assert quantity(parse("size / none"), given).check("[byte]/[second]")
    assert quantity(parse("size / (none - none)"), given).check("[byte]/[second]")
    assert quantity(parse("log(0 - 1) * time"), given).check("[second]")


@pytest.mark.parametrize(
    "text",
    [
        "size + time",
        "size + 1",
        "size - tokens",
        "work + size",
        "price + size",
        "min(size, time)",
        "size if size > time else size",
        "size if time > 0 else time",
        "time if time == size else time",
        "exp(time)",
        "ceil(size)",
        "2 ** time",
    ],
)
def test_units_that_do_not_fit_in_either_branch(text):
    with pytest.raises(ExpressionError, match="units do not fit"):
        quantity(parse(text), GIVEN)


# ---- TeX ----

SYMBOLS = {name: Term(name) for name in "abcd"}
TEX = [
    ("a * b + c", r"a\,b + c"),
    ("a * (b + c)", r"a\,\left(b + c\right)"),
    ("a - (b - c)", r"a - \left(b - c\right)"),
    ("a - b - c", "a - b - c"),
    ("2 * 3 * a", r"2 \cdot 3\,a"),
    ("(a + b) / c", r"\frac{a + b}{c}"),
    ("(a / b) ** 2", r"\left(\frac{a}{b}\right)^{2}"),
    ("-a ** 2", "-a^{2}"),
    ("(-a) ** 2", r"\left(-a\right)^{2}"),
    ("a * -b", r"a\,\left(-b\right)"),
    ("sqrt(a) + a ** 0.5", r"\sqrt{a} + \sqrt{a}"),
    ("ceil(a / b)", r"\left\lceil \frac{a}{b} \right\rceil"),
    ("max(a, b) * exp(-c)", r"\max\left(a, b\right)\,e^{-c}"),
    ("a if b <= 2 else c if b == 3 else d",
     r"\begin{cases} a & \text{if } b \le 2 \\ c & \text{if } b = 3 \\ d & \text{otherwise} \end{cases}"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tex"), TEX)
def test_tex_with_symbols(text, tex):
    assert with_symbols(parse(text), SYMBOLS) == tex
    mathml(tex)


def test_tex_with_numbers_shows_the_branch_that_is_taken():
    terms = {
        "a": Term("a", 2e9, r"2\,\text{GB}"),
        "b": Term("b", -3.0, "-3"),
        "k": Term("k", 1.0, "1", {1.0: "MLA"}),
    }
    assert with_numbers(parse("a * b"), terms) == r"2\,\text{GB} \cdot \left(-3\right)"
    assert with_numbers(parse("a ** 2"), terms) == r"\left(2\,\text{GB}\right)^{2}"
    assert with_numbers(parse("a if k == 1 else b"), terms) == r"2\,\text{GB}"
    assert r"\text{MLA}" in with_symbols(parse("a if k == 1 else b"), terms)


def test_tex_of_numbers():
    assert number(131072) == r"131\,072"
    assert number(2048) == "2048"
    assert number(405e9) == r"405\times 10^{9}"
    assert number(3.79e25) == r"3.79\times 10^{25}"
    assert number(1e9) == "10^{9}"
    assert number(0.41) == "0.41"
    assert number(66.951, 3) == "67"
    assert number(7001.36, 5) == "7001.4"


def test_tex_of_words():
    assert text("all_reduce") == r"\text{all_reduce}"
    assert text("%") == r"\%"
    assert text("%/year") == r"\%\text{/year}"
    for words in ("%/year", "a & b", "{x}", "a < b", "c:\\d", "$5"):
        mathml(text(words))


def test_tex_of_the_branch_that_is_taken_says_why():
    terms = {"a": Term("a", 1.0), "b": Term("b", 5.0), "k": Term("k", 2.0, "2", {1.0: "MLA", 2.0: "GQA"})}
    assert as_taken(parse("a if k == 1 else b if k == 2 else a"), terms) == (
        "b",
        [r"\text{GQA}"],
    )
    assert as_taken(parse("a if k == 1 else b"), terms) == ("b", [r"\text{not MLA}"])
    assert as_taken(parse("2 * (a if a < b else b)"), terms) == (r"2\,a", ["a < b"])
    assert as_taken(parse("a if a > b else b"), terms) == ("b", [r"a \le b"])


def test_names_of_the_branch_that_is_taken():
    formula = parse("a if k == 1 else b * c")
    assert used_names(formula, {"a": 1, "b": 2, "c": 3, "k": 1}) == {"a", "k"}
    assert used_names(formula, {"a": 1, "b": 2, "c": 3, "k": 2}) == {"b", "c", "k"}

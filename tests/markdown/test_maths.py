"""Maths as GitHub writes it becomes MathML; money stays money; wrong TeX is named."""

from __future__ import annotations

import pytest

from bookbuild import trees
from bookbuild.markdown.maths import MathsError, mathml
from bookbuild.trees import MATHML


def formulas(tree) -> list[tuple[str, str]]:
    return [(m.get("display"), m.get("alttext")) for m in tree.iter(f"{{{MATHML}}}math")]


def names(tex: str) -> list[str]:
    return [element.tag for element in mathml(tex).iter()]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the ratio $a/b$ is", ["a/b"]),
        ("$x_i$, $y_{jk}$.", ["x_i", "y_{jk}"]),
        ("($x$) and $x$-axis", ["x", "x"]),
        (r"$\alpha * \beta * c$", [r"\alpha * \beta * c"]),
        (r"$a \$ b$", [r"a \$ b"]),
        ("`$x$` is code", []),
        ("$2.50 per hour", []),
        ("$3 and $4", []),
        ("$5–$6, $7-$8 and $9/$10", []),
        ("US$3 to US$4", []),
        (r"\$x\$", []),
        ("$ x $", []),
        ("from $10, $20 or $30", []),
    ],
)
def test_maths_and_money_in_a_line(desk, text, found):
    assert formulas(desk.tree(text)) == [("inline", tex) for tex in found]


def test_money_is_shown_as_written(desk):
    assert trees.text_of(desk.tree(r"$2.50, \$3 and $4")) == "$2.50, $3 and $4"


@pytest.mark.parametrize(
    "text", ["$$\na^2\n$$", "$$a^2$$", "text\n$$\na^2\n$$\nmore", "- item\n\n  $$\n  a^2\n  $$", "> $$\n> a^2\n> $$"]
)
def test_a_block_of_its_own(desk, text):
    assert formulas(desk.tree(text)) == [("block", "a^2")]


def test_markdown_does_not_reach_into_formulas(desk):
    text = "$a_1 * b_1$ *and* $a_2 * b_2 <x> \\text{HTML -- (c)}$\n\n*[HTML]: HyperText\n"
    tree = desk.tree(text)
    assert [tex for _, tex in formulas(tree)] == ["a_1 * b_1", r"a_2 * b_2 <x> \text{HTML -- (c)}"]
    math = list(tree.iter(f"{{{MATHML}}}math"))[1]
    assert {trees.split_tag(e.tag)[0] for e in math.iter()} == {MATHML}
    assert "HTML -- (c)" in trees.text_of(math).replace("\u00a0", " ")


def test_a_formula_keeps_its_neighbours(desk):
    """Markdown's pretty-printer would put line breaks around a block."""
    html = desk.html("**a**$x$**b** ($y$)")
    assert "</strong><math" in html
    assert "</math><strong>" in html
    assert "(<math" in html
    assert "</math>)" in html


def test_a_fraction_has_two_parts():
    assert names(r"\frac{a}{b}") == ["math", "mrow", "mfrac", "mrow", "mi", "mrow", "mi"]


@pytest.mark.parametrize("name", ["aligned", "align*", "split"])
def test_aligned_formulas_are_tables_without_their_signs(name):
    """latex2mathml passes the & of `aligned` through as a letter."""
    math = mathml(rf"\begin{{{name}}} a &= b \\ c &= d \end{{{name}}}", True)
    rows = [["".join(cell.itertext()) for cell in row] for row in math.iter("mtr")]
    assert rows == [["a", "=b"], ["c", "=d"]]


def test_upright_names_are_one_word():
    math = mathml(r"\mathrm{MFU} = x\,\mathrm{TB/s}")
    words = [(e.text, e.get("mathvariant")) for e in math.iter("mi")]
    assert words == [("MFU", "normal"), ("x", None), ("TB", "normal"), ("s", "normal")]


@pytest.mark.parametrize(
    ("tex", "message"),
    [
        (r"\foo{x}", r"unknown command \foo"),
        (r"a & b", "an & outside of an environment with columns"),
        (r"\frac{a", "a part is missing"),
        (r"\begin{tikz}x\end{tikz}", "unknown environment tikz"),
        (r"a^", "missing super script or subscript"),
        (r"\left( a", "extra left or missing right"),
        (r"a_b_c", "double subscripts"),
    ],
)
def test_wrong_tex_is_refused(tex, message):
    with pytest.raises(MathsError) as caught:
        mathml(tex)
    assert str(caught.value).startswith(message)


def test_wrong_tex_is_reported_with_its_line_and_shown_as_code(desk):
    text = "# P\n\ntext\n\n- $\\foo$\n"
    assert desk.wrong(text) == [r"docs/page.md:5: maths unknown command \foo in $\foo$"]
    assert desk.tree(text).find(".//li/code").text == r"\foo"

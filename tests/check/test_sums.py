"""Wrong sums in formulas are found with their line; symbols, code and money are left alone."""

from __future__ import annotations

import pytest

from bookbuild.check.sums import wrong

RIGHT = [
    (r"2 \cdot 1410 \cdot 10^6 \cdot 432 \cdot 256 = 311.9", " TFLOPS."),
    (r"2^{30} = 1{,}073{,}741{,}824", " bytes"),
    (r"f = 2250 \cdot 10^{12} / (2 \cdot 592 \cdot 1024) = 1856", " MHz"),
    (r"\frac{6}{4} = 1.5", ""),
    (r"70 \cdot 10^9 \times 2 = 140", "\u00a0GB"),
    (r"6 \cdot 70 \cdot 10^9 \cdot 15 \cdot 10^{12} = 6.3 \cdot 10^{24}", " FLOPs"),
    (r"P = 2 f U m", ""),
    (r"1 - 0.25 = 75", " %"),
    (r"22 / 7 \approx 3.14", ""),
    (r"10 / 450 = 0.022", " s"),
]
FALSE = [
    (r"8 \cdot 50 \cdot 10^9 = 50", " GB/s", "it is 400"),
    (r"2 \cdot 1830 \cdot 10^6 \cdot 528 \cdot 512 = 1979", " TFLOPS", "it is 989"),
    (r"\frac{6}{4} = 1.6", "", "it is 1.5"),
    (r"70 \cdot 10^9 \times 2 = 150", " GB", "it is 140"),
    (r"6 \cdot 70 \cdot 10^9 \cdot 15 \cdot 10^{12} = 6.4 \cdot 10^{24}", " FLOPs", "it is 6.3"),
    (r"x = 3 \cdot 4 = 13", "", "it is 12"),
    (r"\dfrac{1 + 2}{4} = 0.6", "", "it is 0.8"),
]


@pytest.mark.parametrize(("tex", "behind"), RIGHT)
def test_right_ones_pass(tex, behind):
    assert list(wrong(tex, behind)) == []


@pytest.mark.parametrize(("tex", "behind", "hint"), FALSE)
def test_wrong_ones_say_what_is_right(tex, behind, hint):
    [(_, said)] = wrong(tex, behind)
    assert said.startswith(hint)


def test_the_line_is_named(planted):
    planted.write(
        "docs/one.md",
        "# One\n\nGood: $2 + 2 = 4$.\n\n- `$1 + 1 = 3$` and $1 + 1 = 3$\n\n```text\n$1 + 1 = 5$\n```\n\n$$\\frac{8}{2} = 5$$\n",
    )
    found = [(p.line, p.code, p.hint) for p in planted.problems() if p.code == "sum-wrong"]
    assert found == [(5, "sum-wrong", "it is 2"), (11, "sum-wrong", "it is 4")]

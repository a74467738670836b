"""Units of the field and what must not be mixed."""

from __future__ import annotations

import pytest

from bookbuild.data import UNITS
from bookbuild.units import UnitError, fits, mixed, parse_unit


@pytest.mark.parametrize("text", sorted(set(UNITS.values())))
def test_every_unit_of_a_key_is_known(text):
    assert parse_unit(text).scale > 0


@pytest.mark.parametrize(
    ("text", "other", "factor"),
    [
        ("GB", "B", 1e9),
        ("GiB", "B", 2**30),
        ("B", "bits", 8),
        ("GB/s", "Gbps", 8),
        ("TFLOPS", "FLOPs/s", 1e12),
        ("FLOPs per byte", "FLOPs/B", 1),
        ("kWh", "J", 3.6e6),
        ("%", "W/W", 0.01),
        ("TOPS", "OPs/s", 1e12),
        ("days", "h", 24),
        ("mm²", "m²", 1e-6),
    ],
)
def test_scales(text, other, factor):
    one, two = parse_unit(text), parse_unit(other)
    assert one.base == two.base
    assert one.scale / two.scale == pytest.approx(factor)


@pytest.mark.parametrize(
    ("one", "two"), [("FLOPS", "FLOPs"), ("FLOPS", "OPS"), ("tokens", "params"), ("USD", "EUR"), ("W", "Wh"), ("FLOPS", "Hz")]
)
def test_kinds_that_are_not_one(one, two):
    """FLOPS is a rate and FLOPs a count, integer operations are no FLOPs, tokens are no parameters."""
    assert parse_unit(one).base.dimensionality != parse_unit(two).base.dimensionality


@pytest.mark.parametrize(("word", "hint"), [("GBs", "GB"), ("TFLOP/sek", ""), ("fortnightz", ""), ("__import__", ""), ("GB /", "")])
def test_unknown_units(word, hint):
    with pytest.raises(UnitError) as error:
        parse_unit(word)
    assert hint in error.value.hint


@pytest.mark.parametrize(
    ("units", "words"),
    [
        (["GB", "GiB"], "binary and decimal"),
        (["MB/s", "KiB"], "binary and decimal"),
        (["Gbps", "GB/s"], "bits and bytes"),
        (["GB", "TB/s"], ""),
        (["GiB", "B"], ""),
        (["TFLOPS", "GiB"], ""),
        (["Gbps", "GB/s", "bits/B"], ""),
        (["MiB", "GB", "B/MiB"], ""),
    ],
)
def test_mixing(units, words):
    """Prefixes of two kinds, or bits with bytes, need a factor that says how."""
    assert (words in mixed(map(parse_unit, units))) if words else mixed(map(parse_unit, units)) == ""


def test_counted_things_may_go_unsaid_but_not_be_mistaken():
    gpus, watts, tokens, params = (parse_unit(u).quantity(1.0) for u in ("GPUs", "W", "tokens", "params"))
    assert fits(gpus * watts, parse_unit("kW").base)
    assert fits(3.0, parse_unit("tokens").base)
    assert not fits(tokens, parse_unit("params").base)
    assert not fits(watts, parse_unit("GB").base)
    assert fits(params, parse_unit("params").base)

"""The units of the book: pint's own, and those of the field on top (FLOP, token, parameter, dollar, device …)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pint import UnitRegistry

_DEFINITIONS = """
FLOP = [operation] = FLOP = FLOPs
FLOPS = FLOP / second
USD = [money]
EUR = [money_eur]
token = [token] = _ = tokens
param = [parameter] = _ = params = parameter
sample = [sample] = _ = samples = sequence = sequences
request = [request] = _ = requests
device = [device] = _ = GPU = GPUs = gpu
node = [node] = _ = nodes
"""


@lru_cache(maxsize=1)
def registry() -> UnitRegistry:
    """One registry for the whole build: quantities of two registries cannot be added."""
    from pint import UnitRegistry

    units = UnitRegistry()
    for line in _DEFINITIONS.strip().splitlines():
        units.define(line)
    return units

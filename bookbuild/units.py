"""The units of the book in one registry: pint with our own definitions, and the rules for what must not be mixed.

Bytes and bits are one dimension with a factor of 8, decimal and binary prefixes two scales of it. pint adds them without a
word; `mixed` names the pairs that a sum must not hold. What is counted (tokens, GPUs, links …) has a dimension of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pint import UnitRegistry

# counted things: singular, then other words for the same
COUNTED = (
    "token", "param parameter weight", "sample", "sequence", "request", "image", "device GPU accelerator", "node",
    "rack", "chip", "die", "core", "card", "stack", "channel", "link", "lane", "port", "pin", "unit", "SM", "layer",
    "head", "expert", "step", "file", "core", "package", "socket", "page", "block", "rank", "process", "worker",
)  # fmt: skip
_DEFINITIONS = """
nano- = 1e-9 = n-
micro- = 1e-6 = µ- = u-
milli- = 1e-3 = m-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
peta- = 1e15 = P-
exa- = 1e18 = E-
zetta- = 1e21 = Z-
yotta- = 1e24 = Y-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
gibi- = 1073741824 = Gi-
tebi- = 1099511627776 = Ti-
pebi- = 1125899906842624 = Pi-
bit = [information] = _ = bits
byte = 8 * bit = B = bytes
second = [time] = s = seconds
minute = 60 * second = min = minutes
hour = 3600 * second = h = hours
day = 86400 * second = _ = days
week = 604800 * second = _ = weeks
year = 365.25 * day = _ = years
month = year / 12 = _ = months
gram = [mass] = g
meter = [length] = m
ampere = [current] = A
kelvin = [temperature] = _ = degC
joule = 1000 * gram * meter ** 2 / second ** 2 = J
watt = joule / second = W
volt = watt / ampere = V
watthour = watt * hour = Wh
hertz = 1 / second = Hz
bps = bit / second
FLOP = [flop] = FLOP = FLOPs = flop
FLOPS = FLOP / second
OP = [operation] = OP = OPs
OPS = OP / second
transfer = [transfer] = T = transfers
IOP = [io] = IOP = IOPs
IOPS = IOP / second
USD = [money] = USD
EUR = [money_eur] = EUR
percent = 0.01 = pct
"""
_WORDS = {"%": "percent", "°C": "degC", "cycle": "1", "cycles": "1", "clock": "1"}
_UNIT = re.compile(r"[A-Za-zµμ%°][A-Za-zµμ]*[²³]?")
_INFORMATION = re.compile(r"(?P<prefix>[kKMGTPE]i?)?(?P<what>B|bit|bps|byte)s?")


class UnitError(ValueError):
    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.text, self.hint = text, hint


@dataclass(frozen=True)
class Unit:
    text: str  # as written
    scale: float  # how many of the base units it is
    base: Any  # pint's unit for the bases
    kinds: frozenset[str]  # of 'bits', 'bytes', 'decimal', 'binary'

    @property
    def is_factor(self) -> bool:
        """Whether it converts one kind of byte or bit into another, as in 8 bits/B."""
        return self.base.dimensionless and bool(self.kinds)

    def quantity(self, value: float) -> Any:
        """A value in this unit, in bases; a plain float where it has no dimension."""
        if self.base.dimensionless:
            return value * self.scale
        return registry().Quantity(value * self.scale, self.base)


@lru_cache(maxsize=1)
def registry() -> UnitRegistry:
    """One registry for the whole build: quantities of two registries cannot be added."""
    from pint import UnitRegistry

    units = UnitRegistry(None)
    for line in _DEFINITIONS.strip().splitlines():
        units.define(line)
    for names in dict.fromkeys(COUNTED):
        name, *others = names.split()
        plurals = [_plural(n) for n in (name, *others)]
        units.define(f"{name} = [{name}] = _ = {' = '.join([*others, *plurals])}")
    return units


def _plural(word: str) -> str:
    return f"{word}es" if word.endswith(("s", "x", "ch")) else f"{word}s"


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """'TB/s', 'FLOPs per byte', 'W/GPU', 'mm²', '%'; UnitError for a word that is no unit."""
    from pint.errors import PintError

    units, scale, base, kinds = registry(), 1.0, registry().Unit(""), set()
    for place, part in enumerate(_parts(text)):
        word, power = part.rstrip("²³"), {"²": 2, "³": 3}.get(part[-1:], 1)
        try:
            found = units.Quantity(1.0, _WORDS.get(word, word)).to_base_units()
        except (PintError, AttributeError, ValueError, TypeError):
            near = get_close_matches(word, known_units(), n=1, cutoff=0.6)
            raise UnitError(f"unknown unit '{word}'", f"did you mean {near[0]}?" if near else "") from None
        power = -power if place else power
        scale *= float(found.magnitude) ** power
        base = base * found.units**power
        kinds |= _kinds(word)
    return Unit(text, scale, base, frozenset(kinds))


def _parts(text: str) -> list[str]:
    """'GB/s per GPU' → ['GB', 's', 'GPU']; all but the first divide."""
    parts = re.split(r"\s*/\s*|\s+per\s+", text.strip())
    for part in parts:
        if not _UNIT.fullmatch(part):
            raise UnitError(f"'{text}' is no unit")
    return parts


def _kinds(word: str) -> set[str]:
    match = _INFORMATION.fullmatch(word)
    if not match:
        return set()
    kinds = {"bytes" if match["what"].startswith(("B", "byte")) else "bits"}
    if prefix := match["prefix"]:
        kinds.add("binary" if prefix.endswith("i") else "decimal")
    return kinds


def mixed(units: Iterable[Unit]) -> str:
    """What a sum over these units must not mix, in words; "" where nothing speaks against it."""
    found = list(units)
    if any(unit.is_factor for unit in found):  # which says how
        return ""
    for one, other in (("binary", "decimal"), ("bits", "bytes")):
        first = next((u.text for u in found if one in u.kinds), "")
        second = next((u.text for u in found if other in u.kinds), "")
        if first and second:
            names = {"binary": "binary and decimal prefixes", "bits": "bits and bytes"}
            return f"{names[one]}: {first} and {second}"
    return ""


def dimension(value: Any) -> dict[str, float]:
    """The powers of the dimensions of a quantity or pint unit, {} for a plain number."""
    return dict(value.dimensionality) if hasattr(value, "dimensionality") else {}


def fits(found: Any, shown: Any) -> bool:
    """Whether a result may be shown in such a unit: equal but for what is counted, and that too where it is named.

    8 GPUs × 700 W may be called 5.6 kW, and 2 × 8e12 may be called tokens; tokens are no parameters.
    """
    counts = {f"[{names.split()[0]}]" for names in COUNTED}
    (here, counted), (there, named) = (
        ({k: v for k, v in d.items() if k not in counts}, {k: v for k, v in d.items() if k in counts})
        for d in (dimension(found), dimension(shown))
    )
    return here == there and (not named or not counted or named == counted)


@lru_cache(maxsize=1)
def known_units() -> list[str]:
    """What a misspelled unit may have meant."""
    from bookbuild.data import UNITS

    return sorted({*UNITS.values(), *(n for names in COUNTED for n in names.split()), "KiB", "GPUs", "byte"})

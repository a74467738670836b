"""Numbers and their units as the book's conventions have them: one spelling a quantity, a space between, none left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bookbuild.check.prose import CODE, Passage
from bookbuild.model import Problem

CODES = {
    "unit-bits": "a rate in bits that is not written with bps (Gb/s, Gbit/s), or Gb where bytes are meant",
    "unit-bytes": "bytes in another spelling than kB, MB, GB, KiB, MiB, GiB, or a rate that is not written GB/s",
    "unit-binary": "a rate in binary units, or a capacity of on-chip memory in decimal ones",
    "unit-flops": "FLOPS, a rate, and FLOPs, a count, mixed up or spelled in another way",
    "unit-missing": "a number without a unit behind a word for a rate, a memory or a time",
    "unit-plural": "a unit with the s of a plural",
    "unit-space": "no space between a number and its unit",
}
_NUMBER = r"(?<![\w.,-])[~≈≤≥<>±+-]?\d[\d.,]*"
_PREFIX = r"(?:[kKMGTPEZY]i?)"
# product names end in a capacity: "A100 SXM 80GB", "H100-80GB"
_PRODUCT = re.compile(r"(?:SXM\d?|PCIe|PCIE|NVL|OAM|\b[A-Z]{1,4}\d{2,4}[A-Za-z]{0,3}(?: Super| Ti)?)[ -]?$")
_SPELLINGS = {
    "kb": "kB",
    "mb": "MB",
    "gb": "GB",
    "tb": "TB",
    "kib": "KiB",
    "mib": "MiB",
    "gib": "GiB",
    "tib": "TiB",
}
_RIGHT = frozenset({"kB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "PiB"})

_BITS_RATE = re.compile(r"\b([KkMGT])(?:b/s|bits?/s(?:ec)?|b/sec|bit/sec|BPS|Bits/s)(?!\w)")
_BYTES_RATE = re.compile(r"\b([KkMGT]i?)(?:Bps|Byte/s|Bytes/s|B/sec|B/S|BPs)\b")
_BYTES = re.compile(rf"(?:{_NUMBER}|{CODE}0)\s?([KkMGTmgt](?:i|I)?[Bb])(?![\w/])")
_KILO = re.compile(rf"(?:{_NUMBER}|{CODE}0)\s?(KB)(?:/s)?(?!\w)")
_BINARY_RATE = re.compile(r"\b[KMGT]iB/s(?!\w)")
_ON_CHIP = re.compile(
    rf"{_NUMBER}\s?([kKM]B) (?:of |per \w+ of )?(?:the )?(?:L[0-3]\b|shared memory|SRAM|registers?\b|register file|LDS|VMEM|SBUF)"
)
_FLOPS_WORD = re.compile(
    r"(?<![\w/])([kMGTPEZ]?)(FLOP/s|FLOPs/s|FLOPs|FLOPS|FLOP|[Ff]lop/?s|Flops|FlOPs|FLOPS/s)(?:/s)?(?![\w])"
)
_COUNT_BEHIND = re.compile(
    r"^\s+(?:(?:are|is) )?(?:needed|required|in total|of (?:work|compute|training)|(?:per|a|for each|for every) "
    r"(?:token|sample|byte|step|sequence|image|parameter|iteration|element|forward|backward))"
)
_COUNT_BEFORE = re.compile(r"(?:number|count|total|budget) of (?:\w+ )?$", re.IGNORECASE)
_PLURAL = re.compile(rf"{_NUMBER}\s?((?:[KkMGTP]i?B|[KMGT]bps|TFLOPS|kW|MW|GHz|MHz)s)\b")
_GLUED = re.compile(
    rf"({_NUMBER})((?:[kKMGTP]i?B|[KMGT]bps|[KMGTPE]?FLOPS|TOPS|kW|MW|W|kWh|[kMG]?Hz|GT)(?:/s)?|%|(?:ms|us|µs|ns|nm|°C))(?![\w/-])"
)
_BARE = re.compile(
    r"\b(?:(?i:bandwidth|peak|peak rate|throughput|capacity|memory|latency|busbw|algbw|clock|power draw|rate)) "
    r"(?:of|is|was|are|reaches|at|equals|=) (?:about |around |roughly |only |some |nearly |up to |~)?\d(?:[\d.,]*\d)?"
    r"(?=[.,;:)]+(?:\s|$)|$|\s+(?:for|on|in|with|but|than|at|when|while|per)\b)"
)


def run(passage: Passage) -> Iterator[Problem]:
    text = passage.plain
    yield from _rates(passage, text)
    yield from _bytes(passage, text)
    yield from _flops(passage, text)
    for found in _PLURAL.finditer(text):
        yield passage.problem(
            found.start(), "unit-plural", f"'{found[1]}'", f"write {found[1][:-1]}: a unit has no plural"
        )
    if passage.kind != "heading":
        yield from _spaces(passage, text)
    if passage.kind == "paragraph":
        for found in _BARE.finditer(text):
            words = f"'{found[0].strip()}' has no unit"
            yield passage.problem(
                found.start(), "unit-missing", words, "name the unit behind the number", "warning"
            )


def _rates(passage: Passage, text: str) -> Iterator[Problem]:
    for found in _BITS_RATE.finditer(text):
        unit = found[1].replace("K", "k")
        yield passage.problem(
            found.start(), "unit-bits", f"'{found[0]}'", f"write {unit}bps for bits, {unit}B/s for bytes"
        )
    for found in _BYTES_RATE.finditer(text):
        unit = "k" if found[1] == "K" else found[1]
        yield passage.problem(found.start(), "unit-bytes", f"'{found[0]}'", f"write {unit}B/s")
    for found in _BINARY_RATE.finditer(text):
        hint = "rates are decimal: convert to GB/s, or quote the program's output"
        yield passage.problem(found.start(), "unit-binary", f"'{found[0]}'", hint)


def _bytes(passage: Passage, text: str) -> Iterator[Problem]:
    for found in _BYTES.finditer(text):
        unit = found[1]
        if unit in _RIGHT or unit == "KB":
            continue
        if unit[0] in "GTMK" and unit[1:] == "b":
            hint = f"write {unit[0]}B for bytes, {unit}it for bits; a rate in bits is {unit}ps"
            yield passage.problem(found.start(1), "unit-bits", f"'{unit}' is a count of bits", hint)
        else:
            hint = f"write {_SPELLINGS.get(unit.lower(), 'GB')}"
            yield passage.problem(found.start(1), "unit-bytes", f"'{unit}'", hint)
    for found in _KILO.finditer(text):
        yield passage.problem(found.start(1), "unit-bytes", "'KB'", "write kB for 1000 bytes, KiB for 1024")
    for found in _ON_CHIP.finditer(text):
        if found[1] != "KB":
            hint = f"on-chip memory is built in powers of two: {'KiB' if found[1] == 'kB' else 'MiB'}"
            yield passage.problem(found.start(1), "unit-binary", f"'{found[0].strip()}'", hint)


def _flops(passage: Passage, text: str) -> Iterator[Problem]:
    for found in _FLOPS_WORD.finditer(text):
        prefix, word = found[1], found[2]
        behind, before = text[found.end() :], text[: found.start()]
        count = bool(_COUNT_BEHIND.match(behind) or _COUNT_BEFORE.search(before))
        shown = f"'{found[0]}'"
        if word == "FLOPS" and found[0].endswith("FLOPS"):
            if count:
                yield passage.problem(
                    found.start(),
                    "unit-flops",
                    f"{shown} is a rate, and a count is meant",
                    f"write {prefix}FLOPs",
                )
        elif word in ("FLOPs", "FLOP") and not found[0].endswith("/s"):
            number = re.search(r"\d\s?$", before) and prefix in "GTPE" and prefix
            if number and not count and "FLOPs" == word and not re.search(r"10\^?\d+\s?$", before):
                yield passage.problem(
                    found.start(),
                    "unit-flops",
                    f"{shown} is a count, and a rate seems to be meant",
                    f"write {prefix}FLOPS, or say per what the count is",
                )
        else:
            yield passage.problem(
                found.start(),
                "unit-flops",
                shown,
                f"write {prefix}FLOPS for the rate, {prefix}FLOPs for the count",
            )


def _spaces(passage: Passage, text: str) -> Iterator[Problem]:
    for found in _GLUED.finditer(text):
        if found[2].endswith("B") and _PRODUCT.search(text[: found.start()]):
            continue
        yield passage.problem(found.start(), "unit-space", f"'{found[0]}'", f"write {found[1]} {found[2]}")

"""Numbers of one record, or of two that speak of the same part, must agree where arithmetic joins them.

The rules go by key names, so that they hold for every data file. `x` is any word, `unit` any suffix of a unit:
    links × link_x = x              links × peer_x = x (a mesh: one link to each peer)
    x_both_ways = 2 × x_one_way     (as both_ways_unit and one_way_unit)
    xs_per_node × x_unit = node_unit, as in interfaces_per_node: 8, interface_gbps: 400, node_gbps: 3200
    channels × bits_per_channel = width_bits
    memory_clock_mhz × 2 × bus_width_bits = bandwidth; pin_rate_gbps × width_bits = stack bandwidth
    matrix clock × units × multiply-adds × 2 = dense BF16 peak
    sparse over dense peak is 4/3, 2 or 4
    a record {part: <accelerator>, dtype: bf16, measured_tflops} stays below that part's dense peak
A disagreement that the record itself names in `doubt` is known, and no problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bookbuild.check.sources import Source, shown
from bookbuild.data import DataError, Record, covers, is_number, line_of, lookup, number_text, read_data
from bookbuild.model import Book, Problem

CODES = {
    "data-total": "links × the rate of one link, or channels × bits of one, is not the total that the record has",
    "data-both-ways": "both ways is not twice one way",
    "data-per-node": "what one device or interface has, times their number, is not what the node has",
    "data-bandwidth": "width × rate of a memory bus is not the bandwidth that the record has",
    "data-peak": "clock × units × multiply-adds × 2 is not the peak that the record has",
    "data-sparse": "a sparse peak that is not 4/3, 2 or 4 times the dense one",
    "data-measured": "a measured rate above the dense peak of its part, or of a part that is not there",
    "data-typed": "a value that the data file computes stands typed in a record too",
}
_FACTORS = (4 / 3, 2, 4)


class Fault(NamedTuple):
    code: str
    key: str  # dotted, below the record
    text: str
    hint: str = ""


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    contents: dict[Path, Record] = {}
    for path in sorted((book.docs_dir / "data").glob("*.y*ml")):
        try:
            contents[path] = read_data(path)
        except DataError:  # data-yaml says it
            continue
    parts = {str(row.get("id")): row for content in contents.values() for row in _rows(content) if "dense_peak" in row}
    for path, content in contents.items():
        rules = content.get("derived") or {}
        for row in _rows(content):
            faults = [*_of_record(row), *_measured(row, parts), *_typed(row, rules)]
            for fault in faults:
                if fault.code == "data-typed" or not _is_doubted(row, fault.key):
                    text = f"record '{row.get('id', '?')}', {fault.key}: {fault.text}"
                    yield Problem(shown(book, path), line_of(row, fault.key), fault.code, text, fault.hint)


def _rows(content: Record) -> Iterator[Record]:
    for rows in content.values():
        yield from (row for row in rows if isinstance(row, Record)) if isinstance(rows, list) else ()


def _is_doubted(row: Record, key: str) -> bool:
    doubts = row.get("doubt") or ()
    fields = (str(f) for d in doubts if isinstance(d, Mapping) for f in d.get("fields") or ())
    return any(covers(field, key) for field in fields)


def _of_record(row: Record) -> Iterator[Fault]:
    for prefix, group in _groups(row, ""):
        yield from _totals(prefix, group)
        yield from _both_ways(prefix, group)
        yield from _per_node(prefix, group)
        yield from _bus(prefix, group)
    yield from _peak(row)
    yield from _sparse(row)


def _groups(group: Record, prefix: str) -> Iterator[tuple[str, Record]]:
    yield prefix, group
    for key, value in group.items():
        if isinstance(value, Record) and key != "derived":
            yield from _groups(value, f"{prefix}{key}.")


def _differs(found: float, computed: float, tolerance: float) -> bool:
    return abs(found - computed) > tolerance * abs(computed)


def _fault(code: str, key: str, found: float, sum_: str, computed: float) -> Fault:
    return Fault(code, key, f"{number_text(found)} is not {sum_}", f"that is {computed:.6g}")


def _totals(prefix: str, group: Record) -> Iterator[Fault]:
    links = group.get("links")
    for key, one in group.items():
        kind, _, total = key.partition("_")
        if kind not in ("link", "peer") or not all(map(is_number, (links, one, group.get(total)))):
            continue
        if _differs(group[total], links * one, 0.005):
            words = f"{links} links × {number_text(one)}"
            yield _fault("data-total", f"{prefix}{total}", group[total], words, links * one)


def _both_ways(prefix: str, group: Record) -> Iterator[Fault]:
    for key, both in group.items():
        one = group.get(key.replace("both_ways", "one_way")) if "both_ways" in key else None
        if is_number(both) and is_number(one) and _differs(both, 2 * one, 1e-6):
            yield _fault("data-both-ways", f"{prefix}{key}", both, f"2 × {number_text(one)}", 2 * one)


def _per_node(prefix: str, group: Record) -> Iterator[Fault]:
    for key, count in group.items():
        thing, is_count, _ = key.partition("s_per_node")
        if not is_count or not is_number(count):
            continue
        for name, one in group.items():
            total = f"node_{name.removeprefix(f'{thing}_')}" if name.startswith(f"{thing}_") else ""
            if is_number(one) and is_number(group.get(total)) and _differs(group[total], count * one, 0.005):
                words = f"{count} × {number_text(one)}"
                yield _fault("data-per-node", f"{prefix}{total}", group[total], words, count * one)


def _bus(prefix: str, group: Record) -> Iterator[Fault]:
    """Printed bandwidths are rounded to two or three digits, so 2 % are let pass."""
    clock, width, bandwidth = (group.get(k) for k in ("memory_clock_mhz", "bus_width_bits", "bandwidth_tb_per_s"))
    if is_number(clock) and is_number(width) and is_number(bandwidth):
        computed = 2 * clock * 1e6 * width / 8 / 1e12
        if _differs(bandwidth, computed, 0.02):
            words = f"2 × {clock} MHz × {width} bits / 8"
            yield _fault("data-bandwidth", f"{prefix}bandwidth_tb_per_s", bandwidth, words, computed)
    channels, each, width = (group.get(k) for k in ("channels", "bits_per_channel", "width_bits"))
    if all(map(is_number, (channels, each, width))) and width != channels * each:
        yield _fault("data-total", f"{prefix}width_bits", width, f"{channels} channels × {each} bits", channels * each)
    rate, width, bandwidth = (group.get(k) for k in ("pin_rate_gbps", "width_bits", "stack_bandwidth_gb_per_s"))
    if is_number(rate) and is_number(width) and is_number(bandwidth) and _differs(bandwidth, rate * width / 8, 0.02):
        words = f"{number_text(rate)} Gbps × {width} bits / 8"
        yield _fault("data-bandwidth", f"{prefix}stack_bandwidth_gb_per_s", bandwidth, words, rate * width / 8)


def _peak(row: Record) -> Iterator[Fault]:
    key = "dense_peak.bf16_tflops"
    names = ("matrix_clock_mhz", "matrix_units.count", "matrix_units.bf16_fma_per_clock", key)
    clock, units, adds, peak = (lookup(row, name) for name in names)
    if all(is_number(value) for value in (clock, units, adds, peak)):
        computed = 2 * clock * 1e6 * units * adds / 1e12
        if _differs(peak, computed, 0.005):
            yield _fault("data-peak", key, peak, f"2 × {clock} MHz × {units} × {adds}", computed)


def _sparse(row: Record) -> Iterator[Fault]:
    peaks = row.get("sparse_peak")
    for name, sparse in peaks.items() if isinstance(peaks, Record) else ():
        dense = lookup(row, f"dense_peak.{name}")
        if is_number(dense) and is_number(sparse) and dense:
            factor = sparse / dense
            if all(_differs(factor, known, 0.07) for known in _FACTORS):
                text = f"{number_text(sparse)} is {factor:.3g} times the dense {number_text(dense)}"
                yield Fault("data-sparse", f"sparse_peak.{name}", text, "4/3, 2 and 4 are known; which one is wrong?")


def _measured(row: Record, parts: Mapping[str, Record]) -> Iterator[Fault]:
    measured, part = row.get("measured_tflops"), row.get("part")
    if not is_number(measured) or part is None:
        return
    if str(part) not in parts:
        yield Fault("data-measured", "part", f"no accelerator '{part}'")
        return
    peak: Any = lookup(parts[str(part)], f"dense_peak.{row.get('dtype', 'bf16')}_tflops")
    if is_number(peak) and measured > peak:
        text = f"{number_text(measured)} TFLOPS is above the part's peak of {number_text(peak)} TFLOPS"
        yield Fault("data-measured", "measured_tflops", text, "another format, sparsity, or a sum over devices?")


def _typed(row: Record, rules: Mapping[str, Any]) -> Iterator[Fault]:
    for prefix, group in _groups(row, ""):
        for key in group:
            if key in rules:
                yield Fault("data-typed", f"{prefix}{key}", "typed", f"delete it, derived.{key} is computed")

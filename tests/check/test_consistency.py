"""Numbers that arithmetic joins: each planted disagreement is found on its line, with what would be right."""

from __future__ import annotations

import pytest

DATA = "docs/data/chips.yml"
SOURCE = 'sources: [{url: "https://example.org/x", checked: "2026-12-01"}]'
# name, lines of a record from its third on, (line within the file, code, what the message says)
FAULTS = [
    ("links", "link: {links: 18, link_one_way_gb_per_s: 25, one_way_gb_per_s: 460}", (5, "data-total", "that is 450")),
    ("mesh", "link: {links: 7, peer_one_way_gb_per_s: 64, one_way_gb_per_s: 512}", (5, "data-total", "that is 448")),
    ("both ways", "link:\n      one_way_gb_per_s: 450\n      both_ways_gb_per_s: 890", (7, "data-both-ways", "that is 900")),
    ("node", "interfaces_per_node: 8\n    interface_gbps: 400\n    node_gbps: 1600", (7, "data-per-node", "that is 3200")),
    (
        "bus",
        "memory:\n      bandwidth_tb_per_s: 3.9\n      bus_width_bits: 5120\n      memory_clock_mhz: 2619",
        (6, "data-bandwidth", "that is 3.35"),
    ),
    ("stack", "pin_rate_gbps: 6.4\n    width_bits: 1024\n    stack_bandwidth_gb_per_s: 918", (7, "data-bandwidth", "that is 819")),
    ("channels", "channels: 16\n    bits_per_channel: 64\n    width_bits: 2048", (7, "data-total", "that is 1024")),
    (
        "peak",
        "dense_peak: {bf16_tflops: 1979}\n    matrix_clock_mhz: 1830\n    matrix_units: {count: 528, bf16_fma_per_clock: 512}",
        (5, "data-peak", "that is 989"),
    ),
    ("sparse", "dense_peak: {fp8_tflops: 1000}\n    sparse_peak: {fp8_tflops: 1500}", (6, "data-sparse", "1.5 times")),
    ("less than dense", "dense_peak: {fp8_tflops: 1979}\n    sparse_peak: {fp8_tflops: 989.5}", (6, "data-sparse", "0.5 times")),
    ("measured", "part: h100\n    dtype: bf16\n    measured_tflops: 1104", (7, "data-measured", "above the part's peak of 989.4")),
    ("no part", "part: h1000\n    measured_tflops: 1", (5, "data-measured", "no accelerator 'h1000'")),
    ("typed", "twice_w: 2\n    power_w: 1", (5, "data-typed", "derived.twice_w is computed")),
]
RIGHT = [
    "link: {links: 18, link_one_way_gb_per_s: 25, one_way_gb_per_s: 450, both_ways_gb_per_s: 900}",
    "interfaces_per_node: 8\n    interface_gbps: 400\n    node_gbps: 3200",
    "memory: {bandwidth_tb_per_s: 3.35, bus_width_bits: 5120, memory_clock_mhz: 2619}",
    "dense_peak: {fp4_tflops: 15000}\n    sparse_peak: {fp4_tflops: 20000}",
    "part: h100\n    measured_tflops: 750",
    "memory: {bandwidth_tb_per_s: 8, bus_width_bits: 7680, memory_clock_mhz: 3996}\n    doubt:\n"
    + "      - {fields: [memory.bandwidth_tb_per_s], text: the sheet and the device differ}",
]


def plant(planted, lines: str):
    text = (
        f"derived:\n  twice_w: {{words: w, of: {{p: other_w}}, formula: 2 * p}}\nrecords:\n  - id: x\n    {lines}\n    {SOURCE}\n"
        f"  - {{id: h100, other_w: 1, dense_peak: {{bf16_tflops: 989.4}}, {SOURCE}}}\n"
    )
    planted.write(DATA, text)
    return [p for p in planted.problems() if p.code.startswith("data-")]


@pytest.mark.parametrize(("lines", "expected"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_disagreement_is_found(planted, lines, expected):
    [problem] = plant(planted, lines)
    assert (problem.file, problem.line, problem.code) == (DATA, *expected[:2])
    assert expected[2] in f"{problem.text} {problem.hint}"


@pytest.mark.parametrize("lines", RIGHT)
def test_what_agrees_or_is_doubted_passes(planted, lines):
    """A doubt that the record itself states is known, as 8 TB/s beside a bus that gives 7.67."""
    assert plant(planted, lines) == []

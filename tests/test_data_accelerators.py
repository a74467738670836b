"""The accelerator and HBM records: against their schema, against arithmetic, and against known traps."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

DATA = Path(__file__).resolve().parent.parent / "book" / "data"
FAMILIES = ("accelerators", "hbm_generations")


def load(family: str) -> dict:
    return yaml.safe_load((DATA / f"{family}.yml").read_text(encoding="utf-8"))


def records(family: str = "accelerators") -> dict[str, dict]:
    found = load(family)["records"]
    by_id = {record["id"]: record for record in found}
    assert len(by_id) == len(found), "ids must be unique: they become anchors"
    return by_id


def validator(family: str) -> Draft202012Validator:
    schemas = {
        path.name: json.loads(path.read_text(encoding="utf-8")) for path in (DATA / "schema").glob("*.json")
    }
    registry = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in schemas.items()
    )
    return Draft202012Validator(schemas[f"{family}.schema.json"], registry=registry)


def formula_tflops(record: dict) -> float:
    """2 × clock × units × multiply-adds per clock, in TFLOPS."""
    units = record["matrix_units"]
    return 2 * record["matrix_clock_mhz"] * 1e6 * units["count"] * units["bf16_fma_per_clock"] / 1e12


@pytest.mark.parametrize("family", FAMILIES)
def test_records_satisfy_their_schema(family):
    errors = [f"{list(e.absolute_path)}: {e.message}" for e in validator(family).iter_errors(load(family))]
    assert errors == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda r: r.pop("sources"),
        lambda r: r.update(sources=[]),
        lambda r: r["sources"][0].pop("checked"),
        lambda r: r["sources"][0].update(how="rumour"),
        lambda r: r.update(status="soon"),
        lambda r: r["dense_peak"].update(bf16=989),  # no unit in the key
        lambda r: r["memory"].update(bandwidth_tb_per_s="3.35"),
        lambda r: r.update(powr_w=700),
    ],
)
def test_schema_refuses_damaged_records(damage):
    data = load("accelerators")
    damage(data["records"][4])
    assert list(validator("accelerators").iter_errors(data))


def test_every_accelerator_of_the_survey_is_there():
    assert len(records()) == 44


@pytest.mark.parametrize("family", FAMILIES)
def test_every_record_is_sourced_and_dated(family):
    for name, record in records(family).items():
        assert record["sources"], name
        for source in record["sources"]:
            assert source.get("url") or source.get("title"), name
            assert date(2026, 1, 1) <= date.fromisoformat(source["checked"]) <= date(2026, 12, 31), name


@pytest.mark.parametrize("family", FAMILIES)
def test_sources_and_doubts_point_at_figures_that_exist(family):
    for name, record in records(family).items():
        for part in (*record["sources"], *record.get("doubt", ())):
            for field in part.get("fields", ()):
                value = record
                for key in field.split("."):
                    assert key in value, f"{name}: {field}"
                    value = value[key]


@pytest.mark.parametrize(
    ("part", "tflops"),
    [
        ("nvidia-a100-sxm-80", 311.9),  # 1410 MHz × 432 × 256 × 2
        ("nvidia-h100-sxm", 989.4),  # 1830 MHz × 528 × 512 × 2
        ("amd-mi300x", 1307.4),  # 2100 MHz × 1216 × 256 × 2
        ("amd-mi250x", 383.0),  # 1700 MHz × 880 × 128 × 2
        ("amd-mi355x", 2516.6),  # 2400 MHz × 1024 × 512 × 2
        ("intel-gaudi2", 432.5),  # 1650 MHz × 2 × 65536 × 2
    ],
)
def test_formula_gives_the_published_peak(part, tflops):
    assert formula_tflops(records()[part]) == pytest.approx(tflops, abs=0.05)


def test_printed_dense_peaks_agree_with_clock_and_units():
    checked = 0
    for name, record in records().items():
        if "matrix_clock_mhz" in record and "bf16_fma_per_clock" in record.get("matrix_units", {}):
            assert formula_tflops(record) == pytest.approx(record["dense_peak"]["bf16_tflops"], rel=0.002), (
                name
            )
            checked += 1
    assert checked >= 12


def test_vector_fp32_of_hopper_follows_from_its_other_clock():
    h100 = records()["nvidia-h100-sxm"]
    lanes = h100["compute_units"]["count"] * 128
    assert lanes == h100["compute_units"]["fp32_lanes"] == 16_896
    assert 2 * h100["clock_mhz"] * 1e6 * lanes / 1e12 == pytest.approx(66.9, abs=0.05)


def test_sparse_peaks_are_never_below_dense_ones():
    for name, record in records().items():
        for key, sparse in record.get("sparse_peak", {}).items():
            dense = record["dense_peak"].get(key)
            assert dense is None or sparse > dense, f"{name}: {key}"


def test_hopper_sparse_peaks_are_twice_the_dense_ones():
    record = records()["nvidia-h200-sxm"]
    for key, sparse in record["sparse_peak"].items():
        assert sparse == pytest.approx(2 * record["dense_peak"][key], rel=1e-4)


def test_stack_bandwidth_is_pin_rate_times_width():
    for name, record in records("hbm_generations").items():
        assert record["width_bits"] == record["channels"] * record["bits_per_channel"], name
        bandwidth = record["pin_rate_gbps"] * record["width_bits"] / 8
        assert record["stack_bandwidth_gb_per_s"] == pytest.approx(bandwidth, abs=0.5), name


def test_device_bandwidth_follows_from_memory_clock_and_bus():
    for part, tb_per_s in (("nvidia-h100-sxm", 3.35), ("nvidia-b200-sxm", 7.67)):
        memory = records()[part]["memory"]
        derived = 2 * memory["memory_clock_mhz"] * 1e6 * memory["bus_width_bits"] / 8 / 1e12
        assert derived == pytest.approx(tb_per_s, abs=0.005)


def test_bandwidth_away_from_clock_and_bus_is_marked_as_doubtful():
    for name, record in records().items():
        memory = record["memory"]
        if {"memory_clock_mhz", "bus_width_bits"} <= memory.keys():
            derived = 2 * memory["memory_clock_mhz"] * 1e6 * memory["bus_width_bits"] / 8 / 1e12
            doubted = {field for doubt in record.get("doubt", ()) for field in doubt["fields"]}
            agrees = memory["bandwidth_tb_per_s"] == pytest.approx(derived, rel=0.01)
            assert agrees or "memory.bandwidth_tb_per_s" in doubted, name


def test_a_label_never_promises_more_bytes_than_the_device_reports():
    for name, record in records().items():
        memory = record["memory"]
        if reported := memory.get("capacity_reported_mib"):
            assert memory["capacity_gb"] * 1e9 <= reported * 2**20 <= memory["capacity_gb"] * 2**30, name


def test_blackwell_capacities_are_fractions_of_their_stacks():
    parts = records()
    for part, fraction in (("nvidia-b200-sxm", 15 / 16), ("nvidia-b300-sxm", 15 / 16),
                           ("nvidia-gb200", 31 / 32), ("nvidia-gb300", 31 / 32)):  # fmt: skip
        memory = parts[part]["memory"]
        assert memory["capacity_gb"] == memory["capacity_physical_gb"] * fraction


def test_available_announced_and_legacy_parts_are_apart():
    status = {name: record["status"] for name, record in records().items()}
    announced = {name for name, value in status.items() if value == "announced"}
    assert {"nvidia-rubin", "amd-mi455x", "google-tpu-8t", "google-tpu-8i", "sambanova-sn50"} <= announced
    assert {"nvidia-h100-sxm", "nvidia-b300-sxm", "amd-mi355x", "google-tpu-v7x", "aws-trainium3"} <= {
        name for name, value in status.items() if value == "available"
    }
    assert {"nvidia-v100-sxm", "amd-mi250", "intel-gaudi2"} <= {n for n, v in status.items() if v == "legacy"}


def test_formats_that_the_hardware_lacks_are_null_not_absent():
    for part in ("nvidia-a100-sxm-80", "nvidia-a100-pcie-80"):
        peak = records()[part]["dense_peak"]
        assert [peak[key] for key in ("fp8_tflops", "fp6_tflops", "fp4_tflops")] == [None, None, None]
        assert peak["int8_tops"] == 624  # the figure that some tables put under FP8
    assert records()["nvidia-h100-sxm"]["dense_peak"]["fp4_tflops"] is None


def test_blackwell_ultra_and_rubin_do_not_inherit_int8():
    assert records()["nvidia-b200-sxm"]["dense_peak"]["int8_tops"] == 4500
    for part in ("nvidia-b300-sxm", "nvidia-gb300", "nvidia-rubin"):
        assert records()[part]["dense_peak"]["int8_tops"] < 300


def test_no_peer_gets_more_than_all_links():
    for name, record in records().items():
        link = record["interconnect"]
        if "one_way_gb_per_s" in link:
            assert link.get("peer_one_way_gb_per_s", 0) <= link["one_way_gb_per_s"], name


def test_leads_are_not_printed_without_a_doubt():
    """A figure whose only sources are general knowledge carries a doubt, so that tables mark it."""
    for name, record in records().items():
        doubted = {f for doubt in record.get("doubt", ()) for f in doubt["fields"]}
        for source in record["sources"]:
            for field in source.get("fields", ()) if source["how"] == "knowledge" else ():
                others = [s for s in record["sources"] if s is not source and s["how"] != "knowledge"]
                backed = any(
                    "fields" not in s or any(field == f or field.startswith(f"{f}.") or f.startswith(f"{field}.")
                                             for f in s["fields"]) for s in others)  # fmt: skip
                marked = any(
                    field == f or field.startswith(f"{f}.") or f.startswith(f"{field}.") for f in doubted
                )
                assert backed or marked, f"{name}: {field}"

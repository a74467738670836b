"""all_reduce_latency.py, object_collectives.py and comm_time.py: ratios by hand, the cost model against worked examples."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from nodes import NETWORK, PATIENCE, clean_environment
from test_network_bench import load

latency = load("all_reduce_latency.py")
model = load("comm_time.py")
GIB = 1 << 30


def run(tool: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, str(NETWORK / tool), *arguments], env=clean_environment(), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip


# ---- ratios


def test_a_round_takes_as_long_as_its_slowest_rank_and_is_compared_with_its_own_round():
    """Round 1: 2 s against 4 s; round 2: 1 s against 3 s → ratios 2 and 3."""
    everyone = [{"one": [1.0, 1.0], "many": [4.0, 2.0]}, {"one": [2.0, 0.5], "many": [3.0, 3.0]}]
    one, many = latency.ratio_rows(everyone, "one")
    assert one["times_us"] == [2e6, 1e6]
    assert many["times_us"] == [4e6, 3e6]
    assert (many["ratio"]["min"], many["ratio"]["median"], many["ratio"]["max"]) == (2.0, 2.5, 3.0)
    assert one["ratio"]["median"] == 1.0


def test_the_cost_of_a_call_is_what_each_piece_more_adds():
    """1 piece 1000 us, 11 pieces 1500 us → 50 us a call."""
    rows = [{"name": "1", "time_us": {"median": 1000}}, {"name": "11", "time_us": {"median": 1500}}]
    assert latency.call_cost_us(rows, {"1": 1, "11": 11}) == 50


def test_the_calls_take_turns():
    order = []
    calls = {name: (lambda name=name: order.append(name)) for name in "abc"}

    class Quiet:
        def tick(self):
            pass

    ticks = iter(range(100))
    seconds = latency.interleaved(calls, lambda: None, lambda: None, Quiet(), 2, lambda: next(ticks))
    assert order == ["a", "b", "c", "a", "b", "c"]
    assert seconds == {"a": [1, 1], "b": [1, 1], "c": [1, 1]}


@pytest.mark.parametrize(
    ("tool", "options", "names"),
    [
        ("all_reduce_latency.py", ("--bytes", "64K", "--pieces", "1", "4"), ["1 x 64 KiB", "4 x 16 KiB"]),
        (
            "object_collectives.py", (),
            ["all_reduce", "all_gather", "broadcast", "all_gather_object", "broadcast_object_list"],
        ),
    ],
)  # fmt: skip
def test_two_processes_compare_with_spread_and_write_all_files(tmp_path, tool, options, names):
    files = [item for suffix in ("json", "csv", "plot") for item in (f"--{suffix}", str(tmp_path / f"out.{suffix}"))]
    files[-1] = str(tmp_path / "out.svg")
    done = run(tool, "--device", "cpu", "--nproc", "2", "--iters", "5", "--warmup", "1", *options, *files)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["status"] == "ok"
    assert [row["name"] for row in report["results"]] == names
    for row in report["results"]:
        assert row["time_us"]["count"] == row["ratio"]["count"] == 5
        assert row["ratio"]["p5"] <= row["ratio"]["median"] <= row["ratio"]["p95"]
    assert report["results"][0]["ratio"]["median"] == 1.0
    assert (tmp_path / "out.csv").read_text().startswith("name,time_us_median")
    assert "<svg" in (tmp_path / "out.svg").read_text()


# ---- the cost model; 4 GiB over 4 nodes of 8 B200, NVLink 900 GB/s, one NIC of 50 GB/s for each GPU

B200 = model.Fabric(32, 8, 900, 50, latency=0, nic_latency=0, efficiency=1)


def test_the_bound_of_four_nodes_is_what_must_cross_their_nics():
    """2 · 3/4 · 4 GiB / (8 · 50 GB/s) = 16.1 ms."""
    assert model.bound_us("all_reduce", 4 * GIB, B200) == pytest.approx(16106, abs=1)


def test_a_ring_through_every_nic_and_two_levels_by_hand():
    """Ring: 2 · 31/32 · 4 GiB / 400 GB/s = 20.8 ms. Two levels: 2 · 3.5 GiB / 900 GB/s + 0.75 GiB / 50 GB/s = 24.46 ms."""
    times = model.expected_us("all_reduce", 4 * GIB, B200)
    assert times["ring"] == pytest.approx(20804, abs=1)
    assert times["two-level"] == pytest.approx(24457, abs=1)


def test_latency_counts_the_steps_of_each_algorithm():
    """8 ranks on one node at 3 us a step: ring 14 steps, tree 2 · log2(8) = 6 steps, plus 1.75 bytes at 1 GB/s."""
    fabric = model.Fabric(8, 8, 1, efficiency=1)
    times = model.expected_us("all_reduce", 8000, fabric)
    assert times == pytest.approx({"ring": 14 * 3 + 14, "tree": 6 * 3 + 14})
    assert model.expected_us("all_gather", 8000, fabric) == pytest.approx({"ring": 7 * 3 + 7})


def test_a_mixture_of_experts_dispatch_at_nic_rate():
    """8192 tokens · 7168 B · 8 = 0.47 GB all leaving the node at 50 GB/s: 9.4 ms, times 24/32 that do leave."""
    size = 8192 * 7168 * 8
    assert model.bound_us("all_to_all", size, B200) == pytest.approx(size * 24 / 32 / 50e3)


def test_the_model_holds_against_published_results():
    done = run("comm_time.py", "--self-check")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(" fits") == len(model.MEASURED) >= 10


def test_a_measurement_faster_than_the_wire_is_called_impossible():
    row = model.hold_against("x", "all_reduce", GIB, model.A100, 0.9 * model.bound_us("all_reduce", GIB, model.A100))
    assert row["verdict"].startswith("below the bound")
    nvls = replace(model.A100, in_switch=True)
    assert model.hold_against("x", "all_reduce", GIB, nvls, 1e6)["verdict"] == "far from the model"


def test_a_report_is_held_against_the_fabric(tmp_path):
    """8 A100, 1 GiB in 8203.9 us fits 300 GB/s a GPU; with 100 GB/s it would beat the wire."""
    row = {"ranks": list(range(8)), "group": "world", "collective": "all_reduce", "bytes": GIB, "time_us": {"median": 8203.9}}
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"environment": {"hosts": ["a"] * 8}, "results": [row]}))
    assert run("comm_time.py", "--compare", str(report), "--link", "300").returncode == 0
    assert run("comm_time.py", "--compare", str(report), "--link", "100").returncode == 1
    report.write_text("{}")
    done = run("comm_time.py", "--compare", str(report))
    assert (done.returncode, "is no report of all_reduce_bench.py" in done.stderr) == (2, True)


def test_predictions_are_written_and_several_nodes_want_a_nic(tmp_path):
    out = tmp_path / "out.json"
    few = ("--size", "1M", "1G", "--ranks", "16", "--per-node", "8")
    done = run("comm_time.py", *few, "--nic", "50", "--json", str(out), "--plot", str(tmp_path / "p.svg"))
    assert done.returncode == 0, done.stderr
    assert {row["algorithm"] for row in json.loads(out.read_text())["results"]} == {"ring", "tree", "two-level"}
    done = run("comm_time.py", *few)
    assert (done.returncode, "--nic is missing" in done.stderr) == (2, True)

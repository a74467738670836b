"""memory_bandwidth.py, soak.py and upgrade_bench.py on the CPU: that they measure, and that they notice."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
import yaml
from search_table import TOOLS, load, run_inside

bandwidth, soak, upgrade = (load(f"compute/{name}.py") for name in ("memory_bandwidth", "soak", "upgrade_bench"))
RECORDS = {r["id"]: r for r in yaml.safe_load((TOOLS.parent / "book/data/accelerators.yml").read_text())["records"]}
UPGRADE_SMALL = ["--hidden", "32", "--layers", "1", "--heads", "2", "--kv-heads", "1", "--ffn", "48", "--vocab", "64", "--seq", "16", "32"]
UPGRADE_SMALL += ["--iters", "4", "--warmup", "1", "--device", "cpu"]


def run(tool, *arguments):
    return run_inside(f"compute/{tool}", *arguments)


# memory_bandwidth.py


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_every_operation_is_measured_at_every_size(tmp_path, dtype):
    files = [tmp_path / name for name in ("r.json", "r.csv", "r.svg")]
    done = run("memory_bandwidth.py", "--device", "cpu", "--dtype", dtype, "--min-bytes", "64K", "--max-bytes", "256K", "--iters", 3,
               "--json", files[0], "--csv", files[1], "--plot", files[2])  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(files[1].open()))
    assert [(r["op"], int(r["bytes"])) for r in rows] == [(op, size << 10) for size in (64, 128, 256) for op in bandwidth.OPS]
    for row in rows:
        assert int(row["moved_bytes"]) == int(row["bytes"]) * bandwidth.OPS[row["op"]]
        assert float(row["gb_per_s"]) == pytest.approx(int(row["moved_bytes"]) / float(row["time_us"]) / 1e3)
    assert json.loads(files[0].read_text())["status"] == "ok"


@pytest.mark.parametrize("op", ["copy", "scale", "add", "triad", "read", "write"])
@pytest.mark.parametrize("dtype", list(bandwidth.TYPES))
def test_an_operation_that_did_nothing_is_noticed(op, dtype):
    kernels = bandwidth.Kernels(torch, torch.device("cpu"), dtype, 1000)
    kernels.prepare(op)
    assert not kernels.right(op, torch.tensor(0))
    kernels.prepare(op)
    assert kernels.right(op, kernels.run(op))


def test_a_damaged_result_exits_1():
    done = run("memory_bandwidth.py", "--device", "cpu", "--max-bytes", "64K", "--min-bytes", "64K", "--iters", 2, "--inject", "wrong")
    assert done.returncode == 1
    assert "triad over 64 KiB gave a wrong result" in done.stderr
    assert os.uname().nodename in done.stderr


def test_a_rate_above_the_data_sheet_exits_1(monkeypatch):
    monkeypatch.setattr(bandwidth, "cache_bytes", lambda *_: 0)
    args = ["--device", "cpu", "--max-bytes", "64K", "--min-bytes", "64K", "--iters", "2", "--peak", "1e-9"]
    assert bandwidth.main(args) == 1


@pytest.mark.parametrize("row", bandwidth.BANDWIDTH, ids=[row[0] for row in bandwidth.BANDWIDTH])
def test_memory_rates_agree_with_the_book(row):
    pattern, record_id, share, rate = row
    memory = RECORDS[record_id]["memory"]
    known = [memory["bandwidth_tb_per_s"], *(v.get("bandwidth_tb_per_s") for v in memory.get("variants", []))]
    variant = "40GB" in pattern or "144G" in pattern
    assert rate == pytest.approx(known[1 if variant else 0] * share)
    assert share == (0.5 if "seen as two devices" in RECORDS[record_id].get("per", "") else 1)


@pytest.mark.parametrize("arguments", [["--iters", "0"], ["--dtype", "fp4"], ["--min-bytes", "2M", "--max-bytes", "1M"]])
def test_impossible_wishes_are_wrong_usage(arguments):
    with pytest.raises(bandwidth.ToolError) as caught:
        bandwidth.main(["--device", "cpu", *arguments])
    assert caught.value.status == 2


# soak.py


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_a_sound_device_passes_with_the_number_of_products(tmp_path, dtype):
    done = run("soak.py", "--device", "cpu", "--products", 50, "--size", 64, "--dtype", dtype, "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    row = json.loads((tmp_path / "r.json").read_text())["results"][0]
    assert (row["products"], row["differing"]) == (50, 0)
    assert done.stdout.endswith("PASS\n")


@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp64"])
def test_one_flipped_bit_in_a_thousand_products_is_found(tmp_path, dtype):
    done = run("soak.py", "--device", "cpu", "--products", 1000, "--size", 48, "--dtype", dtype, "--inject", 613, "--go-on",
               "--json", tmp_path / "r.json")  # fmt: skip
    assert done.returncode == 1
    row = json.loads((tmp_path / "r.json").read_text())["results"][0]
    assert (row["products"], row["differing"]) == (1000, 1)
    place = row["places"][0]
    assert (place["product"], place["row"], place["column"], place["differing_elements"]) == (613, 16, 24, 1)
    assert int(place["was"], 16) ^ int(place["is"], 16) == 1
    assert done.stdout.endswith("FAULTY\n")
    assert os.uname().nodename in done.stderr


@pytest.mark.parametrize("arguments", [["--seconds", "0"], ["--products", "0"], ["--products", "-1"]])
def test_no_work_is_wrong_usage_and_never_a_pass(arguments):
    done = run("soak.py", "--device", "cpu", *arguments)
    assert done.returncode == 2
    assert "PASS" not in done.stdout


def test_a_soak_that_computed_nothing_fails(monkeypatch):
    monkeypatch.setattr(soak.Soak, "run", lambda self: None)
    assert soak.main(["--device", "cpu", "--size", "16"]) == 1


def test_a_device_that_gives_zeros_is_faulty(monkeypatch):
    monkeypatch.setattr(soak.Soak, "multiply", lambda self, out: out.zero_())
    assert soak.main(["--device", "cpu", "--size", "32", "--products", "5"]) == 1


def test_a_kernel_that_never_agrees_with_itself_is_told_from_a_rare_fault(monkeypatch, capsys):
    monkeypatch.setattr(soak.Soak, "multiply", lambda self, out: torch.mm(self.a, self.b, out=out).add_(torch.rand(()) * 0.01))
    assert soak.main(["--device", "cpu", "--size", "32", "--products", "5", "--dtype", "fp32"]) == 1
    assert "from the very start" in capsys.readouterr().err


def test_ecc_errors_during_the_run_are_a_fault(monkeypatch, capsys):
    counts = iter((0, 0, 1, 1, 1))  # two reads before the work
    state = {"source": "driver", "throttle": ["hardware thermal slowdown"]}
    monkeypatch.setattr(soak, "device_state", lambda *_: state | {"ecc_uncorrected": next(counts)})
    monkeypatch.setattr(soak.Watch, "run", lambda self: None)
    assert soak.main(["--device", "cpu", "--size", "32", "--products", "5"]) == 1
    said = capsys.readouterr().err
    assert "1 uncorrected ECC errors" in said
    assert "hardware thermal slowdown" in said


def test_a_soak_that_hangs_is_ended_by_the_timeout(tmp_path):
    code = f"""
import sys; sys.path.insert(0, {str(TOOLS / "compute")!r})
import soak, time
soak.Soak.batch = lambda self, count: time.sleep(600)
sys.exit(soak.run_tool(lambda: soak.main(["--device", "cpu", "--size", "16", "--timeout", "2", "--json", {str(tmp_path / "r.json")!r}])))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["status"] == "timed out"
    assert "no progress for 2 s" in report["problems"][0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_soak_writes_how_far_it_came(tmp_path, number):
    command = [sys.executable, str(TOOLS / "compute/soak.py"), "--device", "cpu", "--size", "64", "--seconds", "300", "--json"]
    process = subprocess.Popen([*command, str(tmp_path / "r.json")], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    time.sleep(1.5)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 130
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["status"] == "interrupted"
    assert report["results"][0]["products"] > 0


# upgrade_bench.py


LLAMA_8B = upgrade.Shape(hidden=4096, layers=32, heads=32, kv_heads=8, ffn=14336, vocab=128256)


def test_matmul_parameters_of_llama_8b():
    """Counted from the published configuration: 7.505 B with the head, without the embedding."""
    assert LLAMA_8B.layer_parameters() == 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336
    assert LLAMA_8B.matmul_parameters() / 1e9 == pytest.approx(7.505, abs=5e-4)


@pytest.mark.parametrize(("seq", "share"), [(8192, 12.5), (32768, 36.4), (65536, 53.4), (131072, 69.6), (196608, 77.4), (262144, 82.1)])
def test_attention_s_share_of_the_flops_grows_as_published(seq, share):
    dense, attention = LLAMA_8B.step_flops(1, seq)
    assert 100 * attention / (dense + attention) == pytest.approx(share, abs=0.06)


def test_flops_of_a_tiny_model_counted_by_hand():
    """hidden 4, one layer, 2 heads, 1 kv head, ffn 6, vocab 10, batch 3, seq 8.

    Weights: Q 16, O 16, K 8, V 8, MLP 72, head 40: 160. 24 tokens, 6 each: 23,040. Attention forward, causal: 8 * 8 / 2 pairs,
    2 FLOPs, head size 2, 2 heads, scores and sum, batch 3: 32 * 2 * 2 * 2 * 2 * 3 = 1,536; three times that with backward.
    """
    shape = upgrade.Shape(4, 1, 2, 1, 6, 10)
    assert shape.matmul_parameters() == 160
    assert shape.step_flops(3, 8) == (23_040, 4_608)


def test_the_matrices_flops_agree_with_torch_s_own_counter():
    """The counter sees the model that is trained; attention is left out, which it miscounts on the CPU."""
    from torch.utils.flop_counter import FlopCounterMode

    shape = upgrade.Shape(32, 2, 4, 2, 48, 64)
    model = upgrade.build_model(torch, shape, recompute=False)
    tokens = torch.randint(0, 64, (2, 17))
    with FlopCounterMode(display=False) as counter:
        model(tokens).backward()
    counts = counter.get_flop_counts()["Global"]
    matrices = sum(count for op, count in counts.items() if "attention" not in str(op) and "bmm" not in str(op))
    head_again = 2 * 32 * 64 * 32  # the loss is computed in pieces, each a second time in the backward pass
    assert matrices - head_again == shape.step_flops(2, 16)[0]


def test_the_loss_of_an_untrained_model_is_that_of_guessing():
    shape = upgrade.Shape(32, 1, 2, 1, 48, 512)
    torch.manual_seed(0)
    loss = upgrade.build_model(torch, shape, recompute=False)(torch.randint(0, 512, (4, 65)))
    assert float(loss.detach()) == pytest.approx(6.238, abs=0.05)  # ln 512


def test_recomputation_changes_no_gradient():
    shape, tokens = upgrade.Shape(16, 2, 2, 1, 24, 32), torch.randint(0, 32, (1, 9))
    grads = []
    for recompute in (False, True):
        torch.manual_seed(0)
        model = upgrade.build_model(torch, shape, recompute)
        model(tokens).backward()
        grads.append([p.grad for p in model.parameters()])
    assert all(torch.allclose(a, b) for a, b in zip(*grads, strict=True))


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_rates_and_dollars_follow_from_the_step(tmp_path, dtype):
    done = run("upgrade_bench.py", *UPGRADE_SMALL, "--dtype", dtype, "--price", 3.6, "--peak", 1e3, "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    for row in report["results"]:
        assert row["tokens_per_s"] == pytest.approx(row["seq"] / row["step_ms"] * 1e3)
        assert row["usd_per_million_tokens"] == pytest.approx(1e3 / row["tokens_per_s"])  # $3.6 an hour is 0.1 cent a second
        assert row["mfu"] == pytest.approx(row["tflops"] / 1e3)
        assert row["last_loss"] < row["first_loss"]


def test_a_step_that_does_no_work_is_noticed():
    done = run("upgrade_bench.py", *UPGRADE_SMALL, "--inject", "idle")
    assert done.returncode == 1
    assert "the loss does not fall" in done.stderr


def report_file(path, tokens_per_s: float, price: float, **settings):
    keys = {"hidden": 32, "layers": 1, "heads": 2, "kv_heads": 1, "ffn": 48, "vocab": 64, "dtype": "bf16", "recompute": False}
    row = {"seq": 16, "batch": 1, "tokens_per_s": tokens_per_s}
    report = {"results": [row], "settings": keys | {"price": price} | settings, "environment": {"device": "older"}}
    path.write_text(json.dumps(report))
    return path


@pytest.mark.parametrize(("tokens_per_s", "words"), [(1e-3, "; pays per token"), (1e12, "; costs more per token")])
def test_the_newer_device_pays_if_it_gains_more_than_it_costs(tmp_path, capsys, tokens_per_s, words):
    old = report_file(tmp_path / "old.json", tokens_per_s, 2.0)
    assert upgrade.main([*UPGRADE_SMALL, "--price", "4", "--compare", str(old)]) == 0
    said = capsys.readouterr().out
    assert "price ratio 2.00" in said
    assert words in said


def test_different_models_are_not_compared(tmp_path):
    old = report_file(tmp_path / "old.json", 1.0, 2.0, hidden=64)
    with pytest.raises(upgrade.ToolError, match="another model"):
        upgrade.main([*UPGRADE_SMALL, "--compare", str(old)])


def test_dollars_for_a_million_tokens_by_hand():
    """$/M by hand: $2 an hour, 4,000 tokens/s: 2 / 3600 / 4000 * 1e6 = 0.1389."""
    assert upgrade.dollars(2.0, 4000) == pytest.approx(0.1389, abs=1e-4)


def test_copies_between_host_and_device_are_measured_and_compared(tmp_path, monkeypatch):
    """The CPU plays the device: every way is there, and a copy that loses a byte is noticed."""
    monkeypatch.setattr(bandwidth, "device_module", lambda torch, kind: None)
    args = bandwidth.parse(["--device", "cpu", "--max-bytes", "64K", "--iters", "2", "--json", str(tmp_path / "r.json")])
    with bandwidth.Solo(args, torch, "cpu", 0) as solo:
        lanes = bandwidth.Paths(args, solo, torch, "cpu", [0])
        monkeypatch.setattr(lanes, "finish", lambda: None)
        monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self)
        empty = torch.empty
        monkeypatch.setattr(torch, "empty", lambda *size, pin_memory=False, **more: empty(*size, **more))
        lanes.host(0)
        lanes.pair(0, 1)
        lanes.pair(1, 0)
        ways = [(row["op"], row["source"], row["target"]) for row in solo.rows]
        assert ways == [
            ("pageable", "host", "cpu:0"), ("pageable", "cpu:0", "host"), ("pinned", "host", "cpu:0"), ("pinned", "cpu:0", "host"),
            ("pinned both", "host", "cpu:0"), ("device", "cpu:0", "cpu:1"), ("device both", "cpu:0", "cpu:1"), ("device", "cpu:1", "cpu:0"),
        ]  # fmt: skip
        assert solo.rows[4]["moved_bytes"] == 2 * 65536
        assert not solo.report["problems"]
        monkeypatch.setattr(lanes, "copier", lambda target, source, *_: lambda: target[2:].copy_(source[2:]))
        lanes.pair(0, 1)
        assert any("the copy differs" in text for text in solo.report["problems"])

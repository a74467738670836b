"""The training benches on the CPU: right arithmetic, faults noticed, results complete."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from search_table import TOOLS, load

loader, memory, compiled, gemm, distributed = (
    load(f"training/{name}.py")
    for name in ("dataloader_bench", "activation_memory", "torch_compile_bench", "gemm_shape_bench", "dist_memory")
)
QUICK_LOADER = ["--device", "cpu", "--workers", "0", "1", "--steps", "4", "--batch", "3", "--sample-ms", "0.1", "--step-ms", "1"]
QUICK_MEMORY = ["--device", "cpu", "--hidden", "64", "--heads", "4", "--kv-heads", "2", "--ffn", "96", "--seq", "32"]
QUICK_GEMM = ["--device", "cpu", "--m", "64", "--k", "64", "--n", "96", "100", "128", "--iters", "2", "--warmup", "0"]
QUICK_COMPILE = ["--device", "cpu", "--hidden", "32", "--heads", "2", "--layers", "1", "--seq", "16", "--iters", "3", "--warmup", "1"]
QUICK_COMPILE += ["--backend", "aot_eager", "--dtype", "fp32"]


def report_of(module, arguments, tmp_path, status=0) -> dict:
    """Run a tool inside this process; its report."""
    path = tmp_path / "report.json"
    assert module.main([*arguments, "--json", str(path), "--plot", str(tmp_path / "plot.svg")]) == status
    assert (tmp_path / "plot.svg").read_text().startswith("<svg")
    return json.loads(path.read_text())


def run(tool, *arguments, **more):
    command = [sys.executable, str(TOOLS / "training" / tool), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, **more)


# dataloader_bench.py


@pytest.mark.parametrize(
    ("batch", "sample_ms", "step_ms", "workers"), [(64, 20, 500, 3), (16, 2, 40, 1), (8, 10, 40, 2), (8, 10, 39, 3), (1, 0, 5, 0)]
)
def test_workers_needed_by_arithmetic(batch, sample_ms, step_ms, workers):
    """64 samples of 20 ms in a step of 500 ms need 2.56 workers: three."""
    assert loader.needed_workers(batch, sample_ms, step_ms) == workers


def test_each_number_of_workers_is_measured_over_a_whole_epoch(tmp_path):
    report = report_of(loader, QUICK_LOADER, tmp_path)
    assert [row["workers"] for row in report["results"]] == [0, 1]
    for row in report["results"]:
        assert row["samples_per_s"] == pytest.approx(12 / row["epoch_s"])
        assert row["epoch_s"] >= 4 * 1e-3  # four steps of a millisecond: no work is never a result
        assert row["wait_ms_p5"] <= row["wait_ms_median"] <= row["wait_ms_p95"]


@pytest.mark.parametrize(("fault", "words"), [("wrong", "came changed"), ("twice", "lost or came twice")])
def test_a_damaged_epoch_is_noticed(tmp_path, fault, words):
    report = report_of(loader, [*QUICK_LOADER, "--inject", fault], tmp_path, status=1)
    assert any(words in text for text in report["problems"])


@pytest.mark.parametrize("arguments", [["--batch", "0"], ["--step-ms", "0"], ["--workers", "-1"]])
def test_an_impossible_loop_is_wrong_usage(arguments):
    with pytest.raises(loader.ToolError) as caught:
        loader.main(["--device", "cpu", *arguments])
    assert caught.value.status == 2


# activation_memory.py


def test_formulas_of_the_paper():
    """arXiv 2205.05198: per layer sbh(34 + 5as/h); for GPT-3 175B (a 96, s 2048, h 12288) the second term is 80."""
    shape = memory.Shape(seq=2048, batch=1, hidden=12288, heads=96, kv_heads=96, ffn=4 * 12288)
    assert memory.gpt_formula(shape, "all") == shape.sbh * (34 + 80)
    assert memory.gpt_formula(shape, "core") == 34 * shape.sbh
    assert memory.gpt_formula(shape, "layer") == 2 * shape.sbh


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_what_autograd_keeps_of_a_gpt_layer_is_what_the_paper_counts(tmp_path, dtype):
    """The only difference is the mean and deviation of the two norms, in fp32: 16 bytes a token."""
    report = report_of(memory, [*QUICK_MEMORY, "--dtype", dtype], tmp_path)
    rows = {row["keep"]: row for row in report["results"] if row["arch"] == "gpt"}
    for keep in ("all", "core", "layer"):
        excess = (rows[keep]["kept_mib"] - rows[keep]["formula_mib"]) * 2**20
        assert 0 <= excess <= 16 * 32 + 64, keep


def test_a_llama_layer_keeps_what_its_formula_says(tmp_path):
    """On a CPU torch's RMSNorm is not fused: each of the two keeps three hidden states and a factor a token more."""
    report = report_of(memory, [*QUICK_MEMORY, "--dtype", "bf16"], tmp_path)
    rows = {row["keep"]: row for row in report["results"] if row["arch"] == "llama"}
    state = 2 * 32 * 64
    for keep in ("all", "core"):
        excess = (rows[keep]["kept_mib"] - rows[keep]["formula_mib"]) * 2**20
        assert 6 * state <= excess <= 6 * state + 16 * 32 + 64, keep
    assert rows["layer"]["kept_mib"] * 2**20 == state


def test_fused_attention_keeps_no_scores(tmp_path):
    few, many = (report_of(memory, [*QUICK_MEMORY[:-1], seq, "--flash"], tmp_path)["results"] for seq in ("32", "128"))
    for short, long in zip(few, many, strict=True):
        assert long["kept_mib"] == pytest.approx(4 * short["kept_mib"], rel=0.02), short  # linear in the length


def test_a_gradient_that_recomputation_changes_is_noticed(tmp_path):
    report = report_of(memory, [*QUICK_MEMORY, "--inject", "wrong"], tmp_path, status=1)
    assert any("recomputing the layer changes the gradients" in text for text in report["problems"])


# gemm_shape_bench.py


@pytest.mark.parametrize(
    ("m", "n", "units", "tiles", "count"),
    [(8192, 14336, 148, 3584, 25), (8192, 14336, 152, 3584, 24), (128 * 109, 256, 108, 109, 2), (128 * 108, 256, 108, 108, 1)],
)
def test_waves_of_the_known_examples(m, n, units, tiles, count):
    """8B model, 8K tokens: 64 x 56 tiles make 25 waves on 148 SMs, 24 on 152; 109 blocks on 108 SMs make two."""
    assert gemm.waves(m, n, units)[:2] == (tiles, count)


def test_the_last_wave_s_fill():
    assert gemm.waves(128 * 109, 256, 108)[2] == pytest.approx(1 / 108)
    assert gemm.waves(128 * 108, 256, 108)[2] == 1


@pytest.mark.parametrize(("number", "power"), [(10922, 2), (10944, 64), (11008, 256), (1, 1), (50257, 1), (4096, 4096)])
def test_alignment_of_the_known_widths(number, power):
    """10944 = 64 x 171, 11008 = 256 x 43."""
    assert gemm.power_of_two(number) == power


@pytest.mark.parametrize("more", [[], ["--mlp"], ["--dtype", "fp32", "--mlp"]])
def test_each_width_is_timed_and_compared_with_the_base(tmp_path, more):
    report = report_of(gemm, [*QUICK_GEMM, *more, "--base", "100", "--units", "4"], tmp_path)
    rows = {row["n"]: row for row in report["results"]}
    assert sorted(rows) == [96, 100, 128]
    assert rows[100]["vs_base"] == 1
    assert rows[96]["vs_base"] == pytest.approx(rows[96]["tflops"] / rows[100]["tflops"])
    assert (rows[128]["tiles"], rows[128]["waves"], rows[128]["last_wave"]) == (1, 1, 0.25)


def test_a_wrong_product_is_noticed(tmp_path):
    report = report_of(gemm, [*QUICK_GEMM, "--inject", "wrong"], tmp_path, status=1)
    assert any("64x128x64 is wrong" in text for text in report["problems"])


def test_only_one_dimension_may_vary():
    with pytest.raises(gemm.ToolError, match="only one of") as caught:
        gemm.main(["--device", "cpu", "--m", "64", "128", "--n", "64", "128", "--k", "64"])
    assert caught.value.status == 2


def test_a_product_that_was_never_computed_is_wrong():
    pools = gemm.Pools(torch, torch.device("cpu"), "fp32", [(8, 8, 8)], False, 0)
    work = gemm.Work(torch, pools, "fp32", (8, 8, 8), False)
    assert not work.right(torch.zeros(8, 8))
    assert work.right(work.call())


# torch_compile_bench.py


def test_a_compiled_model_is_set_against_the_eager_one(tmp_path):
    report = report_of(compiled, QUICK_COMPILE, tmp_path)
    eager, row = report["results"]
    assert (eager["mode"], eager["graphs"], row["mode"], row["graph_breaks"]) == ("eager", 0, "default", 0)
    assert row["graphs"] >= 1
    assert row["speedup"] == pytest.approx(eager["step_ms"] / row["step_ms"])
    if row["step_ms"] < eager["step_ms"]:
        saved = (eager["step_ms"] - row["step_ms"]) / 1e3
        assert row["pays_after_steps"] * saved >= row["first_s"] - eager["first_s"] - 1e-9
    else:
        assert row["pays_after_steps"] is None


def test_a_value_read_on_the_host_shows_as_a_graph_break(tmp_path):
    report = report_of(compiled, [*QUICK_COMPILE, "--breaks"], tmp_path)
    assert report["results"][1]["graph_breaks"] >= 1
    assert report["results"][1]["graphs"] >= 2


def test_changing_lengths_show_as_further_graphs(tmp_path):
    """torch compiles once for the first length and once more, for any length, when a second comes."""
    report = report_of(compiled, [*QUICK_COMPILE, "--lengths", "8", "16", "24"], tmp_path)
    assert report["results"][1]["graphs"] >= 2
    report = report_of(compiled, [*QUICK_COMPILE, "--lengths", "8", "16", "24", "--dynamic"], tmp_path)
    assert report["results"][1]["graphs"] == 1


def test_a_compiled_gradient_that_differs_is_noticed(tmp_path):
    report = report_of(compiled, [*QUICK_COMPILE, "--inject", "wrong"], tmp_path, status=1)
    assert any("default: a gradient is off" in text for text in report["problems"])


def test_the_default_mode_generates_code_on_the_cpu(tmp_path):
    done = run("torch_compile_bench.py", *QUICK_COMPILE[:-4], "--dtype", "bf16", "--layers", "1", "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["results"][1]["graphs"] == 1


# dist_memory.py


def test_rows_show_what_each_stage_added_over_the_ranks():
    mib = 2**20
    everyone = [[("start", 100 * mib), ("group", 110 * mib)], [("start", 200 * mib), ("group", 230 * mib)]]
    start, group = distributed.stage_rows(everyone)
    assert (start["growth_mib"], start["mib"]["max"]) == (150, 0)
    assert (group["mib"]["min"], group["mib"]["max"], group["mib"]["median"], group["growth_mib"]) == (10, 30, 20, 20)


def clean() -> dict:
    mine = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_", "SLURM_", "TORCHELASTIC_")
    return {k: v for k, v in os.environ.items() if not k.startswith(mine)} | {"OMP_NUM_THREADS": "1"}


def test_four_ranks_tell_their_memory_at_each_stage(tmp_path):
    done = run("dist_memory.py", "--device", "cpu", "--nproc", 4, "--bytes", "1M", "--json", tmp_path / "r.json", env=clean())
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    stages = [row["stage"] for row in report["results"]]
    assert stages == ["start", "process group", "first collective", "group 1", "group 2", "send and receive", "destroyed"]
    assert [row["mib"]["count"] for row in report["results"]] == [4] * 7
    assert report["results"][0]["growth_mib"] > 1


def test_no_rank_is_wrong_usage(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["dist_memory.py", "--nproc", "0"])
    with pytest.raises(SystemExit) as caught:
        distributed.main()
    assert caught.value.code == 2


def test_every_bench_writes_its_own_file_for_each_rank(tmp_path):
    env = clean() | {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "3"}
    done = run("gemm_shape_bench.py", *QUICK_GEMM, "--json", tmp_path / "r.json", env=env)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in Path(tmp_path).iterdir()] == ["r.rank3.json"]

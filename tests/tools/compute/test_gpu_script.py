"""The script for a real accelerator, rehearsed on the CPU: that it runs, records and compares. Its figures mean nothing here."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "gpu/compute_check.py"
spec = importlib.util.spec_from_file_location("compute_check", SCRIPT)
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)


def test_the_rehearsal_ends_well_and_leaves_every_report(tmp_path):
    assert check.main([str(tmp_path), "--rehearse"]) == 0
    result = json.loads((tmp_path / "compute_check.json").read_text())
    assert {name: step["status"] for name, step in result["steps"].items()} == dict.fromkeys(result["steps"], 0)
    assert result["environment"]["torch"]
    assert result["comparison"]["search"]["tflops"] > 0


def report(tflops: float, seconds: float, products: int, shapes: int) -> dict:
    best = {"tflops_median": tflops, "m": 1, "n": 2, "k": 3}
    return {"report": {"best": best, "search": {"seconds": seconds, "products": products, "shapes": shapes}}}


@pytest.mark.parametrize(("tflops", "seconds", "met"), [(792.0, 60.0, True), (791.0, 60.0, False), (792.0, 69.0, False)])
def test_the_target_by_hand(tflops, seconds, met):
    """3,375 shapes of 11 products in 100 s are 1,363.6 s at 150; five per cent of that is 68.2 s. 99 % of 800 is 792."""
    said = check.compare(report(tflops, seconds, 9000, 900), report(800.0, 100.0, 3375 * 11, 3375))
    assert said["sweep_seconds_at_150_products"]["value"] == pytest.approx(1363.64, abs=0.01)
    assert said["met"] is met


def test_the_real_steps_fit_under_eight_minutes():
    assert check.WHOLE < 480
    assert [name for name, *_ in check.steps(False)] == ["dtypes", "mamf_bf16", "brute_bf16", "mamf_fp8", "bandwidth", "soak", "upgrade"]


def test_a_step_that_hangs_is_ended_and_noted(tmp_path, monkeypatch):
    monkeypatch.setattr(check, "steps", lambda rehearse: [("soak", "soak.py", ["--device", "cpu", "--seconds", "300", "--size", "64"], 12)])
    assert check.main([str(tmp_path), "--rehearse"]) == 1
    step = json.loads((tmp_path / "compute_check.json").read_text())["steps"]["soak"]
    assert step["status"] is None
    assert step["report"]["status"] == "interrupted"  # what it had was written

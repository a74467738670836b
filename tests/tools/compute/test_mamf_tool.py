"""mamf-finder.py as a command, on the CPU."""

from __future__ import annotations

import csv
import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import yaml
from search_table import TOOLS, mamf, run_inside

TOOL = TOOLS / "compute/mamf-finder.py"
SMALL = ["--m", "128", "256", "--n", "128", "256", "--k", "128", "256", "--seconds", "60", "--products", "300", "--flush", "0", "--device", "cpu"]
ACCELERATORS = TOOLS.parent / "book/data/accelerators.yml"
RECORDS = {record["id"]: record for record in yaml.safe_load(ACCELERATORS.read_text())["records"]}


run = functools.partial(run_inside, "compute/mamf-finder.py")


@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp8_e4m3", "fp8_e5m2", "int8", "fp64"])
def test_every_format_of_the_cpu_is_measured_and_checked(tmp_path, dtype):
    files = {name: tmp_path / f"r.{name}" for name in ("json", "csv")}
    done = run(*SMALL, "--dtype", dtype, "--json", files["json"], "--csv", files["csv"], "--plot", tmp_path / "r.svg")
    assert done.returncode == 0, done.stderr
    report = json.loads(files["json"].read_text())
    unit = "tops" if dtype == "int8" else "tflops"
    assert (report["schema_version"], report["status"], report["problems"]) == (1, "ok", [])
    best = report["best"]
    work = 2 * best["m"] * best["n"] * best["k"]
    assert best[f"{unit}_median"] == pytest.approx(work / best["time_us_median"] / 1e6)
    rows = list(csv.DictReader(files["csv"].open()))
    assert {(r["m"], r["n"], r["k"]) for r in rows} == {(a, b, c) for a in ("128", "256") for b in ("128", "256") for c in ("128", "256")}
    assert "best:" in done.stdout
    assert (tmp_path / "r.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(("fault", "words"), [("wrong", "off by"), ("zero", "all zero"), ("nan", "off by inf")])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_a_damaged_product_ends_with_status_1_and_the_place(tmp_path, fault, words, dtype):
    done = run(*SMALL, "--dtype", dtype, "--inject", fault, "--json", tmp_path / "r.json")
    assert done.returncode == 1
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["status"] == "failed"
    assert words in report["problems"][0]
    assert os.uname().nodename in done.stderr


def test_a_rate_above_the_peak_is_an_error_and_no_record(tmp_path):
    done = run(*SMALL, "--peak", "1e-9", "--json", tmp_path / "r.json")
    assert done.returncode == 1
    report = json.loads((tmp_path / "r.json").read_text())
    assert "best" not in report
    assert "above what the device can do" in report["problems"][0]


@pytest.mark.parametrize("dtype", ["fp6", "mxfp8", "nvfp4", "tf32"])
def test_a_format_that_cannot_be_measured_here_is_wrong_usage(dtype):
    done = run(*SMALL, "--dtype", dtype)
    assert done.returncode == 2
    assert dtype in done.stderr


def test_ctrl_c_writes_what_was_found(tmp_path):
    command = [sys.executable, str(TOOL), "--device", "cpu", "--seconds", "200", "--flush", "0", "--json", str(tmp_path / "r.json")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("first:"):
            break
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["status"] == "interrupted"
    assert report["results"]


def test_brute_force_measures_each_shape(tmp_path):
    done = run(*SMALL, "--every", "--iters", "2", "--csv", tmp_path / "r.csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "r.csv").open()))
    assert [int(r["tflops_count"]) for r in rows] == [2] * 8


def test_the_dtype_table_names_every_format_and_place():
    done = run("--list-dtypes", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    for word in (*mamf.SUPPORT, *mamf.PLATFORMS, "sm_100", "gfx950", "[here: yes]"):
        assert word in done.stdout


def test_the_dtype_table_agrees_with_this_torch_about_the_cpu():
    """What the table calls impossible on the CPU fails there, and what it calls possible works."""
    for dtype in mamf.FORMATS:
        said = mamf.SUPPORT[dtype][mamf.PLATFORMS.index("cpu")]
        assert mamf.probe(torch, "cpu", 0, dtype).startswith("no") == said.startswith("no"), dtype


def figure(record: dict, dtype: str):
    """The book's dense peak of a format: matrix engines before vector lanes; absent and null told apart."""
    keys = [f"{dtype}_matrix_tflops", f"{dtype}_tflops", f"{dtype}_tops"]
    return next((record["dense_peak"][key] for key in keys if key in record["dense_peak"]), "absent")


@pytest.mark.parametrize("row", mamf.PEAKS, ids=[row[1] for row in mamf.PEAKS])
def test_peaks_agree_with_the_book(row):
    _, record_id, unit, share, rated, top, _, peaks = row
    record = RECORDS[record_id]
    for dtype in ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8"):
        wanted = figure(record, dtype)
        assert peaks.get(dtype, "absent") == (wanted if wanted in ("absent", None) else pytest.approx(wanted * share)), dtype
    assert (rated, top) == (record.get("matrix_clock_mhz"), record.get("clock_mhz"))
    assert share == (0.5 if "seen as two devices" in record.get("per", "") else 1)
    assert ("die, half" in unit) == (share == 0.5)


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("NVIDIA H100 80GB HBM3", "nvidia-h100-sxm"),
        ("NVIDIA H100 PCIe", "nvidia-h100-pcie"),
        ("NVIDIA H100 NVL", "nvidia-h100-nvl"),
        ("NVIDIA H200", "nvidia-h200-sxm"),
        ("NVIDIA H200 NVL", "nvidia-h200-nvl"),
        ("NVIDIA GH200 480GB", "nvidia-gh200"),
        ("NVIDIA GB200", "nvidia-gb200"),
        ("NVIDIA B200", "nvidia-b200-sxm"),
        ("NVIDIA A100-SXM4-80GB", "nvidia-a100-sxm-80"),
        ("NVIDIA A100 80GB PCIe", "nvidia-a100-pcie-80"),
        ("AMD Instinct MI250X / MI250", "amd-mi250x"),
        ("AMD Instinct MI300X", "amd-mi300x"),
        ("hpu GAUDI3", "intel-gaudi3"),
        ("AMD EPYC", None),
    ],
)
def test_a_device_s_name_leads_to_its_record(name, record):
    row = mamf.find_peak(name)
    assert (row[1] if row else None) == record


def test_the_timer_s_product_is_the_one_that_is_checked():
    """The check looks at the result of a timed run, so nothing can be optimised away unseen."""
    products = mamf.Products(torch, "cpu", 0, "fp32", 0, 0)
    calls = []

    def product():
        calls.append(torch.full((4, 4), float(len(calls))))
        return calls[-1]

    seconds, out = products.timed(product, 2, 3)
    assert (len(calls), len(seconds)) == (5, 3)
    assert out is calls[-1]


def test_under_a_launcher_each_process_writes_its_own_file(tmp_path, monkeypatch):
    for name, value in {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    done = run(*SMALL, "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in Path(tmp_path).iterdir()] == ["r.rank1.json"]
    assert "rank 1]" in done.stdout


@pytest.mark.parametrize("dtype", ["fp8_e4m3", "fp8_e5m2", "mxfp8", "mxfp4", "nvfp4", "int8"])
@pytest.mark.parametrize("shape", [(384, 640, 1024), (128, 256, 1056), (400, 272, 2080)])
def test_torch_accepts_the_operands_and_scales_of_every_low_precision_product(dtype, shape):
    """On tensors without data, where torch checks types, strides, divisibility and the number of scales as for a GPU."""
    m, n, k = shape
    products = mamf.Products.__new__(mamf.Products)
    products.torch, products.kind, products.dtype, products.device = torch, "cuda", dtype, torch.device("meta")
    products.one = torch.ones((), device="meta")
    kind = {"int8": torch.int8, "fp8_e4m3": torch.float8_e4m3fn, "fp8_e5m2": torch.float8_e5m2, "mxfp8": torch.float8_e4m3fn}
    columns = k if dtype in kind else k // 2  # two fp4 numbers share a byte
    a = torch.empty(m, columns, dtype=kind.get(dtype, torch.uint8), device="meta")
    b = torch.empty(n, columns, dtype=torch.float8_e4m3fn if "fp8" in dtype else a.dtype, device="meta").t()
    out = products.call(shape, a, b)()
    assert out.shape == (m, n)
    assert out.dtype == (torch.int32 if dtype == "int8" else torch.bfloat16)


def test_packed_fp4_numbers_are_read_low_half_first():
    """OCP E2M1: 0x2 is 1, 0x7 is 6, 0xA is -1, 0x1 is 0.5."""
    products = mamf.Products.__new__(mamf.Products)
    products.torch, products.dtype, products.device = torch, "nvfp4", torch.device("cpu")
    packed = torch.tensor([[0x72, 0x1A]], dtype=torch.uint8)
    assert products.real(packed, True).tolist() == [[1, 6, -1, 0.5]]
    assert products.real(packed.t(), False).tolist() == [[1], [6], [-1], [0.5]]


def test_a_shape_without_a_kernel_is_passed_over_and_larger_ones_are_not():
    def measure(shape, warmup, iters):
        if shape[0] == 100:
            raise mamf.Refused("must be divisible by 16")
        return [1e-3] * iters

    found = mamf.Search(measure, [[100, 128], [128], [128]], 8, 10_000)
    assert found.run() == (128, 128, 128)
    assert list(found.refused) == [(100, 128, 128)]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB"), "DoesNotFit"),
        (RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: not enough memory"), "DoesNotFit"),
        (MemoryError(), "DoesNotFit"),
        (RuntimeError("CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling"), "Refused"),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), "RuntimeError"),
    ],
)
def test_what_torch_raises_is_told_apart(monkeypatch, error, kind):
    products = mamf.Products(torch, "cpu", 0, "fp32", 0, 0)

    def fail(*_):
        raise error

    monkeypatch.setattr(products, "timed", fail)
    with pytest.raises((mamf.DoesNotFit, RuntimeError)) as caught:
        products.measure((64, 64, 64), 0, 1)
    assert caught.type.__name__ == kind

#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.4"]
# ///
"""What matmul rate can this device really reach, and with which shape?

Searches the shapes m x n x k for the fastest product in under two minutes instead of sweeping a grid for hours: shapes
that fill whole waves of the device's units first, then successive halving, line searches around the best, and a final
in which the leaders take turns. Every shape's product is checked, and timings that no device can reach are thrown out.

  one process, the first device:   python3 mamf-finder.py
  other formats:                   python3 mamf-finder.py --dtype fp8_e4m3 --json fp8.json --csv fp8.csv
  what can be measured here:       python3 mamf-finder.py --list-dtypes
  the shapes of my model:          python3 mamf-finder.py --m 4096 8192 --n 14336 --k 1024:8192:1024
  every shape of a grid, slowly:   python3 mamf-finder.py --every --m 1024:15360:1024 --n 1024:15360:1024 --k 1024:15360:1024
  all GPUs of a node at once:      torchrun --nproc-per-node 8 mamf-finder.py --json node.json
  two nodes, the same on each:     torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d \\
                                       --rdzv-endpoint FIRST_HOST:29400 mamf-finder.py --json node.json
  SLURM:                           srun --nodes 2 --ntasks-per-node 8 --gpus-per-node 8 python3 mamf-finder.py

Ranges are FIRST:LAST:STEP, both ends included. Processes do not wait for each other: each searches its own device.

What the numbers mean
  rate      2mnk / time, in TFLOPS (TOPS for int8); time is the median of the final, with p5 and p95
  of peak   rate / dense peak of what torch calls one device: the die of an MI250X, the package of an MI300X or B200
  products  how many products were run in all, warm-ups included
  glitches  single timings above what the device could do at its highest clock; never counted
Operands are normal random numbers, as zeros draw less power and run faster; a cache flush precedes each product. The best
shape of a device is not the shape of your model: measure that one too. The method was proved on simulated devices, which
proves the search and no hardware. Exit status: 0 measured and right, 1 a check failed, 2 wrong usage or something
missing, 3 timed out, 130 interrupted; what was found so far is written in every case.
"""

from __future__ import annotations

import argparse
import bisect
import csv
import datetime
import functools
import importlib
import io
import itertools
import json
import math
import os
import platform
import random
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from xml.sax.saxutils import escape

TOOL, VERSION = "mamf-finder.py", "1.0"


# --- common: exits ---
OK, FAILED, USAGE, TIMED_OUT, INTERRUPTED = 0, 1, 2, 3, 130  # exit statuses, the same in every tool
SCHEMA_VERSION = 1  # of the JSON report; raised when a key changes its meaning or goes away


class ToolError(Exception):
    """Ends the tool with one line on stderr and an exit status."""

    def __init__(self, text: str, status: int = FAILED, everywhere: bool = False):
        super().__init__(text)
        self.status, self.everywhere = status, everywhere  # everywhere: all ranks say the same, none need be named


def need(module: str, install: str = ""):
    """Import a package, or end with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        command = install or f"python3 -m pip install {module.split('.')[0]}"
        raise ToolError(f"needs {module}, which does not import ({error}); install it: {command}", USAGE) from None


def run_tool(main) -> int:
    """Call main() and turn whatever ends it into the exit status that scripts rely on."""

    def stop(number, frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)  # a scheduler's or a launcher's way to say Ctrl-C
    try:
        return main()
    except ToolError as error:
        print(f"{TOOL}: {error}", file=sys.stderr, flush=True)
        return error.status
    except KeyboardInterrupt:
        print(f"{TOOL}: interrupted", file=sys.stderr, flush=True)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our table, `head` say, has gone; keep the interpreter from complaining
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


# --- end common: exits ---


# --- common: sizes ---
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {k: 1024**p for p, ks in enumerate((("K", "KIB"), ("M", "MIB"), ("G", "GIB"), ("T", "TIB")), 1) for k in ks}


def parse_size(text: str) -> int:
    """Bytes of '8', '32K', '1.5GiB' (powers of 1024) or '2MB' (power of 1000)."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if not match or match[2].upper() not in UNITS:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 8, 32K, 16G or 1.5GiB")
    return round(float(match[1]) * UNITS[match[2].upper()])


def format_size(count: float) -> str:
    """'32 KiB' for 32768: the largest binary unit that keeps the number at 1 or more."""
    power = min(4, int(math.log(count, 1024) + 1e-9)) if count >= 1 else 0
    return f"{round(count / 1024**power, 2):g} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def size_ladder(least: int, most: int) -> list[int]:
    """Doubling sizes from least to most, both included."""
    sizes = [least]
    while sizes[-1] * 2 <= most:
        sizes.append(sizes[-1] * 2)
    return sizes + [most] * (sizes[-1] < most)


# --- end common: sizes ---


# --- common: stats ---
def percentile(values, share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie, interpolated between neighbours."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def spread(values) -> dict:
    """Median, p5, p95, least, most and count: what every timing in a report consists of."""
    cuts = {"median": 0.5, "p5": 0.05, "p95": 0.95, "min": 0.0, "max": 1.0}
    return {name: percentile(values, share) for name, share in cuts.items()} | {"count": len(values)}


# --- end common: stats ---


# --- common: files ---
def write_atomic(path: str, content: str | bytes) -> None:
    """Replace a file in one step, so that a reader or a crash never meets half of it."""
    data = content.encode() if isinstance(content, str) else content
    temporary = Path(f"{path}.{os.getpid()}.tmp")
    try:
        temporary.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise ToolError(f"cannot write {path}: {error.strerror}", USAGE) from None
    finally:
        temporary.unlink(missing_ok=True)


def csv_text(rows: list[dict]) -> str:
    """Rows as CSV; the columns are the keys in the order in which they first appear."""
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


# --- end common: files ---


# --- common: plot ---
INKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # told apart by colour-blind eyes


def nice_ticks(low: float, high: float) -> list[float]:
    """About six round numbers that cover low to high."""
    raw = (high - low) / 5 or abs(high) or 1.0
    base = 10 ** math.floor(math.log10(raw))
    step = next(base * k for k in (1, 2, 2.5, 5, 10) if base * k >= raw * 0.999)
    first = math.floor(low / step)
    return [step * k for k in range(first, math.ceil(high / step - 1e-9) + 1)]


def svg_plot(title, x_label, y_label, series, levels=(), log_x=False, x_text=None, points=False) -> str:
    """A line or point chart as SVG. series: [(label, [(x, y), …])]; levels: [(label, y)] drawn as dashed lines."""
    xs = [x for _, data in series for x, _ in data] or [1, 2]
    ys = [y for _, data in series for _, y in data] + [y for _, y in levels] or [0, 1]
    y_ticks = nice_ticks(min(0, *ys) if not points else min(ys), max(ys))
    bend = math.log2 if log_x else float
    left, right, top, bottom = 70, 740, 40, 340
    x_low, x_high = bend(min(xs)), bend(max(xs))
    y_low, y_high = y_ticks[0], y_ticks[-1]

    def across(x):
        return left + (right - left) * ((bend(x) - x_low) / ((x_high - x_low) or 1))

    def up(y):
        return bottom - (bottom - top) * (y - y_low) / ((y_high - y_low) or 1)

    if log_x:
        x_ticks = sorted(set(xs))[:: max(1, math.ceil(len(set(xs)) / 10))]
    else:
        x_ticks = [x for x in nice_ticks(x_low, x_high) if x_low <= x <= x_high]
    x_text = x_text or "{:g}".format
    height = 400 + 18 * len(series)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" font-family="sans-serif" font-size="12">',
        f'<title>{escape(title)}</title><rect width="760" height="{height}" fill="#fff"/>',
        f'<text x="{left}" y="22" font-size="15">{escape(title)}</text>',
        f'<text x="{left}" y="378">{escape(x_label)}</text>',
        f'<text transform="translate(16 {(top + bottom) // 2}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>',
    ]
    for y in y_ticks:
        out.append(f'<path d="M{left} {up(y):.1f}H{right}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{up(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
    for x in x_ticks:
        out.append(f'<text x="{across(x):.1f}" y="{bottom + 16}" text-anchor="middle">{escape(x_text(x))}</text>')
    for label, y in levels:
        out.append(f'<path d="M{left} {up(y):.1f}H{right}" stroke="#555" stroke-dasharray="6 4"/>')
        out.append(f'<text x="{right}" y="{up(y) - 5:.1f}" text-anchor="end">{escape(label)}</text>')
    for number, (label, data) in enumerate(series):
        ink, y = INKS[number % len(INKS)], 396 + 18 * number
        if not points:
            path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in data)
            out.append(f'<polyline points="{path}" fill="none" stroke="{ink}" stroke-width="2"/>')
        out += [f'<circle cx="{across(a):.1f}" cy="{up(b):.1f}" r="2.5" fill="{ink}"/>' for a, b in data]
        out.append(f'<rect x="{left}" y="{y - 9}" width="10" height="10" fill="{ink}"/>')
        out.append(f'<text x="{left + 16}" y="{y}">{escape(label)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def write_plot(path: str, title, x_label, y_label, series, levels=(), log_x=False, x_text=None, points=False) -> None:
    """Write a chart: SVG by hand, any other suffix through matplotlib."""
    if path.lower().endswith(".svg"):
        write_atomic(path, svg_plot(title, x_label, y_label, series, levels, log_x, x_text, points))
        return
    matplotlib = need("matplotlib")
    matplotlib.use("Agg")
    figure, axes = need("matplotlib.pyplot").subplots(figsize=(8, 5))
    for number, (label, data) in enumerate(series):
        style = "." if points else ".-"
        axes.plot(*zip(*data, strict=True), style, label=label, color=INKS[number % len(INKS)]) if data else None
    for label, y in levels:
        axes.axhline(y, linestyle="--", color="#555", label=label)
    if log_x:
        axes.set_xscale("log", base=2)
    if x_text:
        axes.xaxis.set_major_formatter(lambda x, position: x_text(x))
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    axes.grid(color="#ddd")
    axes.legend()
    picture = io.BytesIO()
    try:
        figure.savefig(picture, format=Path(path).suffix[1:] or "png", dpi=120)
    except ValueError as error:
        raise ToolError(f"cannot draw {path}: {error}", USAGE) from None
    write_atomic(path, picture.getvalue())


# --- end common: plot ---


# --- common: devices ---
DEVICES = ("cuda", "xpu", "hpu", "mps", "cpu")  # cuda is AMD's name in torch too
DTYPES = {
    "fp64": "float64", "fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16",
    "fp8_e4m3": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2", "int64": "int64", "int32": "int32",
    "int8": "int8", "uint8": "uint8",
}  # fmt: skip


def device_module(torch, kind: str):
    """torch.cuda, torch.xpu, torch.hpu or torch.mps; None for the CPU or where this torch has none."""
    if kind == "hpu" and not hasattr(torch, "hpu"):
        try:
            importlib.import_module("habana_frameworks.torch.core")  # registers the device with torch
        except ImportError:
            return None
    return None if kind == "cpu" else getattr(torch, kind, None)


def device_ready(torch, kind: str) -> bool:
    module = device_module(torch, kind)
    if kind == "mps":  # torch.mps exists everywhere; only the backend knows
        return torch.backends.mps.is_available()
    return kind == "cpu" or bool(module and module.is_available())


def pick_device(torch, wanted: str = "auto") -> str:
    """The kind of device asked for, or the first of DEVICES that works."""
    for kind in DEVICES if wanted == "auto" else (wanted,):
        if device_ready(torch, kind):
            return kind
    raise ToolError(f"no {wanted} device: torch {torch.__version__} sees none on {socket.gethostname()}", USAGE)


def device_count(torch, kind: str) -> int:
    return 1 if kind in ("cpu", "mps") else device_module(torch, kind).device_count()


def use_device(torch, kind: str, index: int = 0):
    """Make the device current and return it as torch.device."""
    if kind in ("cpu", "mps"):
        return torch.device(kind)
    count = device_count(torch, kind)
    if index >= count:
        raise ToolError(f"{socket.gethostname()} shows {count} {kind} devices, and number {index} was asked for")
    if kind in ("cuda", "xpu"):  # Gaudi gives each process one device by itself
        device_module(torch, kind).set_device(index)
        return torch.device(kind, index)
    return torch.device(kind)


def synchronize(torch, kind: str) -> None:
    """Wait until the device has done all it was given."""
    if kind == "hpu":  # in lazy mode nothing has been given to it before this
        importlib.import_module("habana_frameworks.torch.core").mark_step()
    if kind != "cpu":
        device_module(torch, kind).synchronize()


def device_name(torch, kind: str, index: int = 0) -> str:
    if kind in ("cpu", "mps"):
        try:
            return re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())[1]
        except (OSError, TypeError):
            return platform.processor() or platform.machine()
    return device_module(torch, kind).get_device_name(index)


def free_memory(torch, kind: str, index: int = 0) -> int:
    """Bytes that can still be allocated: on the device, or in this machine or container for the CPU."""
    if kind == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    if kind != "cpu":
        module = device_module(torch, kind)
        if hasattr(module, "mem_get_info"):  # of the current device: Gaudi's takes no index
            return module.mem_get_info()[0]
        return module.get_device_properties(index).total_memory - module.memory_reserved(index)  # older xpu
    try:
        free = int(re.search(r"MemAvailable:\s*(\d+)", Path("/proc/meminfo").read_text())[1]) * 1024
    except (OSError, TypeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    for limit, used in (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")):
        try:
            root = Path("/sys/fs/cgroup")
            free = min(free, int((root / limit).read_text()) - int((root / used).read_text()))
        except (OSError, ValueError):  # no such cgroup version, or no limit set
            continue
    return max(free, 0)


# --- end common: devices ---


# --- common: telemetry ---
THROTTLE = {
    0x1: "idle", 0x2: "application clocks", 0x4: "software power cap", 0x8: "hardware slowdown", 0x10: "sync boost",
    0x20: "software thermal slowdown", 0x40: "hardware thermal slowdown", 0x80: "hardware power brake",
    0x100: "display clocks",
}  # fmt: skip
SMI_FIELDS = {
    "sm_clock_mhz": "clocks.sm", "sm_clock_max_mhz": "clocks.max.sm", "memory_clock_mhz": "clocks.mem",
    "power_w": "power.draw", "power_limit_w": "power.limit", "temperature_c": "temperature.gpu",
    "memory_temperature_c": "temperature.memory", "ecc_uncorrected": "ecc.errors.uncorrected.volatile.total",
}  # fmt: skip


def command_output(*command: str) -> str:
    """What a program prints; '' when it is absent, fails or hangs."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def visible_gpu(listing: str, mask: str | None, index: int) -> tuple[str, bool] | None:
    """The UUID of the GPU behind a torch index, and whether it is a MIG slice of it.

    listing is `nvidia-smi -L`; mask is CUDA_VISIBLE_DEVICES, whose entries are indexes, UUIDs, parts of UUIDs or
    MIG names. A slice shares clocks and power with its GPU, so the GPU is what gets read.
    """
    owners, gpus = {}, []
    for kind, uuid in re.findall(r"UUID: ((?:GPU|MIG)-)([^)\s]+)", listing):
        if kind == "GPU-":
            gpus.append(kind + uuid)
        owners[kind + uuid] = gpus[-1] if gpus else kind + uuid
    entries = [entry.strip() for entry in mask.split(",")] if mask is not None else [str(n) for n in range(len(gpus))]
    if index >= len(entries):
        return None
    entry = entries[index]
    if entry.isdigit():
        return (gpus[int(entry)], False) if int(entry) < len(gpus) else None
    if entry.startswith("MIG-GPU-"):  # the older spelling: MIG-GPU-<uuid>/<instance>/<compute instance>
        return entry.split("/")[0].removeprefix("MIG-"), True
    matches = [uuid for uuid in owners if entry and uuid.startswith(entry)]
    return (owners[matches[0]], entry.startswith("MIG-")) if len(matches) == 1 else None


def read_smi(uuid: str) -> dict:
    """Clocks, power, temperature, ECC and throttle reasons of one NVIDIA GPU."""
    for reasons in ("clocks_event_reasons.active", "clocks_throttle_reasons.active"):  # renamed with driver 535
        query = ",".join([*SMI_FIELDS.values(), reasons])
        line = command_output("nvidia-smi", f"--id={uuid}", f"--query-gpu={query}", "--format=csv,noheader,nounits")
        cells = [cell.strip() for cell in line.strip().split(",")]
        if len(cells) != len(SMI_FIELDS) + 1:
            continue
        values = {}
        for name, cell in zip(SMI_FIELDS, cells, strict=False):
            values[name] = float(cell) if re.fullmatch(r"-?\d+(\.\d+)?", cell) else None  # "[N/A]" → None
        bits = int(cells[-1], 16) if cells[-1].startswith("0x") else 0
        return values | {"throttle": [name for bit, name in THROTTLE.items() if bits & bit]}
    return {}


def device_state(torch, kind: str, index: int = 0) -> dict:
    """What the driver says of the device right now; 'source' is None where it says nothing."""
    if kind == "cuda" and not torch.version.hip:
        uuid = str(getattr(torch.cuda.get_device_properties(index), "uuid", "")).removeprefix("GPU-")  # torch 2.5
        found = visible_gpu(command_output("nvidia-smi", "-L"), os.environ.get("CUDA_VISIBLE_DEVICES"), index)
        mig = bool(found and found[1])
        if uuid and not mig:  # the driver's own answer beats the mask: CUDA may count in another order
            found = (f"GPU-{uuid}", False)
        values = read_smi(found[0]) if found else {}
        if values:
            return {"source": "nvidia-smi", "gpu": found[0], "whole_gpu_of_a_mig_slice": mig} | values
    values, module = {}, device_module(torch, kind)
    for name, call in (("sm_clock_mhz", "clock_rate"), ("power_w", "power_draw"), ("temperature_c", "temperature")):
        try:  # AMD and Intel; needs the vendor's Python binding, and not every torch has every call
            value = getattr(module, call)(index)
            values[name] = value / 1000 if name == "power_w" and value > 10_000 else value  # some give milliwatts
        except Exception:  # noqa: BLE001, S112 - drivers raise whatever they like, and a missing reading is no fault
            continue
    return {"source": f"torch.{kind}" if values else None} | values


# --- end common: telemetry ---


# --- common: environment ---
TELLING = re.compile(
    r"(NCCL|RCCL|TORCH|PYTORCH|CUDA|NVIDIA|HIP|ROCR|HSA|GPU|MIOPEN|HABANA|HCL|PT_HPU|ZE|ONEAPI|CCL|SYCL|FI|OFI|UCX|GLOO"
    r"|OMP|MKL|KMP|OPENBLAS)_|(MASTER_(ADDR|PORT)|(LOCAL_|GROUP_)?(RANK|WORLD_SIZE)|LOCAL_WORLD_SIZE)$"
    r"|SLURM_(JOB_ID|JOB_NUM_NODES|JOB_PARTITION|NTASKS|STEP_ID|CPUS_PER_TASK|CPU_BIND)$"
)


def driver_version(torch, kind: str) -> str | None:
    if kind == "cuda" and not torch.version.hip:
        lines = command_output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").split()
        return lines[0] if lines else None
    name = {"cuda": "amdgpu", "xpu": "xe", "hpu": "habanalabs"}.get(kind)
    for module in (name, "i915" if kind == "xpu" else name):
        try:
            return f"{module} {Path(f'/sys/module/{module}/version').read_text().strip()}"
        except OSError:
            continue
    return None


def nccl_version(torch, kind: str) -> str | None:
    try:
        return ".".join(map(str, torch.cuda.nccl.version())) if kind == "cuda" else None
    except Exception:  # noqa: BLE001 - a build of torch without NCCL fails in its own way
        return None


def environment(torch, kind: str, index: int = 0) -> dict:
    """Where and with what a number was measured; goes into every report."""
    return {
        "host": socket.gethostname(),
        "device_kind": kind,
        "device": device_name(torch, kind, index),
        "device_count": device_count(torch, kind),
        "driver": driver_version(torch, kind),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "hip": torch.version.hip,
        "nccl": nccl_version(torch, kind),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "variables": {name: value for name, value in sorted(os.environ.items()) if TELLING.match(name)},
        "command": shlex.join([sys.executable, *sys.argv]),
        "time_utc": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


# --- end common: environment ---


# --- common: flags ---
FLAGS = {
    "device": {"choices": ("auto", "cuda", "xpu", "hpu", "mps", "cpu"), "default": "auto", "help": "device to use (auto)"},
    "dtype": {"default": "bf16", "help": "number format of the payload (%(default)s)"},
    "warmup": {"type": int, "default": 5, "metavar": "N", "help": "untimed iterations first (%(default)s)"},
    "iters": {"type": int, "default": 20, "metavar": "N", "help": "timed iterations (%(default)s)"},
    "min-bytes": {"type": parse_size, "default": "32K", "metavar": "SIZE", "help": "smallest payload (%(default)s)"},
    "max-bytes": {"type": parse_size, "default": "16G", "metavar": "SIZE", "help": "largest payload (%(default)s)"},
    "json": {"metavar": "FILE", "help": "write the whole report here"},
    "csv": {"metavar": "FILE", "help": "write the table here"},
    "plot": {"metavar": "FILE", "help": "draw the result: .svg, or .png with matplotlib"},
    "index": {"type": int, "metavar": "N", "help": "which device of its kind (the local rank, or 0)"},
    "timeout": {"type": float, "default": 300.0, "metavar": "S", "help": "give up after S seconds without progress (%(default)g)"},
    "seed": {"type": int, "default": 0, "help": "of the random numbers (%(default)s)"},
    "quiet": {"action": "store_true", "help": "no progress on stderr"},
}


def make_parser(doc: str, *names: str, **defaults) -> argparse.ArgumentParser:
    """A parser with the flags that the tools share; defaults by name, '-' as '_': max_bytes='64M'."""
    parser = argparse.ArgumentParser(
        prog=TOOL, description=doc.strip(), formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"{TOOL} {VERSION}")
    for name in names:
        options = FLAGS[name] | ({"default": defaults[key]} if (key := name.replace("-", "_")) in defaults else {})
        parser.add_argument(f"--{name}", **options)
    return parser


def new_report(args: argparse.Namespace, where: dict) -> dict:
    """The frame of a report. status becomes ok, failed, timed out or interrupted; problems say why not ok."""
    settings = {name: value for name, value in vars(args).items() if name not in ("json", "csv", "plot")}
    head = {"schema_version": SCHEMA_VERSION, "tool": TOOL, "tool_version": VERSION, "status": "incomplete"}
    return head | {"problems": [], "warnings": [], "settings": settings, "environment": where, "results": []}


def save_report(report: dict, args: argparse.Namespace, rows: list[dict]) -> None:
    """Write the JSON and the CSV that were asked for."""
    if args.json:
        write_atomic(args.json, json.dumps(report, indent=1, allow_nan=False, default=str) + "\n")
    if args.csv:
        write_atomic(args.csv, csv_text(rows))


def tell(args: argparse.Namespace, text: str) -> None:
    """Progress and warnings: to stderr, so that stdout stays the result."""
    if not args.quiet:
        print(text, file=sys.stderr, flush=True)


# --- end common: flags ---


# --- common: peaks ---
# What is known of devices. Dense peaks in TFLOPS (int8: TOPS), by the number format, of one torch device; rated: the clock in
# MHz that the matrix peak assumes, top: the highest clock there is. share: of the vendor's figure, where that counts a package
# of two devices. units: matrix engines, where torch does not say. None: the hardware lacks the format.
PEAKS = (
    # name as torch gives it, record in the book's data, logical unit, share, rated, top, units, peaks
    (r"GB300", "nvidia-gb300", "GPU package of two dies", 1, None, None, None,
     {"fp64": 1.3, "fp32": 80, "tf32": 1250, "bf16": 2500, "fp16": 2500, "fp8": 5000, "fp4": 15000, "int8": 165}),
    (r"GB200", "nvidia-gb200", "GPU package of two dies", 1, 2008, 2062, None,
     {"fp64": 40, "fp32": 80, "tf32": 1250, "bf16": 2500, "fp16": 2500, "fp8": 5000, "fp4": 10000, "int8": 5000}),
    (r"B300", "nvidia-b300-sxm", "GPU package of two dies", 1, None, None, None,
     {"fp64": 1.25, "fp32": 75, "tf32": 1125, "bf16": 2250, "fp16": 2250, "fp8": 4500, "fp4": 13500, "int8": 150}),
    (r"B200", "nvidia-b200-sxm", "GPU package of two dies", 1, 1856, 1965, None,
     {"fp64": 37, "fp32": 75, "tf32": 1125, "bf16": 2250, "fp16": 2250, "fp8": 4500, "fp4": 9000, "int8": 4500}),
    (r"GH200", "nvidia-gh200", "GPU", 1, 1830, 1980, None,
     {"fp64": 67, "fp32": 67, "tf32": 494.7, "bf16": 989.4, "fp16": 989.4, "fp8": 1978.9, "fp4": None, "int8": 1978.9}),
    (r"H200 NVL", "nvidia-h200-nvl", "GPU", 1, 1545, 1785, None,
     {"fp64": 60, "fp32": 60, "tf32": 417.5, "bf16": 835.5, "fp16": 835.5, "fp8": 1670.5, "fp4": None, "int8": 1670.5}),
    (r"H200", "nvidia-h200-sxm", "GPU", 1, 1830, 1980, None,
     {"fp64": 67, "fp32": 67, "tf32": 494.7, "bf16": 989.4, "fp16": 989.4, "fp8": 1978.9, "fp4": None, "int8": 1978.9}),
    (r"H100 NVL", "nvidia-h100-nvl", "GPU", 1, None, None, None,
     {"fp64": 60, "fp32": 60, "tf32": 417.5, "bf16": 835.5, "fp16": 835.5, "fp8": 1670.5, "fp4": None, "int8": 1670.5}),
    (r"H100 PCIe", "nvidia-h100-pcie", "GPU", 1, 1620, 1755, None,
     {"fp64": 51, "fp32": 51, "tf32": 378, "bf16": 756, "fp16": 756, "fp8": 1513, "fp4": None, "int8": 1513}),
    (r"H100", "nvidia-h100-sxm", "GPU", 1, 1830, 1980, None,
     {"fp64": 67, "fp32": 67, "tf32": 494.7, "bf16": 989.4, "fp16": 989.4, "fp8": 1978.9, "fp4": None, "int8": 1978.9}),
    (r"A100.*PCIe", "nvidia-a100-pcie-80", "GPU", 1, 1410, 1410, None,
     {"fp64": 19.5, "fp32": 19.5, "tf32": 156, "bf16": 312, "fp16": 312, "fp8": None, "fp4": None, "int8": 624}),
    (r"A100", "nvidia-a100-sxm-80", "GPU", 1, 1410, 1410, None,
     {"fp64": 19.5, "fp32": 19.5, "tf32": 156, "bf16": 312, "fp16": 312, "fp8": None, "fp4": None, "int8": 624}),
    (r"V100", "nvidia-v100-sxm", "GPU", 1, None, 1530, None,
     {"fp32": 15.7, "tf32": None, "bf16": None, "fp16": 125, "fp8": None, "fp4": None}),
    (r"P100", "nvidia-p100-sxm", "GPU", 1, None, None, None,
     {"fp32": 10.6, "fp16": 21.2}),
    (r"L40S", "nvidia-l40s", "GPU", 1, None, None, None,
     {"fp32": 91.6, "tf32": 183, "bf16": 362, "fp16": 362, "fp8": 733, "fp4": None, "int8": 733}),
    (r"MI250X", "amd-mi250x", "die, half of the package", 0.5, 1700, 1700, None,
     {"fp64": 47.85, "fp32": 47.85, "bf16": 191.5, "fp16": 191.5, "fp8": None, "fp4": None, "int8": 191.5}),
    (r"MI250", "amd-mi250", "die, half of the package", 0.5, 1700, 1700, None,
     {"fp32": 22.65, "bf16": 181, "fp16": 181, "fp8": None, "fp4": None, "int8": 181}),
    (r"MI300X", "amd-mi300x", "package", 1, 2100, 2100, None,
     {"fp64": 163.4, "fp32": 163.4, "tf32": 653.7, "bf16": 1307.4, "fp16": 1307.4, "fp8": 2614.9, "fp4": None, "int8": 2614.9}),
    (r"MI325X", "amd-mi325x", "package", 1, 2100, 2100, None,
     {"fp64": 163.4, "fp32": 163.4, "tf32": 653.7, "bf16": 1307.4, "fp16": 1307.4, "fp8": 2614.9, "fp4": None, "int8": 2614.9}),
    (r"MI350X", "amd-mi350x", "package", 1, 2200, 2200, None,
     {"fp64": 72.1, "fp32": 144.2, "tf32": None, "bf16": 2306.9, "fp16": 2306.9, "fp8": 4613.7, "fp4": 9227.5, "int8": 4613.7}),
    (r"MI355X", "amd-mi355x", "package", 1, 2400, 2400, None,
     {"fp64": 78.6, "fp32": 157.3, "tf32": None, "bf16": 2516.6, "fp16": 2516.6, "fp8": 5033.2, "fp4": 10066.3, "int8": 5033.2}),
    (r"MI350P", "amd-mi350p", "package", 1, 2200, 2200, None,
     {"bf16": 1153, "fp8": 2300}),
    (r"hpu.*GAUDI3", "intel-gaudi3", "package", 1, 1750, 1600, 8,
     {"fp32": 229, "tf32": 459, "bf16": 1835, "fp16": 459, "fp8": 1835, "fp4": None}),
    (r"hpu.*GAUDI2", "intel-gaudi2", "package", 1, 1650, 1650, 2,
     {"bf16": 432, "fp8": 865, "fp4": None}),
)  # fmt: skip


def find_peak(name: str):
    """The row of PEAKS for a device name, or None."""
    return next((row for row in PEAKS if re.search(row[0], name, re.IGNORECASE)), None)


def dense_peak(torch, kind: str, index: int, dtype: str) -> float | None:
    """Dense peak of a device in a number format, in TFLOPS (int8: TOPS); None where it is not known."""
    row = find_peak(f"hpu {device_name(torch, kind, index)}" if kind == "hpu" else device_name(torch, kind, index))
    kept = {"mxfp8": "fp8", "mxfp4": "fp4", "nvfp4": "fp4"}.get(dtype, dtype.split("_")[0])
    return row[7].get(kept) if row else None


# --- end common: peaks ---


# --- common: watch ---
class Watch(threading.Thread):
    """Reads the driver once a second while the device works, and tells what clock, power and heat did."""

    def __init__(self, torch, kind: str, index: int = 0, every: float = 1.0):
        super().__init__(daemon=True)
        self.read = functools.partial(device_state, torch, kind, index)
        self.every, self.over, self.states = every, threading.Event(), [self.read()]

    def run(self) -> None:
        while self.states[0]["source"] and not self.over.wait(self.every):
            self.states.append(self.read())

    def stop(self) -> dict:
        """before, after and during: the spread of every reading, and each throttle reason with its share of the time."""
        self.over.set()
        if self.ident:
            self.join(timeout=30)
        self.states.append(self.read())
        during = {}
        for name in dict.fromkeys(name for state in self.states for name in state):
            values = [state[name] for state in self.states if isinstance(state.get(name), (int, float))]
            if values and not isinstance(values[0], bool):
                during[name] = spread(values)
        reasons = [reason for state in self.states for reason in state.get("throttle", []) if reason != "idle"]
        during["throttle"] = {reason: reasons.count(reason) / len(self.states) for reason in dict.fromkeys(reasons)}
        return {"before": self.states[0], "after": self.states[-1], "during": during}


def watch_words(told: dict) -> str:
    """One line: 'clock 1980 -> 1755 MHz, power up to 698 of 700 W, 41 -> 63 C, throttled: software power cap 80 %'."""
    before, after, during = told["before"], told["after"], told["during"]
    if not before["source"]:
        return "the driver tells nothing of clock, power and temperature"
    words = []
    if "sm_clock_mhz" in during:
        clock = during["sm_clock_mhz"]
        words.append(f"clock {clock['min']:.0f} to {clock['max']:.0f} MHz, median {clock['median']:.0f}")
    if "power_w" in during:
        limit = f" of {before['power_limit_w']:.0f}" if before.get("power_limit_w") else ""
        words.append(f"power up to {during['power_w']['max']:.0f}{limit} W")
    if before.get("temperature_c") is not None and after.get("temperature_c") is not None:
        words.append(f"{before['temperature_c']:.0f} to {after['temperature_c']:.0f} C")
    shares = ", ".join(f"{reason} {share:.0%}" for reason, share in during["throttle"].items())
    return ", ".join(words) + f"; throttled: {shares or 'no'}"


# --- end common: watch ---


# --- common: timing ---
def time_calls(torch, kind: str, call, warmup: int, iters: int, between=None) -> tuple[list[float], object]:
    """Seconds of each of the iters calls, and what the last one returned.

    between() runs untimed before every call: a cache flush, say, which also keeps the queue busy while the call is launched.
    Where the device has events they take the time, elsewhere the clock of the host between two synchronizations.
    """
    module, result, seconds = device_module(torch, kind), None, []
    count = iters if kind in ("cuda", "xpu") else 0
    events = [tuple(module.Event(enable_timing=True) for _ in range(2)) for _ in range(count)]
    for turn in range(-warmup, iters):
        if between:
            between()
        if events and turn >= 0:
            events[turn][0].record()
            result = call()
            events[turn][1].record()
        elif events:
            result = call()
        else:
            synchronize(torch, kind)
            begin = time.perf_counter()
            result = call()
            synchronize(torch, kind)
            seconds += [time.perf_counter() - begin] if turn >= 0 else []
    synchronize(torch, kind)
    return [begin.elapsed_time(end) / 1e3 for begin, end in events] or seconds, result


# --- end common: timing ---


# --- common: solo ---
def local_index(torch, kind: str, wanted: int | None) -> int:
    """The device of this process: --index, or by the local rank that torchrun or srun gives."""
    if wanted is not None:
        return wanted
    local = os.environ.get("LOCAL_RANK") or os.environ.get("SLURM_LOCALID") or "0"
    return int(local) % max(1, device_count(torch, kind))


class Solo:
    """A measurement by one process: its report, its end, and its guard against a device that hangs.

    As a context it saves the report however the block ends. Under torchrun or srun each process measures its own device;
    lines and files then carry the rank.
    """

    def __init__(self, args: argparse.Namespace, torch, kind: str, index: int = 0):
        self.args, self.rows, self.device = args, [], (torch, kind, index)
        self.report = new_report(args, environment(*self.device)) | {"device_state": {"before": device_state(*self.device)}}
        where = f"{kind}:{index}" if kind != "cpu" else kind
        self.place = f"{socket.gethostname()}, {where} ({self.report['environment']['device']})"
        rank, size = (os.environ.get(a) or os.environ.get(b) for a, b in (("RANK", "SLURM_PROCID"), ("WORLD_SIZE", "SLURM_NTASKS")))
        self.rank = int(rank) if rank and size and int(size) > 1 else None
        if self.rank is not None:
            for name in ("json", "csv", "plot"):
                if path := getattr(args, name, None):
                    setattr(args, name, str(Path(path).with_suffix(f".rank{self.rank}{Path(path).suffix}")))
        self.moved, self.over = time.monotonic(), threading.Event()

    def say(self, text: str) -> None:
        """A line of the result."""
        head = "" if self.rank is None else f"[{socket.gethostname()} rank {self.rank}] "
        print("\n".join(head + line for line in text.split("\n")), flush=True)

    def tick(self) -> None:
        """There is progress: the guard starts to count anew."""
        self.moved = time.monotonic()

    def problem(self, text: str) -> None:
        self.report["problems"].append(f"{self.place}: {text}")

    def warn(self, text: str) -> None:
        if text not in self.report["warnings"]:
            self.report["warnings"].append(text)
            print(f"{TOOL}: warning: {text}", file=sys.stderr, flush=True)

    def guard(self) -> None:
        while not self.over.wait(min(1.0, self.args.timeout / 4)):
            if time.monotonic() - self.moved > self.args.timeout:
                text = f"{self.place}: no progress for {self.args.timeout:g} s; gave up"
                print(f"{TOOL}: {text}", file=sys.stderr, flush=True)
                self.save("timed out", [text])
                os._exit(TIMED_OUT)  # the main thread sits in a call that does not return

    def save(self, status: str, problems=()) -> None:
        self.report["status"] = status
        if "after" not in self.report["device_state"] and status != "timed out":  # a device that hangs may hang its driver
            self.report["device_state"]["after"] = device_state(*self.device)
        self.report["problems"] += problems
        save_report(self.report, self.args, self.rows)

    def __enter__(self):
        threading.Thread(target=self.guard, daemon=True).start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.over.set()
        if isinstance(error, KeyboardInterrupt):
            self.save("interrupted")
        elif isinstance(error, (ToolError, RuntimeError, MemoryError)):
            text = (str(error).strip() or repr(error)).splitlines()[0]
            text = text if self.place in text else f"{self.place}: {text}"
            self.save("failed", [text])
            raise ToolError(text, getattr(error, "status", FAILED)) from error
        elif error is not None:
            self.save("failed", [repr(error)])

    def finish(self) -> int:
        """Save, and the exit status: measured and right, or not. Nothing measured is not right."""
        if not self.report["results"]:
            self.problem("nothing was measured")
        for text in self.report["problems"]:
            print(f"{TOOL}: FAILED: {text}", file=sys.stderr, flush=True)
        self.save("failed" if self.report["problems"] else "ok")
        return FAILED if self.report["problems"] else OK


# --- end common: solo ---


# The search. It knows nothing of torch: measure(shape, warmup, iters) runs the product warmup + iters times and returns the
# seconds of the last iters runs, or raises DoesNotFit.
TILES = ((128, 256), (256, 128), (128, 128), (256, 256), (256, 224), (192, 192), (64, 256))  # what libraries cut the product into
WAVES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48)
FINALISTS, FINAL_ROUNDS, FINAL_ITERS = 12, 10, 3
SHARES = {"first": 0.35, "halving": 0.5, "lines": 0.85, "final": 1.0}  # of the seconds, at the end of each stage


class DoesNotFit(Exception):
    """The operands of a shape cannot be allocated; nor will those of a larger shape."""


class Refused(DoesNotFit):
    """The device has no kernel for this one shape; a larger one may be fine."""


def median(values) -> float:
    return percentile(values, 0.5)


def footprint(shape) -> int:
    m, n, k = shape
    return m * k + k * n + m * n


class Search:
    """Looks for the shape with the highest rate within a budget of products and, if seconds is given, of time.

    axes: the values that m, n and k may take. units: how many tiles the device works on at once, None if unknown.
    ceiling: FLOP/s that no timing can honestly exceed. After run(), or after whatever ended it, leaders() has the result.
    """

    def __init__(self, measure, axes, units=None, budget=10_000, seed=0, ceiling=math.inf, seconds=math.inf, tell=lambda text: None):
        self.measure, self.axes, self.units = measure, [sorted(set(axis)) for axis in axes], units
        self.budget, self.limit, self.ceiling, self.seconds, self.tell = budget, budget, ceiling, seconds, tell
        self.random, self.started, self.until = random.Random(seed), time.monotonic(), math.inf
        self.products, self.glitches, self.doubted = 0, 0, False
        self.rates: dict[tuple, list[float]] = {}  # every good timing of a shape, in the order in which they came
        self.latest: dict[tuple, float] = {}  # median of the last visit
        self.refused: dict[tuple, str] = {}
        self.least_refused = math.inf  # elements: what needs as much or more is not tried again
        self.impossible: dict[tuple, float] = {}  # shapes whose timings are above the ceiling time after time
        self.finals: dict[tuple, list[float]] = {}

    def stage(self, name: str) -> None:
        self.until = self.started + self.seconds * SHARES[name]
        self.tell(f"{name}: {self.products} products, {self.best_words()}")

    def best_words(self) -> str:
        leaders = self.leaders(1)
        return "nothing yet" if not leaders else "best {:.4g} TFLOPS at {}x{}x{}".format(leaders[0][1] / 1e12, *leaders[0][0])

    def visit(self, shape, iters: int) -> float | None:
        """Time a shape once more: the median rate of this visit, None where there is none to be had."""
        if shape in self.refused or shape in self.impossible or footprint(shape) >= self.least_refused:
            return None
        for _ in range(2):
            if self.products + iters + 1 > self.limit or time.monotonic() > self.until:
                return None
            self.products += iters + 1
            try:
                seconds = self.measure(shape, 1, iters)
            except DoesNotFit as error:
                self.refused[shape] = str(error)
                if not isinstance(error, Refused):
                    self.least_refused = min(self.least_refused, footprint(shape))
                return None
            rates = [2.0 * math.prod(shape) / s if s > 0 else math.inf for s in seconds]
            good = [rate for rate in rates if rate <= self.ceiling]
            self.glitches += len(rates) - len(good)
            if 2 * len(good) > len(rates):
                self.rates.setdefault(shape, []).extend(good)
                self.latest[shape] = median(good)
                return self.latest[shape]
        self.impossible[shape] = median(rates)  # most timings of two visits
        return None

    def rank(self, shapes, iters: int) -> list[tuple]:
        """The shapes that could be timed, best first; in random order, so that no drift favours one end of the list."""
        order = list(dict.fromkeys(shapes))
        self.random.shuffle(order)
        timed = [(rate, shape) for shape in order if (rate := self.visit(shape, iters))]
        return [shape for _, shape in sorted(timed, reverse=True)]

    def ladder(self, axis: int, count: int) -> list[int]:
        """About count values of an axis, in equal ratios."""
        values = self.axes[axis]
        low, high = values[0], values[-1]
        marks = [low * (high / low) ** (i / max(1, count - 1)) for i in range(count)]
        return sorted({values[min(len(values) - 1, bisect.bisect_left(values, mark))] for mark in marks})

    def wave_shapes(self, each: int) -> list[tuple]:
        """Shapes whose tiles, of any likely size, fill whole waves on the device, or nearly: the fullest of each kind."""
        allowed, found = [set(axis) for axis in self.axes], []
        depths = [k for k in self.ladder(2, 9) if k >= 1024] or self.ladder(2, 9)
        for (tall, wide), waves in itertools.product(TILES, WAVES):
            total = waves * self.units
            grids = [(rows, total // rows) for rows in range(1, total + 1) if total // rows * rows >= 0.97 * total]
            grids = [(r, c) for r, c in grids if r * tall in allowed[0] and c * wide in allowed[1]]
            self.random.shuffle(grids)
            grids.sort(key=math.prod, reverse=True)
            for rows, columns in grids[:each]:
                found += [(rows * tall, columns * wide, k) for k in self.random.sample(depths, min(2, len(depths)))]
        self.random.shuffle(found)
        return found

    def any_shapes(self, count: int) -> list[tuple]:
        ladders = [self.ladder(axis, 14) for axis in range(3)]
        return [tuple(self.random.choice(values) for values in ladders) for _ in range(count)]

    def line(self, shape, axis: int, reach: int | None, most: int = 80) -> list[tuple]:
        """Shapes that differ in one axis: all of its values, or those within reach steps."""
        values = self.axes[axis]
        if reach:
            at = values.index(shape[axis])
            values = values[max(0, at - reach) : at + reach + 1]
        return [(*shape[:axis], value, *shape[axis + 1 :]) for value in values[:: math.ceil(len(values) / most)]]

    def same_area(self, shape, most: int = 80) -> list[tuple]:
        """Shapes of nearly the same m times n, so of as many waves: other sides may tile better."""
        (heights, widths, _), (m, n, k) = self.axes, shape
        found = []
        for height in heights[:: math.ceil(len(heights) / most)]:
            if widths[0] <= m * n / height <= widths[-1]:
                found.append((height, widths[bisect.bisect_right(widths, m * n / height) - 1], k))
        return found

    def climb(self, shape, *moves) -> tuple:
        """Move to the best of each family of neighbours in turn. A move: (axis, reach), or None for same_area."""
        for move in moves:
            ranked = self.rank(self.line(shape, *move) if move else self.same_area(shape), 2)
            ranked = self.rank([shape, *ranked[:6]], 7)
            shape = ranked[0] if ranked else shape
        return shape

    def starts(self, ranked, count: int) -> list[tuple]:
        """The best shape of all and the best of each band of work: small products reach their best rate by narrow fits, which
        a first look at random misses, large ones by broad."""
        good = [shape for shape, rate in self.latest.items() if rate > 0.6 * self.latest[ranked[0]]]
        low, high = (bound(math.log(math.prod(shape)) for shape in good) for bound in (min, max))
        bands: dict[int, tuple] = {}
        for shape in good:
            band = int((math.log(math.prod(shape)) - low) / (high - low + 1e-9) * (count - 1))
            if band not in bands or self.latest[shape] > self.latest[bands[band]]:
                bands[band] = shape
        return list(dict.fromkeys([ranked[0], *sorted(bands.values(), key=self.latest.get, reverse=True)]))

    def halve(self, shapes) -> list[tuple]:
        """Successive halving: fewer shapes, more timings each."""
        ranked = self.rank(shapes, 2)
        self.stage("halving")
        for part, iters in ((4, 5), (4, 9)):
            ranked = self.rank(ranked[: max(24, len(ranked) // part)], iters) or ranked
        return ranked

    def explore(self, shapes, starts: int, again: int) -> tuple[list[tuple], float]:
        """The shapes at the ends of the line searches, and by what factor the lines were better than the best of shapes."""
        ranked = self.halve(shapes)
        if not ranked:
            return [], 1.0
        first = self.latest[ranked[0]]
        self.stage("lines")
        tops = [self.climb(shape, (1, None), (0, None), (2, None), (1, 8), (0, 8)) for shape in self.starts(ranked, starts)]
        tops = self.rank(tops, 12) or tops
        gain = self.latest[tops[0]] / first
        return [self.climb(shape, None, (2, None), (1, 8), (0, 8), (2, 8)) for shape in tops[:again]] + tops + ranked[:2], gain

    def heat(self, count: int) -> None:
        """Run a product of middling size count times, untimed: clocks and temperature leave their idle state."""
        shape = tuple(axis[len(axis) // 2] for axis in self.axes)
        if count > 0:
            self.products += count
            try:
                self.measure(shape, count - 1, 1)
            except DoesNotFit as error:
                self.refused[shape] = str(error)

    def run(self) -> tuple | None:
        """The best shape."""
        final = FINALISTS * FINAL_ROUNDS * (FINAL_ITERS + 1)
        self.limit = max(self.budget - final, self.budget // 2)
        self.stage("first")
        tops, gain = [], 1.0
        if math.prod(len(axis) for axis in self.axes) <= 300:
            tops = self.halve(itertools.product(*self.axes))
        elif self.units:
            tops, gain = self.explore(self.wave_shapes(3)[:420] + self.any_shapes(120), 5, 3)
        self.doubted = gain > 1.025  # with the right count, whole waves are the best there is
        if self.doubted:
            self.tell(f"the device does not act as if it had {self.units} units; searching on without that")
            self.limit, self.budget = self.limit + self.budget, 2 * self.budget
        if not tops or self.doubted:
            tops += self.explore(self.any_shapes(400), 10, 5)[0]
        self.limit = self.budget
        self.stage("final")
        self.decide([*tops, *sorted(self.latest, key=self.latest.get, reverse=True)])
        leaders = self.leaders(1)
        return leaders[0][0] if leaders else None

    def decide(self, shapes) -> None:
        """The finalists take turns, so that heat and clocks treat them alike; only these timings count."""
        shapes = [shape for shape in dict.fromkeys(shapes) if shape in self.latest][:FINALISTS]
        for turn in range(FINAL_ROUNDS):
            self.random.shuffle(shapes)
            last = self.until
            self.until = math.inf if turn == 0 else last  # even a device far too slow gets one turn
            for shape in shapes:
                before = len(self.rates[shape])
                if self.visit(shape, FINAL_ITERS):
                    self.finals.setdefault(shape, []).extend(self.rates[shape][before:])
            self.until = last

    def every(self, iters: int) -> tuple | None:
        """Brute force: each shape of the grid, once."""
        self.limit = math.inf
        ranked = self.rank(itertools.product(*self.axes), iters)
        return ranked[0] if ranked else None

    def leaders(self, count: int) -> list[tuple[tuple, float, list[float]]]:
        """Shape, median rate and rates of the best: by the final, or by what there was when the search was ended."""
        most = max((len(rates) for rates in self.rates.values()), default=0)
        found = self.finals or {shape: rates for shape, rates in self.rates.items() if len(rates) >= min(most, 7)}
        ranked = [(shape, median(rates), rates) for shape, rates in found.items() if shape not in self.impossible]
        return sorted(ranked, key=lambda row: row[1], reverse=True)[:count]


# What torch 2.13 multiplies on which device, read from its dispatch tables and its own conditions for tests.
SUPPORT = {
    "fp64": ("yes", "yes", "where the hardware has it", "no: Gaudi has no fp64", "no: Metal has no fp64", "yes"),
    "fp32": ("yes", "yes", "yes", "yes", "yes", "yes"),
    "tf32": ("sm_80 and newer", "gfx942; gfx950 dropped it", "where the hardware has it", "no: not offered through torch",
             "no: the hardware has none", "no: it would be fp32 except with AMX-TF32"),
    "bf16": ("sm_80 and newer; emulated before", "yes", "yes", "yes", "macOS 14 and newer", "yes; slow without AVX512-BF16 or AMX"),
    "fp16": ("yes", "yes", "yes", "yes", "yes", "yes; slow without AVX512-FP16 or AMX-FP16"),
    "fp8_e4m3": ("torch._scaled_mm, sm_89 and newer", "torch._scaled_mm, gfx942 (fnuz), gfx950, gfx12", "torch._scaled_mm",
                 "torch.ops.hpu.fp8_gemm_v2", "no: no _scaled_mm for mps", "torch._scaled_mm"),
    "fp8_e5m2": ("times e4m3: e5m2 twice is refused", "times e4m3", "times e4m3", "torch.ops.hpu.fp8_gemm_v2, times e4m3",
                 "no: no _scaled_mm for mps", "torch._scaled_mm, times e4m3"),
    "int8": ("torch._int_mm", "torch._int_mm", "torch._int_mm", "no: no _int_mm for hpu", "no: no _int_mm for mps", "torch._int_mm"),
    "mxfp8": ("torch._scaled_mm, sm_100 and newer", "torch._scaled_mm, gfx950 with ROCm 7", "no: block scales not taken",
              "no: the hardware has none", "no: no _scaled_mm for mps", "no: only one scale a tensor"),
    "mxfp4": ("no: torch takes nvfp4 there", "torch._scaled_mm, gfx950 with ROCm 7", "no: block scales not taken",
              "no: the hardware has none", "no: no _scaled_mm for mps", "no: only one scale a tensor"),
    "nvfp4": ("torch._scaled_mm, sm_100 and newer", "no: NVIDIA's own", "no: block scales not taken", "no: the hardware has none",
              "no: no _scaled_mm for mps", "no: only one scale a tensor"),
    "fp6": ("no: torch has no such type",) * 6,
}  # fmt: skip
PLATFORMS = ("cuda (NVIDIA)", "cuda (AMD)", "xpu", "hpu", "mps", "cpu")
FORMATS = [name for name in SUPPORT if name != "fp6"]
PLAIN = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}
# How far a checked row sum may lie from the truth, in units of the row's norm: some ten times the rounding of the output
TOLERANCE = {"fp64": 1e-9, "fp32": 3e-4, "tf32": 0.01, "bf16": 0.03, "fp16": 0.01, "int8": 3e-4}
FP4_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)


class Pool:
    """Random numbers of one format on the device, of which every operand is a window: allocated once, grown when needed."""

    def __init__(self, torch, device, dtype: str, seed: int):
        self.torch, self.device, self.dtype = torch, device, dtype
        self.random, self.data = torch.Generator().manual_seed(seed), None
        names = {"fp8_e4m3": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2", "mxfp8": "float8_e4m3fn"}
        name = names.get(dtype, "")
        if name and torch.version.hip and "gfx94" in torch.cuda.get_device_properties(device).gcnArchName:
            name = name.removesuffix("fn") + "fnuz"  # the older AMD parts have fp8 types of their own
        self.type = getattr(torch, name or PLAIN.get(dtype, "int8"))

    def fresh(self, count: int):
        torch = self.torch
        if self.dtype in ("nvfp4", "mxfp4", "int8"):
            low, high, kind = (0, 256, torch.uint8) if self.dtype != "int8" else (-128, 128, torch.int8)
            return torch.randint(low, high, (count,), dtype=kind, generator=self.random).to(self.device)
        values = torch.randn(count, generator=self.random).to(self.device)
        return values.to(self.type)

    def window(self, rows: int, columns: int):
        """A matrix of rows x columns numbers; two fp4 numbers share a byte."""
        count = rows * columns // (2 if self.dtype in ("nvfp4", "mxfp4") else 1)
        if self.data is None or self.data.numel() < count:
            self.data = None  # freed before the larger one comes
            seed = self.fresh(min(count, 1 << 22))
            as_bytes = seed.view(self.torch.uint8) if seed.itemsize == 1 else seed  # not every kernel knows fp8
            times = math.ceil(count / seed.numel())
            self.data = (as_bytes.repeat(times)[:count].clone() if times > 1 else as_bytes).view(seed.dtype)
        return self.data[:count].view(rows, -1)


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class Products:
    """The device's side: makes operands, times products, checks them. measure() is what Search calls."""

    def __init__(self, torch, kind: str, index: int, dtype: str, seed: int, flush: int, inject: str = "", tick=lambda: None):
        self.torch, self.kind, self.dtype, self.inject, self.tick = torch, kind, dtype, inject, tick
        self.device = use_device(torch, kind, index)
        self.a, self.b = Pool(torch, self.device, dtype, seed), Pool(torch, self.device, dtype.replace("e5m2", "e4m3"), seed + 1)
        self.flush = torch.empty(flush, dtype=torch.int8, device=self.device) if flush else None
        self.one = torch.ones((), dtype=torch.float32, device=self.device)
        self.checked: set[tuple] = set()
        if dtype in ("fp32", "tf32"):
            self.set_fp32("ieee" if dtype == "fp32" else "tf32")

    def set_fp32(self, precision: str) -> None:
        if hasattr(self.torch.backends, "fp32_precision"):  # since 2.9
            self.torch.backends.fp32_precision = precision
            self.torch.backends.cuda.matmul.fp32_precision = precision
        else:
            self.torch.set_float32_matmul_precision("highest" if precision == "ieee" else "high")

    def operands(self, shape):
        """A as m x k; B as k x n, its columns contiguous where the low-precision kernels ask for that."""
        m, n, k = shape
        if self.dtype in PLAIN:
            return self.a.window(m, k), self.b.window(k, n)
        return self.a.window(m, k), self.b.window(n, k).t()

    def call(self, shape, a, b):
        """A function without arguments that computes the product once."""
        torch, dtype = self.torch, self.dtype
        m, n, k = shape
        if dtype in PLAIN:
            out = torch.empty(m, n, dtype=a.dtype, device=self.device)
            return lambda: torch.mm(a, b, out=out)
        if dtype == "int8":
            return lambda: torch._int_mm(a, b)
        if self.kind == "hpu":
            gemm, bf16 = torch.ops.hpu.fp8_gemm_v2, torch.bfloat16
            return lambda: gemm(a, False, b, False, None, bf16, self.one, self.one, None, False)
        scale_a = scale_b = self.one
        if dtype in ("mxfp8", "mxfp4", "nvfp4"):  # a scale for every 32 or 16 numbers, in tiles of 128 x 4; all are one
            kind, block = (torch.float8_e4m3fn, 16) if dtype == "nvfp4" else (torch.float8_e8m0fnu, 32)
            across = math.ceil(math.ceil(k / block) / 4) * 4
            scale_a, scale_b = (
                torch.ones(math.ceil(side / 128) * 128 * across, device=self.device).to(kind) for side in (m, n)
            )
        if dtype in ("mxfp4", "nvfp4"):
            a, b = (x.view(torch.float4_e2m1fn_x2) for x in (a, b.t()))
            b = b.t()
        return lambda: torch._scaled_mm(a, b, scale_a=scale_a, scale_b=scale_b, out_dtype=torch.bfloat16)

    def measure(self, shape, warmup: int, iters: int) -> list[float]:
        """Seconds of each of the iters products. Raises DoesNotFit, and ToolError for a wrong product."""
        self.tick()
        memory = (MemoryError, self.torch.OutOfMemoryError) if hasattr(self.torch, "OutOfMemoryError") else MemoryError
        try:
            a, b = self.operands(shape)
            product = self.call(shape, a, b)
            seconds, out = self.timed(product, warmup, iters)
            if shape not in self.checked:
                self.check(shape, a, b, out)
                self.checked.add(shape)
            return seconds
        except memory as error:
            self.release()
            raise DoesNotFit(f"out of memory: {first_line(error)}") from None
        except (RuntimeError, ValueError) as error:
            text = first_line(error).lower()
            if any(word in text for word in ("out of memory", "not enough memory", "allocator", "alloc_failed")):
                self.release()
                raise DoesNotFit(first_line(error)) from None
            if any(word in text for word in ("divisible", "multiple of", "not_supported", "greater than 16", "aligned")):
                raise Refused(first_line(error)) from None
            raise

    def release(self) -> None:
        self.a.data = self.b.data = None
        module = device_module(self.torch, self.kind)
        if hasattr(module, "empty_cache"):
            module.empty_cache()

    def timed(self, product, warmup: int, iters: int):
        """Seconds of each run of the product, the cache flushed before each, and the last result."""
        return time_calls(self.torch, self.kind, product, warmup, iters, self.flush.zero_ if self.flush is not None else None)

    def real(self, matrix, tall: bool):
        """Numbers as fp32 (fp64 for fp64). fp4 is unpacked, the low half of each byte first."""
        torch = self.torch
        if self.dtype in ("nvfp4", "mxfp4"):
            table = torch.tensor(FP4_VALUES, device=self.device)
            packed = matrix if tall else matrix.t()
            pairs = torch.stack((table[(packed & 15).long()], table[(packed >> 4).long()]), -1).flatten(1)
            return pairs if tall else pairs.t()
        return matrix if self.dtype == "fp64" else matrix.float()

    def check(self, shape, a, b, out) -> None:
        """Multiply the product and its factors by the same random signs: a wrong element shows in its row's sum."""
        torch = self.torch
        if self.inject and len(self.checked) > 2:
            out = self.damaged(out)
        m, n, k = shape
        wide = torch.float64 if self.dtype == "fp64" else torch.float32
        signs = (torch.randint(0, 2, (n,), generator=self.a.random) * 2 - 1).to(self.device, wide)
        step = max(1, (1 << 26) // max(k, n))  # rows at a time: converted copies stay at 256 MiB
        if self.dtype in PLAIN:
            right = torch.cat([self.real(b[i : i + step], False) @ signs for i in range(0, k, step)])
        else:  # b lies with its columns contiguous
            right = sum(self.real(b[:, i : i + step], False) @ signs[i : i + step] for i in range(0, n, step))
        size = sum(float(self.real(b[:, i : i + step], False).pow(2).sum()) for i in range(0, n, step)) / (n * k)
        worst, zero = 0.0, True
        for i in range(0, m, step):
            rows, some = self.real(a[i : i + step], True), out[i : i + step].to(wide)
            norm = rows.pow(2).sum(1).mul(n * size).sqrt().clamp_min(1e-30)
            off = ((some @ signs - rows @ right).abs() / norm).max()
            worst = max(worst, float(off)) if float(off) == float(off) else math.inf
            zero = zero and not bool(some.any())
        if zero or not worst <= TOLERANCE.get(self.dtype, 0.05):
            what = "all zero" if zero else f"off by {worst:.2g} of a row's norm where {TOLERANCE.get(self.dtype, 0.05):g} is allowed"
            raise ToolError(f"the product {m}x{n}x{k} in {self.dtype} is wrong: {what}")

    def damaged(self, out):
        """A fault to rehearse: what --inject asks for."""
        out = out.clone()
        if self.inject == "zero":
            return out.zero_()
        where = (out.shape[0] // 3, out.shape[1] // 2)
        out[where] = float("nan") if self.inject == "nan" else -4 * out.abs().max() - 1
        return out


def probe(torch, kind: str, index: int, dtype: str, seed: int = 0) -> str:
    """'yes' if a small product of the format comes out right on this device, else what torch says."""
    if dtype == "tf32" and kind in ("hpu", "mps", "cpu"):
        return "no: torch would compute fp32 instead and not say so"
    try:
        products = Products(torch, kind, index, dtype, seed, 0)
        if products.measure((256, 256, 256), 0, 1):
            return "yes"
    except (DoesNotFit, ToolError, RuntimeError, ValueError, NotImplementedError, AttributeError, TypeError) as error:
        return "no: " + first_line(error)[:90]
    return "no"


def list_dtypes(torch, kind: str, index: int) -> int:
    """Print what torch supports where, and what this device says."""
    name = device_name(torch, kind, index)
    platform_name = {"cuda": PLATFORMS[1] if torch.version.hip else PLATFORMS[0]}.get(kind, kind)
    print(f"# What torch 2.13 multiplies, by kind of device; tried here: torch {torch.__version__} on {name}")
    for dtype, cells in SUPPORT.items():
        here = probe(torch, kind, index, dtype) if dtype in FORMATS else "no: torch has no such type"
        print(f"{dtype}")
        for place, cell in zip(PLATFORMS, cells, strict=True):
            print(f"  {place:<14} {cell}" + (f"   [here: {here}]" if place == platform_name else ""))
    return OK


def axis_values(words: list[str] | None, default: str) -> list[int]:
    """Values of '4096', '8192' or '1024:8192:1024', both ends included."""
    values: list[int] = []
    for word in words or [default]:
        parts = word.split(":")
        if len(parts) not in (1, 3) or not all(p.isdigit() and int(p) > 0 for p in parts):
            raise ToolError(f"{word!r} is no size: write 4096 or FIRST:LAST:STEP", USAGE)
        numbers = [int(p) for p in parts]
        values += numbers if len(numbers) == 1 else range(numbers[0], numbers[1] + 1, numbers[2])
    if not values:
        raise ToolError(f"{' '.join(words)} contains no size", USAGE)
    return values


def count_units(torch, kind: str, index: int, row) -> int | None:
    """Tiles that the device works on at once: SMs, CUs, Xe cores or matrix engines."""
    if row and row[6]:
        return row[6]
    if kind == "cuda":
        return torch.cuda.get_device_properties(index).multi_processor_count
    return getattr(torch.xpu.get_device_properties(index), "gpu_subslice_count", None) if kind == "xpu" else None


def parse(argv=None) -> argparse.Namespace:
    parser = make_parser(
        __doc__, "device", "index", "dtype", "iters", "json", "csv", "plot", "timeout", "seed", "quiet", iters=10
    )
    for axis in "mnk":
        parser.add_argument(f"--{axis}", nargs="+", metavar="SIZE", help=f"values or ranges of {axis} (256:20480:128; CPU: 128:1024:64)")
    parser.add_argument("--warmup", type=int, metavar="N", help="untimed products first, which heat the device (50; 3 on a CPU)")
    parser.add_argument("--products", type=int, metavar="N", help="most products to run (10000; 20000 if the units are unknown)")
    parser.add_argument("--seconds", type=float, metavar="S", help="most time to search (100; 20 on a CPU)")
    parser.add_argument("--units", type=int, metavar="N", help="SMs, CUs or engines of the device (asked of the driver)")
    parser.add_argument("--peak", type=float, metavar="TFLOPS", help="dense peak of the device in this format (from a table)")
    parser.add_argument("--flush", type=parse_size, metavar="SIZE", help="bytes written between products (256M; 32M on a CPU; 0: none)")
    parser.add_argument("--every", action="store_true", help="measure every shape of the ranges, --iters times")
    parser.add_argument("--list-dtypes", action="store_true", help="what can be multiplied where, tried on this device")
    parser.add_argument("--inject", choices=("wrong", "zero", "nan"), default="", help="damage a product, to see the check work")
    args = parser.parse_args(argv)
    if args.dtype not in FORMATS:
        raise ToolError(f"no format {args.dtype!r}; there are {', '.join(FORMATS)}", USAGE)
    return args


def rows_of(search: Search, unit: str) -> list[dict]:
    """All shapes for the CSV, best first; those of the final with its timings only."""
    rows = []
    for shape, rates in search.rates.items():
        rates = search.finals.get(shape, rates)
        told = {f"{unit}_{name}": value if name == "count" else value / 1e12 for name, value in spread(rates).items()}
        row = dict(zip("mnk", shape, strict=True)) | {"stage": "final" if shape in search.finals else "search"} | told
        rows.append(row | {"time_us_median": 2e6 * math.prod(shape) / median(rates)})
    return sorted(rows, key=lambda row: (row["stage"] != "final", -row[f"{unit}_median"]))


def report_search(solo: Solo, search: Search, peak: float | None, unit: str) -> None:
    """Put what was found into the report and print the leaders."""
    solo.rows = rows_of(search, unit)
    search_facts = {"products": search.products, "seconds": time.monotonic() - search.started, "glitches": search.glitches}
    if search.doubted:
        solo.warn(f"the device does not act as if it had {search.units} units")
    search_facts |= {"shapes": len(search.rates), "refused": {"x".join(map(str, s)): why for s, why in search.refused.items()}}
    solo.report["search"] = search_facts | {"units": search.units, "ceiling_tflops": search.ceiling / 1e12 if peak else None}
    solo.report["peak"] = {unit: peak}
    solo.report["results"] = solo.rows[: max(FINALISTS, 20)]
    for shape, rate in list(search.impossible.items())[:5]:
        text = f"{'x'.join(map(str, shape))} seems to reach {rate / 1e12:.4g} {unit.upper()}, above what the device can do"
        solo.problem(f"{text} ({search.ceiling / 1e12:.4g}); the timer or --peak is wrong")
    if not solo.rows:
        return
    solo.say(f"{'m':>6} {'n':>6} {'k':>6} {unit.upper():>9} {'p5':>9} {'p95':>9} {'of peak':>8} {'time us':>10}")
    for row in solo.rows[:10]:
        share = f"{row[f'{unit}_median'] / peak:8.1%}" if peak else f"{'?':>8}"
        cells = " ".join(f"{row[f'{unit}_{cut}']:>9.5g}" for cut in ("median", "p5", "p95"))
        solo.say(f"{row['m']:>6} {row['n']:>6} {row['k']:>6} {cells} {share} {row['time_us_median']:>10.1f}")
    best = solo.rows[0]
    solo.report["best"] = best
    of = f", {best[f'{unit}_median'] / peak:.1%} of {peak:g}" if peak else ", peak unknown: give it with --peak"
    solo.say(f"best: {best[f'{unit}_median']:.5g} {unit.upper()} at {best['m']}x{best['n']}x{best['k']}{of}")
    solo.say(f"{search.products} products, {len(search.rates)} shapes, {search_facts['seconds']:.0f} s, "
             f"{search.glitches} glitches, {len(search.refused)} shapes refused")  # fmt: skip


def settle_peak(args, solo: Solo, torch, kind: str, index: int, row) -> tuple[float | None, float]:
    """The dense peak in TFLOPS, if known, and the rate in FLOP/s above which a timing is a glitch."""
    if args.peak:
        return args.peak, args.peak * 1e12 * 1.1
    if not row:
        return None, math.inf
    peak = dense_peak(torch, kind, index, args.dtype)
    if peak is None:
        solo.warn(f"no published peak of {row[1]} in {args.dtype}")
        return None, math.inf
    boost = row[5] / row[4] if row[4] and row[5] else 1.1  # a vendor may rate the peak below the highest clock
    solo.report["peak_row"] = {"record": row[1], "logical_unit": row[2], "share": row[3]}
    return peak, peak * 1e12 * max(1.0, boost) * 1.03


def main(argv=None) -> int:
    args = parse(argv)
    torch = need("torch", "python3 -m pip install torch")
    kind = pick_device(torch, args.device)
    index = local_index(torch, kind, args.index)
    use_device(torch, kind, index)
    if args.list_dtypes:
        return list_dtypes(torch, kind, index)
    slow, name = kind == "cpu", device_name(torch, kind, index)
    row = find_peak(name if kind != "hpu" else f"hpu {name}")
    axes = [axis_values(getattr(args, axis), "128:1024:64" if slow else "256:20480:128") for axis in "mnk"]
    units = args.units or count_units(torch, kind, index, row)
    unit = "tops" if args.dtype == "int8" else "tflops"
    with Solo(args, torch, kind, index) as solo:
        peak, ceiling = settle_peak(args, solo, torch, kind, index, row)
        answer = probe(torch, kind, index, args.dtype, args.seed)
        if answer != "yes":
            raise ToolError(f"{solo.place} does not multiply {args.dtype}: {answer}; see --list-dtypes", USAGE)
        flush = args.flush if args.flush is not None else (32 << 20 if slow else 256 << 20)
        products = Products(torch, kind, index, args.dtype, args.seed, flush, args.inject, solo.tick)
        solo.say(f"# {name}, {args.dtype}, torch {torch.__version__}, {units or 'unknown'} units, peak {peak or 'unknown'}")
        budget = args.products or (10_000 if units else 20_000)
        seconds = args.seconds or (20.0 if slow else 100.0)
        search = Search(products.measure, axes, units, budget, args.seed, ceiling, seconds, functools.partial(tell, args))
        watch = Watch(torch, kind, index)
        watch.start()
        try:
            search.heat(args.warmup if args.warmup is not None else 3 if slow else 50)
            search.every(args.iters) if args.every else search.run()
        finally:
            solo.report["device_state"] = watch.stop()
            report_search(solo, search, peak, unit)
        solo.say(watch_words(solo.report["device_state"]))
        if args.plot:
            draw(args.plot, search, name, peak, args.dtype, unit)
        return solo.finish()


def draw(path: str, search: Search, name: str, peak: float | None, dtype: str, unit: str) -> None:
    """Rate against the work of a product, one point a shape."""
    points = sorted((2.0 * math.prod(shape) / 1e9, median(rates) / 1e12) for shape, rates in search.rates.items())
    levels = [("peak", peak)] if peak else []
    write_plot(path, f"{name}, {dtype}", "GFLOP of the product", unit.upper(), [("shapes", points)], levels, True, "{:.3g}".format, True)


if __name__ == "__main__":
    sys.exit(run_tool(main))

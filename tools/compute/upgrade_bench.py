#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.4"]
# ///
"""What does a newer GPU buy me?

Trains a transformer for a few steps at each of several sequence lengths and reports tokens/s, MFU, memory and, with a price,
dollars per million tokens. Run it on both devices with the same flags, then let the second run compare.

  one process, the first device:   python3 upgrade_bench.py --price 2.50 --json old.json
  the newer device, compared:      python3 upgrade_bench.py --price 5.00 --compare old.json
  the shapes of Llama 3.1 8B:      python3 upgrade_bench.py --hidden 4096 --layers 4 --heads 32 --kv-heads 8 --ffn 14336
  long sequences:                  python3 upgrade_bench.py --seq 8192 32768 131072 --recompute
  all GPUs of a node at once:      torchrun --nproc-per-node 8 upgrade_bench.py --json node.json
  two nodes, the same on each:     torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d \\
                                       --rdzv-endpoint FIRST_HOST:29400 upgrade_bench.py --json node.json
  SLURM:                           srun --nodes 2 --ntasks-per-node 8 --gpus-per-node 8 python3 upgrade_bench.py

What the numbers mean
  step      forward, backward and AdamW on one batch, in ms: median, with p5 and p95
  tokens/s  batch x sequence / median step, of one device; processes do not talk to each other
  TFLOPS    model FLOPs / step: 6 x matmul parameters a token, and 6 x sequence x heads x head size a layer and token for
            causal attention. What --recompute computes twice is not counted
  MFU       TFLOPS / dense peak of the device in the format of the weights
  memory    the most that torch had allocated, GiB
  $/M       price an hour / tokens an hour x a million: one device, so the price is that of one
A newer device pays per token if its ratio of tokens/s is above the ratio of the prices. Fewer layers of the same width cost the
same a layer: raise --layers only until memory is full. Exit status: 0 measured and right, 1 a check failed (the loss is
not that of a model that learns), 2 wrong usage or something missing, 3 timed out, 130 interrupted.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import functools
import importlib
import io
import json
import math
import os
import platform
import re
import resource
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

TOOL, VERSION = "upgrade_bench.py", "1.0"


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


TYPES = {"fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}


@dataclass(frozen=True)
class Shape:
    """A decoder: grouped-query attention, gated MLP, an output head of its own."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int

    @property
    def head_size(self) -> int:
        return self.hidden // self.heads

    def layer_parameters(self) -> int:
        """Weights of a layer's matrices: Q and output, K and V, three of the MLP."""
        kv = self.kv_heads * self.head_size
        return 2 * self.hidden * self.hidden + 2 * self.hidden * kv + 3 * self.hidden * self.ffn

    def matmul_parameters(self) -> int:
        """Weights that multiply every token; the embedding only looks up."""
        return self.layers * self.layer_parameters() + self.hidden * self.vocab

    def step_flops(self, batch: int, seq: int) -> tuple[int, int]:
        """FLOPs of forward and backward: of the matrices, and of causal attention, which does half of seq x seq.

        Forward 2 a weight and token; scores and weighted sum 2 * 2 * seq / 2 * heads * head size a token. Backward is twice
        the forward.
        """
        tokens = batch * seq
        attention = 3 * 2 * 2 * seq * self.heads * self.head_size * self.layers * tokens // 2
        return 6 * self.matmul_parameters() * tokens, attention


def build_model(torch, shape: Shape, recompute: bool):
    """The decoder as a torch module: tokens in, mean cross-entropy of the next token out."""
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    functional = nn.functional

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(shape.hidden))

        def forward(self, x):
            scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
            return (x.float() * scale).to(x.dtype) * self.weight

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            kv = shape.kv_heads * shape.head_size
            self.norm1, self.norm2 = Norm(), Norm()
            self.qkv = nn.Linear(shape.hidden, shape.hidden + 2 * kv, bias=False)
            self.out = nn.Linear(shape.hidden, shape.hidden, bias=False)
            self.up = nn.Linear(shape.hidden, 2 * shape.ffn, bias=False)
            self.down = nn.Linear(shape.ffn, shape.hidden, bias=False)

        def attend(self, x, turn):
            batch, seq, _ = x.shape
            heads = self.qkv(x).view(batch, seq, -1, shape.head_size).transpose(1, 2)
            q, k, v = heads.split((shape.heads, shape.kv_heads, shape.kv_heads), 1)
            q, k = rotate(q, *turn), rotate(k, *turn)
            k, v = (t.repeat_interleave(shape.heads // shape.kv_heads, 1) for t in (k, v))
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(mixed.transpose(1, 2).reshape(batch, seq, shape.hidden))

        def forward(self, x, turn):
            x = x + self.attend(self.norm1(x), turn)
            gate, value = self.up(self.norm2(x)).chunk(2, -1)
            return x + self.down(functional.silu(gate) * value)

    def rotate(x, cosine, sine):
        left, right = x.chunk(2, -1)
        return torch.cat((left * cosine - right * sine, right * cosine + left * sine), -1)

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(shape.vocab, shape.hidden)
            self.blocks = nn.ModuleList(Layer() for _ in range(shape.layers))
            self.norm, self.head = Norm(), nn.Linear(shape.hidden, shape.vocab, bias=False)
            for weight in self.parameters():
                if weight.dim() > 1:
                    nn.init.normal_(weight, std=0.02)

        def part_loss(self, x, targets):
            return functional.cross_entropy(self.head(x).float(), targets, reduction="sum")

        def forward(self, tokens):
            x, seq = self.embed(tokens[:, :-1]), tokens.shape[1] - 1
            half = torch.arange(shape.head_size // 2, device=x.device) * (-2 * math.log(10000.0) / shape.head_size)
            angle = torch.arange(seq, device=x.device)[:, None] * half.exp()
            turn = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
            for block in self.blocks:
                x = checkpoint(block, x, turn, use_reentrant=False) if recompute else block(x, turn)
            x, targets, total = self.norm(x).flatten(0, 1), tokens[:, 1:].flatten(), 0.0
            for begin in range(0, len(targets), 4096):  # logits of all tokens at once would be the largest tensor of all
                piece = x[begin : begin + 4096], targets[begin : begin + 4096]
                total = total + checkpoint(self.part_loss, *piece, use_reentrant=False)
            return total / len(targets)

    return Decoder()


def peak_memory(torch, kind: str) -> float:
    """Most bytes allocated so far: by torch on the device, by the process on the CPU."""
    if kind == "cpu":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    module = device_module(torch, kind)
    return module.driver_allocated_memory() if kind == "mps" else module.max_memory_allocated()


def forget_memory(torch, kind: str) -> None:
    """Start a new count and give back what is cached."""
    module = device_module(torch, kind)
    if hasattr(module, "empty_cache"):
        module.empty_cache()
    if hasattr(module, "reset_peak_memory_stats"):
        module.reset_peak_memory_stats()


def train(args, solo: Solo, torch, kind: str, device, shape: Shape, seq: int) -> dict:
    """Time the steps at one sequence length."""
    torch.manual_seed(args.seed)
    forget_memory(torch, kind)
    dtype = getattr(torch, TYPES[args.dtype])
    model = build_model(torch, shape, args.recompute).to(device, dtype)
    fused = {"fused": True} if kind in ("cuda", "xpu", "cpu") else {}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **fused)
    # a quarter of the vocabulary, so that there is something to learn within a few steps
    tokens = torch.randint(0, max(2, shape.vocab // 4), (args.batch, seq + 1)).to(device)
    losses = []

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(tokens)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        solo.tick()

    call = step if not args.inject else lambda: losses.append(torch.ones((), device=device))
    seconds, _ = time_calls(torch, kind, call, args.warmup, args.iters)
    values = [float(loss) for loss in losses]
    if not all(map(math.isfinite, values)):
        solo.problem(f"sequence {seq}: the loss is not finite")
    elif not values[-1] < values[0]:
        solo.problem(f"sequence {seq}: the loss does not fall on a batch seen {len(values)} times: {values[0]:.3f} to {values[-1]:.3f}")
    times, tokens_step = spread(seconds), args.batch * seq
    dense, attention = shape.step_flops(args.batch, seq)
    rate = (dense + attention) / times["median"] / 1e12
    peak = solo.report["peak_tflops"]
    row = {"seq": seq, "batch": args.batch, "step_ms": times["median"] * 1e3, "step_ms_p5": times["p5"] * 1e3}
    row |= {"step_ms_p95": times["p95"] * 1e3, "tokens_per_s": tokens_step / times["median"], "tflops": rate}
    row |= {"attention_share": attention / (dense + attention), "mfu": rate / peak if peak else None}
    row |= {"peak_memory_gib": peak_memory(torch, kind) / 2**30, "first_loss": values[0], "last_loss": values[-1]}
    row["usd_per_million_tokens"] = dollars(args.price, row["tokens_per_s"]) if args.price else None
    if peak and rate > 1.1 * peak:
        solo.problem(f"sequence {seq}: {rate:.4g} TFLOPS are above the peak of {peak:g}")
    return row


def dollars(price: float, tokens_per_s: float) -> float:
    """Dollars for a million tokens at a price an hour."""
    return price / 3600 / tokens_per_s * 1e6


def compare(solo: Solo, path: str, price: float | None) -> None:
    """Set this run against an earlier report, length by length."""
    try:
        old = json.loads(Path(path).read_text())
        before = {(row["seq"], row["batch"]): row for row in old["results"]}
        settings = old["settings"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ToolError(f"cannot read {path} as a report of this tool: {error}", USAGE) from None
    mine = solo.report["settings"]
    keys = ("hidden", "layers", "heads", "kv_heads", "ffn", "vocab", "dtype", "recompute")
    unlike = [f"{key} {settings.get(key)} and {mine[key]}" for key in keys if settings.get(key) != mine[key]]
    if unlike:
        raise ToolError(f"{path} measured another model ({', '.join(unlike)}): nothing to compare", USAGE)
    prices = price / settings["price"] if price and settings.get("price") else None
    solo.say(f"against {old['environment']['device']}" + (f", price ratio {prices:.2f}" if prices else ""))
    for row in solo.rows:
        if (row["seq"], row["batch"]) in before:
            ratio = row["tokens_per_s"] / before[row["seq"], row["batch"]]["tokens_per_s"]
            verdict = "" if not prices else "; pays per token" if ratio > prices else "; costs more per token"
            row["speedup"] = ratio
            solo.say(f"  sequence {row['seq']}: {ratio:.2f} times the tokens/s{verdict}")


def parse(argv=None) -> argparse.Namespace:
    names = ("device", "index", "dtype", "warmup", "iters", "json", "csv", "plot", "timeout", "seed", "quiet")
    parser = make_parser(__doc__, *names, warmup=3, iters=10)
    parser.add_argument("--seq", type=int, nargs="+", metavar="N", help="sequence lengths (2048 4096 8192 16384; CPU: 64 128 256)")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="sequences a step (%(default)s)")
    for name, words in {"hidden": "2048; CPU: 128", "layers": "8; CPU: 2", "heads": "16; CPU: 4", "kv-heads": "8; CPU: 2",
                        "ffn": "7168; CPU: 352", "vocab": "32768; CPU: 512"}.items():  # fmt: skip
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"of the model ({words})")
    parser.add_argument("--recompute", action="store_true", help="recompute the layers' activations in the backward pass")
    parser.add_argument("--price", type=float, metavar="USD", help="price of one device an hour")
    parser.add_argument("--peak", type=float, metavar="TFLOPS", help="dense peak of the device in this format (from a table)")
    parser.add_argument("--compare", metavar="FILE", help="a JSON report of this tool from another device")
    parser.add_argument("--inject", choices=("idle",), default="", help="do no work, to see the check notice")
    return parser.parse_args(argv)


def settle(args, slow: bool) -> Shape:
    """Fill in the defaults and check that the model is one."""
    defaults = (128, 2, 4, 2, 352, 512) if slow else (2048, 8, 16, 8, 7168, 32768)
    for name, value in zip(("hidden", "layers", "heads", "kv_heads", "ffn", "vocab"), defaults, strict=True):
        setattr(args, name, getattr(args, name) or value)
    args.seq = args.seq or ([64, 128, 256] if slow else [2048, 4096, 8192, 16384])
    if args.dtype not in TYPES:
        raise ToolError(f"no format {args.dtype!r}; there are {', '.join(TYPES)}", USAGE)
    if args.hidden % (2 * args.heads) or args.heads % args.kv_heads:
        raise ToolError("--hidden must be an even multiple of --heads, --heads a multiple of --kv-heads", USAGE)
    if min(args.seq) < 1 or args.batch < 1 or args.iters < 2 or args.warmup < 1:
        raise ToolError("--seq, --batch and --warmup must be 1 or more, --iters 2 or more", USAGE)
    return Shape(args.hidden, args.layers, args.heads, args.kv_heads, args.ffn, args.vocab)


def main(argv=None) -> int:
    args = parse(argv)
    torch = need("torch", "python3 -m pip install torch")
    kind = pick_device(torch, args.device)
    shape = settle(args, kind == "cpu")
    index = local_index(torch, kind, args.index)
    device = use_device(torch, kind, index)
    if args.dtype == "tf32":
        torch.set_float32_matmul_precision("high")
    with Solo(args, torch, kind, index) as solo:
        solo.report["peak_tflops"] = args.peak or dense_peak(torch, kind, index, args.dtype)
        solo.report["matmul_parameters"] = shape.matmul_parameters()
        solo.say(f"# {device_name(torch, kind, index)}, {args.dtype}, {shape.matmul_parameters() / 1e9:.3g} B parameters in matrices")
        solo.say(f"{'seq':>7} {'step ms':>9} {'p5':>9} {'p95':>9} {'tokens/s':>10} {'TFLOPS':>8} {'MFU':>7} {'GiB':>7} {'$/M':>8}")
        watch = Watch(torch, kind, index)
        watch.start()
        try:
            for seq in args.seq:
                try:
                    row = train(args, solo, torch, kind, device, shape, seq)
                except RuntimeError as error:  # torch's out-of-memory is one, and older backends raise only that
                    if "memory" not in str(error):
                        raise
                    solo.warn(f"sequence {seq} does not fit")
                    continue
                solo.rows.append(row)
                solo.report["results"].append(row)
                mfu = f"{row['mfu']:7.1%}" if row["mfu"] else f"{'?':>7}"
                usd = f"{row['usd_per_million_tokens']:8.3f}" if args.price else f"{'?':>8}"
                solo.say(f"{seq:>7} {row['step_ms']:>9.2f} {row['step_ms_p5']:>9.2f} {row['step_ms_p95']:>9.2f} "
                         f"{row['tokens_per_s']:>10.0f} {row['tflops']:>8.4g} {mfu} {row['peak_memory_gib']:>7.2f} {usd}")  # fmt: skip
        finally:
            solo.report["device_state"] = watch.stop()
        solo.say(watch_words(solo.report["device_state"]))
        if args.compare:
            compare(solo, args.compare, args.price)
        if args.plot:
            points = [(row["seq"], row["tokens_per_s"]) for row in solo.rows]
            write_plot(args.plot, "training step", "sequence length", "tokens/s", [(args.dtype, points)], log_x=True)
        return solo.finish()


if __name__ == "__main__":
    sys.exit(run_tool(main))

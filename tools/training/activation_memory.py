#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.4"]
# ///
"""How much memory do a layer's activations take, and what does each kind of recomputation save?

Runs one transformer layer forward, counts every tensor that autograd keeps for the backward pass, once each and without the
weights, and sets the sum against the formulas in use. Counting works on a laptop; on a device the allocator is asked too.

  one process:                     python3 activation_memory.py
  the layer of my model:           python3 activation_memory.py --hidden 4096 --heads 32 --kv-heads 8 --ffn 14336 --seq 8192
  longer and longer:               python3 activation_memory.py --seq 1024 2048 4096 8192 --plot activations.svg
  one node, each its own device:   torchrun --nproc-per-node 8 activation_memory.py --json activations.json
  two nodes, the same on each:     torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d \\
                                       --rdzv-endpoint FIRST_HOST:29400 activation_memory.py --json activations.json
  SLURM:                           srun --nodes 2 --ntasks-per-node 8 python3 activation_memory.py --json activations.json

What the numbers mean
  layer     gpt: multi-head attention, GELU MLP of 4h, dropout; llama: grouped-query attention, gated MLP, no dropout
  keeps     all: nothing is recomputed; core: the attention core (scores, softmax, dropout, sum) is; layer: the whole layer is
  MiB       what is kept for the backward pass of one layer
  formula   gpt, two-byte formats: sbh(34 + 5as/h) with all kept, 34sbh with the core recomputed, 2sbh with the layer
            (arXiv 2205.05198); llama: counted the same way for a fused norm; where torch has none (CPU) each of the two
            norms keeps three hidden states more
  copies    MiB / MiB of one hidden state (2sbh in a two-byte format): the number to multiply with when planning
  allocated what the device's allocator says, with the temporaries of the forward pass gone
Exit status: 0 measured and right, 1 a check failed (gradients with recomputation differ), 2 wrong usage or something missing,
3 timed out, 130 interrupted.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib
import io
import json
import math
import os
import platform
import re
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

TOOL, VERSION = "activation_memory.py", "1.0"


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


TYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
KEEPS = ("all", "core", "layer")


@dataclass(frozen=True)
class Shape:
    """One layer and its input; the letters of the formulas: s, b, h, a."""

    seq: int
    batch: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int

    @property
    def sbh(self) -> int:
        return self.seq * self.batch * self.hidden

    @property
    def scores(self) -> int:
        """Elements of the score matrices of all heads."""
        return self.heads * self.seq * self.seq * self.batch


def gpt_formula(shape: Shape, keep: str) -> int:
    """Bytes of a two-byte format: the counting of arXiv 2205.05198, without tensor parallelism."""
    if keep == "layer":
        return 2 * shape.sbh
    return 34 * shape.sbh + (5 * shape.scores if keep == "all" else 0)


def llama_formula(shape: Shape, keep: str, flash: bool) -> int:
    """Bytes of a two-byte format, each tensor that the backward pass needs counted once.

    Two norms keep their input, the projections behind them its normalized value (4 hidden states); Q, K and V as they were
    projected (1 and 2 of the smaller K and V); K and V repeated for all heads (2); the output of attention (1). Of the MLP gate,
    value, silu(gate) and the product (4 of its width). Plain attention keeps its probabilities.
    """
    if keep == "layer":
        return 2 * shape.sbh
    states = 8 * shape.sbh + 2 * (shape.sbh * shape.kv_heads // shape.heads)
    core = shape.scores if keep == "all" and not flash else 0
    return 2 * (states + 4 * shape.seq * shape.batch * shape.ffn + core)


class Kept:
    """Counts what autograd keeps: each storage once, the weights not at all."""

    def __init__(self, torch, weights):
        self.torch, self.weights = torch, {w.untyped_storage().data_ptr() for w in weights}
        self.storages: dict[int, int] = {}

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self.weights:
            self.storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    def __enter__(self):
        self.hooks = self.torch.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)

    @property
    def bytes(self) -> int:
        return sum(self.storages.values())


def build_layer(torch, shape: Shape, arch: str, keep: str, flash: bool, dropout: float):
    """A layer as a torch module, of the architecture asked for."""
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    functional = nn.functional
    size = shape.hidden // shape.heads
    kv = (shape.heads if arch == "gpt" else shape.kv_heads) * size

    def drop(x, training):
        # functional.dropout keeps a mask of the input's type on a CPU; the device kernel keeps one byte an element
        return torch.native_dropout(x, dropout, training)[0] if dropout else x

    def core(q, k, v, training):
        if flash:
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)  # without dropout, as is usual
        scores = (q @ k.transpose(-1, -2)) * size**-0.5
        later = torch.full(scores.shape[-2:], float("-inf"), dtype=scores.dtype, device=scores.device).triu(1)
        return drop((scores + later).softmax(-1), training) @ v

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            norm, bias = (nn.LayerNorm, True) if arch == "gpt" else (nn.RMSNorm, False)
            self.norm1, self.norm2 = norm(shape.hidden), norm(shape.hidden)
            self.qkv = nn.Linear(shape.hidden, shape.hidden + 2 * kv, bias=bias)
            self.out = nn.Linear(shape.hidden, shape.hidden, bias=bias)
            wide = 4 * shape.hidden if arch == "gpt" else 2 * shape.ffn
            self.up = nn.Linear(shape.hidden, wide, bias=bias)
            self.down = nn.Linear(wide if arch == "gpt" else shape.ffn, shape.hidden, bias=bias)

        def attend(self, x):
            batch, seq, _ = x.shape
            heads = self.qkv(x).view(batch, seq, -1, size).transpose(1, 2)
            q, k, v = heads.split((shape.heads, kv // size, kv // size), 1)
            k, v = (t.repeat_interleave(shape.heads * size // kv, 1) if kv != shape.hidden else t for t in (k, v))
            if keep == "core":
                mixed = checkpoint(core, q, k, v, self.training, use_reentrant=False)
            else:
                mixed = core(q, k, v, self.training)
            return self.out(mixed.transpose(1, 2).reshape(batch, seq, shape.hidden))

        def body(self, x):
            x = x + drop(self.attend(self.norm1(x)), self.training)
            if arch == "gpt":
                return x + drop(self.down(functional.gelu(self.up(self.norm2(x)))), self.training)
            gate, value = self.up(self.norm2(x)).chunk(2, -1)
            return x + self.down(functional.silu(gate) * value)

        def forward(self, x):
            return checkpoint(self.body, x, use_reentrant=False) if keep == "layer" else self.body(x)

    return Layer()


def allocated(torch, kind: str) -> int:
    """Bytes that the device's allocator has handed out; 0 on the CPU."""
    if kind == "cpu":
        return 0
    module = device_module(torch, kind)
    return module.current_allocated_memory() if kind == "mps" else module.memory_allocated()


def measure(args, torch, kind: str, device, shape: Shape, arch: str, keep: str) -> tuple[dict, list]:
    """The row of one variant, and its gradients."""
    torch.manual_seed(args.seed)
    dtype = getattr(torch, TYPES[args.dtype])
    layer = build_layer(torch, shape, arch, keep, args.flash, args.dropout if arch == "gpt" else 0.0).to(device, dtype)
    x = torch.randn(shape.batch, shape.seq, shape.hidden).to(device, dtype).requires_grad_()
    synchronize(torch, kind)
    before = allocated(torch, kind)
    with Kept(torch, layer.parameters()) as kept:
        out = layer(x)
    synchronize(torch, kind)
    held = allocated(torch, kind) - before - out.untyped_storage().nbytes()
    out.float().pow(2).mean().backward()
    state = dtype.itemsize * shape.sbh
    formula = gpt_formula(shape, keep) if arch == "gpt" else llama_formula(shape, keep, args.flash)
    formula = formula - (5 * shape.scores if arch == "gpt" and args.flash and keep == "all" else 0)
    row = {"arch": arch, "keep": keep, "seq": shape.seq, "kept_mib": kept.bytes / 2**20, "tensors": len(kept.storages)}
    row |= {"formula_mib": formula / 2**20 if dtype.itemsize == 2 else None, "copies": kept.bytes / state}
    row |= {"allocated_mib": held / 2**20 if kind != "cpu" else None}
    return row, [x.grad.float(), *(weight.grad.float() for weight in layer.parameters())]


def same(torch, one, other) -> bool:
    """Recomputation must not change a gradient, beyond the order of additions."""
    return all(torch.allclose(a, b, rtol=1e-2, atol=1e-2 * float(a.abs().max())) for a, b in zip(one, other, strict=True))


def parse(argv=None) -> argparse.Namespace:
    parser = make_parser(__doc__, "device", "index", "dtype", "json", "csv", "plot", "timeout", "seed", "quiet")
    parser.add_argument("--seq", type=int, nargs="+", metavar="N", help="sequence lengths (2048; CPU: 256)")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="sequences (%(default)s)")
    for name, words in {"hidden": "4096; CPU: 512", "heads": "32; CPU: 8", "kv-heads": "8; CPU: 2", "ffn": "14336; CPU: 1792"}.items():
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"of the layer ({words})")
    parser.add_argument("--dropout", type=float, default=0.1, metavar="P", help="of the gpt layer (%(default)g)")
    parser.add_argument("--flash", action="store_true", help="torch's fused attention, which keeps no score matrix")
    parser.add_argument("--inject", choices=("wrong",), default="", help="damage a gradient, to see the check work")
    return parser.parse_args(argv)


def settle(args, slow: bool) -> None:
    """Fill in the defaults and check them."""
    defaults = (512, 8, 2, 1792) if slow else (4096, 32, 8, 14336)
    for name, value in zip(("hidden", "heads", "kv_heads", "ffn"), defaults, strict=True):
        setattr(args, name, getattr(args, name) or value)
    args.seq = args.seq or [256 if slow else 2048]
    if args.dtype not in TYPES:
        raise ToolError(f"no format {args.dtype!r}; there are {', '.join(TYPES)}", USAGE)
    if args.hidden % args.heads or args.heads % args.kv_heads:
        raise ToolError("--hidden must be a multiple of --heads, --heads of --kv-heads", USAGE)
    if min(*args.seq, args.batch, args.ffn) < 1 or not 0 <= args.dropout < 1:
        raise ToolError("sizes must be 1 or more, --dropout from 0 to below 1", USAGE)


def main(argv=None) -> int:
    args = parse(argv)
    torch = need("torch", "python3 -m pip install torch")
    kind = pick_device(torch, args.device)
    settle(args, kind == "cpu")
    index = local_index(torch, kind, args.index)
    device = use_device(torch, kind, index)
    with Solo(args, torch, kind, index) as solo:
        solo.say(f"# one layer, h {args.hidden}, a {args.heads}, batch {args.batch}, {args.dtype}, {'fused' if args.flash else 'plain'} attention")
        solo.say(f"{'layer':<6} {'keeps':<6} {'seq':>7} {'MiB':>10} {'formula':>10} {'copies':>7} {'tensors':>7} {'allocated':>10}")
        for seq in args.seq:
            shape = Shape(seq, args.batch, args.hidden, args.heads, args.kv_heads, args.ffn)
            for arch in ("gpt", "llama"):
                first = None
                for keep in KEEPS:
                    row, gradients = measure(args, torch, kind, device, shape, arch, keep)
                    first = first or gradients
                    if args.inject and keep == "layer":
                        gradients[0] += 1
                    if not all(bool(g.isfinite().all()) for g in gradients) or not bool(gradients[0].any()):
                        solo.problem(f"{arch}, {keep}: gradients are zero or not finite")
                    elif not same(torch, first, gradients):
                        solo.problem(f"{arch}: recomputing the {keep} changes the gradients")
                    solo.rows.append(row)
                    solo.report["results"].append(row)
                    formula = f"{row['formula_mib']:>10.2f}" if row["formula_mib"] else f"{'-':>10}"
                    held = f"{row['allocated_mib']:>10.2f}" if row["allocated_mib"] is not None else f"{'-':>10}"
                    solo.say(f"{arch:<6} {keep:<6} {seq:>7} {row['kept_mib']:>10.2f} {formula} {row['copies']:>7.1f} {row['tensors']:>7} {held}")
                    solo.tick()
        if args.plot:
            names = [(arch, keep) for arch in ("gpt", "llama") for keep in KEEPS]
            series = [(f"{a}, keeps {k}", [(r["seq"], r["kept_mib"]) for r in solo.rows if (r["arch"], r["keep"]) == (a, k)]) for a, k in names]
            write_plot(args.plot, "activations of one layer", "sequence length", "MiB", series)
        return solo.finish()


if __name__ == "__main__":
    sys.exit(run_tool(main))

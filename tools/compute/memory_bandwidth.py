#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.4"]
# ///
"""What memory rate can this device reach, and how fast are the ways to it?

Runs copy, scale, add, triad, read and write over growing arrays in the device's own memory, then copies between host and
device and between every two devices, one way and both ways at once. Every result is compared with what it must be.

  one process, the first device:   python3 memory_bandwidth.py
  the CPU's own memory:            python3 memory_bandwidth.py --device cpu --max-bytes 256M
  all paths of one node:           python3 memory_bandwidth.py --json paths.json
  all GPUs of a node at once:      torchrun --nproc-per-node 8 memory_bandwidth.py --json node.json
  two nodes, the same on each:     torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d \\
                                       --rdzv-endpoint FIRST_HOST:29400 memory_bandwidth.py --json node.json
  SLURM:                           srun --nodes 2 --ntasks-per-node 8 --gpus-per-node 8 python3 memory_bandwidth.py

What the numbers mean
  bytes     of one array; copy and scale move two, add and triad three, read and write one
  GB/s      bytes moved / time, powers of 1000: the median over the iterations, with p5 and p95
  of peak   share of the rate on the data sheet; 'cache' where the arrays fit into the last-level cache: no memory rate
  pinned    host memory that the device reads by itself; pageable memory is first copied by the CPU
  both      the sum of two copies that run at once in opposite directions
Started alone the tool measures the paths of all devices it sees; started by a launcher each process measures the paths of
its own device, all at once. Exit status: 0 measured and right, 1 a check failed, 2 wrong usage or something missing, 3 timed
out, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
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
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from xml.sax.saxutils import escape

TOOL, VERSION = "memory_bandwidth.py", "1.0"


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


# Memory rate of one torch device in TB/s: name as torch gives it, record in the book's data, share of the package, rate
BANDWIDTH = (
    (r"GB300", "nvidia-gb300", 1, 8),
    (r"GB200", "nvidia-gb200", 1, 8),
    (r"B300", "nvidia-b300-sxm", 1, 8),
    (r"B200", "nvidia-b200-sxm", 1, 8),
    (r"GH200 144G", "nvidia-gh200", 1, 4.9),
    (r"GH200", "nvidia-gh200", 1, 4),
    (r"H200 NVL", "nvidia-h200-nvl", 1, 4.8),
    (r"H200", "nvidia-h200-sxm", 1, 4.8),
    (r"H100 NVL", "nvidia-h100-nvl", 1, 3.9),
    (r"H100 PCIe", "nvidia-h100-pcie", 1, 2),
    (r"H100", "nvidia-h100-sxm", 1, 3.35),
    (r"A100.*40GB", "nvidia-a100-sxm-80", 1, 1.555),
    (r"A100.*PCIe", "nvidia-a100-pcie-80", 1, 1.935),
    (r"A100", "nvidia-a100-sxm-80", 1, 2.039),
    (r"V100", "nvidia-v100-sxm", 1, 0.9),
    (r"P100", "nvidia-p100-sxm", 1, 0.73),
    (r"L40S", "nvidia-l40s", 1, 0.864),
    (r"MI250X", "amd-mi250x", 0.5, 1.64),
    (r"MI250", "amd-mi250", 0.5, 1.64),
    (r"MI300X", "amd-mi300x", 1, 5.3),
    (r"MI325X", "amd-mi325x", 1, 6),
    (r"MI350X", "amd-mi350x", 1, 8),
    (r"MI355X", "amd-mi355x", 1, 8),
    (r"MI350P", "amd-mi350p", 1, 4),
    (r"GAUDI3", "intel-gaudi3", 1, 3.67),
    (r"GAUDI2", "intel-gaudi2", 1, 2.46),
)
OPS = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "read": 1, "write": 1}  # arrays that each one moves
TYPES = {"fp64": "float64", "fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "int8": "int8"}


def cache_bytes(torch, kind: str, index: int) -> int:
    """The last-level cache of the device, 0 if nobody tells."""
    if kind == "cuda":
        size = getattr(torch.cuda.get_device_properties(index), "L2_cache_size", 0)
        return max(size, 256 << 20) if torch.version.hip and "MI3" in device_name(torch, kind, index) else size
    if kind != "cpu":
        return 0
    sizes = [0]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        try:
            sizes.append(parse_size(path.read_text().strip()))
        except (OSError, argparse.ArgumentTypeError):
            continue
    return max(sizes)


def find_bandwidth(name: str) -> float | None:
    """Data-sheet rate in TB/s of a device, by its name."""
    return next((rate for pattern, _, _, rate in BANDWIDTH if re.search(pattern, name, re.IGNORECASE)), None)


class Kernels:
    """The six operations on arrays of one size, with results that are known beforehand."""

    def __init__(self, torch, device, dtype: str, count: int):
        kind = getattr(torch, TYPES[dtype])
        self.torch, self.count = torch, count
        pattern = torch.arange(61, device=device).to(kind)  # 0 … 60: small enough to stay exact in every format
        self.a = pattern.repeat(math.ceil(count / 61))[:count].contiguous()
        self.b, self.c = torch.empty_like(self.a), torch.empty_like(self.a)
        self.a[count // 3] = 99  # what read has to find
        self.found = None

    def run(self, op: str):
        torch, a, b, c = self.torch, self.a, self.b, self.c
        if op == "copy":
            return b.copy_(a)
        if op == "scale":
            return torch.mul(a, -1, out=b)
        if op == "add":
            return torch.add(a, b, out=c)
        if op == "triad":
            return torch.add(a, b, alpha=2, out=c)
        return torch.amax(a) if op == "read" else b.fill_(7)

    def prepare(self, op: str) -> None:
        """Leave nothing of an earlier operation that could pass for a result."""
        self.c.zero_()
        if op in ("add", "triad"):
            self.b.fill_(3)
        else:
            self.b.zero_()

    def right(self, op: str, result, inject: str = "") -> bool:
        if inject and op == "triad":
            self.c[self.count // 2] += 1
        if op == "read":
            return float(result) == 99
        wanted = {"copy": lambda x: x, "scale": lambda x: -x, "add": lambda x: x + 3, "triad": lambda x: x + 6}
        step = 1 << 24  # compare in pieces: a whole copy might not fit
        out = self.c if op in ("add", "triad") else self.b
        for begin in range(0, self.count, step):
            part, source = out[begin : begin + step], self.a[begin : begin + step]
            if not bool((part == (wanted[op](source) if op in wanted else 7)).all()):
                return False
        return True


def add_row(solo: Solo, kind: str, op: str, size: int, moved: int, seconds: list[float], **more) -> dict:
    """Put a measurement into the report: rates in GB/s from the median time and its p5 and p95."""
    times = spread(seconds)
    rates = {"gb_per_s": moved / times["median"] / 1e9, "p5": moved / times["p95"] / 1e9, "p95": moved / times["p5"] / 1e9}
    row = {"test": kind, "op": op, "bytes": size, "moved_bytes": moved, "time_us": times["median"] * 1e6, **rates, **more}
    solo.report["results"].append(row)
    solo.rows.append(row)
    return row


def own_memory(args, solo: Solo, torch, kind: str, index: int) -> None:
    """The six operations over all sizes."""
    device = use_device(torch, kind, index)
    cache, peak = cache_bytes(torch, kind, index), args.peak or find_bandwidth(device_name(torch, kind, index))
    solo.report["cache_bytes"], solo.report["peak_tb_per_s"] = cache, peak
    room = free_memory(torch, kind, index) // 4
    sizes = [size for size in size_ladder(args.min_bytes, args.max_bytes) if size <= room]
    if not sizes:
        raise ToolError(f"{format_size(4 * room)} are free, too little for three arrays of {format_size(args.min_bytes)}")
    if sizes[-1] < args.max_bytes:
        solo.warn(f"arrays end at {format_size(sizes[-1])}: no memory for more")
    solo.say(f"{'op':<8} {'bytes':>10} {'GB/s':>9} {'p5':>9} {'p95':>9} {'of peak':>8}")
    for size in sizes:
        item = getattr(torch, TYPES[args.dtype]).itemsize
        kernels = Kernels(torch, device, args.dtype, size // item)
        for op, arrays in OPS.items():
            solo.tick()
            kernels.prepare(op)
            seconds, result = time_calls(torch, kind, functools.partial(kernels.run, op), args.warmup, args.iters)
            if not kernels.right(op, result, args.inject):
                solo.problem(f"{op} over {format_size(size)} gave a wrong result")
            cached = arrays * size <= 2 * cache
            row = add_row(solo, "memory", op, size, arrays * size, seconds, in_cache=cached, right=not solo.report["problems"])
            if peak and not cached and row["gb_per_s"] > 1.05e3 * peak:
                solo.problem(f"{op} over {format_size(size)} shows {row['gb_per_s']:.0f} GB/s where {peak:g} TB/s is the most")
            share = "cache" if cached else f"{row['gb_per_s'] / peak / 1e3:.1%}" if peak else "?"
            solo.say(f"{op:<8} {format_size(size):>10} {row['gb_per_s']:>9.1f} {row['p5']:>9.1f} {row['p95']:>9.1f} {share:>8}")


class Paths:
    """Copies between host and devices and between devices."""

    def __init__(self, args, solo: Solo, torch, kind: str, devices: list[int]):
        self.args, self.solo, self.torch, self.kind, self.devices = args, solo, torch, kind, devices
        self.size = min(args.max_bytes, 256 << 20)
        self.pattern = torch.arange(251, dtype=torch.uint8).repeat(math.ceil(self.size / 251))[: self.size]

    def on(self, index: int):
        return self.torch.device(self.kind, index) if self.kind in ("cuda", "xpu") else self.torch.device(self.kind)

    def finish(self) -> None:
        module = device_module(self.torch, self.kind)
        for index in self.devices:
            module.synchronize(index) if self.kind in ("cuda", "xpu") else synchronize(self.torch, self.kind)

    def timed(self, *copies) -> list[float]:
        """Seconds until all copies, started together, are done; the host's clock, as several devices take part."""
        seconds = []
        for turn in range(-min(2, self.args.warmup), self.args.iters):
            self.finish()
            begin = time.perf_counter()
            for copy in copies:
                copy()
            self.finish()
            seconds += [time.perf_counter() - begin] if turn >= 0 else []
            self.solo.tick()
        return seconds

    def note(self, op: str, source: str, target: str, copies: int, seconds, right: bool) -> None:
        row = add_row(self.solo, "path", op, self.size, copies * self.size, seconds, source=source, target=target)
        if not right:
            self.solo.problem(f"{op} {source} to {target}: the copy differs from its source")
        self.solo.say(f"{op:<16} {source:>8} to {target:<8} {row['gb_per_s']:>9.1f} {row['p5']:>9.1f} {row['p95']:>9.1f}")

    def copier(self, target, source, *indexes):
        """A copy on streams of its own, one on each device it touches, so that opposite copies do not wait for each other."""
        module = device_module(self.torch, self.kind)
        streams = [module.Stream(device=index) for index in indexes] if self.kind in ("cuda", "xpu") else []

        def copy():
            with contextlib.ExitStack() as stack:
                for stream in streams:
                    stack.enter_context(module.stream(stream))
                target.copy_(source, non_blocking=True)

        return copy

    def host(self, index: int) -> None:
        torch, device, name = self.torch, self.on(index), f"{self.kind}:{index}"
        for pinned in (False, True) if self.kind != "mps" else (False,):
            word = "pinned" if pinned else "pageable"
            hosts = [torch.empty(self.size, dtype=torch.uint8, pin_memory=pinned) for _ in range(2)]
            there, other = (torch.zeros(self.size, dtype=torch.uint8, device=device) for _ in range(2))
            hosts[0].copy_(self.pattern)
            seconds = self.timed(lambda a=there, b=hosts[0], p=pinned: a.copy_(b, non_blocking=p))
            self.note(word, "host", name, 1, seconds, torch.equal(there.cpu(), self.pattern))
            seconds = self.timed(lambda a=hosts[1], b=there, p=pinned: a.copy_(b, non_blocking=p))
            self.note(word, name, "host", 1, seconds, torch.equal(hosts[1], self.pattern))
            if pinned:
                both = (self.copier(other, hosts[0], index), self.copier(hosts[1].zero_(), there, index))
                seconds = self.timed(*both)
                right = torch.equal(hosts[1], self.pattern) and torch.equal(other.cpu(), self.pattern)
                self.note(f"{word} both", "host", name, 2, seconds, right)

    def pair(self, one: int, two: int) -> None:
        torch, names = self.torch, [f"{self.kind}:{i}" for i in (one, two)]
        at_one, at_two = (self.pattern.to(self.on(i)) for i in (one, two))
        new_one, new_two = (torch.zeros_like(x) for x in (at_one, at_two))
        self.note("device", *names, 1, self.timed(self.copier(new_two, at_one, one, two)), bool((new_two == at_two).all()))
        if one < two:
            new_two.zero_()
            seconds = self.timed(self.copier(new_two, at_one, one, two), self.copier(new_one, at_two, one, two))
            right = bool((new_two == at_two).all()) and bool((new_one == at_one).all())
            self.note("device both", *names, 2, seconds, right)


def paths(args, solo: Solo, torch, kind: str, index: int) -> None:
    """All paths of all devices, or of this process's device under a launcher."""
    devices = list(range(device_count(torch, kind))) if solo.rank is None and args.index is None and kind != "hpu" else [index]
    solo.say(f"{'path':<16} {'':>8}    {'':<8} {'GB/s':>9} {'p5':>9} {'p95':>9}")
    lanes = Paths(args, solo, torch, kind, devices)
    for one in devices:
        lanes.host(one)
    for one, two in ((a, b) for a in devices for b in devices if a != b):
        lanes.pair(one, two)
    use_device(torch, kind, index)


def parse(argv=None) -> argparse.Namespace:
    names = ("device", "index", "dtype", "warmup", "iters", "json", "csv", "plot", "timeout", "seed", "quiet")
    parser = make_parser(__doc__, *names, dtype="fp32")
    parser.add_argument("--min-bytes", type=parse_size, metavar="SIZE", help="smallest array (64M; 16M on a CPU)")
    parser.add_argument("--max-bytes", type=parse_size, metavar="SIZE", help="largest array (2G; 128M on a CPU)")
    parser.add_argument("--peak", type=float, metavar="TB/S", help="memory rate of the data sheet (from a table)")
    parser.add_argument("--no-paths", action="store_true", help="only the device's own memory")
    parser.add_argument("--inject", choices=("wrong",), default="", help="damage a result, to see the check work")
    args = parser.parse_args(argv)
    if args.dtype not in TYPES:
        raise ToolError(f"no format {args.dtype!r}; there are {', '.join(TYPES)}", USAGE)
    if args.iters < 1 or args.warmup < 0:
        raise ToolError("--iters must be 1 or more, --warmup 0 or more", USAGE)
    return args


def main(argv=None) -> int:
    args = parse(argv)
    torch = need("torch", "python3 -m pip install torch")
    kind = pick_device(torch, args.device)
    index = local_index(torch, kind, args.index)
    use_device(torch, kind, index)
    args.max_bytes = args.max_bytes or parse_size("128M" if kind == "cpu" else "2G")
    args.min_bytes = args.min_bytes or min(parse_size("16M" if kind == "cpu" else "64M"), args.max_bytes)
    if not 64 <= args.min_bytes <= args.max_bytes:
        raise ToolError("--min-bytes must be 64 or more and not above --max-bytes", USAGE)
    with Solo(args, torch, kind, index) as solo:
        solo.say(f"# {device_name(torch, kind, index)}, {args.dtype}, torch {torch.__version__}")
        watch = Watch(torch, kind, index)
        watch.start()
        try:
            own_memory(args, solo, torch, kind, index)
            if kind != "cpu" and not args.no_paths:
                paths(args, solo, torch, kind, index)
        finally:
            solo.report["device_state"] = watch.stop()
        largest = max(row["bytes"] for row in solo.rows)
        best = max((r for r in solo.rows if r["test"] == "memory" and r["bytes"] == largest), key=lambda r: r["gb_per_s"])
        solo.report["best"] = best
        solo.say(f"best: {best['op']} {best['gb_per_s']:.1f} GB/s; {watch_words(solo.report['device_state'])}")
        if args.plot:
            series = [(op, [(r["bytes"], r["gb_per_s"]) for r in solo.rows if r["op"] == op and r["test"] == "memory"]) for op in OPS]
            peak = solo.report["peak_tb_per_s"]
            levels = [("data sheet", peak * 1e3)] if peak else []
            write_plot(args.plot, "memory rate", "bytes of an array", "GB/s", series, levels, True, format_size)
        return solo.finish()


if __name__ == "__main__":
    sys.exit(run_tool(main))

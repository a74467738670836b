"""The blocks that the tools repeat, in one importable place.

A tool is copied to a node as one file, so what several tools need stands in each of them. The copy that is edited is
this one; `python tests/tools/sync_blocks.py` carries it into the tools, and test_common_blocks.py fails when a copy
differs. To use a block, write its two marker lines into the tool and run the sync; add the imports that ruff asks for.
Each tool defines TOOL (its file name) and VERSION before the blocks.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import faulthandler
import functools
import importlib
import io
import json
import math
import os
import platform
import queue
import re
import selectors
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

TOOL, VERSION = "blocks.py", "0"


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


# --- common: ranks ---
# A tool with several ranks runs as two processes for each: a supervisor without torch and, under it, the worker. The
# supervisors report to a board that rank 0's supervisor serves. So a rank that hangs, stops or dies, rank 0 included,
# is named by processes that it cannot take with it, and what was measured so far is still written out.
LINK = "TOOL_LINK_FD"  # through it a worker finds its supervisor
BOARD_PORTS = 8  # the board takes the first free one of the ports after MASTER_PORT
TICK = 0.25  # seconds between two looks at the state of things
START_UP = 120.0  # seconds that importing torch may take on a cold file system, whatever --timeout says
LAUNCHERS = (  # the variables that hold rank, size and local rank
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"),
)


@dataclass
class Place:
    """Which ranks this process looks after, of how many, and where rank 0 is."""

    ranks: list[int]
    local_ranks: list[int]
    size: int
    address: str
    port: int

    @property
    def key(self) -> str:
        """Tells this run from another on the same port."""
        run = os.environ.get("TORCHELASTIC_RUN_ID") or os.environ.get("SLURM_JOB_ID", "")
        again = os.environ.get("TORCHELASTIC_RESTART_COUNT") or os.environ.get("SLURM_STEP_ID", "")
        return f"{TOOL} {self.port} {run} {again}"


def first_host(nodelist: str) -> str:
    """The first name of a SLURM node list: 'gpu[07-09,12],cpu3' → 'gpu07'."""
    return re.sub(r"^([^\[,]*)(?:\[([^\],-]+)[^\]]*\]([^,\[]*))?.*$", r"\1\2\3", nodelist)


def find_place(nproc: int | None) -> Place:
    """Read the variables of torchrun, mpirun or srun; without a launcher, nproc ranks on this host."""
    env = os.environ
    for rank, size, local in LAUNCHERS:
        if rank not in env or size not in env or (rank == "SLURM_PROCID" and env[size] == "1"):
            continue  # one task is what `srun --pty bash` gives: no launcher of ranks
        run = f"{env.get('SLURM_JOB_ID', '')}{env.get('SLURM_STEP_ID', '')}"
        address = env.get("MASTER_ADDR") or first_host(env.get("SLURM_STEP_NODELIST", "")) or "127.0.0.1"
        port = int(env.get("MASTER_PORT") or (12000 + int(run) * 16 % 18000 if run.isdigit() else 29500))
        return Place([int(env[rank])], [int(env.get(local, 0))], int(env[size]), address, port)
    count = list(range(nproc or 1))
    return Place(count, count, len(count), "127.0.0.1", free_port())


def free_port() -> int:
    """A port whose successors are free too, for the board."""
    for _ in range(20):
        with socket.create_server(("", 0)) as server:
            port = server.getsockname()[1]
        if port + BOARD_PORTS < 65536 and not port_taken(port) and not port_taken(port + 1):
            return port
    raise ToolError(f"no free port on {socket.gethostname()}")


def port_taken(port: int) -> bool:
    try:
        socket.create_server(("", port)).close()
    except OSError:
        return True
    return False


class Lines:
    """JSON messages, one a line, over a socket."""

    def __init__(self, sock: socket.socket):
        self.sock, self.rest, self.lock = sock, b"", threading.Lock()
        sock.settimeout(10)

    def send(self, **message) -> None:
        try:
            with self.lock:
                self.sock.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            pass  # the reader of this socket is gone, which its supervisor or the board finds out by itself

    def receive(self) -> list[dict] | None:
        """The messages that have come, or None when the other end has closed."""
        try:
            data = self.sock.recv(1 << 16)
        except TimeoutError:
            return []
        except OSError:
            return None
        if not data:
            return None
        *lines, self.rest = (self.rest + data).split(b"\n")
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            return None  # not one of ours


@dataclass
class Seat:
    """What the board knows of one rank; times are the board's own clock."""

    host: str
    pid: int
    moved: float
    beat: float
    step: str = "starting"
    count: int = 0
    done: bool = False
    ended: tuple[float, int] | None = None  # when and with what exit status
    error: tuple[float, str] | None = None


def name_ranks(seats: dict[int, Seat], ranks) -> str:
    """'rank 2 on nodeB' or 'ranks 0, 1 on nodeA; 2 on nodeB'."""
    by_host: dict[str, list[int]] = {}
    for rank in sorted(ranks):
        by_host.setdefault(seats[rank].host, []).append(rank)
    many = "s" if len(ranks) > 1 else ""
    return f"rank{many} " + "; ".join(f"{', '.join(map(str, r))} on {host}" for host, r in by_host.items())


class Board(threading.Thread):
    """Keeps what every rank is doing and decides who is to blame when a rank dies or nothing moves any more."""

    def __init__(self, place: Place, timeout: float):
        super().__init__(daemon=True)
        self.place, self.size, self.limit = place, place.size, 0.8 * timeout  # the verdict comes before the timeout
        self.seats: dict[int, Seat] = {}
        self.homes: dict[int, Lines] = {}
        self.values: dict[str, dict[int, object]] = {}
        self.verdict: dict | None = None
        self.started = time.monotonic()
        self.listener = self.listen()
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)

    def listen(self) -> socket.socket:
        for port in range(self.place.port + 1, self.place.port + 1 + BOARD_PORTS):
            try:
                if socket.has_dualstack_ipv6():
                    return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=4096)
                return socket.create_server(("", port), backlog=4096)
            except OSError:
                continue
        raise ToolError(f"{socket.gethostname()}: ports {self.place.port + 1} to {port} are all in use; set MASTER_PORT")

    def run(self) -> None:
        while self.listener.fileno() >= 0:
            for event, _ in self.selector.select(TICK):
                if event.fileobj is self.listener:
                    lines = Lines(self.listener.accept()[0])
                    self.selector.register(lines.sock, selectors.EVENT_READ, lines)
                else:
                    self.hear(event.data)
            if self.verdict is None and (verdict := self.judge(time.monotonic())):
                self.decide(*verdict)

    def hear(self, lines: Lines) -> None:
        messages = lines.receive()
        if messages is None:
            self.selector.unregister(lines.sock)
            lines.sock.close()
            for rank in [rank for rank, home in self.homes.items() if home is lines]:
                seat = self.seats[rank]
                if not seat.done and not seat.ended:
                    seat.ended = (time.monotonic(), -1000)
            return
        for message in messages:
            self.take(lines, message, time.monotonic())

    def take(self, lines: Lines, message: dict, now: float) -> None:
        if message["op"] == "hello":
            self.welcome(lines, message, now)
        elif message["op"] == "interrupt":
            self.decide(INTERRUPTED, "interrupted", [])
        else:
            self.note(message["rank"], message, now)

    def note(self, rank: int, message: dict, now: float) -> None:
        seat = self.seats[rank]
        seat.beat = now
        if message.get("count", seat.count) != seat.count:
            seat.count, seat.moved = message["count"], now
        seat.step = message.get("step", seat.step)
        if message["op"] == "gather":
            self.gather(rank, message)
        elif message["op"] == "done":
            seat.done = True
        elif message["op"] == "fail":
            self.decide(message["status"], message["text"], [rank])
        elif message["op"] == "error":
            seat.error = seat.error or (now, message["text"])
        elif message["op"] == "exit":
            seat.ended = (now, message["code"])

    def welcome(self, lines: Lines, message: dict, now: float) -> None:
        if message["key"] != self.place.key:
            lines.send(op="stranger")
            return
        lines.send(op="welcome")
        host, pid = message["host"], message["pid"]
        for rank in message["ranks"]:
            if rank in self.seats or rank >= self.size or message["size"] != self.size:
                other = self.seats.get(rank)
                said = f"and by {other.host} (pid {other.pid})" if other else f"where rank 0 counts {self.size}"
                text = f"rank {rank} of {message['size']} is claimed by {host} (pid {pid}) {said}: check the launcher"
                self.decide(FAILED, text, [])
                break
            self.seats[rank] = Seat(host, pid, now, now)
            self.homes[rank] = lines
        if self.verdict:  # reached before this one came, or because of it
            lines.send(**self.verdict)

    def gather(self, rank: int, message: dict) -> None:
        """Collect one value from every rank; then rank 0 or everybody gets the list."""
        values = self.values.setdefault(message["key"], {})
        values[rank] = message["value"]
        if len(values) == self.size:
            del self.values[message["key"]]
            every = [values[r] for r in range(self.size)]
            equal = all(value == every[0] for value in every)  # the usual case, and short however many ranks there are
            answer = {"op": "gathered", "values": every[:1] if equal else every, "times": self.size if equal else 1}
            for home in {id(h): h for r, h in self.homes.items() if message["all"] or r == 0}.values():
                home.send(**answer, all=message["all"])

    def decide(self, status: int, text: str, blame: list[int]) -> None:
        if self.verdict:
            return  # the first one stands; what follows are its consequences
        self.verdict = {"op": "verdict", "status": status, "text": text, "blame": blame}
        for home in {id(home): home for home in self.homes.values()}.values():
            home.send(**self.verdict)

    def judge(self, now: float) -> tuple[int, str, list[int]] | None:
        """The verdict, if there is one yet: status, text, ranks to blame."""
        dead = [r for r, s in self.seats.items() if s.ended and not (s.done or s.error)]
        if dead and now - min(self.seats[r].ended[0] for r in dead) > 2 * TICK:
            return FAILED, "; ".join(self.obituary(rank) for rank in dead[:8]), dead
        failed = sorted((s.error, r) for r, s in self.seats.items() if s.error)
        if failed and now - failed[0][0][0] > 12 * TICK:  # a peer's death shows as an error here: it goes first
            (_, text), rank = failed[0]
            return FAILED, f"{name_ranks(self.seats, [rank])}, in '{self.seats[rank].step}': {text}", [rank]
        absent = [r for r in range(self.size) if r not in self.seats]
        if absent:
            return self.missing(absent) if now - self.started > self.limit else None
        busy = {r: s for r, s in self.seats.items() if not s.done}
        if not busy:
            return OK, "", []
        patience = max(self.limit, START_UP) if any(s.count == 0 for s in busy.values()) else self.limit
        still = now - max(s.moved for s in busy.values())
        return self.blame(busy, still, now) if still > patience and not dead and not failed else None

    def missing(self, absent: list[int]) -> tuple[int, str, list[int]]:
        shown = ", ".join(map(str, absent[:16])) + (f" and {len(absent) - 16} more" if len(absent) > 16 else "")
        here = name_ranks(self.seats, list(self.seats)) if self.seats else "nobody"
        return TIMED_OUT, f"rank {shown} of {self.size} never came; those that did: {here}", []

    def obituary(self, rank: int) -> str:
        seat, code = self.seats[rank], self.seats[rank].ended[1]
        how = f"exit status {code}" if code >= 0 else f"killed by signal {-code}"
        if -64 < code < 0:
            how += f" ({signal.Signals(-code).name})" if -code in set(signal.Signals) else ""
        if code == -1000:
            how = "its supervisor is gone too: the host, its network or the job step went down"
        return f"rank {rank} on {seat.host} died in '{seat.step}': {how}"

    def blame(self, busy: dict[int, Seat], still: float, now: float) -> tuple[int, str, list[int]]:
        least = min(s.count for s in busy.values())
        late = [r for r, s in busy.items() if s.count == least]
        silent = [r for r in late if now - busy[r].beat > max(8 * TICK, still / 2)]
        if len(late) == len(busy):
            late = silent
        if not late or len(late) == len(busy) > 1:
            step = next(iter(busy.values())).step
            return TIMED_OUT, f"all ranks have been in '{step}' for {still:.0f} s and none is behind: " + (
                "the network or the backend hangs, not one rank"), []
        how = "no sign of life, stopped or cut off" if set(late) <= set(silent) else "alive but not moving"
        text = f"{name_ranks(busy, late)} hang{'s' * (len(late) == 1)} in '{busy[late[0]].step}': {how} for {still:.0f} s"
        waiting = len(busy) - len(late)
        return TIMED_OUT, text + (f"; {waiting} other{'s' * (waiting != 1)} waiting" if waiting else ""), late


class Link:
    """A worker's line to its supervisor and through it to the board."""

    def __init__(self, descriptor: int):
        self.lines = Lines(socket.socket(fileno=descriptor))
        self.rank, self.size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.local_rank, self.host = int(os.environ["LOCAL_RANK"]), socket.gethostname()
        self.count, self.name, self.answers, self.calls = 0, "starting", queue.Queue(), 0
        for target in (self.listen, self.pulse):
            threading.Thread(target=target, daemon=True).start()

    def listen(self) -> None:
        while (messages := self.lines.receive()) is not None:
            for message in messages:
                self.answers.put(message)
        os._exit(INTERRUPTED)  # the supervisor is gone; nobody is left to work for

    def pulse(self) -> None:
        while True:
            time.sleep(2 * TICK)
            self.send("beat")

    def send(self, op: str, **more) -> None:
        self.lines.send(op=op, rank=self.rank, count=self.count, step=self.name, **more)

    def step(self, name: str) -> None:
        """Say what comes next. All ranks take the same steps, so the one with the fewest is behind."""
        self.count, self.name = self.count + 1, name
        self.send("step")

    def tick(self) -> None:
        """Progress inside a step; costs nothing, the next heartbeat carries it."""
        self.count += 1

    def gather(self, value, everybody: bool = True) -> list | None:
        """One value from each rank, as a list in rank order: to everybody, or to rank 0 alone (None elsewhere)."""
        self.calls += 1
        self.count += 1
        self.send("gather", key=str(self.calls), value=value, all=everybody)
        answer = self.answers.get() if everybody or self.rank == 0 else None
        self.count += 1
        return answer and answer["values"] * answer["times"]

    def report(self, kind: str, data) -> None:
        """Hand a result to the supervisor, which prints and writes it; only rank 0's is heard."""
        if self.rank == 0:
            self.send("report", kind=kind, data=data)


@dataclass
class Supervisor:
    """Starts the workers of this place, relays for them, and ends them all with the board's verdict."""

    place: Place
    timeout: float
    reporter: object  # has take(kind, data) and finish(status, text); used where rank 0 is
    workers: dict[int, subprocess.Popen] = field(default_factory=dict)
    lines: dict[int, Lines] = field(default_factory=dict)
    verdict: dict | None = None
    stopped: float = 0.0  # when Ctrl-C came
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def run(self) -> int:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)
        try:
            addresses = socket.getaddrinfo(self.place.address, None)
        except OSError as error:
            who = f"rank {self.place.ranks[0]} on {socket.gethostname()}"
            raise ToolError(f"{who}: name resolution: MASTER_ADDR '{self.place.address}' is unknown here ({error})") from None
        board = Board(self.place, self.timeout) if 0 in self.place.ranks else None
        if board:
            board.start()
            self.check_port(board)
        home = self.connect(addresses, board)
        if not self.verdict:
            self.start_workers()
        self.watch(home)
        return self.close(home, board)

    def stop(self, number, frame) -> None:
        self.stopped = self.stopped or time.monotonic()

    def check_port(self, board: Board) -> None:
        """torchrun's agent serves the store on MASTER_PORT itself; elsewhere rank 0 must find the port free."""
        if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True" and port_taken(self.place.port):
            free = free_port()
            text = f"rank 0 on {socket.gethostname()}: port {self.place.port} is in use, {free} is free: set MASTER_PORT={free}"
            board.decide(FAILED, text, [0])

    def connect(self, addresses, board: Board | None) -> Lines:
        """Find the board: the first port behind MASTER_PORT where one answers with this run's key."""
        hello = {"host": socket.gethostname(), "pid": os.getpid(), "size": self.place.size, "key": self.place.key}
        deadline = time.monotonic() + self.timeout
        ports = [board.listener.getsockname()[1]] if board else range(self.place.port + 1, self.place.port + 1 + BOARD_PORTS)
        while time.monotonic() < deadline and not self.stopped:
            for address in dict.fromkeys(info[4][0] for info in addresses):
                for port in ports:
                    try:
                        lines = Lines(socket.create_connection((address, port), timeout=3))
                    except OSError:
                        continue
                    lines.send(op="hello", ranks=self.place.ranks, **hello)
                    answers = lines.receive() or []
                    if answers and answers[0]["op"] == "welcome":
                        self.verdict = answers[1] if len(answers) > 1 else None
                        self.selector.register(lines.sock, selectors.EVENT_READ, (None, lines))
                        return lines
                    lines.sock.close()
            time.sleep(TICK)
        if self.stopped:
            raise KeyboardInterrupt
        who = f"rank {self.place.ranks[0]} on {socket.gethostname()}"
        raise ToolError(f"{who}: rank 0 never answered at {self.place.address}, ports {ports[0]} to {ports[-1]}: it is not "
                        "running, or a firewall stands between", TIMED_OUT)  # fmt: skip

    def start_workers(self) -> None:
        for rank, local in zip(self.place.ranks, self.place.local_ranks, strict=True):
            ours, theirs = socket.socketpair()
            more = {"RANK": rank, "LOCAL_RANK": local, "WORLD_SIZE": self.place.size, LINK: theirs.fileno()}
            more |= {"MASTER_ADDR": self.place.address, "MASTER_PORT": self.place.port}
            more |= {} if "OMP_NUM_THREADS" in os.environ else {"OMP_NUM_THREADS": 1}
            self.workers[rank] = subprocess.Popen(
                [sys.executable, *sys.orig_argv[1:]],
                env=os.environ | {name: str(value) for name, value in more.items()},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr.fileno(),  # NCCL_DEBUG prints to stdout, which is the table's
            )
            theirs.close()
            self.lines[rank] = Lines(ours)
            self.selector.register(ours, selectors.EVENT_READ, (rank, self.lines[rank]))

    def watch(self, home: Lines) -> None:
        """Relay until the verdict is there."""
        told = False
        while not self.verdict:
            for event, _ in self.selector.select(TICK):
                rank, lines = event.data
                messages = lines.receive()
                if messages is None:
                    self.selector.unregister(lines.sock)
                    if rank is None:
                        text = f"rank 0's supervisor at {self.place.address} is gone: its host or its job step went down"
                        self.verdict = {"status": FAILED, "text": text, "blame": [], "alone": True}
                        break
                    home.send(op="exit", rank=rank, code=self.ended(rank, 10))
                for message in messages or []:
                    self.relay(rank, message, home)
            if self.stopped and not told:
                home.send(op="interrupt")
                told = True
            if self.stopped and time.monotonic() - self.stopped > 5 and not self.verdict:
                self.verdict = {"status": INTERRUPTED, "text": "interrupted", "blame": [], "alone": True}

    def ended(self, rank: int, patience: float) -> int:
        """Exit status of a worker, killed if it does not end by itself; a driver may hold even a killed one for ever."""
        worker = self.workers[rank]
        try:
            return worker.wait(patience)
        except subprocess.TimeoutExpired:
            worker.kill()
        try:
            return worker.wait(3)
        except subprocess.TimeoutExpired:
            return -int(signal.SIGKILL)

    def relay(self, rank: int | None, message: dict, home: Lines) -> None:
        if message["op"] == "verdict":
            self.verdict = message
        elif message["op"] == "gathered":
            for worker, lines in self.lines.items():
                if message["all"] or worker == 0:
                    lines.send(**message)
        elif message["op"] == "report":
            self.reporter.take(message["kind"], message["data"])
            home.send(op="step", rank=rank, count=message["count"], step=message["step"])
        elif rank is not None:
            home.send(**message)

    def close(self, home: Lines, board: Board | None) -> int:
        status, text = self.verdict["status"], self.verdict["text"]
        if status != OK:
            stuck = [self.workers[r] for r in self.verdict["blame"] if r in self.workers and status == TIMED_OUT]
            for worker in (w for w in stuck if w.poll() is None):
                worker.send_signal(signal.SIGUSR1)  # prints its Python stack
            time.sleep(TICK if stuck else 0)
        for rank in self.workers:
            self.ended(rank, 10 if status == OK else 0)
        if board:
            self.reporter.finish(status, text)
            wait_until = time.monotonic() + 3  # latecomers hear the verdict instead of waiting for nobody
            while len(board.seats) < board.size and time.monotonic() < wait_until:
                time.sleep(TICK)
            board.listener.close()
        elif not self.verdict.get("alone"):
            home.sock.settimeout(10)  # stay until rank 0 has written: launchers kill the rest when one has ended
            while home.receive():
                pass
        if text and (board or self.verdict.get("alone")):
            print(f"{TOOL}: {text}", file=sys.stderr, flush=True)
        return status


def run_ranks(work, reporter, timeout: float, nproc: int | None = None) -> int:
    """Run work(link) in every rank, under supervision; returns the exit status for this process."""
    descriptor = os.environ.pop(LINK, None)
    if descriptor is None:
        return Supervisor(find_place(nproc), timeout, reporter).run()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor hears Ctrl-C too, and decides
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    faulthandler.register(signal.SIGUSR1, all_threads=False)
    link, status = Link(int(descriptor)), FAILED
    try:
        work(link)
        link.gather(None)  # nobody closes its connections while another still uses them
        link.send("done")
        status = OK
    except ToolError as error:
        who = "" if error.everywhere else f"rank {link.rank} on {link.host}: "
        link.send("fail", text=f"{who}{error}", status=error.status)
        status = error.status
    except Exception:  # noqa: BLE001 - whatever torch raises is reported, by name, and ends this rank
        *frames, last = traceback.format_exc().strip().splitlines()
        link.send("error", text="\n".join([last, *frames]))  # printed only if no other rank's end explains it
    sys.stderr.flush()
    os._exit(status)  # torch's threads must not get the chance to abort a process that is done


# --- end common: ranks ---


# --- common: group ---
@dataclass
class Fault:
    """A fault to rehearse, from --inject KIND:RANK[:SECONDS]: shows that the alarm works before it is needed."""

    kind: str = ""
    rank: int = -1
    seconds: float = 0.05

    KINDS = ("hang", "stop", "die", "wrong", "slow", "mismatch", "version")

    @classmethod
    def parse(cls, text: str) -> Fault:
        kind, _, rest = text.partition(":")
        rank, _, seconds = rest.partition(":")
        if kind not in cls.KINDS or not rank.isdigit():
            raise argparse.ArgumentTypeError(f"{text!r}: write KIND:RANK, KIND one of {', '.join(cls.KINDS)}")
        return cls(kind, int(rank), float(seconds or 0.05))

    def hits(self, link: Link, *kinds: str) -> bool:
        return self.rank == link.rank and self.kind in kinds

    def strike(self, link: Link) -> None:
        """Called where a rank is about to enter a collective."""
        if self.hits(link, "hang"):
            time.sleep(1e6)
        elif self.hits(link, "slow"):
            time.sleep(self.seconds)
        elif self.hits(link, "stop", "die"):
            os.kill(os.getpid(), signal.SIGSTOP if self.kind == "stop" else signal.SIGKILL)


def agree(link: Link, subject: str, facts: dict) -> None:
    """End unless every rank gives the same facts; the message is a table of who says what."""
    said = link.gather(facts)
    if all(theirs == said[0] for theirs in said):
        return
    hosts, lines = link.gather(link.host), []
    for name in dict.fromkeys(name for theirs in said for name in theirs):
        voices: dict[str, list[str]] = {}
        for rank, (host, theirs) in enumerate(zip(hosts, said, strict=True)):
            voices.setdefault(str(theirs.get(name)), []).append(f"rank {rank} on {host}")
        if len(voices) > 1:
            most = max(voices.values(), key=len)
            shown = [f"{v} on {len(w)} ranks" if w is most and len(w) > 2 else f"{v} on {', '.join(w)}" for v, w in voices.items()]
            lines.append(f"  {name}: " + "; ".join(shown))
    raise ToolError(f"{subject}\n" + "\n".join(lines), everywhere=True)


def versions(torch, kind: str, index: int, fault: Fault, link: Link) -> dict:
    """What must be equal on all ranks for a job to be worth starting."""
    found = {
        TOOL: VERSION, "python": platform.python_version(), "torch": torch.__version__, "cuda": torch.version.cuda,
        "hip": torch.version.hip, "nccl": nccl_version(torch, kind), "driver": driver_version(torch, kind),
        "device kind": kind, "device": device_name(torch, kind, index), "devices": device_count(torch, kind),
    }  # fmt: skip
    return found | ({"torch": "0.0.0 (injected)"} if fault.hits(link, "version") else {})


def network_device(torch, wanted: str, link: Link) -> tuple[str, int, object]:
    """Kind, index and torch.device for this rank. One visible device means that the launcher has masked the others."""
    kind = pick_device(torch, wanted)
    if kind == "mps":  # has no collectives of its own
        kind = "cpu"
    agree(link, "ranks found different kinds of device:", {"device kind": kind})
    count = device_count(torch, kind)
    index = 0 if count == 1 else link.local_rank
    device = use_device(torch, kind, index)
    if kind in ("cuda", "xpu"):
        properties = device_module(torch, kind).get_device_properties(index)
        uuid = str(getattr(properties, "uuid", f"unknown to this torch, rank {link.rank}"))
        seats = link.gather([link.host, uuid])
        twins = [rank for rank, seat in enumerate(seats) if seat == seats[link.rank]]
        if len(twins) > 1:
            raise ToolError(f"ranks {', '.join(map(str, twins))} share one device, of {count} that this process sees")
    return kind, index, device


def note_devices(torch, kind: str, index: int, link: Link, when: str) -> None:
    """Clocks, power, temperature and throttle reasons of every rank's device, into the report."""
    state = {"host": link.host, "local_rank": link.local_rank} | device_state(torch, kind, index)
    link.report("devices", {when: link.gather(state, everybody=False)})


def hot_devices(states: list[dict]) -> list[str]:
    """Devices that the driver slows down because of heat or power delivery, in words."""
    bad = {"hardware slowdown", "hardware thermal slowdown", "software thermal slowdown", "hardware power brake"}
    return [
        f"{state['host']}, local rank {state['local_rank']}: the driver slows the device down: {', '.join(reasons)}"
        for state in states
        if (reasons := sorted(bad & set(state.get("throttle", []))))
    ]


def default_ranks(args) -> int | None:
    """Ranks to start where no launcher did: --nproc, else one for each device, two on a CPU."""
    if args.nproc or LINK in os.environ or "RANK" in os.environ:
        return args.nproc
    probe = "import torch; print(getattr(torch, 'accelerator', torch.cuda).device_count())"
    said = "" if args.device in ("cpu", "mps") else command_output(sys.executable, "-c", probe).strip()
    return int(said) if said.isdigit() and int(said) > 0 else 2


def gloo_reaches_out() -> bool:
    """Whether gloo listens where other hosts can connect: on a named interface, or where this host's name leads."""
    if os.environ.get("GLOO_SOCKET_IFNAME"):
        return True
    try:
        return not socket.getaddrinfo(socket.gethostname(), None)[0][4][0].startswith(("127.", "::1"))
    except OSError:
        return False


def join_group(torch, kind: str, timeout: float, link: Link):
    """Join the process group; returns torch.distributed. torch's own timeout lies behind the board's."""
    dist = torch.distributed
    backend = {"cuda": "nccl", "cpu": "gloo", "hpu": "hccl", "xpu": "xccl"}[kind]
    if kind == "hpu":
        need("habana_frameworks.torch.distributed.hccl")
    if kind == "xpu" and not getattr(dist, "is_xccl_available", bool)():
        need("oneccl_bindings_for_pytorch")
        backend = "ccl"
    if kind == "cuda" and not dist.is_nccl_available():
        raise ToolError(f"torch {torch.__version__} was built without NCCL", USAGE)
    several = len(set(link.gather(link.host))) > 1
    if kind == "cpu" and several and not gloo_reaches_out():
        raise ToolError("name resolution: this host's own name leads nowhere that others reach, so gloo would listen on "
                        "loopback: set GLOO_SOCKET_IFNAME to the interface, such as eth0")  # fmt: skip
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=2 * timeout + 60))
    return dist


# --- end common: group ---


# --- common: arrivals ---
def timed(call, prepare, arrive, sync, iters: int, clock=time.perf_counter) -> list[tuple[float, float]]:
    """Seconds from the start line to this rank's arrival and to its end, for each iteration.

    prepare() fills the buffers and waits at the start line; only call() and sync() lie between arrival and end.
    """
    marks = []
    for _ in range(iters):
        prepare()
        ready = clock()
        arrive()
        begin = clock()
        call()
        sync()
        end = clock()
        marks.append((begin - ready, end - ready))
    return marks


def waits(spans: list[float]) -> tuple[float, list[float]]:
    """Transfer seconds and lateness of each rank, from how long each was in one call of a collective.

    Nobody ends before everybody has come, so the last to come waits least: its own time is the transfer, and how much
    longer the others took is how late it was against each. No clocks of two hosts are compared.
    """
    return min(spans), [max(spans) - span for span in spans]


def late_ranks(late: list[list[float]], transfer: float) -> list[tuple[int, float, float]]:
    """Places in the group that are regularly last, with their median lateness and the share of iterations.

    Regularly: in over half of the iterations later than half a transfer, than thrice the others' median and than 1 ms.
    """
    usual = [percentile(values, 0.5) for values in late]
    named = []
    for place, values in enumerate(late):
        others = usual[:place] + usual[place + 1 :]
        limit = max(0.5 * transfer, 3 * percentile(others, 0.5), 1e-3) if others else math.inf
        share = sum(value > limit for value in values) / len(values)
        if share > 0.5 and usual[place] > limit:
            named.append((place, usual[place], share))
    return named


# --- end common: arrivals ---


# --- common: pairs ---
def pair_rounds(size: int) -> list[list[list[int]]]:
    """Rounds of disjoint pairs in which each rank meets every other once (a round-robin tournament)."""
    seats = list(range(size)) + [-1] * (size % 2)
    rounds = []
    for _ in range(len(seats) - 1):
        half = len(seats) // 2
        pairs = zip(seats[:half], reversed(seats[half:]), strict=True)
        rounds.append([sorted(pair) for pair in pairs if -1 not in pair])
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return rounds


def exchange(dist, x, to, y, source) -> None:
    """Send x and receive y at once."""
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, to), dist.P2POp(dist.irecv, y, source)]):
        work.wait()


# --- end common: pairs ---


# --- common: ratios ---
def interleaved(calls: dict, start_line, sync, link: Link, rounds: int, clock=time.perf_counter) -> dict[str, list[float]]:
    """Seconds of each call in each round. The calls take turns, so that a drift of the network meets all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start_line()
            link.tick()
            begin = clock()
            call()
            sync()
            seconds[name].append(clock() - begin)
    return seconds


def ratio_rows(everyone: list[dict[str, list[float]]], base: str) -> list[dict]:
    """Time and ratio to the base call, with spread. A round's time is that of the rank that takes longest; a round's
    ratio divides two times of the same round."""
    slowest = {name: [max(times) for times in zip(*(theirs[name] for theirs in everyone), strict=True)] for name in everyone[0]}
    rows = []
    for name, seconds in slowest.items():
        ratios = [own / other for own, other in zip(seconds, slowest[base], strict=True)]
        times = {cut: v if cut == "count" else v * 1e6 for cut, v in spread(seconds).items()}
        rows.append({"name": name, "time_us": times, "ratio": spread(ratios), "times_us": [s * 1e6 for s in seconds]})
    return rows


class RatioReporter:
    """Prints the comparison and writes the files, in rank 0's supervisor."""

    def __init__(self, args, title: str):
        self.args, self.title = args, title
        basics = {"host": socket.gethostname(), "command": shlex.join([sys.executable, *sys.argv])}
        self.report = new_report(args, basics)

    def take(self, kind: str, data) -> None:
        if kind == "devices":
            self.report.setdefault("devices", {}).update(data)
        elif kind != "rows":
            self.report[kind] = data
        else:
            self.show(data)

    def show(self, data: list[dict]) -> None:
        self.report["results"] += data
        where = self.report["environment"]
        print(f"# {self.title}, {len(where.get('hosts', []))} ranks, {where.get('device')}, torch {where.get('torch')}")
        print(f"{'call':<34} {'time us':>12} {'p5':>12} {'p95':>12} {'ratio':>9} {'p5':>9} {'p95':>9}")
        for row in data:
            t, r = row["time_us"], row["ratio"]
            print(f"{row['name']:<34} {t['median']:>12.1f} {t['p5']:>12.1f} {t['p95']:>12.1f} "
                  f"{r['median']:>9.2f} {r['p5']:>9.2f} {r['p95']:>9.2f}", flush=True)  # fmt: skip

    def finish(self, status: int, text: str) -> None:
        rows = self.report["results"]
        empty = status == OK and not rows
        status, text = (FAILED, "nothing was measured") if empty else (status, text)
        self.report["status"] = {OK: "ok", TIMED_OUT: "timed out", INTERRUPTED: "interrupted"}.get(status, "failed")
        self.report["problems"] += [text] if text else []
        cuts = ("median", "p5", "p95")
        flat = [{"name": r["name"]} | {f"{k}_{c}": r[k][c] for k in ("time_us", "ratio") for c in cuts} for r in rows]
        save_report(self.report, self.args, flat)
        if self.args.plot and rows:
            series = [(row["name"], [(n, t / 1e3) for n, t in enumerate(row["times_us"], 1)]) for row in rows]
            write_plot(self.args.plot, self.title, "round", "time, ms", series, points=True)
        if empty:
            raise ToolError(text)


def enter(args, link: Link):
    """The start of a comparing tool: torch, device, equal versions, group; returns them with a start line and a last act."""
    torch = need("torch")
    kind, index, device = network_device(torch, args.device, link)
    agree(link, "versions differ between ranks:", versions(torch, kind, index, Fault(), link))
    link.report("environment", environment(torch, kind, index) | {"hosts": link.gather(link.host)})
    note_devices(torch, kind, index, link, "before")
    link.step("joining the process group")
    dist, sync = join_group(torch, kind, args.timeout, link), functools.partial(synchronize, torch, kind)
    flag = torch.ones(1, dtype=torch.int32, device=device)

    def start_line():
        flag.fill_(1)
        dist.all_reduce(flag)
        sync()

    start_line()
    return torch, dist, device, sync, start_line, lambda: note_devices(torch, kind, index, link, "after")


# --- end common: ratios ---

#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""How long should this collective take, and does what I measured fit?

A cost model: steps x latency + bytes / (rate x efficiency), for the algorithms that a library may choose, beside the time
that no schedule without reduction inside the network can beat. Needs Python alone; nothing is launched.

  one GPU pair or one node:   python3 comm_time.py --size 1G --ranks 8 --link 450
  two nodes of 8:             python3 comm_time.py --size 1G --ranks 16 --per-node 8 --link 450 --nic 50
  SLURM, a job's measurement: srun ... all_reduce_bench.py --json r.json; python3 comm_time.py --compare r.json --link 450
  against published results:  python3 comm_time.py --self-check

What the numbers mean
  at least  the bytes that must cross the busiest link divided by its wire rate: a bound on the time, never the time
  expected  the model's time of an algorithm with --latency, --nic-latency and --efficiency; rules of thumb, derived
  algorithm ring: 2(n-1) steps for all_reduce, n-1 for the others; tree: 2 log2(n) steps; two-level: inside each node,
            across the nodes with one n-th of the bytes for each NIC, inside again; in-switch: sent once, received once
  measured  taken from a report or from published results; ratio = expected / measured
--size is the whole array, as in all_reduce_bench.py; rates are one way, GB/s for each accelerator. Exit status: 0 done and
in agreement, 1 a measurement contradicts the bound or lies far from the model, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import json
import math
import os
import re
import shlex
import signal
import socket
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import escape

TOOL, VERSION = "comm_time.py", "1.0"


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

COLLECTIVES = (
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather", "scatter", "send_recv",
)  # fmt: skip


@dataclass(frozen=True)
class Fabric:
    """Rates one way in GB/s for each accelerator, latencies in microseconds for each step."""

    ranks: int
    per_node: int
    link: float
    nic: float | None = None
    latency: float = 3.0
    nic_latency: float = 10.0
    efficiency: float = 0.8
    in_switch: bool = False

    @property
    def nodes(self) -> int:
        return math.ceil(self.ranks / self.per_node)


def share(collective: str, n: int) -> float:
    """Times the payload: what each rank sends with messages alone; the factor of busbw."""
    if collective == "all_reduce":
        return 2 * (n - 1) / n
    return 1.0 if collective in ("broadcast", "reduce", "send_recv") else (n - 1) / n


def bound_us(collective: str, size: int, f: Fabric) -> float:
    """No schedule is faster at wire rate: what must leave a rank, and what must leave a node through its NICs."""
    n, k = f.ranks, f.nodes
    if f.in_switch:
        return size / f.link / 1e3
    sent = share(collective, n) * size
    if k == 1:
        return sent / f.link / 1e3
    out = {"all_to_all": f.per_node * size * (n - f.per_node) / n, "send_recv": size}.get(
        collective, share(collective, k) * size
    )
    nics = 1 if collective == "send_recv" else f.per_node
    crossing = out / nics / f.nic / 1e3
    return max(crossing, sent / (f.link + f.nic) / 1e3)


def expected_us(collective: str, size: int, f: Fabric) -> dict[str, float]:
    """Time by algorithm in microseconds."""
    n, k, g = f.ranks, f.nodes, min(f.per_node, f.ranks)
    rate = f.efficiency * 1e3  # GB/s to bytes in a microsecond
    far = f.nic_latency if k > 1 else f.latency
    slowest = f.link if k == 1 else min(f.link, f.nic * g)  # one ring through every NIC of a node
    moved = share(collective, n) * size
    if collective == "send_recv":
        return {"direct": far + size / (rate * (f.link if k == 1 else f.nic))}
    if collective == "all_to_all":
        outside = size * (n - g) / n / (rate * f.nic) if k > 1 else 0.0
        return {"direct": (n - 1) * f.latency + max(outside, size * (g - 1) / n / (rate * f.link))}
    laps = 2 if collective == "all_reduce" else 1
    hops = laps * (k * far + (n - k) * f.latency if k > 1 else (n - 1) * f.latency)
    times = {"ring": hops + moved / (rate * slowest)}
    if collective == "all_reduce":
        times["tree"] = 2 * (math.log2(g) * f.latency + math.log2(k) * far) + moved / (rate * slowest)
    if k > 1 and g > 1 and collective in ("all_reduce", "all_gather", "reduce_scatter"):
        within = laps * ((g - 1) * f.latency + (g - 1) / g * size / (rate * f.link))
        across = laps * ((k - 1) * far + (k - 1) / k * size / g / (rate * f.nic))
        times["two-level"] = within + across
    if f.in_switch:
        times["in-switch"] = 25.0 + size / (rate * f.link)  # 25 us: NCCL's own model of its start-up cost
    return times


def best(times: dict[str, float]) -> tuple[str, float]:
    return min(times.items(), key=lambda item: item[1])


# ---- published results (ranks, per node, link, NIC, in-switch, bytes, algbw or busbw): what the model is held against
A100 = Fabric(8, 8, 300)
H200 = Fabric(8, 8, 450)
B200 = Fabric(32, 8, 900, 50)
MEASURED = [  # label, fabric, bytes, microseconds
    ("8x A100, NVLink 3", A100, 64 << 20, 684.6),
    ("8x A100, NVLink 3", A100, 256 << 20, 2420.6),
    ("8x A100, NVLink 3", A100, 1 << 30, 8203.9),
    ("8x A100, NVLink 3", A100, 16 << 30, 127997.0),
    ("8x H200, NVLink 4, ring", H200, 16 << 30, (16 << 30) * 1.75 / 367.61e3),
    ("8x H200, NVLink 4, NVLS", replace(H200, in_switch=True), 16 << 30, (16 << 30) / 275.58e3),
    ("8x H200, NVLink 4, NVLS", replace(H200, in_switch=True), 1 << 30, (1 << 30) / 264.9e3),
    ("4 x 8 B200, 400 Gbps a GPU", B200, 1 << 30, (1 << 30) * 1.9375 / 361.99e3),
    ("4 x 8 B200, 400 Gbps a GPU", B200, 4 << 30, (4 << 30) * 1.9375 / 377.34e3),
    ("4 x 8 B200, 400 Gbps a GPU", B200, 16 << 30, (16 << 30) * 1.9375 / 381.8e3),
]
FAR = 1.5  # a model that is off by more does not explain the measurement


def hold_against(label: str, collective: str, size: int, f: Fabric, measured: float) -> dict:
    """One measured time beside bound and model. Only payloads from 64 MiB count: below, latency and tuning decide."""
    least, (algorithm, expected) = bound_us(collective, size, f), best(expected_us(collective, size, f))
    row = {"label": label, "collective": collective, "bytes": size, "at_least_us": least, "algorithm": algorithm}
    row |= {"expected_us": expected, "measured_us": measured, "ratio": expected / measured}
    if measured < 0.99 * least:
        verdict = "below the bound: the wire rate is wrong, or the network reduces on the way (--in-switch)"
    elif size >= 64 << 20 and not 1 / FAR <= row["ratio"] <= FAR:
        verdict = "far from the model"
    else:
        verdict = "fits" if size >= 64 << 20 else "too small to judge"
    return row | {"verdict": verdict}


def print_held(rows: list[dict]) -> None:
    print(f"{'measurement':<28} {'payload':>9} {'at least':>11} {'expected':>11} {'by':>10} {'measured':>11} {'ratio':>6}  verdict")
    for r in rows:
        print(f"{r['label']:<28} {format_size(r['bytes']):>9} {r['at_least_us']:>11.1f} {r['expected_us']:>11.1f} "
              f"{r['algorithm']:>10} {r['measured_us']:>11.1f} {r['ratio']:>6.2f}  {r['verdict']}")  # fmt: skip


def from_report(path: str, args, fabric) -> list[dict]:
    """Rows of an all_reduce_bench.py report, held against the fabric of the command line."""
    try:
        report = json.loads(Path(path).read_text())
        hosts, rows = report["environment"]["hosts"], report["results"]
        held = []
        for row in rows:
            ranks, own = row["ranks"], [hosts[rank] for rank in row["ranks"]]
            f = replace(fabric, ranks=len(ranks), per_node=max(own.count(host) for host in own))
            if f.nodes > 1 and not f.nic:
                raise ToolError("the report has several hosts: --nic is missing", USAGE)
            held.append(hold_against(row["group"], row["collective"], row["bytes"], f, row["time_us"]["median"]))
    except OSError as error:
        raise ToolError(f"cannot read {path}: {error.strerror}", USAGE) from None
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ToolError(f"{path} is no report of all_reduce_bench.py ({type(error).__name__}: {error})", USAGE) from None
    if not held:
        raise ToolError(f"{path} holds no results")
    return held


def predict(args, fabric) -> list[dict]:
    """The model's answer for each payload and algorithm, printed."""
    rows = []
    print(f"# {args.collective}, {fabric.ranks} ranks on {fabric.nodes} node{'s' * (fabric.nodes > 1)}, "
          f"{fabric.link:g} GB/s inside" + (f", {fabric.nic:g} GB/s for each NIC" if fabric.nic else ""))  # fmt: skip
    print(f"{'payload':>9} {'at least us':>12} {'algorithm':>10} {'expected us':>12} {'busbw':>9}")
    for size in args.size:
        times, least = expected_us(args.collective, size, fabric), bound_us(args.collective, size, fabric)
        for algorithm, micro in sorted(times.items(), key=lambda item: item[1]):
            busbw = share(args.collective, fabric.ranks) * size / micro / 1e3
            row = {"collective": args.collective, "bytes": size, "at_least_us": least, "algorithm": algorithm}
            rows.append(row | {"expected_us": micro, "busbw_gb_per_s": busbw})
            print(f"{format_size(size):>9} {least:>12.1f} {algorithm:>10} {micro:>12.1f} {busbw:>9.2f}")
    return rows


def main() -> int:
    parser = make_parser(__doc__, "json", "csv", "plot", "quiet")
    parser.add_argument("--collective", choices=COLLECTIVES, default="all_reduce", help="(%(default)s)")
    parser.add_argument("--size", type=parse_size, nargs="+", default=[1 << 30], metavar="SIZE", help="payloads (1G)")
    parser.add_argument("--ranks", type=int, default=8, metavar="N", help="(%(default)s)")
    parser.add_argument("--per-node", type=int, metavar="N", help="ranks on one node (all of them)")
    parser.add_argument("--link", type=float, default=450.0, metavar="GB/s", help="inside a node, one way (%(default)g)")
    parser.add_argument("--nic", type=float, metavar="GB/s", help="between nodes, one way, for each accelerator")
    parser.add_argument("--latency", type=float, default=3.0, metavar="US", help="of a step inside a node (%(default)g)")
    parser.add_argument("--nic-latency", type=float, default=10.0, metavar="US", help="between nodes (%(default)g)")
    parser.add_argument("--efficiency", type=float, default=0.8, metavar="X", help="of the wire rate (%(default)g)")
    parser.add_argument("--in-switch", action="store_true", help="the network reduces on the way (NVLS)")
    parser.add_argument("--compare", metavar="FILE", help="JSON of all_reduce_bench.py to hold against the model")
    parser.add_argument("--self-check", action="store_true", help="hold the model against published results")
    args = parser.parse_args()
    per_node = args.per_node or args.ranks
    fabric = Fabric(args.ranks, per_node, args.link, args.nic, args.latency, args.nic_latency, args.efficiency, args.in_switch)
    if args.ranks < 2 or per_node < 1 or min(args.link, args.efficiency, args.nic or 1, *args.size) <= 0:
        parser.error("--ranks must be 2 or more, rates and sizes positive")
    if fabric.nodes > 1 and not args.nic and not args.self_check:
        parser.error(f"{fabric.nodes} nodes: --nic is missing")
    if args.in_switch and (args.collective != "all_reduce" or fabric.nodes > 1):
        parser.error("--in-switch is modelled for all_reduce inside one node only")
    report = new_report(args, {"host": socket.gethostname(), "command": shlex.join([sys.executable, *sys.argv])})
    if args.self_check:
        rows = [hold_against(label, "all_reduce", size, f, measured) for label, f, size, measured in MEASURED]
    else:
        rows = from_report(args.compare, args, fabric) if args.compare else predict(args, fabric)
    if "verdict" in rows[0]:
        print_held(rows)
    report["problems"] = [f"{r['label']}, {format_size(r['bytes'])}: {r['verdict']}" for r in rows
                          if r.get("verdict", "fits").startswith(("below", "far"))]  # fmt: skip
    report |= {"results": rows, "status": "failed" if report["problems"] else "ok"}
    save_report(report, args, rows)
    if args.plot:
        names = [name for name in ("at_least_us", "expected_us", "measured_us") if name in rows[0]]
        points = {row["bytes"]: row for row in reversed(rows)}  # the quickest algorithm of each payload
        series = [(name, [(size, points[size][name]) for size in sorted(points)]) for name in names]
        write_plot(args.plot, args.collective, "payload", "time, us", series, (), True, format_size)
    for problem in report["problems"]:
        print(f"{TOOL}: {problem}", file=sys.stderr)
    return FAILED if report["problems"] else OK


if __name__ == "__main__":
    sys.exit(run_tool(main))

#!/usr/bin/env python3
"""One run of the compute tools on a real accelerator: `python3 tests/gpu/compute_check.py OUT` (under 8 minutes).

Runs in this order, each within a time limit of its own and all within 465 seconds, and goes on after a failure:

  dtypes          what the device multiplies (mamf-finder --list-dtypes)
  mamf bf16       the budgeted search
  brute bf16      the coarse sweep, 3,375 shapes, 10 timings each
  mamf fp8_e4m3   the budgeted search
  bandwidth       own memory, and the paths to the host
  soak            60 seconds
  upgrade         a small transformer's training step at three lengths

OUT receives each tool's JSON and output and compute_check.json: every step's exit status and seconds, provenance, and the
comparison that decides: best rate of the search / best rate of the sweep, and search time / sweep time. The sweep's time is
also scaled to the usual 150 products a shape, which is marked as derived. Target: at least 99 % of the sweep's best in at
most 5 % of its time.

Exit status: 0 all steps ended well and the target is met, 1 otherwise. --rehearse runs tiny sizes on the CPU, to see that the
script itself works; its figures mean nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
USUAL_PRODUCTS = 150  # 50 to warm up, 100 timed: what the usual sweep spends on a shape
TARGET_RATE, TARGET_TIME = 0.99, 0.05
WHOLE = 465.0  # seconds for all steps together
COARSE = "1024:15360:1024"


def steps(rehearse: bool) -> list[tuple[str, str, list[str], int]]:
    """Name, tool, arguments and time limit in seconds of each step."""
    if rehearse:
        cpu, axes = ["--device", "cpu"], [word for axis in "mnk" for word in (f"--{axis}", "64:192:64")]
        tiny = ["--hidden", "32", "--layers", "1", "--heads", "2", "--kv-heads", "1", "--ffn", "48", "--vocab", "64", "--seq", "16"]
        return [
            ("dtypes", "mamf-finder.py", [*cpu, "--list-dtypes"], 60),
            ("mamf_bf16", "mamf-finder.py", [*cpu, *axes, "--seconds", "5", "--flush", "0"], 60),
            ("brute_bf16", "mamf-finder.py", [*cpu, *axes, "--every", "--flush", "0"], 60),
            ("bandwidth", "memory_bandwidth.py", [*cpu, "--min-bytes", "64K", "--max-bytes", "64K"], 60),
            ("soak", "soak.py", [*cpu, "--products", "20", "--size", "64"], 60),
            ("upgrade", "upgrade_bench.py", [*cpu, *tiny], 60),
        ]
    coarse = [word for axis in "mnk" for word in (f"--{axis}", COARSE)]
    return [
        ("dtypes", "mamf-finder.py", ["--list-dtypes"], 40),
        ("mamf_bf16", "mamf-finder.py", ["--dtype", "bf16"], 130),
        ("brute_bf16", "mamf-finder.py", ["--dtype", "bf16", *coarse, "--every", "--iters", "10"], 170),
        ("mamf_fp8", "mamf-finder.py", ["--dtype", "fp8_e4m3", "--seconds", "60"], 90),
        ("bandwidth", "memory_bandwidth.py", ["--min-bytes", "256M", "--max-bytes", "2G"], 45),
        ("soak", "soak.py", ["--seconds", "60"], 80),
        ("upgrade", "upgrade_bench.py", ["--seq", "2048", "8192", "16384"], 60),
    ]


def run_step(out: Path, name: str, tool: str, arguments: list[str], limit: float) -> dict:
    """Run one tool; what it printed goes to OUT, its report is read back."""
    path, writes = TOOLS / "compute" / tool, ["--json", str(out / f"{name}.json")] if name != "dtypes" else []
    begin = time.monotonic()
    with open(out / f"{name}.txt", "w") as text:
        process = subprocess.Popen([sys.executable, str(path), *arguments, *writes], stdout=text, stderr=subprocess.STDOUT)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            process.terminate()  # the tool writes what it has
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
            status = None
    told = {"status": status, "seconds": time.monotonic() - begin, "tool": tool, "arguments": arguments}
    told["tool_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    try:
        told["report"] = json.loads((out / f"{name}.json").read_text())
    except (OSError, ValueError):
        told["report"] = None
    print(f"{name}: exit {status} after {told['seconds']:.0f} s", flush=True)
    return told


def compare(search: dict, sweep: dict) -> dict | None:
    """Search against sweep: rates are measured; the time of a sweep with the usual repetitions is derived."""
    try:
        best, brute = search["report"]["best"], sweep["report"]["best"]
        ours, theirs = search["report"]["search"], sweep["report"]["search"]
    except (KeyError, TypeError):
        return None
    usual = theirs["seconds"] * USUAL_PRODUCTS / (theirs["products"] / theirs["shapes"])
    rate, spent = best["tflops_median"] / brute["tflops_median"], ours["seconds"] / usual
    return {
        "search": {"tflops": best["tflops_median"], "shape": [best[x] for x in "mnk"], **{k: ours[k] for k in ("seconds", "products")}},
        "sweep": {"tflops": brute["tflops_median"], "shape": [brute[x] for x in "mnk"], **{k: theirs[k] for k in ("seconds", "products")}},
        "sweep_seconds_at_150_products": {"value": usual, "how": "derived: measured time x 150 / products a shape"},
        "rate_ratio": rate,
        "time_ratio": spent,
        "target": {"rate_ratio": TARGET_RATE, "time_ratio": TARGET_TIME},
        "met": rate >= TARGET_RATE and spent <= TARGET_TIME,
    }


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder for the results")
    parser.add_argument("--rehearse", action="store_true", help="tiny sizes on the CPU")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    begin, result = time.monotonic(), {"schema_version": 1, "rehearsal": args.rehearse, "steps": {}}
    for name, tool, arguments, limit in steps(args.rehearse):
        left = WHOLE - (time.monotonic() - begin)
        result["steps"][name] = run_step(args.out, name, tool, arguments, max(1.0, min(limit, left)))
        first = next((s["report"]["environment"] for s in result["steps"].values() if s["report"]), None)
        result |= {"environment": first, "seconds": time.monotonic() - begin}
        result["comparison"] = compare(result["steps"].get("mamf_bf16", {}), result["steps"].get("brute_bf16", {}))
        temporary = args.out / "compute_check.json.tmp"  # after every step, so that a run cut short leaves what it has
        temporary.write_text(json.dumps(result, indent=1) + "\n")
        os.replace(temporary, args.out / "compute_check.json")
    failed = [name for name, step in result["steps"].items() if step["status"] != 0]
    comparison = result["comparison"]
    if comparison:
        print(f"search / sweep: {comparison['rate_ratio']:.2%} of the rate in {comparison['time_ratio']:.2%} of the (derived) time")
    print(f"{result['seconds']:.0f} s; failed: {', '.join(failed) or 'none'}")
    return int(bool(failed) or not comparison or not (comparison["met"] or args.rehearse))


if __name__ == "__main__":
    sys.exit(main())

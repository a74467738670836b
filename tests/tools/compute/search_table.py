"""The search of mamf-finder against brute force on simulated devices: `python tests/tools/compute/search_table.py`."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import signal
import statistics
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
import simulator

TOOLS = Path(__file__).resolve().parents[3] / "tools"


@cache
def load(path: str):
    """A tool as a module, whatever its file is called."""
    spec = importlib.util.spec_from_file_location(Path(path).stem.replace("-", "_"), TOOLS / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run_inside(path: str, *arguments) -> subprocess.CompletedProcess:
    """A tool's command line run in this process, which saves importing torch: exit status, output and errors."""
    module, out, err, words = load(path), io.StringIO(), io.StringIO(), [str(a) for a in arguments]
    before = signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = module.run_tool(lambda: module.main(words))
    except SystemExit as error:
        status = error.code
    finally:
        signal.signal(signal.SIGTERM, before)
    return subprocess.CompletedProcess([path, *words], status, out.getvalue(), err.getvalue())


mamf = load("compute/mamf-finder.py")
AXIS = mamf.axis_values(None, "256:20480:128")  # the tool's own default
UNITS = {
    "units known": lambda units: units,
    "units unknown": lambda units: None,
    "units 13 % too many": lambda units: int(units * 1.13) + 1,
    "units halved": lambda units: units // 2,
}


@cache
def best_of_grid(kind: str, seed: int, coarse: bool = False) -> float:
    return simulator.make(kind, seed).grid_best(simulator.COARSE if coarse else simulator.FINE)


def search(kind: str, seed: int, units: str = "units known"):
    """Run the search on a device: the device, the search, the shape found."""
    device = simulator.make(kind, seed)
    device.refusal = mamf.DoesNotFit
    count = UNITS[units](device.units)
    budget = 10_000 if count else 20_000
    found = mamf.Search(device.measure, [AXIS] * 3, count, budget, seed, ceiling=device.peak * 1.03)
    return device, found, found.run()


def regret(kind: str, seed: int, shape) -> float:
    """By how much the true rate of a shape lies below the best of the fine grid; negative where it is better."""
    return 1 - float(simulator.make(kind, seed).rate(*shape)) / best_of_grid(kind, seed)


def random_search(kind: str, seed: int, products: int = 10_000, iters: int = 3):
    """What the same number of products finds at random places of the fine grid."""
    device = simulator.make(kind, seed)
    shapes = np.random.default_rng(seed).choice(simulator.FINE, (products // (iters + 1), 3)).tolist()
    rates = {}
    for m, n, k in shapes:
        try:
            rates[m, n, k] = 2.0 * m * n * k / statistics.median(device.measure((m, n, k), 1, iters))
        except MemoryError:
            continue
    return device.calls, max(rates, key=rates.get)


def main(seeds: int = 10) -> None:
    pairs = [(kind, seed) for kind in simulator.KINDS for seed in range(seeds)]
    print(f"{len(simulator.KINDS)} kinds of simulated device, {seeds} seeds each; regret against the fine grid's best true rate")
    print(f"{'method':<34} {'products':>10} {'mean regret':>12} {'worst regret':>13}")

    def line(method, products, regrets):
        regrets = [max(0.0, r) for r in regrets]
        print(f"{method:<34} {products:>10,} {statistics.mean(regrets):>11.2%} {max(regrets):>12.2%}", flush=True)

    line("fine sweep, step 256, no noise", len(simulator.FINE) ** 3 * simulator.BRUTE_REPEATS, [0.0])
    coarse = [1 - best_of_grid(*pair, coarse=True) / best_of_grid(*pair) for pair in pairs]
    line("coarse sweep, step 1024, no noise", len(simulator.COARSE) ** 3 * simulator.BRUTE_REPEATS, coarse)
    chance = [random_search(*pair) for pair in pairs]
    line("random shapes", max(c for c, _ in chance), [regret(*p, shape) for p, (_, shape) in zip(pairs, chance, strict=True)])
    for units in UNITS:
        found = [search(*pair, units) for pair in pairs]
        calls = max(device.calls for device, _, _ in found)
        line(f"this search, {units}", calls, [regret(*p, shape) for p, (_, _, shape) in zip(pairs, found, strict=True)])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""What all_reduce_bench.py adds to a call: its median at 8 B against a bare timed loop around the same call.

    torchrun --nproc-per-node 2 tests/bench/bench_all_reduce_overhead.py [BLOCKS]

The two take turns in one process group. Prints the medians and their ratios; exit status 1 when what the tool reports is
over 1.1 times the bare loop.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import statistics
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import torch

TOOL = Path(__file__).resolve().parents[2] / "tools" / "network" / "all_reduce_bench.py"
ITERS, LIMIT = 50, 1.1


def load_tool():
    spec = importlib.util.spec_from_file_location("all_reduce_bench", TOOL)
    module = sys.modules["all_reduce_bench"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bare(call, sync, iters: int) -> list[float]:
    """The loop that anyone would write."""
    seconds = []
    for _ in range(iters):
        begin = time.perf_counter()
        call()
        sync()
        seconds.append(time.perf_counter() - begin)
    return seconds


def main(blocks: int) -> int:
    bench = load_tool()
    kind = bench.pick_device(torch)
    device = bench.use_device(torch, kind, int(os.environ["LOCAL_RANK"]))
    dist = bench.join_group(torch, kind, 60, SimpleNamespace(host="", gather=lambda value: [value]))
    rank, size = dist.get_rank(), dist.get_world_size()
    sync = functools.partial(bench.synchronize, torch, kind)
    case = bench.Case(torch, "all_reduce", 8, torch.float32, device, SimpleNamespace(rank=rank), None, list(range(size)))
    flag = torch.ones(1, device=device)

    def prepare():
        case.fill()
        flag.fill_(1)
        dist.all_reduce(flag)
        sync()

    for measure in (lambda: bare(case.call, sync, ITERS), lambda: bench.timed(case.call, prepare, int, sync, ITERS)):
        measure()  # warm up
    plain, ours = [], []
    for _ in range(blocks):
        case.fill()
        plain += bare(case.call, sync, ITERS)
        marks = bench.timed(case.call, prepare, int, sync, ITERS)
        ours += [end - begin for begin, end in marks]
    times = torch.tensor([plain, ours], dtype=torch.float32, device=device)  # [loop, iteration], seconds
    everyone = [torch.empty_like(times) for _ in range(size)]
    dist.all_gather(everyone, times)
    dist.destroy_process_group()
    ranks = torch.stack(everyone).cpu()  # [rank, loop, iteration]
    bare_us, own_us = (statistics.median(ranks[:, loop].median(dim=1).values.tolist()) * 1e6 for loop in (0, 1))
    reported_us = statistics.median(bench.waits(spans)[0] for spans in ranks[:, 1].T.tolist()) * 1e6
    if rank == 0:
        print(f"{size} ranks, {kind}, 8 B, {blocks * ITERS} iterations each: bare loop {bare_us:.1f} us; tool {own_us:.1f} us "
              f"on a rank, ratio {own_us / bare_us:.3f}; reported, without the wait for the last rank, {reported_us:.1f} us, "
              f"ratio {reported_us / bare_us:.3f} (limit {LIMIT})")  # fmt: skip
    return int(reported_us > LIMIT * bare_us)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))

"""Accelerators that exist as formulas, to test the search of mamf-finder without one.

A matmul m×n×k is cut into tiles of Tm×Tn; the device works on as many tiles at once as it has units, so the time is that of
⌈⌈m/Tm⌉·⌈n/Tn⌉/units⌉ waves, or that of moving the operands if it is longer, plus a launch. The library picks the fastest of
its tiles, or what it thinks is the fastest. Power droop makes long, dense products run at a lower clock; the device slows
as it gets hot; each timing has noise, and one in a hundred is plain wrong.

A simulator proves the search, not any hardware.
"""

from __future__ import annotations

import dataclasses
import math
import random
from dataclasses import dataclass

import numpy as np

FINE = np.arange(256, 20480, 256)  # 79 values an axis, 493,039 shapes
COARSE = np.arange(1024, 16384, 1024)  # 15 values an axis, 3,375 shapes
BRUTE_REPEATS = 150  # matmuls a shape in the usual sweeps: 50 to warm up, 100 timed


@dataclass
class Device:
    """One simulated accelerator. Times in seconds, rates in FLOP/s and bytes/s."""

    units: int
    tiles: tuple[tuple[int, int, float], ...]  # Tm, Tn and the share of its rate that a unit reaches with them
    unit_rate: float = 6e12
    bandwidth: float = 3e12
    launch: float = 4e-6
    ramp: float = 2e-6  # of every wave: fill and drain the pipeline, write the tile
    droop: float = 0.25  # share of the clock that a long, dense product loses
    droop_time: float = 5e-4
    drift: float = 0.03  # share of the clock that is lost as the device gets hot
    drift_time: float = 2.0  # seconds of work
    noise: float = 0.006
    rogue: float = 0.01  # share of timings that are wrong
    clumsy: float = 0.0  # spread of the library's wrong idea of each tile's speed
    rugged: float = 0.0  # spread of what no model explains, fixed for each shape
    memory: float = 80e9
    size: int = 2  # bytes of an element
    seed: int = 0
    refusal: type[Exception] = MemoryError  # what the allocator raises
    calls: int = 0
    busy: float = 0.0

    def __post_init__(self):
        self.random = random.Random(self.seed)
        self.bias = np.exp(self.clumsy * np.random.default_rng(self.seed).standard_normal(len(self.tiles)))

    def seconds(self, m, n, k):
        """The true time of a product on the hot device; m, n and k are arrays that broadcast, or numbers."""
        m, n, k = (np.asarray(x, dtype=np.float64) for x in (m, n, k))
        moved = self.size * (m * k + k * n + m * n) * 1.1 / self.bandwidth
        guess = best = None
        for (tm, tn, share), bias in zip(self.tiles, self.bias, strict=True):
            waves = np.ceil(np.ceil(m / tm) * np.ceil(n / tn) / self.units)
            one = 2.0 * tm * tn * (np.ceil(k / 64) * 64) / (self.unit_rate * share) + self.ramp
            took = np.maximum(waves * one, moved)
            thought = took * bias
            if best is None:
                guess, best = thought, took
            else:
                best = np.where(thought < guess, took, best)
                guess = np.minimum(thought, guess)
        best = best + self.launch
        dense = 2.0 * m * n * k / (best * self.units * self.unit_rate)
        best = best / (1 - self.droop * dense * -np.expm1(-best / self.droop_time))
        return best * self.unexplained(m, n, k)

    def unexplained(self, m, n, k):
        if not self.rugged:
            return 1.0
        mixed = np.sin(m * 12.9898 + n * 78.233 + k * 37.719 + self.seed) * 43758.5453
        return 1 + self.rugged * 3.46 * (mixed - np.floor(mixed) - 0.5)  # even, with that standard deviation

    def fits(self, m, n, k):
        m, n, k = (np.asarray(x, dtype=np.float64) for x in (m, n, k))
        return self.size * (m * k + k * n + m * n) < self.memory

    def rate(self, m, n, k):
        """True FLOP/s on the hot device; 0 where the operands do not fit."""
        return np.where(self.fits(m, n, k), 2.0 * np.float64(m) * n * k / self.seconds(m, n, k), 0.0)

    def grid_best(self, axis=FINE) -> float:
        """The best true rate of all shapes of a grid."""
        m, n, k = axis[:, None, None], axis[None, :, None], axis[None, None, :]
        return max(float(self.rate(m[i : i + 8], n, k).max()) for i in range(0, len(axis), 8))

    @property
    def peak(self) -> float:
        return self.units * self.unit_rate

    def one(self, m: int, n: int, k: int) -> float:
        """seconds() of one shape, without numpy's cost for small arrays; a test compares the two."""
        moved = self.size * (m * k + k * n + m * n) * 1.1 / self.bandwidth
        guess = best = math.inf
        for (tm, tn, share), bias in zip(self.tiles, self.bias.tolist(), strict=True):
            waves = -(-(-(-m // tm) * -(-n // tn)) // self.units)
            took = max(waves * (2.0 * tm * tn * -(-k // 64) * 64 / (self.unit_rate * share) + self.ramp), moved)
            if took * bias < guess:
                guess, best = took * bias, took
        best += self.launch
        dense = 2.0 * m * n * k / (best * self.units * self.unit_rate)
        best /= 1 - self.droop * dense * -math.expm1(-best / self.droop_time)
        return best * float(self.unexplained(float(m), float(n), float(k)))

    def measure(self, shape, warmup: int, iters: int) -> list[float]:
        """What the tool's own measure does: run the product warmup + iters times, return iters timings in seconds."""
        if self.size * (shape[0] * shape[2] + shape[2] * shape[1] + shape[0] * shape[1]) >= self.memory:
            raise self.refusal(f"out of memory: {shape}")
        true = self.one(*shape)
        self.calls += warmup + iters
        self.busy += true * (warmup + iters)
        hot = (1 + self.drift * -math.expm1(-self.busy / self.drift_time)) / (1 + self.drift)
        times = []
        for _ in range(iters):
            took = true * hot * math.exp(self.random.gauss(0.0, self.noise))
            if self.random.random() < self.rogue:
                took *= self.random.choice((0.02, 0.3, 0.7, 0.85, 3.0, 20.0))
            times.append(took)
        return times


HOPPER = ((128, 256, 0.92), (256, 128, 0.92), (128, 128, 0.84), (64, 256, 0.76), (128, 64, 0.7))
AMPERE = ((128, 256, 0.94), (256, 128, 0.94), (128, 128, 0.9), (64, 128, 0.75), (64, 64, 0.6))
BLACKWELL = ((256, 256, 0.93), (256, 128, 0.88), (128, 256, 0.9), (128, 128, 0.75))
INSTINCT = ((256, 256, 0.85), (256, 224, 0.84), (192, 256, 0.83), (256, 128, 0.76), (128, 128, 0.66))

KINDS = {
    "108 units, mild droop": Device(108, AMPERE, 2.9e12, 2e12, droop=0.12),
    "132 units, strong droop": Device(132, HOPPER, 7.5e12, 3.3e12, droop=0.3),
    "148 units, big tiles": Device(148, BLACKWELL, 15.2e12, 8e12, droop=0.3, memory=180e9),
    "304 units, clumsy library": Device(304, INSTINCT, 4.3e12, 5.3e12, droop=0.45, clumsy=0.06, memory=192e9),
    "114 units, no droop": Device(114, HOPPER, 6.6e12, 2e12, droop=0.0, drift=0.0),
    "8 units, huge tile": Device(8, ((1024, 1024, 0.97), (512, 512, 0.8)), 2.1e14, 3.6e12, droop=0.05, ramp=8e-6),
    "142 units, slow memory": Device(142, HOPPER, 2.6e12, 0.86e12, droop=0.2, memory=48e9),
    "24 units, little memory": Device(24, AMPERE, 1.2e12, 0.4e12, droop=0.1, memory=0.4e9),
    "152 units, rugged": Device(152, BLACKWELL, 16.4e12, 8e12, droop=0.3, rugged=0.002, memory=186e9),
    "84 units, odd tiles": Device(84, ((192, 192, 0.9), (192, 96, 0.8), (160, 128, 0.82)), 3.5e12, 1.2e12, droop=0.2),
    "256 units, quick to droop": Device(256, INSTINCT, 9.8e12, 8e12, droop=0.4, droop_time=6e-5, memory=288e9),
}


def make(kind: str, seed: int) -> Device:
    """A device of a kind: its figures vary with the seed, as chips of one name do."""
    rng = np.random.default_rng(1000 + seed)
    base = KINDS[kind]
    vary = {name: getattr(base, name) * rng.uniform(0.7, 1.3) for name in ("bandwidth", "ramp", "droop", "droop_time", "launch")}
    missing = int(rng.integers(0, 3)) * 2 if base.units > 16 else 0  # units that were fused off
    return dataclasses.replace(base, seed=seed, units=base.units - missing, noise=base.noise * rng.uniform(0.5, 2), **vary)

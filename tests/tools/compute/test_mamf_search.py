"""The search behind mamf-finder.py, on simulated devices; it proves the search, no hardware."""

from __future__ import annotations

import itertools
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import simulator
from search_table import AXIS, best_of_grid, mamf, random_search, regret, search

SEEDS = range(10)
COARSE_SWEEP = 3375 * 150
each_kind = pytest.mark.parametrize("kind", simulator.KINDS)


def test_the_simulator_counts_waves_as_by_hand():
    """132 units, tiles of 128 x 256: 1408 x 3072 is 11 x 12 tiles, one wave; one row more is two."""
    device = simulator.Device(132, ((128, 256, 1.0),), unit_rate=1e12, bandwidth=1e15, launch=0, ramp=0, droop=0)
    one_wave = 2 * 128 * 256 * 4096 / 1e12
    assert device.one(1408, 3072, 4096) == pytest.approx(one_wave)
    assert device.one(1409, 3072, 4096) == pytest.approx(2 * one_wave)
    starved = simulator.Device(132, ((128, 256, 1.0),), unit_rate=1e15, bandwidth=1e9, launch=0, ramp=0, droop=0)
    assert starved.one(1408, 3072, 4096) == pytest.approx(2 * 1.1 * (1408 * 4096 + 4096 * 3072 + 1408 * 3072) / 1e9)


@each_kind
def test_both_ways_of_computing_a_simulated_time_agree(kind):
    device = simulator.make(kind, 3)
    shapes = np.random.default_rng(0).integers(64, 9000, (50, 3))
    assert [device.one(*s) for s in shapes.tolist()] == pytest.approx(device.seconds(*shapes.T).tolist(), rel=1e-6)


def test_the_grids_are_those_of_the_usual_sweeps():
    assert (len(simulator.COARSE) ** 3, len(simulator.FINE) ** 3) == (3375, 493_039)


@each_kind
def test_two_per_cent_of_the_coarse_sweep_come_within_one_per_cent_of_the_fine_grid(kind):
    for seed in SEEDS:
        device, _, shape = search(kind, seed)
        assert device.calls <= 0.02 * COARSE_SWEEP
        assert regret(kind, seed, shape) <= 0.01, (seed, shape)


@each_kind
@pytest.mark.parametrize("units", ["units unknown", "units 13 % too many", "units halved"])
def test_four_per_cent_are_enough_without_the_right_unit_count(kind, units):
    for seed in SEEDS:
        device, _, shape = search(kind, seed, units)
        assert device.calls <= 0.04 * COARSE_SWEEP
        assert regret(kind, seed, shape) <= 0.03, (seed, shape)


def test_a_wrong_unit_count_is_noticed():
    assert any(search("84 units, odd tiles", seed, "units 13 % too many")[1].doubted for seed in SEEDS)
    assert not any(search("132 units, strong droop", seed)[1].doubted for seed in SEEDS)


@each_kind
def test_what_is_reported_is_the_rate_of_that_shape_and_no_rogue_timing(kind):
    """One in a hundred timings is wrong by up to 50 times; the reported median is within the drift of the truth."""
    for seed in SEEDS:
        device, found, shape = search(kind, seed)
        said = found.leaders(1)[0][1]
        assert said == pytest.approx(float(device.rate(*shape)), rel=0.03)
        assert said <= device.peak


def test_rogue_timings_do_not_win_even_when_the_peak_is_unknown():
    for seed in SEEDS:
        device = simulator.make("132 units, strong droop", seed)
        device.refusal = mamf.DoesNotFit
        shape = mamf.Search(device.measure, [AXIS] * 3, device.units, 10_000, seed).run()
        assert regret("132 units, strong droop", seed, shape) <= 0.01


def test_random_shapes_with_the_same_budget_miss_the_mark():
    """The bounds above are hard: chance does not reach them."""
    regrets = [regret(k, 0, random_search(k, 0)[1]) for k in simulator.KINDS]
    assert max(regrets) > 0.03


def test_the_fine_grid_s_best_is_really_the_best():
    device = simulator.make("24 units, little memory", 0)
    some = np.random.default_rng(1).choice(simulator.FINE, (2000, 3))
    assert device.rate(*some.T).max() <= best_of_grid("24 units, little memory", 0)


def test_shapes_that_do_not_fit_are_passed_over():
    device, found, shape = search("24 units, little memory", 0)
    assert found.refused
    assert device.fits(*shape)
    assert all(not device.fits(*s) for s in found.refused)
    assert len(found.refused) < 40  # not everything larger is tried in turn


@pytest.mark.parametrize("after", [40, 900, 2300])
def test_ctrl_c_keeps_the_best_so_far(after):
    device = simulator.make("132 units, strong droop", 1)
    visits = itertools.count()

    def measure(*args):
        if next(visits) == after:
            raise KeyboardInterrupt
        return device.measure(*args)

    found = mamf.Search(measure, [AXIS] * 3, device.units, 10_000, 1, ceiling=device.peak)
    with pytest.raises(KeyboardInterrupt):
        found.run()
    shape, rate, rates = found.leaders(1)[0]
    assert rate == statistics.median(rates)
    truth = {s: float(device.rate(*s)) for s in found.rates}
    assert truth[shape] > 0.93 * max(truth.values())


def test_a_shape_always_above_the_ceiling_is_reported_and_never_the_best():
    def measure(shape, warmup, iters):
        return [1e-9 if shape == (256, 256, 256) else 1e-3] * iters

    found = mamf.Search(measure, [[256, 512]] * 3, 8, 10_000, ceiling=1e13)
    assert found.run() == (512, 512, 512)
    assert list(found.impossible) == [(256, 256, 256)]


def test_a_timing_of_zero_is_no_record():
    found = mamf.Search(lambda shape, warmup, iters: [0.0] * iters, [[256]] * 3, ceiling=1e15)
    assert found.run() is None
    assert not found.leaders(1)


def test_time_runs_out_and_there_is_still_a_result(monkeypatch):
    """Each product takes a second of the clock: forty of them are all there is time for, and one turn of the final."""
    clock = [0.0]
    monkeypatch.setattr(mamf.time, "monotonic", lambda: clock[0])
    device = simulator.make("114 units, no droop", 0)

    def measure(shape, warmup, iters):
        clock[0] += warmup + iters
        return device.measure(shape, warmup, iters)

    found = mamf.Search(measure, [AXIS] * 3, None, 10_000, seconds=40)
    assert found.run() in found.finals
    assert clock[0] < 40 + 13 * 4


@pytest.mark.parametrize(
    ("words", "values"),
    [(["4096"], [4096]), (["1024:4096:1024"], [1024, 2048, 3072, 4096]), (["128", "256:512:256"], [128, 256, 512])],
)
def test_sizes_and_ranges(words, values):
    assert mamf.axis_values(words, "") == values


@pytest.mark.parametrize("word", ["0", "a", "1:2", "-4", "8:4:2"])
def test_a_size_that_is_none_is_wrong_usage(word):
    with pytest.raises(mamf.ToolError) as caught:
        mamf.axis_values([word], "")
    assert caught.value.status == 2


def test_a_fixed_axis_stays_fixed():
    device = simulator.make("132 units, strong droop", 0)
    found = mamf.Search(device.measure, [[4096], AXIS, [1024, 2048]], device.units, 10_000)
    assert found.run()[0] == 4096
    assert {s[0] for s in found.rates} == {4096}


def test_the_table_of_methods_is_printed():
    script = Path(__file__).with_name("search_table.py")
    done = subprocess.run([sys.executable, script, "1"], capture_output=True, text=True, timeout=300, check=True)
    assert "506,250" in done.stdout
    assert "this search, units known" in done.stdout

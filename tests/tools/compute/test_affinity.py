"""affinity.py on trees of /sys as Linux lays them out, kept as lists of files (sysfs/*.txt), and on made-up processes."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from search_table import TOOLS, load

affinity = load("compute/affinity.py")
TOOL = TOOLS / "compute/affinity.py"
TREES = Path(__file__).with_name("sysfs")
MACHINES = sorted(path.stem for path in TREES.glob("*.txt"))


def plant(name: str, root: Path) -> Path:
    """Make a tree from its list: 'path = content' is a file, 'path -> target' a link."""
    for line in (TREES / f"{name}.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        path, arrow, target = line.partition(" -> ")
        if not arrow:
            path, _, text = line.partition(" =")
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if arrow:
            place.symlink_to(target)
        else:
            place.write_text(text.strip() + "\n")
    return root


@pytest.fixture
def machine(tmp_path):
    return lambda name: affinity.read_machine(plant(name, tmp_path / name))


def run(*arguments, **more):
    command = [sys.executable, str(TOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)


@pytest.mark.parametrize(("text", "numbers"), [("0-3,8", [0, 1, 2, 3, 8]), ("", []), ("5", [5]), ("0-1,4-5\n", [0, 1, 4, 5])])
def test_cpu_lists_are_read_and_written(text, numbers):
    assert affinity.parse_list(text) == numbers
    assert affinity.format_list(numbers) == text.strip()


def test_two_sockets_each_rank_gets_its_gpu_s_node_and_the_nic_of_its_switch(machine):
    seats = affinity.plan(machine("two-sockets"))
    assert [seat.node for seat in seats] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [affinity.format_list(s.cpus) for s in seats[:2]] == ["0-1,16-17", "2-3,18-19"]  # whole cores with both threads
    assert affinity.format_list(seats[4].cpus) == "8-9,24-25"
    assert [seat.nic for seat in seats] == [f"mlx5_{i}" for i in range(8)]
    assert {seat.nic_hops for seat in seats} == {"same switch"}


def test_no_cpu_is_given_to_two_ranks(machine):
    for name in MACHINES:
        cpus = [cpu for seat in affinity.plan(machine(name)) for cpu in seat.cpus]
        assert len(cpus) == len(set(cpus)) > 0, name


def test_a_management_controller_s_picture_is_no_gpu(machine):
    assert len(machine("two-sockets").gpus) == 8


def test_nps4_the_gpu_s_own_node_and_not_its_socket(machine):
    found = machine("nps4")
    seats = affinity.plan(found)
    assert [seat.node for seat in seats] == [1, 3, 5, 7]
    assert [affinity.format_list(seat.cpus) for seat in seats] == ["2-3,18-19", "6-7,22-23", "10-11,26-27", "14-15,30-31"]
    assert (seats[0].nic, seats[0].nic_hops) == ("ens0", "same root")
    assert seats[1].nic_hops == "other node"
    assert any("no NIC on node 3" in text for text in affinity.doubts(found))
    assert found.nics[0].speed == "200 Gb/s"


def test_a_vm_that_tells_no_node_gets_an_even_spread_and_a_warning(machine):
    found = machine("vm")
    seats = affinity.plan(found)
    assert [seat.node for seat in seats] == [None] * 4
    assert [affinity.format_list(seat.cpus) for seat in seats] == ["0-3", "4-7", "8-11", "12-15"]
    assert "spread evenly" in seats[0].how
    assert any("(-1)" in text and "0000:00:10.0" in text for text in affinity.doubts(found))


def test_a_hybrid_cpu_gives_its_fast_cores(machine):
    found = machine("hybrid")
    assert [gpu.address for gpu in found.gpus] == ["0000:01:00.0"]  # not the graphics inside the CPU
    seat = affinity.plan(found)[0]
    assert (seat.cpus, seat.node) == (list(range(8)), None if found.gpus[0].node else 0)
    assert not any("(-1)" in text for text in affinity.doubts(found))  # one node: nothing can be wrong
    assert any("8-11 are the slow ones" in text for text in affinity.doubts(found))


def test_nodes_that_are_gpu_memory_hold_no_ranks(machine):
    found = machine("grace")
    assert sorted(found.nodes) == [0, 1]
    assert [seat.node for seat in affinity.plan(found)] == [0, 0, 1, 1]
    assert {seat.nic_hops for seat in affinity.plan(found)} == {"same node"}


def test_more_ranks_than_cores_share_them(machine):
    seats = affinity.plan(machine("hybrid"), 6)
    assert all(seat.cpus for seat in seats)


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_prints_complete_commands(tmp_path, name):
    root = plant(name, tmp_path / "sys")
    done = run("--sys", root, "--json", tmp_path / "a.json", "--csv", tmp_path / "a.csv")
    assert done.returncode == 0, done.stderr
    for word in ("torchrun --nproc-per-node", "--cpu-bind=mask_cpu:0x", "numactl --physcpubind="):
        assert word in done.stdout
    rows = list(csv.DictReader((tmp_path / "a.csv").open()))
    report = json.loads((tmp_path / "a.json").read_text())
    assert [row["cpus"] for row in rows] == [row["cpus"] for row in report["results"]]


def test_the_mask_of_srun_has_the_bits_of_the_cpus(machine):
    """CPUs 0, 1, 16 and 17 are bits 0, 1, 16 and 17: 0x30003."""
    assert affinity.cpu_masks(affinity.plan(machine("two-sockets"))).split(",")[0] == "0x30003"


@pytest.mark.parametrize(("name", "status"), [("two-sockets", 0), ("nps4", 1), ("vm", 1), ("hybrid", 0), ("grace", 0)])
def test_check_fails_where_a_good_binding_is_impossible(tmp_path, name, status):
    assert run("--sys", plant(name, tmp_path / "sys"), "--check").returncode == status


def test_a_tree_that_is_no_sys_is_wrong_usage(tmp_path):
    done = run("--sys", tmp_path)
    assert done.returncode == 2
    assert "not a Linux /sys" in done.stderr


def process(proc: Path, pid: int, cpus: str, rank: int | None = None, maps: str = "", threads=()) -> None:
    """A process as /proc shows it."""
    place = proc / str(pid)
    for number, theirs in ((pid, cpus), *enumerate(threads, pid + 1)):
        (place / "task" / str(number)).mkdir(parents=True)
        (place / "task" / str(number) / "status").write_text(f"Name:\tpython\nCpus_allowed_list:\t{theirs}\n")
    (place / "status").write_text(f"Name:\tpython\nCpus_allowed_list:\t{cpus}\n")
    (place / "environ").write_text("PATH=/bin\0" + (f"LOCAL_RANK={rank}\0" if rank is not None else ""))
    (place / "numa_maps").write_text(maps)


@pytest.mark.parametrize(
    ("cpus", "rank", "maps", "threads", "words"),
    [
        ("0-1,16-17", 0, "7f00 default anon=90 N0=95 N1=5\n", (), []),
        ("0-31", 0, "", (), ["may run on nodes 0-1: not bound"]),
        ("8-9,24-25", 0, "", (), ["runs on node 1, its GPU 0000:18:00.0 is on node 0"]),
        ("0-1,16-17", 0, "7f00 default N0=50 N1=50\n", (), ["50% of its memory off node 0"]),
        ("0-1,16-17", 0, "", ("0-1,16-17", "0-31"), ["1 thread(s) keep a wider set", "102"]),
    ],
)
def test_a_running_process_is_judged(tmp_path, cpus, rank, maps, threads, words):
    """The last one is the late binding that misses threads which were there before it."""
    process(tmp_path / "proc", 100, cpus, rank, maps, threads)
    done = run("--sys", plant("two-sockets", tmp_path / "sys"), "--proc", tmp_path / "proc", "--pid", 100)
    assert done.returncode == (1 if words else 0), done.stderr
    for word in words:
        assert word in done.stderr


def test_a_process_that_is_gone_is_said_to_be(tmp_path):
    (tmp_path / "proc").mkdir()
    done = run("--sys", plant("vm", tmp_path / "sys"), "--proc", tmp_path / "proc", "--pid", 5)
    assert done.returncode == 1
    assert "process 5 is gone" in done.stderr


def test_exec_binds_and_becomes_the_command():
    """On this machine, whatever it is: the command runs on the CPUs of the plan."""
    seat = affinity.plan(affinity.read_machine(Path("/sys")), 1)[0]
    wanted = sorted(set(seat.cpus) & os.sched_getaffinity(0))
    done = run("--ranks", 1, "--exec", "--local-rank", 0, "--", sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(wanted)


def test_exec_without_a_command_is_wrong_usage():
    assert run("--exec").returncode == 2

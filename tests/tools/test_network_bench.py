"""all_reduce_bench.py: rates against published arithmetic, data that tells its sender, and real runs over gloo."""

from __future__ import annotations

import csv
import functools
import importlib.util
import json
import math
import subprocess
import sys
import uuid
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import torch
from nodes import NETWORK, PATIENCE, clean_environment, free_port, gathered, run_nodes, unshare
from support import require_program


def load(name: str):
    """A tool as a module, whatever its file name."""
    spec = importlib.util.spec_from_file_location(name.replace("-", "_").removesuffix(".py"), NETWORK / name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


bench = load("all_reduce_bench.py")


# ---- arithmetic


def test_rates_reproduce_a_published_row():
    """nccl-tests on 8 A100: 268435456 B in 2420.6 us → algbw 110.90, busbw 194.07 GB/s."""
    algbw, busbw = bench.rates("all_reduce", 8, 268435456, 2420.6e-6)
    assert (round(algbw, 2), round(busbw, 2)) == (110.90, 194.07)


@pytest.mark.parametrize(
    ("collective", "factor"),
    [("all_reduce", 1.75)]
    + [(name, 0.875) for name in ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter")]
    + [(name, 1.0) for name in ("broadcast", "reduce", "send_recv")],
)
def test_busbw_is_algbw_times_what_the_collective_moves(collective, factor):
    algbw, busbw = bench.rates(collective, 8, 10**9, 0.5)
    assert (algbw, busbw) == (2.0, 2.0 * factor)


def test_a_fake_clock_gives_the_published_row_through_the_whole_measurement():
    """Rank 3 comes 1 ms late in every iteration; the transfer itself takes 2420.6 us each time."""
    now = [0.0]

    def marks(delay: float, wait: float):
        def spend(seconds):
            now[0] += seconds

        return bench.timed(
            lambda: spend(wait + 2420.6e-6), lambda: spend(0.1), lambda: spend(delay), lambda: None, 40, lambda: now[0]
        )

    ranks = [marks(0.0, 5e-3) for _ in range(3)] + [marks(5e-3, 0.0)] + [marks(0.0, 5e-3) for _ in range(4)]
    row = bench.make_row("all_reduce", "fp32", 268435456, list(range(8)), [f"node{r}" for r in range(8)], ranks, "world")
    assert round(row["busbw_gb_per_s"]["median"], 2) == 194.07
    assert round(row["algbw_gb_per_s"]["median"], 2) == 110.90
    assert [(late["rank"], late["host"], late["share"]) for late in row["late_ranks"]] == [(3, "node3", 1.0)]
    assert math.isclose(row["late_us"]["3"], 5000, rel_tol=1e-6)


def test_a_collective_from_one_root_is_timed_from_the_last_arrival_to_the_last_end():
    """Times from the common start line: the root comes at 3 ms, the last receiver ends at 10 ms → 7 ms."""
    marks = [[(0.003, 0.004)], [(0.001, 0.009)], [(0.000, 0.010)]]
    seconds, late = bench.transfers("broadcast", marks)
    assert math.isclose(seconds[0], 0.007)
    assert [column[0] for column in late] == pytest.approx([0.003, 0.001, 0.0])


def test_an_even_group_has_no_late_rank():
    even = [[1e-5, 2e-5, 0.0], [0.0, 1e-5, 2e-5], [2e-5, 0.0, 1e-5]]
    assert bench.late_ranks(even, 1e-3) == []


@pytest.mark.parametrize("size", [2, 3, 4, 7, 8])
def test_every_pair_meets_once_and_no_rank_twice_in_a_round(size):
    rounds = bench.pair_rounds(size)
    met = [tuple(pair) for pairs in rounds for pair in pairs]
    assert sorted(met) == [(a, b) for a in range(size) for b in range(a + 1, size)]
    for pairs in rounds:
        flat = [rank for pair in pairs for rank in pair]
        assert len(flat) == len(set(flat))


def test_groups_follow_hosts_and_rails():
    homes = [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert bench.group_rounds("node", homes) == [[[0, 1], [2, 3]]]
    assert bench.group_rounds("rail", homes) == [[[0, 2], [1, 3]]]
    assert bench.group_rounds("world", homes) == [[[0, 1, 2, 3]]]


# ---- data: the collectives done by hand, in one process, on the buffers of all ranks


def cases(name: str, n: int, dtype, count: int) -> list:
    size = count * dtype.itemsize
    return [bench.Case(torch, name, size, dtype, "cpu", SimpleNamespace(rank=r), None, list(range(n))) for r in range(n)]


def by_hand(name: str, group: list) -> None:
    """What the collective means, written with slices."""
    n, shard = len(group), group[0].shard
    inputs = [case.input.clone() for case in group]
    total = sum(i.to(torch.float64) for i in inputs) if name in bench.SUMS else None
    for me, case in enumerate(group):
        part = slice(me * shard, (me + 1) * shard)
        if name == "all_reduce" or (name == "reduce" and me == 0):
            case.output.copy_(total)
        elif name == "reduce_scatter":
            case.output.copy_(total[part])
        elif name == "broadcast":
            case.output.copy_(inputs[0])
        elif name == "all_gather" or (name == "gather" and me == 0):
            case.output.copy_(torch.cat(inputs))
        elif name == "all_to_all":
            case.output.copy_(torch.cat([other[part] for other in inputs]))
        elif name == "scatter":
            case.output.copy_(inputs[0][part])
        elif name == "send_recv":
            case.output.copy_(inputs[(me - 1) % n])


@pytest.mark.parametrize("count", [2, 64, 200_000])
@pytest.mark.parametrize("name", bench.COLLECTIVES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], ids=str)
def test_right_data_passes_in_every_dtype_and_zeros_never_do(name, dtype, count):
    group = cases(name, 4, dtype, count)
    for case in group:
        case.fill()
    by_hand(name, group)
    assert [case.wrong()["count"] for case in group] == [0, 0, 0, 0]
    for case in group:
        case.output.zero_()
        if case.due():
            assert case.wrong()["count"] == case.output.numel()


@pytest.mark.parametrize("name", [name for name in bench.COLLECTIVES if name not in bench.SUMS])
def test_a_copy_with_wrong_data_says_whose_it_is(name):
    sender = 0 if name in ("broadcast", "scatter") else 2
    group = cases(name, 4, torch.float16, 400)
    for rank, case in enumerate(group):
        case.fill(corrupt=rank == sender)
    by_hand(name, group)
    sources = {source for case in group for source in case.wrong()["sources"]}
    assert sources == {sender}


def test_a_lost_contribution_to_a_sum_is_seen():
    group = cases("all_reduce", 4, torch.int8, 400)
    for rank, case in enumerate(group):
        case.fill()
        if rank == 3:
            case.input.zero_()
    by_hand("all_reduce", group)
    assert group[0].wrong()["sources"] == [3]


# ---- sizes, wire rate


def sizes(most, free: list[int], collective: str, said: list[str]) -> list[int]:
    args = SimpleNamespace(max_bytes=most, min_bytes=32768, collective=[collective], stability=None)
    link = SimpleNamespace(gather=lambda value: free, report=lambda kind, text: said.append(text), host="a")
    bench_ = SimpleNamespace(args=args, link=link, kind="cuda", torch=None, index=0, hosts=["a", "b"])
    return bench.Bench.sizes(bench_)


def test_payloads_end_where_the_fullest_device_has_no_room(monkeypatch):
    """16 GiB asked for, 10 GiB free on rank 1: 8 GiB in place, 4 GiB where input and output both take memory."""
    monkeypatch.setattr(bench, "free_memory", lambda *args: 0)
    said = []
    assert sizes(None, [80 << 30, 10 << 30], "all_reduce", said)[-1] == 8 << 30
    assert sizes(None, [80 << 30, 10 << 30], "all_gather", said)[-1] == 4 << 30
    assert said[0].startswith("rank 1 on b has 10 GiB free")
    assert sizes(None, [80 << 30, 80 << 30], "all_reduce", said) == [32768 << n for n in range(20)]
    with pytest.raises(bench.ToolError, match="not even 32 KiB fits"):
        sizes(None, [80 << 30, 1024], "all_reduce", said)


@pytest.mark.parametrize(("collective", "why"), [("all_reduce", "NVLS, SHARP"), ("all_gather", "check --wire")])
def test_a_rate_above_the_wire_is_warned_about_and_left_as_measured(collective, why, capsys):
    """8 H200, 450 GB/s one way: 16 GiB in 62.34 ms is 482 GB/s busbw for an all_reduce."""
    args = SimpleNamespace(wire=None, stability=None, quiet=False, json=None, csv=None, plot=None)
    reporter = bench.Reporter(args)
    reporter.take("environment", {"hosts": ["a"] * 8, "device": "NVIDIA H200", "ranks": 8, "torch": "", "nccl": "", "time_utc": ""})
    seconds = 0.06234 if collective == "all_reduce" else 0.03
    row = bench.make_row(collective, "bf16", 16 << 30, list(range(8)), ["a"] * 8, [[(0.0, seconds)]] * 8, "world")
    reporter.take("row", row)
    reporter.finish(0, "")
    assert reporter.report["results"][0]["busbw_gb_per_s"]["median"] > 450
    assert reporter.report["status"] == "ok"
    assert why in reporter.report["warnings"][0]
    assert "above the wire's 450 GB/s" in capsys.readouterr().err


def test_a_slow_pair_among_many_is_named():
    def row(pair, busbw):
        return {"bytes": 1 << 20, "collective": "send_recv", "dtype": "bf16", "ranks": pair, "busbw_gb_per_s": {"median": busbw}}

    rows = [row([0, 1], 45.0), row([0, 2], 44.0), row([1, 2], 12.0)]
    assert bench.slow_groups(rows, ["a", "a", "b"]) == [
        "slow group at 1 MiB: ranks 1 on a, 2 on b: 12.00 GB/s, median of all 44.00"
    ]


def test_nothing_measured_never_passes(capsys):
    args = SimpleNamespace(wire=None, stability=None, quiet=False, json=None, csv=None, plot=None)
    reporter = bench.Reporter(args)
    with pytest.raises(bench.ToolError, match="nothing was measured"):
        reporter.finish(0, "")
    assert reporter.report["status"] == "failed"


# ---- the supervisors' board


def board(size: int, timeout: float = 100.0):
    made = bench.Board(bench.Place([0], [0], size, "127.0.0.1", free_port()), timeout)
    made.started = 0.0
    made.listener.close()
    for rank in range(size):
        made.seats[rank] = bench.Seat("nodeA" if rank < 2 else "nodeB", 1000 + rank, 0.0, 0.0, "sum", 5)
    return made


def test_the_rank_with_the_fewest_steps_is_blamed_once_nothing_moves():
    """Timeout 100 s: the verdict falls at 80 s."""
    b = board(4)
    for rank in (0, 1, 3):
        b.seats[rank].count, b.seats[rank].beat = 6, 81.0
    b.seats[2].beat = 81.0
    assert b.judge(79.0) is None
    status, text, blame = b.judge(81.0)
    assert (status, blame) == (3, [2])
    assert text == "rank 2 on nodeB hangs in 'sum': alive but not moving for 81 s; 3 others waiting"


def test_all_in_the_same_call_blames_the_network_unless_one_is_silent():
    b = board(3)
    for seat in b.seats.values():
        seat.beat = 81.0
    assert "not one rank" in b.judge(81.0)[1]
    b.seats[1].beat = 3.0
    assert "rank 1 on nodeA hangs in 'sum': no sign of life" in b.judge(81.0)[1]


def test_a_death_explains_the_errors_of_its_peers():
    b = board(3)
    b.seats[0].error = (10.0, "RuntimeError: Connection closed by peer")
    b.seats[0].ended = (10.1, 1)
    b.seats[2].ended = (10.2, -11)
    status, text, blame = b.judge(11.0)
    assert (status, blame) == (1, [2])
    assert text == "rank 2 on nodeB died in 'sum': killed by signal 11 (SIGSEGV)"


def test_an_error_without_a_death_is_reported_after_a_while():
    b = board(2)
    b.seats[1].error = (10.0, "RuntimeError: no")
    b.seats[1].ended = (10.0, 1)
    assert b.judge(11.0) is None
    assert b.judge(14.0) == (1, "rank 1 on nodeA, in 'sum': RuntimeError: no", [1])


@pytest.mark.parametrize(
    ("nodelist", "first"),
    [("gpu[07-09,12],cpu3", "gpu07"), ("node1,node2", "node1"), ("n[1,3]-ib,n4", "n1-ib"), ("solo", "solo")],
)
def test_the_first_host_of_a_slurm_list(nodelist, first):
    assert bench.first_host(nodelist) == first


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "MASTER_ADDR": "h", "MASTER_PORT": "9"}, ([3], [1], 4, "h", 9)),
        (
            {"SLURM_PROCID": "9", "SLURM_STEP_NUM_TASKS": "16", "SLURM_LOCALID": "1", "SLURM_JOB_ID": "100",
             "SLURM_STEP_ID": "2", "SLURM_STEP_NODELIST": "gpu[3-4]"},
            ([9], [1], 16, "gpu3", 12000 + 1002 * 16 % 18000),
        ),
        (
            {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
             "MASTER_ADDR": "h", "MASTER_PORT": "9"},
            ([1], [0], 2, "h", 9),
        ),
    ],
    ids=["torchrun", "srun", "mpirun"],
)  # fmt: skip
def test_ranks_come_from_the_launcher_s_variables(monkeypatch, variables, place):
    monkeypatch.setattr(bench.os, "environ", variables)
    found = bench.find_place(None)
    assert (found.ranks, found.local_ranks, found.size, found.address, found.port) == place


def test_a_shell_inside_one_slurm_task_is_no_launcher(monkeypatch):
    monkeypatch.setattr(bench.os, "environ", {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"})
    assert bench.find_place(3).ranks == [0, 1, 2]


# ---- real runs


def run(*command: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, env=clean_environment(**variables), capture_output=True, text=True, timeout=2 * PATIENCE, check=False
    )


def test_four_processes_run_every_collective_in_four_dtypes_and_write_all_files(tmp_path):
    """36 rows, each with its data checked; the debug text of a library goes to stderr, not into the table."""
    out = {suffix: tmp_path / f"report.{suffix}" for suffix in ("json", "csv", "svg")}
    files = ("--json", str(out["json"]), "--csv", str(out["csv"]), "--plot", str(out["svg"]))
    dtypes = ("fp32", "bf16", "fp16", "int8")
    done = run(
        sys.executable, str(NETWORK / "all_reduce_bench.py"), "--device", "cpu", "--nproc", "4", "--collective", "all",
        "--dtype", *dtypes, "--iters", "2", "--warmup", "1", "--min-bytes", "32K", "--max-bytes", "32K", *files,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(out["json"].read_text())
    assert (report["schema_version"], report["status"], report["problems"]) == (1, "ok", [])
    assert {"host", "device", "driver", "torch", "nccl", "variables", "command", "time_utc"} <= set(report["environment"])
    rows = [(row["collective"], row["dtype"]) for row in report["results"]]
    assert rows == [(name, dtype) for name in bench.COLLECTIVES for dtype in dtypes]
    for row in report["results"]:
        assert row["data_checked"]
        assert (row["bytes"], len(row["ranks"]), row["time_us"]["count"]) == (32768, 4, 2)
        assert 0 < row["time_us"]["p5"] <= row["time_us"]["median"] <= row["time_us"]["p95"]
        algbw, busbw = bench.rates(row["collective"], 4, 32768, row["time_us"]["median"] / 1e6)
        assert math.isclose(row["busbw_gb_per_s"]["median"], busbw)
        assert math.isclose(row["algbw_gb_per_s"]["median"], algbw)
    table = list(csv.DictReader(out["csv"].read_text().splitlines()))
    assert [(row["collective"], row["dtype"]) for row in table] == rows
    assert len([line for line in done.stdout.splitlines() if not line.startswith("#")]) == 1 + len(rows)
    words = {e.text for e in ElementTree.parse(out["svg"]).iter("{http://www.w3.org/2000/svg}text")}
    assert {"payload", "busbw, GB/s", "all_reduce fp32 world"} <= words


def test_pairs_and_stability_run(tmp_path):
    few = ("--device", "cpu", "--iters", "3", "--warmup", "1", "--min-bytes", "32K", "--max-bytes", "32K")
    path = str(NETWORK / "all_reduce_bench.py")
    pairs, steady = tmp_path / "pairs.json", tmp_path / "steady.json"
    done = run(sys.executable, path, *few, "--nproc", "3", "--groups", "pairs", "--json", str(pairs))
    assert done.returncode == 0, done.stderr
    assert sorted(row["group"] for row in json.loads(pairs.read_text())["results"]) == ["0-1", "0-2", "1-2"]
    plot = tmp_path / "steady.png"
    done = run(sys.executable, path, *few, "--nproc", "2", "--stability", "1", "--json", str(steady), "--plot", str(plot))
    assert done.returncode == 0, done.stderr
    report = json.loads(steady.read_text())
    assert report["stability"]["calls"] == 3 * len(report["results"])
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_torchrun_starts_the_benchmark_and_its_agent_may_hold_the_port():
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(free_port())]
    few = ("--device", "cpu", "--iters", "2", "--min-bytes", "8", "--max-bytes", "8")
    done = run(*torchrun, str(NETWORK / "all_reduce_bench.py"), *few)
    assert done.returncode == 0, done.stderr


def test_a_failed_check_fails_torchrun():
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(free_port())]
    done = run(*torchrun, str(NETWORK / "torch-distributed-gpu-test.py"), "--device", "cpu", "--inject", "wrong:1")
    assert done.returncode == 1
    assert "wrong data comes from rank 1 on" in done.stdout


def test_no_torch_is_status_2_with_the_command_that_installs_it():
    """-I -S hides site-packages."""
    done = run(sys.executable, "-I", "-S", str(NETWORK / "torch-distributed-gpu-test.py"), "--nproc", "1")
    assert done.returncode == 2
    assert "python3 -m pip install torch" in done.stderr


@pytest.mark.parametrize(
    "arguments", [("--iters", "0"), ("--min-bytes", "2M", "--max-bytes", "1M"), ("--min-bytes", "12Q"), ("--inject", "x:1"),
                  ("--groups", "pairs", "--collective", "broadcast"), ("--dtype", "fp4")]
)  # fmt: skip
def test_wrong_usage_is_status_2(arguments):
    done = run(sys.executable, str(NETWORK / "all_reduce_bench.py"), "--device", "cpu", *arguments)
    assert done.returncode == 2
    assert "usage:" in done.stderr


# ---- two nodes


@pytest.fixture
def two_nodes():
    """Commands that put a process into one of two nodes, with the address, interface and traffic counter of each.

    Two network namespaces joined by a veth pair; where the account may not make them, two loopback addresses.
    """
    require_program("ip", "unshare")
    tag = uuid.uuid4().hex[:6]
    names = [f"mlnet{tag}a", f"mlnet{tag}b"]
    ip = functools.partial(subprocess.run, capture_output=True, text=True, check=True)
    try:
        for name in names:
            ip(["ip", "netns", "add", name])
        ip(["ip", "link", "add", "veth0", "netns", names[0], "type", "veth", "peer", "name", "veth0", "netns", names[1]])
        for number, name in enumerate(names, 1):
            for words in (f"addr add 10.77.7.{number}/24 dev veth0", "link set veth0 up", "link set lo up"):
                ip(["ip", "-n", name, *words.split()])
    except subprocess.CalledProcessError:
        yield [([], f"127.0.0.{number}", "lo", None) for number in (1, 2)]
    else:
        yield [(["ip", "netns", "exec", n], f"10.77.7.{i}", "veth0", n) for i, n in enumerate(names, 1)]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def sent_bytes(name: str) -> int:
    """Bytes that left a namespace through its end of the pair."""
    said = subprocess.run(["ip", "-n", name, "-s", "-j", "link", "show", "veth0"], capture_output=True, check=True)
    return json.loads(said.stdout)[0]["stats64"]["tx"]["bytes"]


@pytest.mark.parametrize("tool", ["all_reduce_bench.py", "torch-distributed-gpu-test.py"])
def test_two_nodes_reach_each_other_over_their_own_network(tool, two_nodes, tmp_path):
    report, port = tmp_path / "report.json", str(free_port())
    few = ("--min-bytes", "1M", "--max-bytes", "1M", "--groups", "rail") if tool.startswith("all") else ("--bytes", "1M")
    processes = {}
    for rank, host in enumerate(("nodeA", "nodeA", "nodeB", "nodeB")):
        prefix, _, interface, _ = two_nodes[rank // 2]
        placed = {"RANK": str(rank), "WORLD_SIZE": "4", "LOCAL_RANK": str(rank % 2), "MASTER_PORT": port}
        placed |= {"MASTER_ADDR": two_nodes[0][1], "GLOO_SOCKET_IFNAME": interface}
        command = ["sh", "-c", f'hostname {host}; exec "$@"', "sh", sys.executable, str(NETWORK / tool)]
        processes[rank] = subprocess.Popen(
            [*prefix, *unshare("--uts"), *command, "--device", "cpu", "--iters", "3", *few, "--json", str(report)],
            env=clean_environment(**placed), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    ended = gathered(processes, 0.0)
    assert {end.status for end in ended.values()} == {0}, ended[0].err
    saved = json.loads(report.read_text())
    assert saved["environment"]["hosts"] == ["nodeA", "nodeA", "nodeB", "nodeB"]
    if tool.startswith("all"):
        assert [row["group"] for row in saved["results"]] == ["0-2", "1-3"]
    if two_nodes[0][3]:
        for *_, name in two_nodes:
            assert sent_bytes(name) > 1 << 20  # more than one payload has left each node over the wire


def test_gloo_that_would_listen_on_loopback_is_stopped_with_the_variable_to_set():
    """Two nodes whose own names do not resolve."""
    ended = run_nodes("torch-distributed-gpu-test.py", "--device", "cpu", "--timeout", "60", hosts=("nodeX", "nodeY"),
                      GLOO_SOCKET_IFNAME="")  # fmt: skip
    assert {end.status for end in ended.values()} == {1}
    assert "on nodeX: name resolution" in ended[0].err or "on nodeY: name resolution" in ended[0].err
    assert "set GLOO_SOCKET_IFNAME to the interface" in ended[0].err

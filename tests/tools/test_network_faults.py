"""Every fault of the field, injected into four gloo processes on two named nodes: the message must name rank and host.

nodeA runs ranks 0 and 1, nodeB ranks 2 and 3, each with its own UTS name, so that a name in a message is the rank's own.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from pathlib import Path

import pytest
from nodes import PATIENCE, gathered, run_nodes, running
from support import require_program

CONNECT = "torch-distributed-gpu-test.py"
BENCH = "all_reduce_bench.py"
FEW = ("--iters", "3", "--warmup", "1", "--min-bytes", "32K", "--max-bytes", "64K")
TIMEOUT = 10


@pytest.fixture(autouse=True)
def programs():
    require_program("unshare")


def heard(ended) -> str:
    """What the user reads: everybody's stderr."""
    return "\n".join(end.err for end in ended.values())


def statuses(ended) -> set[int]:
    return {end.status for end in ended.values()}


@pytest.mark.parametrize(
    ("tool", "fault", "words"),
    [
        (CONNECT, "hang:2", "rank 2 on nodeB hangs in 'monitored barrier'"),
        (CONNECT, "hang:0", "rank 0 on nodeA hangs in 'monitored barrier'"),
        (BENCH, "stop:3", "rank 3 on nodeB hangs in 'all_reduce of 32 KiB': no sign of life"),
    ],
)
def test_a_rank_that_hangs_is_named_within_the_timeout(tool, fault, words):
    more = FEW if tool == BENCH else ()
    ended = run_nodes(tool, "--device", "cpu", "--timeout", str(TIMEOUT), "--inject", fault, *more)
    assert words in heard(ended)
    assert statuses(ended) == {3}
    said = heard(ended).split(words)[1]
    waited = int(said.split(" for ")[1].split(" s")[0])
    assert waited <= TIMEOUT


def test_a_rank_that_dies_is_named_with_how_it_ended():
    ended = run_nodes(CONNECT, "--device", "cpu", "--timeout", "60", "--inject", "die:0")
    assert "rank 0 on nodeA died in 'monitored barrier': killed by signal 9 (SIGKILL)" in heard(ended)
    assert statuses(ended) == {1}


@pytest.mark.parametrize("tool", [CONNECT, BENCH])
def test_wrong_data_names_the_rank_that_sent_it(tool):
    more = FEW if tool == BENCH else ()
    ended = run_nodes(tool, "--device", "cpu", "--timeout", "60", "--inject", "wrong:2", *more)
    assert "rank 2 on nodeB" in heard(ended)
    assert not any(f"rank {rank} on node" in heard(ended) for rank in (0, 1, 3))
    assert statuses(ended) == {1}


@pytest.mark.parametrize("tool", [CONNECT, BENCH])
def test_a_slow_rank_is_singled_out_by_its_arrivals(tool, tmp_path):
    more = FEW if tool == BENCH else ()
    report = tmp_path / "report.json"
    options = ("--device", "cpu", "--timeout", "60", "--inject", "slow:1:0.2", "--json", str(report))
    ended = run_nodes(tool, *options, *more)
    assert "rank 1 on nodeA" in heard(ended)
    assert statuses(ended) == {0}
    for row in json.loads(report.read_text())["results"]:
        late = [(late["rank"], late["host"]) for late in row.get("late_ranks", [])]
        assert late == [(1, "nodeA")] or "late_ranks" not in row


@pytest.mark.parametrize(("tool", "words"), [(CONNECT, "shape: [1024] on 3 ranks; [512] on rank 2 on nodeB"),
                                             (BENCH, "dtype: torch.bfloat16 on 3 ranks; torch.float64 on rank 2 on nodeB")])  # fmt: skip
def test_differing_calls_are_found_before_they_are_made(tool, words):
    more = FEW if tool == BENCH else ()
    ended = run_nodes(tool, "--device", "cpu", "--timeout", "60", "--inject", "mismatch:2", *more)
    assert words in heard(ended)
    assert statuses(ended) == {1}


def test_differing_versions_are_shown_as_a_table():
    ended = run_nodes(CONNECT, "--device", "cpu", "--timeout", "60", "--inject", "version:3")
    assert "versions differ between ranks" in heard(ended)
    assert "0.0.0 (injected) on rank 3 on nodeB" in heard(ended)
    assert statuses(ended) == {1}
    assert ended[0].out.splitlines()[-1].startswith("FAILED after 2 steps")


def test_a_port_in_use_is_named_with_a_free_one():
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        ended = run_nodes(CONNECT, "--device", "cpu", "--timeout", "20", MASTER_PORT=str(port))
    words = f"rank 0 on nodeA: port {port} is in use, "
    assert words in heard(ended)
    free = int(heard(ended).split(words)[1].split()[0])
    socket.create_server(("", free)).close()
    assert statuses(ended) == {1}


def test_a_name_that_does_not_resolve_is_said_at_once_by_each_rank():
    """Long before the timeout of ten minutes, and before torch is imported."""
    ended = run_nodes(CONNECT, "--device", "cpu", "--timeout", "600", MASTER_ADDR="no-such-host.invalid")
    for rank, host in enumerate(("nodeA", "nodeA", "nodeB", "nodeB")):
        assert f"rank {rank} on {host}: name resolution: MASTER_ADDR 'no-such-host.invalid'" in ended[rank].err
    assert statuses(ended) == {1}
    assert max(end.seconds for end in ended.values()) < 60


def test_an_absent_rank_is_named_with_those_that_came():
    ended = run_nodes(CONNECT, "--device", "cpu", "--timeout", "10", missing=(3,))
    assert "rank 3 of 4 never came; those that did: ranks 0, 1 on nodeA; 2 on nodeB" in heard(ended)
    assert statuses(ended) == {3}


def test_an_absent_rank_0_is_what_the_others_say():
    ended = run_nodes(CONNECT, "--device", "cpu", "--timeout", "4", missing=(0,))
    for rank in (1, 2, 3):
        assert "rank 0 never answered at 127.0.0.1" in ended[rank].err
    assert statuses(ended) == {3}


def test_a_host_that_goes_down_with_its_supervisor_is_named():
    with running(CONNECT, "--device", "cpu", "--timeout", "60", "--inject", "hang:1") as processes:
        wait_for_line(processes[0], "process group")
        processes[3].kill()
        ended = gathered(processes, time.monotonic())
    assert "rank 3 on nodeB died" in heard(ended)
    assert "its supervisor is gone too" in heard(ended)
    assert {ended[rank].status for rank in (0, 1, 2)} == {1}


def wait_for_line(process, words: str) -> list[str]:
    """Read stdout up to the line with these words."""
    lines = []
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and (line := process.stdout.readline()):
        lines.append(line)
        if words in line:
            return lines
    raise AssertionError(f"{words!r} never came: {lines}, {process.stderr.read()}")


def worker_of(supervisor: int) -> int:
    """The process under a supervisor."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == supervisor:
                return int(entry.name)
    raise AssertionError(f"process {supervisor} has no child")


@pytest.mark.parametrize("how", ["interrupted", "timed out"])
def test_what_was_measured_is_written_when_the_run_is_cut_short(tmp_path, how):
    """Ctrl-C for all ranks, or one worker stopped, once the first row is there: both keep that row."""
    report, table, plot = (tmp_path / f"report.{suffix}" for suffix in ("json", "csv", "svg"))
    files = ("--json", str(report), "--csv", str(table), "--plot", str(plot))
    options = ("--device", "cpu", "--timeout", str(TIMEOUT), "--iters", "60", "--min-bytes", "32K", "--max-bytes", "64M")
    with running(BENCH, *options, *files) as processes:
        wait_for_line(processes[0], "32 KiB")
        if how == "interrupted":
            for process in processes.values():
                process.send_signal(signal.SIGINT)
        else:
            os.kill(worker_of(processes[2].pid), signal.SIGSTOP)
        ended = gathered(processes, time.monotonic())
    assert statuses(ended) == {130 if how == "interrupted" else 3}
    saved = json.loads(report.read_text())
    assert saved["status"] == how
    assert saved["results"][0]["bytes"] == 32768
    assert table.read_text().startswith("collective,dtype,bytes")
    assert "<svg" in plot.read_text()
    if how == "timed out":
        assert "rank 2 on nodeB hangs" in heard(ended)

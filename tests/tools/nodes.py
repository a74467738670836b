"""Runs a tool as several nodes on this machine: each rank is a process, each node has its own host name."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NETWORK = ROOT / "tools" / "network"
PATIENCE = 150  # seconds; a loaded machine with two cores imports torch four times meanwhile


@dataclass
class Ended:
    """How one rank's process ended."""

    status: int
    out: str
    err: str
    seconds: float


def unshare(*flags: str) -> list[str]:
    """The command in front of another to give it its own namespaces; as an ordinary user, mapped to root inside."""
    more = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *more, *flags]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip(f"this account may not run: {' '.join(command)}")
    return command


def clean_environment(**more: str) -> dict[str, str]:
    """This environment without any launcher's variables."""
    mine = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_", "SLURM_", "TORCHELASTIC_", "GLOO_", "OMPI_")
    return {k: v for k, v in os.environ.items() if not k.startswith(mine)} | {"OMP_NUM_THREADS": "1"} | more


def free_port() -> int:
    with socket.create_server(("", 0)) as server:
        return server.getsockname()[1]


@contextmanager
def running(tool: str, *arguments: str, hosts=("nodeA", "nodeA", "nodeB", "nodeB"), missing=(), **variables: str):
    """The ranks' processes by rank, each under its node's name; whatever is left at the end is killed."""
    port = str(free_port())
    processes = {}
    for rank, host in enumerate(hosts):
        if rank in missing:
            continue
        local = str(hosts[:rank].count(host))
        placed = {"RANK": str(rank), "WORLD_SIZE": str(len(hosts)), "LOCAL_RANK": local, "MASTER_ADDR": "127.0.0.1"}
        placed |= {"MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo"} | variables
        command = ["sh", "-c", f'hostname {host}; exec "$@"', "sh", sys.executable, str(NETWORK / tool), *arguments]
        processes[rank] = subprocess.Popen(
            [*unshare("--uts"), *command], env=clean_environment(**placed), start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    try:
        yield processes
    finally:
        for process in processes.values():
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            process.wait()


def gathered(processes, began: float) -> dict[int, Ended]:
    """Wait for all ranks and tell how each ended."""
    ended = {}
    for rank, process in processes.items():
        out, err = process.communicate(timeout=PATIENCE)
        ended[rank] = Ended(process.returncode, out, err, time.monotonic() - began)
    return ended


def run_nodes(tool: str, *arguments: str, **options) -> dict[int, Ended]:
    began = time.monotonic()
    with running(tool, *arguments, **options) as processes:
        return gathered(processes, began)

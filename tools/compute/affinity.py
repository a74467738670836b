#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Are processes, NICs and GPUs on the right NUMA nodes?

Reads /sys and /proc (no torch, no root), pairs each GPU with its NUMA node, its physical cores and the nearest NIC, prints the
binding for torchrun and srun, and with --check or --pid says which processes run or allocate on the wrong node.

  this machine:                    python3 affinity.py
  before a job, as its prolog:     python3 affinity.py --check --json affinity.json
  a running job:                   python3 affinity.py --pid 12345 12346
  one rank, bound, then the job:   python3 affinity.py --exec --local-rank 3 -- python3 train.py
  one node with torchrun:          torchrun --nproc-per-node 8 --numa-binding node train.py   (torch 2.9 and newer)
  two nodes with torchrun:         torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint FIRST_HOST:29400 \\
                                       --no-python python3 affinity.py --exec -- python3 train.py
  SLURM:                           srun --nodes 2 --ntasks-per-node 8 python3 affinity.py --exec -- python3 train.py
  a recorded tree:                 python3 affinity.py --sys saved/sys --proc saved/proc

What the numbers mean
  node      the NUMA node that /sys names for the device; '?' where the firmware or the hypervisor tells none (-1)
  cpus      logical CPUs, in ranges; those of a rank are an equal share of its node's physical cores with their siblings
  hops      of a NIC from a GPU: same switch (they share a PCIe bridge), same root, same node, other node, or unknown
  distance  from the kernel's table: 10 is local, about 20 the other socket
Exit status: 0 nothing wrong, 1 something is (named), 2 wrong usage or nothing to read, 130 interrupted.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import itertools
import json
import os
import platform
import re
import shlex
import signal
import socket
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

TOOL, VERSION = "affinity.py", "1.0"


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


GPU_VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel", "0x1da3": "Habana"}
GPU_CLASSES = ("0x0300", "0x0302", "0x0380", "0x1200")  # display, 3D, other display, processing accelerator


def read(path: Path) -> str | None:
    """A file of /sys without the newline; None where it is absent or cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def parse_list(text: str | None) -> list[int]:
    """CPUs or nodes of the kernel's notation: '0-3,8' → [0, 1, 2, 3, 8]."""
    found: list[int] = []
    for part in (text or "").split(","):
        low, _, high = part.strip().partition("-")
        if low.isdigit():
            found += range(int(low), int(high or low) + 1)
    return found


def format_list(numbers) -> str:
    """The reverse of parse_list: [0, 1, 2, 3, 8] → '0-3,8'."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


@dataclass
class Device:
    """A GPU or NIC: its PCI address, its name, its node (None: not told), its bridges from the root to itself."""

    address: str
    name: str
    kind: str
    node: int | None
    local_cpus: list[int]
    path: list[str] = field(default_factory=list)
    speed: str = ""


@dataclass
class Machine:
    """What /sys says."""

    nodes: dict[int, list[int]]  # CPUs of each NUMA node that has any
    memory: dict[int, int]  # bytes of each node
    distances: dict[int, list[int]]
    online: list[int]
    cores: dict[int, list[int]]  # first CPU of a physical core → its logical CPUs
    sockets: dict[int, int]  # CPU → package
    efficient: list[int]  # the slower cores of a hybrid CPU
    gpus: list[Device]
    nics: list[Device]


def read_nodes(root: Path) -> tuple[dict, dict, dict]:
    """CPUs, bytes of memory and distances by NUMA node; a node without CPUs (HBM, CXL) counts for its memory only."""
    nodes, memory, distances = {}, {}, {}
    for path in sorted((root / "devices/system/node").glob("node[0-9]*")):
        number = int(path.name[4:])
        distances[number] = [int(x) for x in (read(path / "distance") or "").split() if x.isdigit()]
        total = re.search(r"MemTotal:\s*(\d+)", read(path / "meminfo") or "")
        memory[number] = int(total[1]) * 1024 if total else 0
        if cpus := parse_list(read(path / "cpulist")):
            nodes[number] = cpus
    return nodes, memory, distances


def read_cpus(root: Path, online: list[int]) -> tuple[dict, dict, list[int]]:
    """Physical cores, sockets, and the slower cores of a hybrid CPU."""
    cores: dict[int, list[int]] = {}
    sockets, capacity = {}, {}
    for cpu in online:
        path = root / f"devices/system/cpu/cpu{cpu}"
        siblings = [c for c in parse_list(read(path / "topology/thread_siblings_list")) if c in online] or [cpu]
        cores[siblings[0]] = siblings
        package = read(path / "topology/physical_package_id") or "0"
        sockets[cpu] = int(package) if package.lstrip("-").isdigit() else 0
        capacity[cpu] = int(read(path / "cpu_capacity") or 0)
    efficient = parse_list(read(root / "devices/cpu_atom/cpus"))  # Intel's hybrid parts name the kinds of core
    if not efficient and len(set(capacity.values())) > 1:  # Arm's tell a capacity
        efficient = [cpu for cpu, value in capacity.items() if value < max(capacity.values())]
    return cores, sockets, efficient


def pci_device(path: Path, kind: str, name: str, speed: str = "") -> Device:
    """What /sys/bus/pci says of one device. path is resolved, so that its parents are the bridges above it."""
    node = read(path / "numa_node")
    number = int(node) if node and re.fullmatch(r"\d+", node) else None  # -1: nobody told the kernel
    local = parse_list(read(path / "local_cpulist"))
    chain = [part for part in path.parts if re.fullmatch(r"pci[0-9a-f]{4}:[0-9a-f]{2}|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", part)]
    return Device(path.name, name, kind, number, local, chain, speed)


def read_pci(root: Path) -> tuple[list[Device], list[Device]]:
    """GPUs and NICs, each in the order of their PCI addresses."""
    gpus, nics = [], []
    for link in sorted((root / "bus/pci/devices").glob("*")):
        path, vendor, kind = link.resolve(), read(link / "vendor"), (read(link / "class") or "")[:6]
        built_in = vendor == "0x8086" and link.name.endswith("00:02.0")  # the graphics inside an Intel CPU
        if vendor in GPU_VENDORS and kind in GPU_CLASSES and not built_in:
            if kind == "0x0300" and not (link / "driver").exists() and (root / "bus/pci/drivers").exists():
                continue  # a management controller's picture
            gpus.append(pci_device(path, "gpu", f"{GPU_VENDORS[vendor]} {read(link / 'device') or ''}".strip()))
        for net in sorted((link / "infiniband").glob("*")) or sorted((link / "net").glob("*")):
            speed = read(net / "ports/1/rate") or ""
            if not speed and (read(net / "speed") or "").isdigit():
                speed = f"{int(read(net / 'speed')) / 1000:g} Gb/s"
            nics.append(pci_device(path, "nic", net.name, speed))
            break
    return gpus, nics


def read_machine(root: Path) -> Machine:
    """All of it. Raises ToolError where there is nothing to read."""
    nodes, memory, distances = read_nodes(root)
    online = parse_list(read(root / "devices/system/cpu/online")) or sorted(c for cpus in nodes.values() for c in cpus)
    if not online:
        raise ToolError(f"{root} shows no CPUs: not a Linux /sys", USAGE)
    if not nodes:  # a kernel without NUMA
        nodes = {0: online}
    nodes = {number: kept for number, cpus in nodes.items() if (kept := [c for c in cpus if c in set(online)])}
    return Machine(nodes, memory, distances, online, *read_cpus(root, online), *read_pci(root))


def hops(gpu: Device, nic: Device) -> tuple[int, str]:
    """How far a NIC is from a GPU: a number to sort by, and the word."""
    shared = 0
    while shared < min(len(gpu.path), len(nic.path)) and gpu.path[shared] == nic.path[shared]:
        shared += 1
    if shared > 1:  # a root port has one link, so what shares it hangs on one switch
        return 10 - min(shared, 8), "same switch"
    if shared > 0:
        return 10, "same root"
    if gpu.node is None or nic.node is None:
        return 13, "unknown"
    return (11, "same node") if gpu.node == nic.node else (12, "other node")


@dataclass
class Seat:
    """The binding of one rank."""

    local_rank: int
    gpu: str
    node: int | None
    cpus: list[int]
    nic: str
    nic_hops: str
    how: str


def fast_cores(machine: Machine, cpus) -> list[list[int]]:
    """Physical cores among some CPUs; the slow ones of a hybrid CPU only if there are no others."""
    allowed = set(cpus)
    cores = [kept for core in machine.cores.values() if (kept := [c for c in core if c in allowed])]
    return [core for core in cores if not set(core) & set(machine.efficient)] or cores


def share_out(cores: list[list[int]], parts: int) -> list[list[int]]:
    """Equal shares of whole cores, in order; every part gets one core at least, shared if there are too few."""
    if len(cores) < parts:
        return [cores[part % len(cores)] if cores else [] for part in range(parts)]
    cuts = [len(cores) * part // parts for part in range(parts + 1)]
    return [sorted(c for core in cores[a:b] for c in core) for a, b in itertools.pairwise(cuts)]


def plan(machine: Machine, ranks: int | None = None) -> list[Seat]:
    """A binding for each rank: one a GPU, or `ranks` of them spread over the nodes where there is no GPU."""
    count = ranks or len(machine.gpus) or len(machine.nodes)
    gpus: list[Device | None] = [machine.gpus[i % len(machine.gpus)] if machine.gpus else None for i in range(count)]
    known = all(gpu is not None and gpu.node in machine.nodes for gpu in gpus)
    numbers = sorted(machine.nodes)
    if known:
        places = [gpu.node for gpu in gpus]
        how = "the GPU's node"
    else:
        places = [numbers[rank * len(numbers) // count] for rank in range(count)]
        how = "the node of the machine" if len(numbers) == 1 else "spread evenly: the GPUs' nodes are not told"
    seats: list[Seat] = []
    shares = {n: iter(share_out(fast_cores(machine, machine.nodes[n]), places.count(n))) for n in set(places)}
    used: dict[str, int] = {}
    for rank, (gpu, node) in enumerate(zip(gpus, places, strict=True)):
        near = sorted(machine.nics, key=lambda nic: (hops(gpu, nic)[0], used.get(nic.name, 0), nic.address)) if gpu else []
        nic, far = (near[0].name, hops(gpu, near[0])[1]) if near else ("", "")
        used[nic] = used.get(nic, 0) + 1
        seats.append(Seat(rank, gpu.address if gpu else "", node if known or len(numbers) == 1 else None, next(shares[node]), nic, far, how))
    return seats


def cpu_masks(seats: list[Seat]) -> str:
    """For srun --cpu-bind=mask_cpu: one hexadecimal mask a rank."""
    return ",".join(hex(sum(1 << cpu for cpu in seat.cpus)) for seat in seats)


def doubts(machine: Machine) -> list[str]:
    """What the firmware, the hypervisor or the wiring gets in the way of a good binding."""
    found = []
    silent = [gpu.address for gpu in machine.gpus if gpu.node is None]
    if silent and len(machine.nodes) > 1:
        found.append(f"no NUMA node is told for GPU {', '.join(silent)} (-1): the hypervisor hides it; ask for a topology file, "
                     "or measure host to device copies from each node")  # fmt: skip
    for gpu in machine.gpus:
        if gpu.node is not None and gpu.node not in machine.nodes:
            found.append(f"GPU {gpu.address} is on node {gpu.node}, which has no CPUs online")
        if gpu.node is not None and machine.nics and not any(nic.node == gpu.node for nic in machine.nics):
            found.append(f"no NIC on node {gpu.node}, where GPU {gpu.address} is: its traffic crosses to another node")
    empty = [n for n in machine.nodes if machine.memory.get(n) == 0 and machine.memory]
    found += [f"node {n} has CPUs and no memory: every allocation there is remote" for n in empty]
    if machine.efficient:
        found.append(f"CPUs {format_list(machine.efficient)} are the slow ones of a hybrid CPU; no rank is bound to them")
    return found


def status_of(proc: Path, pid: int) -> tuple[list[int], dict[int, int]] | None:
    """CPUs that a process may run on, and pages that it has on each node; None if it is gone."""
    text = read(proc / str(pid) / "status")
    if text is None:
        return None
    allowed = re.search(r"^Cpus_allowed_list:\s*(\S+)", text, re.MULTILINE)
    pages: dict[int, int] = {}
    for node, count in re.findall(r"\bN(\d+)=(\d+)", read(proc / str(pid) / "numa_maps") or ""):
        pages[int(node)] = pages.get(int(node), 0) + int(count)
    return parse_list(allowed[1] if allowed else ""), pages


def threads_of(proc: Path, pid: int) -> dict[int, list[int]]:
    """CPUs of each thread: one that was started before the binding keeps the old set."""
    found = {}
    for path in sorted((proc / str(pid) / "task").glob("[0-9]*")):
        allowed = re.search(r"^Cpus_allowed_list:\s*(\S+)", read(path / "status") or "", re.MULTILINE)
        if allowed:
            found[int(path.name)] = parse_list(allowed[1])
    return found


def rank_of(proc: Path, pid: int) -> int | None:
    """LOCAL_RANK or SLURM_LOCALID of a process."""
    found = re.search(r"(?:^|\0)(?:LOCAL_RANK|SLURM_LOCALID)=(\d+)", read(proc / str(pid) / "environ") or "")
    return int(found[1]) if found else None


def judge(machine: Machine, seats: list[Seat], proc: Path, pid: int) -> list[str]:
    """What is wrong with a running process."""
    state = status_of(proc, pid)
    if state is None:
        return [f"process {pid} is gone or not ours"]
    cpus, pages = state
    rank, node_of = rank_of(proc, pid), {c: n for n, cpus in machine.nodes.items() for c in cpus}
    on = {node_of[c] for c in cpus if c in node_of}
    seat = seats[rank] if rank is not None and rank < len(seats) else None
    who = f"process {pid}" + (f" (local rank {rank})" if rank is not None else "")
    found = []
    if len(on) > 1:
        found.append(f"{who} may run on nodes {format_list(on)}: not bound")
    if seat and seat.node is not None and len(on) == 1 and seat.node not in on:
        found.append(f"{who} runs on node {format_list(on)}, its GPU {seat.gpu} is on node {seat.node}")
    home = seat.node if seat and seat.node is not None else next(iter(on)) if len(on) == 1 else None
    far = sum(count for node, count in pages.items() if node != home)
    if home is not None and sum(pages.values()) and far > 0.1 * sum(pages.values()):
        found.append(f"{who} has {far / sum(pages.values()):.0%} of its memory off node {home}: allocated before it was bound?")
    late = [tid for tid, theirs in threads_of(proc, pid).items() if set(theirs) - set(cpus)]
    if late:
        found.append(f"{who}: {len(late)} thread(s) keep a wider set than the process ({', '.join(map(str, late[:4]))})")
    return found


def show(machine: Machine, seats: list[Seat]) -> None:
    """The machine and the binding, as tables."""
    for number, cpus in machine.nodes.items():
        cores = len({min(core) for core in machine.cores.values() if set(core) & set(cpus)})
        gib = f"{machine.memory.get(number, 0) / 2**30:.0f} GiB"
        print(f"node {number}: {cores} cores, cpus {format_list(cpus)}, {gib}, distances {machine.distances.get(number, [])}")
    for device in (*machine.gpus, *machine.nics):
        node = "?" if device.node is None else device.node
        print(f"{device.kind} {device.address} node {node}: {device.name} {device.speed}".rstrip())
    print(f"{'rank':>4} {'gpu':<14} {'node':>4} {'nic':<10} {'hops':<12} cpus")
    for seat in seats:
        node = "?" if seat.node is None else seat.node
        print(f"{seat.local_rank:>4} {seat.gpu or '-':<14} {node:>4} {seat.nic or '-':<10} {seat.nic_hops or '-':<12} {format_list(seat.cpus)}")
    print(f"how: {seats[0].how}")
    print(f"torchrun: torchrun --nproc-per-node {len(seats)} --no-python python3 affinity.py --exec -- python3 train.py")
    print(f"srun:     srun --ntasks-per-node {len(seats)} --cpu-bind=mask_cpu:{cpu_masks(seats)} --mem-bind=local python3 train.py")
    for seat in seats:
        memory = f" --membind={seat.node}" if seat.node is not None else ""
        print(f"numactl:  rank {seat.local_rank}: numactl --physcpubind={format_list(seat.cpus)}{memory} python3 train.py")


def run_bound(seats: list[Seat], rank: int, command: list[str]) -> None:
    """Bind this process, then become the command: threads and workers that it starts inherit the binding."""
    seat = seats[rank % len(seats)]
    allowed = os.sched_getaffinity(0)
    cpus = set(seat.cpus) & allowed
    if not cpus:
        raise ToolError(f"rank {rank} belongs on cpus {format_list(seat.cpus)}, but only {format_list(allowed)} are ours: "
                        "the job step's or the container's set is in the way")  # fmt: skip
    os.sched_setaffinity(0, cpus)
    os.environ.setdefault("OMP_NUM_THREADS", str(len(cpus)))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise ToolError(f"cannot run {command[0]}: {error.strerror}", USAGE) from None


def parse(argv=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=TOOL, description=__doc__.strip(), formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"{TOOL} {VERSION}")
    parser.add_argument("--ranks", type=int, metavar="N", help="ranks on this node (one a GPU)")
    parser.add_argument("--pid", type=int, nargs="+", default=[], metavar="PID", help="processes to look at")
    parser.add_argument("--check", action="store_true", help="exit 1 if anything stands in the way of a good binding")
    parser.add_argument("--exec", action="store_true", help="bind this process as its local rank and run the command after --")
    parser.add_argument("--local-rank", type=int, metavar="N", help="with --exec (LOCAL_RANK or SLURM_LOCALID)")
    parser.add_argument("--json", metavar="FILE", help="write the whole report here")
    parser.add_argument("--csv", metavar="FILE", help="write the binding here")
    parser.add_argument("--sys", type=Path, default=Path("/sys"), metavar="DIR", help="a recorded tree to read instead")
    parser.add_argument("--proc", type=Path, default=Path("/proc"), metavar="DIR", help="a recorded tree to read instead")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="with --exec")
    args = parser.parse_args(argv)
    if bool(args.command) != args.exec:
        parser.error("--exec and a command after -- belong together")
    if args.ranks is not None and args.ranks < 1:
        parser.error("--ranks must be 1 or more")
    return args


def main(argv=None) -> int:
    args = parse(argv)
    machine = read_machine(args.sys)
    seats = plan(machine, args.ranks)
    if args.exec:
        local = os.environ.get("LOCAL_RANK") or os.environ.get("SLURM_LOCALID") or "0"
        run_bound(seats, args.local_rank if args.local_rank is not None else int(local), args.command)
    show(machine, seats)
    warnings = doubts(machine)
    problems = [text for pid in args.pid for text in judge(machine, seats, args.proc, pid)]
    if args.check:
        problems += [text for text in warnings if "hybrid" not in text]
    for text in warnings:
        print(f"{TOOL}: warning: {text}", file=sys.stderr)
    for text in problems:
        print(f"{TOOL}: FAILED: {socket.gethostname()}: {text}", file=sys.stderr)
    rows = [asdict(seat) | {"cpus": format_list(seat.cpus)} for seat in seats]
    if args.csv:
        write_atomic(args.csv, csv_text(rows))
    if args.json:
        report = {"schema_version": SCHEMA_VERSION, "tool": TOOL, "tool_version": VERSION, "status": "failed" if problems else "ok"}
        where = {"host": socket.gethostname(), "platform": platform.platform(), "command": shlex.join(sys.argv)}
        report |= {"problems": problems, "warnings": warnings, "environment": where, "machine": asdict(machine), "results": rows}
        write_atomic(args.json, json.dumps(report, indent=1, default=str) + "\n")
    return FAILED if problems else OK


if __name__ == "__main__":
    sys.exit(run_tool(main))

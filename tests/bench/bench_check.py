"""How long `build.py check` takes against `mkdocs build` of the same book, cold and warm.

    python3 tests/bench/bench_check.py [CONFIG] [--rounds N]

The three take turns, each as a process of its own. MkDocs and a cold check find no cache (help texts of tools, diagrams),
a warm check finds that of the cold one before it.
Prints the shortest times, which other work on the machine disturbs least, and their ratios; exit status 1 where a warm check takes over 0.5 times, or a cold one over 1.5 times,
what MkDocs takes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMITS = {"cold": 1.5, "warm": 0.5}


def seconds(command: list[str]) -> float:
    """Wall-clock time of a process; one that finds problems (exit status 1) has done its work, too."""
    begin = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, check=False
    )
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: {done.stderr.decode(errors='replace')}")
    return time.perf_counter() - begin


def measure(config: Path, rounds: int) -> dict[str, list[float]]:
    check = [
        sys.executable,
        str(ROOT / "build.py"),
        "check",
        "--no-bootstrap",
        "--quiet",
        "--config",
        str(config),
    ]
    taken: dict[str, list[float]] = {"mkdocs": [], "cold": [], "warm": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            shutil.rmtree(config.parent / ".cache", ignore_errors=True)
            mkdocs = [
                sys.executable,
                "-m",
                "mkdocs",
                "build",
                "--quiet",
                "-f",
                str(config),
                "-d",
                f"{folder}/site",
            ]
            taken["mkdocs"].append(seconds(mkdocs))
        taken["cold"].append(seconds([*check, "--no-cache"]))
        taken["warm"].append(seconds(check))
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("config", nargs="?", type=Path, default=ROOT / "mkdocs.yml")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    shortest = {name: min(t) for name, t in measure(args.config.resolve(), args.rounds).items()}
    print(f"mkdocs build  {shortest['mkdocs']:6.2f} s")
    over = False
    for name, limit in LIMITS.items():
        ratio = shortest[name] / shortest["mkdocs"]
        over = over or ratio > limit
        print(f"check, {name}   {shortest[name]:6.2f} s  {ratio:5.2f} × (limit {limit})")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())

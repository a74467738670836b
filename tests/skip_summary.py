"""The last words of a test run: how many tests a missing program kept from running, and how to get them."""

from __future__ import annotations

import re
from collections import Counter

_REASON = re.compile(r"missing program: (?P<programs>[^()]+) \((?P<hints>[^()]+)\)")
_APT = "apt-get install "


def skips_by_program(reasons: list[str]) -> tuple[Counter[str], list[str]]:
    """How many tests each program would let run, and the commands that bring them all: one for apt, those of npm."""
    programs: Counter[str] = Counter()
    packages: set[str] = set()
    others: set[str] = set()
    for reason in reasons:
        if found := _REASON.search(reason):
            programs.update(name.strip() for name in found["programs"].split(","))
            for hint in found["hints"].split("; "):
                if hint.startswith(_APT):
                    packages.update(hint.removeprefix(_APT).split())
                else:
                    others.add(hint)
    return programs, [_APT + " ".join(sorted(packages))] * bool(packages) + sorted(others)


def summary(reasons: list[str]) -> list[str]:
    """The lines to print; none where no program was missed."""
    programs, commands = skips_by_program(reasons)
    if not programs:
        return []
    counted = ", ".join(f"{number} without {name}" for name, number in sorted(programs.items()))
    return [f"skipped: {counted}", f"to run them: {' && '.join(commands)}"]


def pytest_terminal_summary(terminalreporter) -> None:
    reports = terminalreporter.getreports("skipped")
    lines = summary([report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)])
    if lines:
        terminalreporter.section("missing programs")
        for line in lines:
            terminalreporter.write_line(line)

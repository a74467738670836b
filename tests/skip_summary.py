"""The last words of a test run: how many tests a missing program kept from running, and how to get them."""

from __future__ import annotations

import re
from collections import Counter

_REASON = re.compile(r"missing program: (?P<programs>[^()]+) \(apt-get install (?P<packages>[^()]+)\)")


def skips_by_program(reasons: list[str]) -> tuple[Counter[str], list[str]]:
    """How many tests each program would let run, and the Debian packages that bring them all."""
    programs: Counter[str] = Counter()
    packages: set[str] = set()
    for reason in reasons:
        if found := _REASON.search(reason):
            programs.update(name.strip() for name in found["programs"].split(","))
            packages.update(found["packages"].split())
    return programs, sorted(packages)


def summary(reasons: list[str]) -> list[str]:
    """The lines to print; none where no program was missed."""
    programs, packages = skips_by_program(reasons)
    if not programs:
        return []
    counted = ", ".join(f"{number} without {name}" for name, number in sorted(programs.items()))
    return [f"skipped: {counted}", f"to run them: apt-get install {' '.join(packages)}"]


def pytest_terminal_summary(terminalreporter) -> None:
    reports = terminalreporter.getreports("skipped")
    lines = summary([report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)])
    if lines:
        terminalreporter.section("missing programs")
        for line in lines:
            terminalreporter.write_line(line)

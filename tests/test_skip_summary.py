"""Skipped tests are summed up by the program they lack; where CI is set they fail instead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from skip_summary import summary

TESTS = Path(__file__).resolve().parent
CONFTEST = """\
import sys
sys.path.append({tests!r})
from skip_summary import pytest_terminal_summary
"""
SAMPLE = """\
from support import require_program
def test_one(): require_program("no-such-program")
def test_two(): require_program("no-such-program", "sh")
def test_three(): require_program("sh")
"""


def run_sample(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST.format(tests=str(TESTS)))
    (folder / "test_sample.py").write_text(SAMPLE)
    clean = {k: v for k, v in os.environ.items() if k != "CI"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sample.py"]
    return subprocess.run(
        command, cwd=folder, env={**clean, **env}, capture_output=True, text=True, check=False
    )


def test_programs_are_counted_and_packages_named_once():
    reasons = [
        "Skipped: missing program: qpdf (apt-get install qpdf)",
        "Skipped: missing program: qpdf, pdftotext (apt-get install qpdf poppler-utils)",
        "Skipped: missing program: pdftoppm (apt-get install poppler-utils)",
        "Skipped: needs a GPU",
    ]
    assert summary(reasons) == [
        "skipped: 1 without pdftoppm, 1 without pdftotext, 2 without qpdf",
        "to run them: apt-get install poppler-utils qpdf",
    ]


def test_programs_of_npm_come_with_its_command():
    reasons = [
        "Skipped: missing program: node, ace-cli (apt-get install nodejs; npm install --prefix .cache/npm ace)",
        "Skipped: missing program: ace-cli (npm install --prefix .cache/npm ace)",
    ]
    assert summary(reasons) == [
        "skipped: 2 without ace-cli, 1 without node",
        "to run them: apt-get install nodejs && npm install --prefix .cache/npm ace",
    ]


def test_nothing_is_said_where_nothing_is_missing():
    assert summary(["Skipped: needs a GPU"]) == []


def test_a_run_ends_with_the_summary(tmp_path):
    done = run_sample(tmp_path)
    assert done.returncode == 0
    said = done.stdout.splitlines()
    assert said[-3:-1] == [
        "skipped: 2 without no-such-program",
        "to run them: apt-get install no-such-program",
    ]
    assert said[-1].startswith("1 passed, 2 skipped")


def test_in_ci_a_missing_program_fails_the_test(tmp_path):
    done = run_sample(tmp_path, CI="true")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("2 failed, 1 passed")
    assert "missing program: no-such-program" in done.stdout

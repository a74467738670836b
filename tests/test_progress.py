"""Progress as a terminal and as a pipe shows it, with a clock that the test moves."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bookbuild.progress import Progress, counted, size

ROOT = Path(__file__).resolve().parent.parent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def build_one(stream: io.StringIO, *, quiet: bool = False, name: str = "site") -> str:
    clock = Clock()
    progress = Progress(stream, quiet=quiet, clock=clock)
    with progress.stage(name) as stage:
        stage(1, 2)
        stage(2, 2)
        clock.now += 2.5
    return stream.getvalue()


def test_a_pipe_gets_one_line_when_the_stage_has_ended():
    [line] = build_one(io.StringIO()).splitlines()
    assert line.split() == ["site", "2/2", "pages", "2.5", "s"]


def test_a_terminal_shows_the_stage_in_place_and_keeps_its_last_line():
    text = build_one(Terminal())
    assert text.startswith("\r\x1b[K") and text.count("\n") == 1
    assert text.endswith("\x1b[0m\n") and "\x1b[32m" in text


def test_no_color_leaves_the_colours_out(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[\d+m", build_one(Terminal()))


def test_a_dumb_terminal_is_written_to_like_a_pipe(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in build_one(Terminal())


def test_a_line_in_place_is_never_wider_than_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    shown = build_one(Terminal(), name="a stage with a long name").split("\r\x1b[K")
    assert all(len(piece) < 20 for piece in shown[1:-1])


def test_quiet_is_silent():
    assert build_one(Terminal(), quiet=True) == ""


def test_a_stage_that_fails_is_marked_and_its_error_goes_on():
    stream = io.StringIO()
    with pytest.raises(ValueError, match="no paper"), Progress(stream).stage("pdf"):
        raise ValueError("no paper")
    assert stream.getvalue().split()[:2] == ["pdf", "failed"]


def test_note_is_what_the_closing_line_says():
    stream = io.StringIO()
    with Progress(stream).stage("pdf") as stage:
        stage(3, 9)
        stage.note = "9 pages"
    assert "9 pages" in stream.getvalue() and "3/9" not in stream.getvalue()


def test_the_command_line_rewrites_its_line_on_a_real_terminal():
    parent, child = pty.openpty()
    command = [sys.executable, ROOT / "build.py", "check", "--config", ROOT / "tests/minibook/mkdocs.yml"]
    env = {**os.environ, "COLUMNS": "80"}
    process = subprocess.Popen(
        [*command, "--no-bootstrap", "--no-cache"],
        stdout=subprocess.DEVNULL,
        stderr=child,
        stdin=child,
        env=env,
    )
    os.close(child)
    said = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:  # Linux reports the other end's close this way
            break
        if not piece:
            break
        said += piece
    os.close(parent)
    process.wait(timeout=60)
    assert said.count(b"\r\x1b[K") > 2
    kept = [line.rsplit(b"\x1b[K")[-1] for line in said.split(b"\n") if line.strip()]
    assert any(re.search(rb"site +\d+ pages +\d+\.\d s", line) for line in kept)


@pytest.mark.parametrize(("number", "text"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages")])
def test_counted_nouns(number, text):
    assert counted(number, "page") == text


@pytest.mark.parametrize(
    ("length", "text"),
    [(1, "1 kB"), (1_499, "1 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (2_360_000, "2.4 MB")],
)
def test_sizes_are_decimal(tmp_path, length, text):
    path = tmp_path / "x"
    path.write_bytes(b"x" * length)
    assert size(path) == text

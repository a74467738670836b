"""What the user sees while a build runs: one rewriting line on a terminal, a plain line a stage in a pipe."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


class Stage:
    """One step of a build. Call it with (done, total); set `note` to what the closing line shall say."""

    def __init__(self, name: str, clock: Callable[[], float], unit: str) -> None:
        self.name, self.unit, self.note = name, unit, ""
        self.counts = ""
        self._clock, self._began = clock, clock()

    def __call__(self, done: int, total: int) -> None:
        self.counts = f"{done}/{total} {self.unit}" if total else f"{done} {self.unit}"

    def line(self, state: str) -> str:
        return f"{self.name:<8} {state:<28} {self._clock() - self._began:6.1f} s".rstrip()


class Progress:
    """Writes stages to a stream, by default standard error, so that standard output stays the problems'."""

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stream = stream or sys.stderr
        self.quiet = quiet
        self.live = not quiet and self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.color = self.live and not os.environ.get("NO_COLOR")
        self._clock = clock

    @contextmanager
    def stage(self, name: str, unit: str = "pages") -> Iterator[Stage]:
        """Show a stage while the block runs; a block that raises leaves its line marked as failed."""
        stage = Stage(name, self._clock, unit)
        ticker = _Ticker(lambda: self._rewrite(stage)) if self.live else None
        try:
            yield stage
        except BaseException:
            if ticker:
                ticker.stop()
            self.say(stage.line("failed"), "31")
            raise
        if ticker:
            ticker.stop()
        self.say(stage.line(stage.note or stage.counts or "done"), "32")

    def say(self, text: str, color: str = "") -> None:
        """A line that stays; on a terminal it takes the place of the rewriting one."""
        if self.quiet:
            return
        if self.live:
            self.stream.write("\r\x1b[K")
        self.stream.write(f"\x1b[{color}m{text}\x1b[0m\n" if color and self.color else f"{text}\n")
        self.stream.flush()

    def _rewrite(self, stage: Stage) -> None:
        width = shutil.get_terminal_size().columns
        self.stream.write("\r\x1b[K" + stage.line(stage.counts or "…")[: width - 1])
        self.stream.flush()


class _Ticker:
    """Calls a function a few times a second, so that the clock runs while one long step computes."""

    def __init__(self, show: Callable[[], None], seconds: float = 0.2) -> None:
        self._show, self._seconds, self._over = show, seconds, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        show()
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            self._show()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()


def counted(number: int, noun: str) -> str:
    """'1 page', '2 pages'."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def size(path: Path) -> str:
    """A file's size for people, in decimal units."""
    number = path.stat().st_size
    return f"{number / 1e6:.1f} MB" if number >= 999_500 else f"{max(1, round(number / 1e3))} kB"

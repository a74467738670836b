"""Work done in a process of its own while this one goes on."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from bookbuild.model import BookError


def is_possible() -> bool:
    """Forking hands the rendered book over without a copy; only Linux does that soundly."""
    return sys.platform == "linux"


class Aside:
    """Starts `work` in a forked process; `result` waits for what it returns or raises its BookError.

    `work` gets a function that waits for what `tell` says, and gives None where this process ends without a word.
    """

    def __init__(self, work: Callable[[Callable[[], Any]], Any]) -> None:
        context = multiprocessing.get_context("fork")
        self._answer, answer = context.Pipe(duplex=False)
        told, self._teller = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(work, answer, told, self._teller), daemon=True)
        self._process.start()
        answer.close()  # ours; the other process holds the one that counts
        told.close()

    def tell(self, value: Any) -> None:
        """Say, once, what the work needs from here."""
        with suppress(BrokenPipeError):  # it has ended; result() tells how
            self._teller.send(value)

    def result(self) -> Any:
        try:
            value = self._answer.recv()
        except EOFError:
            value = None, RuntimeError("a process of the build ended without an answer; see above")
        self._process.join()
        done, error = value
        if error:
            raise error
        return done

    def stop(self) -> None:
        """End the work if it is still going on."""
        self._process.terminate()
        self._process.join()


def _run(work: Callable[[Callable[[], Any]], Any], answer: Connection, told: Connection, teller: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both; the parent decides
    teller.close()  # the parent holds the one that counts

    def take() -> Any:
        try:
            return told.recv()
        except EOFError:
            return None

    try:  # any other exception is printed by multiprocessing, and the closed pipe tells the parent
        answer.send((work(take), None))
    except BookError as error:
        answer.send((None, error))

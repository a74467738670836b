"""Shell fences before bash and shellcheck: one process of the latter for all that have not been judged before.

A verdict is kept in `.cache/` under a hash of the text and of the two programs. A program that is missing judges nothing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bookbuild.cache import digest, read_cached, write_cached
from bookbuild.check.fence import Fault, Fence
from bookbuild.model import Book, Problem

KIND = "fence-shell"
_TIMEOUT = 60  # seconds; a fence takes some thousandths


def problems(book: Book, fences: list[Fence]) -> Iterator[Problem]:
    """What bash says of each fence, and what shellcheck calls an error where bash says nothing."""
    if not fences:
        return
    bash, shellcheck = shutil.which("bash"), shutil.which("shellcheck")
    stamp = "".join(_stamp(program) for program in (bash, shellcheck))
    keys = {fence.text: digest(fence.text, stamp, Path(__file__).read_bytes()) for fence in fences}
    known = {text: read_cached(book.root, KIND, key) for text, key in keys.items()}
    fresh = [text for text, verdict in known.items() if verdict is None]
    for text, faults in _judged(fresh, bash, shellcheck).items():
        known[text] = json.dumps(faults)
        write_cached(book.root, KIND, keys[text], json.dumps(faults))
    for fence in fences:
        for fault in json.loads(known[fence.text] or "[]"):
            yield fence.problem(*fault)


def _stamp(program: str | None) -> str:
    if program is None:
        return "-"
    stat = Path(program).stat()
    return f"{program} {stat.st_size} {stat.st_mtime_ns};"


def _judged(texts: list[str], bash: str | None, shellcheck: str | None) -> dict[str, list[Fault]]:
    found = {text: list(_bash(text, bash)) if bash else [] for text in texts}
    readable = [text for text in texts if not found[text]]
    if shellcheck and readable:
        for text, faults in zip(readable, _shellcheck(readable, shellcheck), strict=True):
            found[text] = faults
    return found


def _bash(text: str, program: str) -> Iterator[Fault]:
    done = subprocess.run(
        [program, "-n"],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_TIMEOUT,
        env={"LC_ALL": "C.UTF-8"},
        check=False,
    )
    # bash: line 3: syntax error near unexpected token `newline'; a warning (an open here-document) ends well, too
    for line in done.stderr.splitlines():
        _, _, rest = line.partition(": line ")
        number, _, words = rest.partition(": ")
        if number.isdigit() and words and not words.startswith("`"):
            rows = text.rstrip("\n").count("\n")
            hint = (
                "placeholders are in CAPITALS, without brackets" if "<" in text and "newline" in words else ""
            )
            yield min(int(number) - 1, rows), "fence-bash", f"bash does not read it: {words}", hint
            return


def _shellcheck(texts: list[str], program: str) -> list[list[Fault]]:
    with tempfile.TemporaryDirectory(prefix="bookbuild-") as folder:
        names = [f"{number}.sh" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            Path(folder, name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            [program, "--norc", "--shell=bash", "--severity=error", "--format=json", *names],
            capture_output=True,
            timeout=_TIMEOUT,
            cwd=folder,
            env={"LC_ALL": "C.UTF-8", "HOME": folder},
            check=False,
        )
    by_name: dict[str, list[Fault]] = {name: [] for name in names}
    for comment in json.loads(done.stdout or "[]"):
        words = f"SC{comment['code']}: {comment['message']}"
        fault = (
            comment["line"] - 1,
            "fence-shellcheck",
            words,
            f"https://www.shellcheck.net/wiki/SC{comment['code']}",
        )
        by_name[comment["file"]].append(fault)
    return [by_name[name][:1] for name in names]  # the others mostly follow from the first

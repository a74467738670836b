"""Commands of the book's own programs in shell fences, held against what those print for --help.

A command is ours when it runs a file below tools/, or build.py, by itself or through python3, torchrun, srun and the like.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bookbuild.check.fence import Fault
from bookbuild.check.fence import words as _words
from bookbuild.data import nearest
from bookbuild.markdown.scripts import HelpError, help_text

_LAUNCHERS = _words(
    """
accelerate bash deepspeed env exec mpirun mpiexec ncu nice nohup nsys numactl py-spy python python3 salloc sbatch sh
srun stdbuf sudo taskset time timeout torchrun uv
"""
)
_ENDS = frozenset({";", "&", "&&", "|", "||", "(", ")", ";;", "|&", "{", "}"})
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_OURS = re.compile(r"(?:^|/)(tools/[\w./-]+\.(?:py|sh|slurm|sbatch|yaml|yml)|build\.py)$")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_PLACEHOLDER = re.compile(r"(?:^|/)[A-Z][A-Z_]+(?:[./]|$)")


def faults(root: Path, text: str) -> Iterator[Fault]:
    """Unknown tools, unknown options, and lines that begin with an option since the line before has no backslash."""
    lines = text.split("\n")
    for row, words in commands(text):
        if words[0].startswith("--") or re.match(r"-[A-Za-z]$", words[0]):
            before = lines[max(0, row - 1)]
            hint = (
                "nothing may stand behind the backslash"
                if before.rstrip().endswith("\\")
                else "end it with \\"
            )
            text = f"'{words[0]}' begins a command, for the line before does not go on"
            yield max(0, row - 1), "fence-bash", text, hint
            continue
        for place, word in enumerate(words):
            if found := _OURS.search(word):
                yield from _command(root, found[1], words, place, lambda w, r=row: _row(lines, r, w))
                break


def commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """(row, words) of every simple command; redirections are left out, here-documents skipped, quotes taken off."""
    lines = text.split("\n")
    row = 0
    while row < len(lines):
        start, logical = row, lines[row]
        row += 1
        while row < len(lines) and (logical.endswith("\\") or not _closed(logical)):
            logical = (
                logical[:-1] + " " + lines[row] if logical.endswith("\\") else f"{logical}\n{lines[row]}"
            )
            row += 1
        for found in _HEREDOC.finditer(logical):
            while row < len(lines) and lines[row].strip() != found[2]:
                row += 1
            row += 1
        yield from ((start, words) for words in _simple(logical))


def _closed(line: str) -> bool:
    try:
        shlex.split(line, comments=True)
    except ValueError:
        return False
    return True


def _simple(line: str) -> Iterator[list[str]]:
    """The simple commands of a logical line, those within $(…) and quoted scripts, too."""
    inner: list[str] = []

    def take(found: re.Match[str]) -> str:
        inner.append(found[1] or found[2] or "")
        return "SUBSTITUTED"

    while (replaced := _INNER.sub(take, line)) != line:
        line = replaced
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    skip = False
    try:
        tokens = list(lexer)
    except ValueError:  # bash says what is wrong with it
        return
    for token in tokens:
        if token in _ENDS:
            if words:
                yield words
            words, skip = [], False
        elif set(token) <= set("<>&"):
            skip = True
            if words and words[-1].isdigit():
                words.pop()
        elif skip:
            skip = False
        else:
            words.append(token)
            if " " in token and ("tools/" in token or "build.py" in token):
                inner.append(token)
    if words:
        yield words
    for text in inner:
        yield from _simple(text)


def _command(root: Path, name: str, words: list[str], place: int, row) -> Iterator[Fault]:
    path = root / name
    if name == "build.py" and not path.is_file():  # another book's, or none of ours
        return
    if not path.is_file():
        if not _PLACEHOLDER.search(name):
            yield row(words[place]), "fence-tool", f"no file {name}", _near(root, name)
        return
    head = next((w for w in words if not re.match(r"\w+=", w)), "")
    runs = place == words.index(head) or PurePosixPath(head).name in _LAUNCHERS
    if not runs or path.suffix != ".py":
        return
    try:
        known = options(help_text(path, root))
        named = _choices(help_text(path, root)) if name == "build.py" else set()
    except HelpError:
        return  # tests of the tools say so
    for word in words[place + 1 :]:
        if word == "--":
            return
        flag = word.partition("=")[0]
        if not re.match(r"--?[A-Za-z]", flag) or flag in known:
            continue
        if re.fullmatch(r"-[A-Za-z]{2,}|-[A-Za-z]\S*", flag) and flag[:2] in known:
            continue
        near = nearest(flag, known)
        yield (
            row(flag),
            "fence-option",
            f"{name} has no option {flag}",
            f"did you mean {near}?" if near else "",
        )
    following = words[place + 1 : place + 2]
    if named and following and re.fullmatch(r"[a-z]+", following[0]) and following[0] not in named:
        near = nearest(following[0], named)
        text = f"{name} has no command {following[0]}"
        yield row(following[0]), "fence-option", text, f"did you mean {near}?" if near else ""


def _near(root: Path, name: str) -> str:
    known = [p.relative_to(root).as_posix() for p in sorted((root / "tools").rglob("*.*")) if p.is_file()]
    same = (k for k in known if PurePosixPath(k).name == PurePosixPath(name).name)
    near = next(same, "") or nearest(name, known)
    return f"did you mean {near}?" if near else ""


def options(text: str) -> set[str]:
    """The options that a help text of argparse names, in its usage and at the head of its lists."""
    found: set[str] = set()
    usage = True
    for line in text.split("\n"):
        usage = usage and bool(line.strip())
        if usage or re.match(r"\s+-", line):
            head = line if usage else re.split(r"\s{2,}", line.strip())[0]
            found.update(_OPTION.findall(head))
    return found


def _choices(text: str) -> set[str]:
    """The words in the list under `commands:`."""
    section = text.partition("\ncommands:\n")[2].partition("\n\n")[0]
    return {line.split()[0] for line in section.split("\n") if line.strip()}


def _row(lines: list[str], start: int, word: str) -> int:
    return next((row for row in range(start, len(lines)) if word in lines[row]), start)

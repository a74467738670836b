"""Code fences hold what their language says: shell that parses, Python that compiles, data that can be read.

Shell is judged by bash and shellcheck where they are installed, commands of tools/ and build.py against their own --help,
batch scripts against sbatch's options, manifests by kubernetes-validate where that is installed.
"""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterator

from markdown_it.token import Token

from bookbuild.check import fence_batch, fence_commands, fence_data, fence_shell
from bookbuild.check.fence import Fault, Fence
from bookbuild.check.sources import Source
from bookbuild.markdown.structure import SNIPPET
from bookbuild.model import Book, Problem

CODES = {
    "fence-bash": "a shell fence that bash cannot read, or in which a command goes on without a backslash",
    "fence-json": "a json fence that cannot be parsed",
    "fence-kubernetes": "a Kubernetes manifest that its schema refuses",
    "fence-language": "a fence that names no language",
    "fence-option": "an option or command that a tool of the book does not have",
    "fence-output": "an output fence with no fence before it that is run",
    "fence-prompt": "a shell fence with a prompt before the command, or with output in it",
    "fence-python": "a python fence that does not compile",
    "fence-run": "a fence marked to be run that is neither python nor bash",
    "fence-sbatch": "an #SBATCH line that sbatch refuses or never reads",
    "fence-shellcheck": "an error that shellcheck finds in a shell fence",
    "fence-toml": "a toml fence that cannot be parsed",
    "fence-tool": "a command that names a file below tools/ that is not there",
    "fence-yaml": "a yaml fence that cannot be parsed",
}
SHELL = frozenset({"bash", "sh", "shell", "slurm", "sbatch"})
PYTHON = frozenset({"python", "python3", "py"})
_DATA = {"json": fence_data.json_faults, "yaml": fence_data.yaml_faults, "yml": fence_data.yaml_faults}
_PROMPT = re.compile(r"^\s*(?:\$|>|(?:\(\w+\) )?[\w.-]+@[\w.-]+[:~][^$#]*[$#]|(?:root)?#\$) +\S")


def run(book: Book, sources: list[Source]) -> Iterator[Problem]:
    shells: list[Fence] = []
    for source in sources:
        before = None
        for token in source.tokens:
            if token.type != "fence" or not token.map:
                continue
            fence = read(source, token)
            yield from _marks(fence, before)
            before = fence
            if any(
                SNIPPET.match(line) for line in fence.text.split("\n")
            ):  # what it brings in is judged as a file
                continue
            if fence.language in SHELL:
                shells.append(fence)
            yield from (fence.problem(*fault) for fault in _faults(book, fence))
    yield from fence_shell.problems(book, shells)


def read(source: Source, token: Token) -> Fence:
    """A fence with its language and the words behind it, whichever of the two ways its head is written."""
    info = token.info.strip()
    words = info.strip("{}").split() or [""]
    start = (token.map or [0])[0] + 1
    return Fence(source, start, words[0].lstrip(".").lower(), tuple(words[1:]), token.content)


def _marks(fence: Fence, before: Fence | None) -> Iterator[Problem]:
    if not fence.language:
        yield fence.problem(-1, "fence-language", "the fence names no language", "```text for output")
    if "run" in fence.words and fence.language not in PYTHON | SHELL:
        yield fence.problem(-1, "fence-run", f"a {fence.language} fence cannot be run", "python and bash can")
    if "output" in fence.words and (before is None or "run" not in before.words):
        hint = f"mark the one before it: ```{before.language if before else 'bash'} run"
        yield fence.problem(-1, "fence-output", "no fence before this output is run", hint)


def _faults(book: Book, fence: Fence) -> Iterator[Fault]:
    if fence.language in SHELL:
        prompts = list(_prompts(fence))
        yield from prompts
        if not prompts:  # behind a prompt nothing is read as it is meant
            yield from fence_batch.faults(fence.text)
            yield from fence_commands.faults(book.root, fence.text)
    elif fence.language in PYTHON:
        yield from _python(fence.text)
    elif fence.language in _DATA:
        yield from _DATA[fence.language](fence.text)
    elif fence.language == "toml":
        yield from fence_data.toml_faults(fence.text)


def _prompts(fence: Fence) -> Iterator[Fault]:
    for number, line in enumerate(fence.text.split("\n")):
        if _PROMPT.match(line):
            hint = "leave it out; output goes into a fence of its own"
            yield number, "fence-prompt", "a prompt stands before the command", hint
            return


def _python(text: str) -> Iterator[Fault]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(textwrap.dedent(text), "<fence>", "exec", dont_inherit=True)
    except SyntaxError as error:
        hint = "```pycon for a session at the prompt" if text.lstrip().startswith(">>>") else ""
        yield max(0, (error.lineno or 1) - 1), "fence-python", f"Python does not read it: {error.msg}", hint
    except ValueError as error:
        yield 0, "fence-python", f"Python does not read it: {error}", ""

"""Fences marked `run` are run, and print what the output fence behind them says; `...` stands for what varies.

The fences of a page run one after the other in one empty folder, in which tools/ and book/ can be read. A fence with
title="name" is saved under that name first, as the reader is asked to do.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import MINIBOOK, REALBOOK, require_program

from bookbuild.check.fences import PYTHON, read
from bookbuild.check.sources import Source
from bookbuild.outline import docs_dir

LIMIT = 60  # seconds for one fence
_TITLE = re.compile(r'title="([\w.-]+)"')


def fences(path: Path) -> list:
    source = Source(None, path.name, path.read_text(encoding="utf-8-sig"))
    return [read(source, token) for token in source.tokens if token.type == "fence" and token.map]


def sandbox(folder: Path, config: Path) -> Path:
    for place in (config.parent / "tools", docs_dir(config)):
        if place.is_dir():
            (folder / place.name).symlink_to(place)
    return folder


def run_page(path: Path, folder: Path) -> list[str]:
    """Run the fences of a page in `folder`; a line for each that fails or prints something else."""
    wrong, printed = [], None
    for fence in fences(path):
        place = f"{path.name}:{fence.line}"
        if title := _TITLE.search(" ".join(fence.words)):
            (folder / title[1]).write_text(fence.text, encoding="utf-8")
        if "run" in fence.words:
            done = run(fence, folder)
            printed = done.stdout
            if done.returncode != 0:
                wrong.append(f"{place}: exit status {done.returncode}: {done.stderr.strip()[-300:]}")
        elif "output" in fence.words and printed is not None:
            if not matches(fence.text, printed):
                wrong.append(f"{place}: the page shows\n{fence.text}and the fence printed\n{printed}")
            printed = None
    return wrong


def run(fence, folder: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c"] if fence.language in PYTHON else ["bash", "-euo", "pipefail", "-c"]
    here = str(Path(sys.executable).parent)
    env = {
        "PATH": os.pathsep.join([here, os.environ.get("PATH", os.defpath)]),
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [*command, fence.text],
        check=False,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LIMIT,
    )


def matches(shown: str, printed: str) -> bool:
    """Whether a program printed what a page shows, as doctest compares with ELLIPSIS; blanks at line ends do not count."""
    want, got = (
        "\n".join(line.rstrip() for line in text.rstrip().split("\n")) + "\n" for text in (shown, printed)
    )
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


PAGES = [
    pytest.param(path, config, id=path.relative_to(docs_dir(config)).as_posix())
    for config in (REALBOOK, MINIBOOK)
    for path in sorted(docs_dir(config).rglob("*.md"))
    if any("run" in fence.words for fence in fences(path))
]


@pytest.mark.parametrize(("path", "config"), PAGES)
def test_fences_of_the_page_print_what_it_shows(path, config, tmp_path):
    require_program("bash")
    assert run_page(path, sandbox(tmp_path, config)) == []


def test_both_books_have_a_fence_that_is_run():
    """So that the test before this one is not empty."""
    assert {param.values[1] for param in PAGES} == {REALBOOK, MINIBOOK}


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        ("2\n", 0),
        ("3\n", 1),
        ("...\n", 0),
        ("", 1),
    ],
)
def test_another_output_than_the_page_shows_is_found(shown, wrong, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        f"# P\n\n```python run\nprint(1 + 1)\n```\n\n```text output\n{shown}```\n", encoding="utf-8"
    )
    assert len(run_page(page, tmp_path)) == wrong


def test_a_fence_that_fails_is_found_with_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# P\n\n```bash run\nfalse\ntrue\n```\n", encoding="utf-8")
    [said] = run_page(page, tmp_path)
    assert said.startswith("page.md:3: exit status 1")


def test_a_fence_with_a_title_is_a_file_for_the_next(tmp_path):
    page = tmp_path / "page.md"
    text = '# P\n\n```python title="a.py"\nprint("Hi")\n```\n\n```bash run\npython3 a.py\n```\n\n```text output\nHi\n```\n'
    page.write_text(text, encoding="utf-8")
    assert run_page(page, tmp_path) == []


def test_what_varies_within_a_line_is_left_open():
    assert matches("all_reduce ... GB/s\ndone\n", "all_reduce 12.5 GB/s\ndone\n")
    assert not matches("all_reduce ... GB/s\ndone\n", "all_reduce 12.5 GB/s\n")

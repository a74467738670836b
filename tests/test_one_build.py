"""A number is typed once: change it in the data, and one build changes table, text, plot and file, or says what fell."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sitetree import article, copy_book, parse_page
from support import ROOT

from bookbuild import trees
from bookbuild.presets import presets

BANDWIDTH = "      bandwidth_tb_per_s: 3.35\n"  # of the H100 SXM
PART = "nvidia-h100-sxm"


def build(root: Path, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "build.py"), command, "--config", str(root / "mkdocs.yml"), "--output", str(root / "site"),
         "--no-bootstrap"],
        cwd=root, env=dict(os.environ), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def change(root: Path, old: str, new: str) -> None:
    """Change the first such line of the record of the H100 SXM."""
    file = root / "book" / "data" / "accelerators.yml"
    head, mark, rest = file.read_text(encoding="utf-8").partition(f"  - id: {PART}\n")
    assert old in rest
    file.write_text(head + mark + rest.replace(old, new, 1), encoding="utf-8")


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """(copy of the book, its plot before, what the build of the changed book said)"""
    root = tmp_path_factory.mktemp("changed")
    copy_book(ROOT, root)
    first = build(root, "site")
    assert first.returncode == 0, first.stdout + first.stderr
    plot = (root / "site" / "figures" / "peak-and-bandwidth.svg").read_bytes()
    change(root, BANDWIDTH, BANDWIDTH.replace("3.35", "3.45"))
    return root, plot, build(root, "site")


def test_the_table_shows_it(changed):
    page = parse_page(changed[0] / "site" / "compute" / "index.html")
    row = next(e for e in page.iter("tr") if e.get("id") == f"tab-memory-{PART}")
    assert [cell.get("data-sort") for cell in row.iter("td")][-1] == "3.45"


def test_the_text_shows_it(changed):
    """Where the page gave the value by reference, and where it gave what follows from it: 989.4 / 3.45 is 287."""
    page = article(changed[0] / "site" / "compute" / "index.html")
    words = [trees.text_of(e) for e in page.iter("span") if e.get("class") == "value"]
    assert "3.45 TB/s" in [" ".join(w.split()) for w in words]
    assert "287" in words
    assert "295" not in words


def test_the_plot_is_another(changed):
    assert (changed[0] / "site" / "figures" / "peak-and-bandwidth.svg").read_bytes() != changed[1]


def test_the_file_to_download_holds_it(changed):
    files = list((changed[0] / "site").rglob("tab-memory.csv"))
    rows = [row for file in files for row in csv.reader(file.read_text(encoding="utf-8").splitlines())]
    [row] = [row for row in rows if row[0].startswith("NVIDIA H100 SXM")]
    assert "3.45" in row


def test_the_calculators_start_from_it(changed):
    """3.45 TB/s are 3.45e12 bytes a second."""
    found = presets(changed[0] / "book" / "data", "accelerators/memory.bandwidth_tb_per_s")
    assert found[PART].base == pytest.approx(3.45e12)


def test_sums_that_no_longer_hold_fail_the_check(changed):
    """Each with its line, and the datum that it named."""
    root, _, site = changed
    assert site.returncode == 1
    done = build(root, "check")
    assert done.returncode == 1
    text = (root / "book" / "compute" / "index.md").read_text(encoding="utf-8").split("\n")
    line = next(n for n, words in enumerate(text, 1) if "[989.4 TFLOPS / 3.35 TB/s = 295 FLOPs/B]" in words)
    wanted = f"book/compute/index.md:{line}: sum-stale no number of the sum is {PART}/memory.bandwidth_tb_per_s, which is 3.45 TB/s"
    assert wanted in done.stdout
    assert "value-stale" in done.stdout

"""The tools stand alone, so what they share is repeated in them; these tests keep the copies and the rules alike.

Each shared piece stands between `# --- common: NAME ---` and `# --- end common: NAME ---` in every tool that uses it and,
to be edited, in tests/tools/blocks.py. `python tests/tools/sync_blocks.py` brings the tools up to date.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import blocks
import pytest
import sync_blocks
import tomllib
import torch

TOOLS = sync_blocks.tool_files()


def oldest_python() -> str:
    """Python 3.10, the oldest that the tools support, where it runs; else this one."""
    found = shutil.which("python3.10")
    works = found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0
    return found if works else sys.executable


ids = [str(path.relative_to(sync_blocks.TOOLS)) for path in TOOLS]
each_tool = pytest.mark.parametrize("tool", TOOLS, ids=ids)


@each_tool
def test_every_copy_of_a_block_is_identical(tool):
    source = sync_blocks.blocks(sync_blocks.SOURCE.read_text())
    for name, body in sync_blocks.blocks(tool.read_text()).items():
        assert body == source.get(name), f"{tool}: block {name} differs; run python tests/tools/sync_blocks.py"


def test_sync_fills_an_empty_block_and_mends_a_changed_one():
    source = {"x": "a = 1\n"}
    for body in ("", "a = 2\n"):
        text = f"# --- common: x ---\n{body}# --- end common: x ---\nrest\n"
        assert sync_blocks.synced(text, source) == "# --- common: x ---\na = 1\n# --- end common: x ---\nrest\n"


@pytest.mark.parametrize("text", ["# --- common: x ---\n", "# --- common: x ---\n# --- end common: y ---\n"])
def test_a_marker_without_its_partner_is_refused(text):
    with pytest.raises(ValueError, match="partner"):
        sync_blocks.blocks(text)


@each_tool
def test_help_and_version_need_nothing_but_python(tool):
    """-I -S hides site-packages, so torch cannot be imported."""
    for flag, wanted in (("--help", "usage:"), ("--version", tool.name)):
        done = subprocess.run(
            [oldest_python(), "-I", "-S", str(tool), flag], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert wanted in done.stdout


@each_tool
def test_header_says_what_uv_must_install(tool):
    """PEP 723: `uv run FILE` works."""
    found = re.search(r"(?m)^# /// script\n((?:#.*\n)+?)# ///$", tool.read_text())
    assert found, f"{tool} has no `# /// script` header"
    header = tomllib.loads("".join(line[2:] if len(line) > 1 else "" for line in found[1].splitlines(keepends=True)))
    assert header["requires-python"] == ">=3.10"
    assert isinstance(header["dependencies"], list)


@each_tool
def test_no_tool_imports_a_neighbour_or_loads_pickles_unasked(tool):
    stems = {path.stem for path in TOOLS}
    for node in ast.walk(ast.parse(tool.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not stems & {name.split(".")[0] for name in names}
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load":
            assert "weights_only" in {keyword.arg for keyword in node.keywords}


@pytest.mark.parametrize(
    ("text", "count"), [("8", 8), ("32K", 32768), ("16G", 16 * 2**30), ("1.5GiB", 1610612736), ("2MB", 2_000_000)]
)
def test_sizes_are_read_in_the_field_s_spelling(text, count):
    assert blocks.parse_size(text) == count


def test_a_size_that_is_none_is_refused():
    with pytest.raises(argparse.ArgumentTypeError, match="is no size"):
        blocks.parse_size("12Q")


def test_the_ladder_doubles_and_ends_at_the_limit():
    assert blocks.size_ladder(8, 32) == [8, 16, 32]
    assert blocks.size_ladder(8, 20) == [8, 16, 20]
    assert blocks.size_ladder(8, 8) == [8]


def test_percentiles_lie_between_neighbours():
    assert blocks.percentile([4, 1, 3, 2], 0.5) == 2.5
    assert blocks.spread(range(101)) == {"median": 50, "p5": 5, "p95": 95, "min": 0, "max": 100, "count": 101}


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "report.json"
    target.write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(blocks.ToolError, match="No space left"):
        blocks.write_atomic(str(target), "new")
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]
    assert target.read_text() == "old"


def test_csv_has_the_union_of_the_columns():
    assert blocks.csv_text([{"a": 1}, {"a": 2, "b": "x,y"}]) == 'a,b\n1,\n2,"x,y"\n'


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_plot_is_a_picture_with_its_words(tmp_path, suffix):
    path = tmp_path / f"plot.{suffix}"
    series = [("busbw <4>", [(32768, 1.0), (65536, 3.0)]), ("empty", [])]
    blocks.write_plot(str(path), "T", "payload", "GB/s", series, [("wire", 50)], True, blocks.format_size)
    if suffix == "png":
        assert path.read_bytes().startswith(b"\x89PNG")
        return
    words = {e.text for e in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")}
    assert {"T", "payload", "GB/s", "busbw <4>", "wire", "32 KiB", "64 KiB"} <= words


def test_a_missing_package_ends_in_status_2_with_the_command_that_installs_it():
    with pytest.raises(blocks.ToolError, match="python3 -m pip install no_such_package") as caught:
        blocks.need("no_such_package.part")
    assert caught.value.status == 2


def test_how_a_tool_ends_decides_its_status(capsys):
    def ends(error):
        def main():
            raise error

        return blocks.run_tool(main)

    assert ends(blocks.ToolError("no", 3)) == 3
    assert ends(KeyboardInterrupt()) == 130
    assert blocks.run_tool(lambda: 0) == 0
    assert "blocks.py: no" in capsys.readouterr().err


LISTING = """GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaa1111-0000)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-aabb2222-0000)
  MIG 3g.40gb     Device  0: (UUID: MIG-cccc3333-0000)
  MIG 3g.40gb     Device  1: (UUID: MIG-dddd4444-0000)
GPU 2: NVIDIA H100 80GB HBM3 (UUID: GPU-eeee5555-0000)
"""


@pytest.mark.parametrize(
    ("mask", "index", "found"),
    [
        (None, 2, ("GPU-eeee5555-0000", False)),
        ("2,0", 0, ("GPU-eeee5555-0000", False)),
        ("2,0", 1, ("GPU-aaaa1111-0000", False)),
        ("2,0", 2, None),
        ("GPU-aabb", 0, ("GPU-aabb2222-0000", False)),
        ("GPU-aa", 0, None),  # two GPUs begin so
        ("MIG-dddd4444-0000", 0, ("GPU-aabb2222-0000", True)),
        ("MIG-GPU-aabb2222-0000/1/0", 0, ("GPU-aabb2222-0000", True)),
        ("", 0, None),
        ("7", 0, None),
    ],
)
def test_a_visibility_mask_leads_to_the_right_gpu(mask, index, found):
    assert blocks.visible_gpu(LISTING, mask, index) == found


def test_clocks_and_throttle_reasons_are_read_whichever_name_the_driver_has(tmp_path, monkeypatch):
    """A stand-in nvidia-smi that, as drivers before 535, does not know clocks_event_reasons."""
    fake = tmp_path / "nvidia-smi"
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *clocks_event*) exit 2;; esac\n'
        'echo "1755, 1980, 2619, 612.34, 700.00, 64, [N/A], 0, 0x0000000000000024"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    state = blocks.read_smi("GPU-x")
    assert (state["sm_clock_mhz"], state["power_w"], state["memory_temperature_c"]) == (1755, 612.34, None)
    assert state["throttle"] == ["software power cap", "software thermal slowdown"]


def test_the_environment_names_what_decides_a_measurement_and_no_secret(monkeypatch):
    monkeypatch.setenv("NCCL_ALGO", "Ring")
    monkeypatch.setenv("HF_TOKEN", "secret")
    where = blocks.environment(torch, "cpu")
    assert where["variables"]["NCCL_ALGO"] == "Ring"
    assert "secret" not in json.dumps(where)
    assert {"host", "device", "driver", "torch", "nccl", "command", "time_utc"} <= set(where)


def test_an_absent_device_is_wrong_usage():
    kind = "hpu" if torch.cuda.is_available() else "cuda"
    with pytest.raises(blocks.ToolError, match=f"no {kind} device") as caught:
        blocks.pick_device(torch, kind)
    assert caught.value.status == 2


class FakeModule:
    """torch.cuda, torch.xpu or torch.hpu as far as the tools call it; remembers the calls."""

    def __init__(self, count: int):
        self.count, self.calls = count, []

    def is_available(self):
        return self.count > 0

    def device_count(self):
        return self.count

    def set_device(self, index):
        self.calls.append(("set_device", index))

    def synchronize(self):
        self.calls.append("synchronize")

    def mem_get_info(self):
        return 7 << 30, 8 << 30

    def get_device_name(self, index):
        return f"part {index}"


def fake_torch(**counts: int) -> SimpleNamespace:
    """A torch that sees so many devices of each kind."""
    mps = SimpleNamespace(is_available=lambda: bool(counts.get("mps")))
    made = SimpleNamespace(__version__="2.4.0", device=lambda *words: ":".join(map(str, words)))
    made.backends = SimpleNamespace(mps=mps)
    made.mps = SimpleNamespace(synchronize=lambda: None, recommended_max_memory=lambda: 9, driver_allocated_memory=lambda: 4)
    for kind in ("cuda", "xpu", "hpu"):
        setattr(made, kind, FakeModule(counts.get(kind, 0)))
    return made


@pytest.mark.parametrize(("kind", "device"), [("cuda", "cuda:1"), ("xpu", "xpu:1"), ("hpu", "hpu"), ("mps", "mps"), ("cpu", "cpu")])
def test_each_kind_of_device_is_chosen_used_and_waited_for(kind, device, monkeypatch):
    """Gaudi hands each process its device, so none is set there; in lazy mode its graph is cut before waiting."""
    steps = []
    monkeypatch.setitem(sys.modules, "habana_frameworks", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "habana_frameworks.torch", SimpleNamespace())
    core = SimpleNamespace(mark_step=lambda: steps.append("mark_step"))
    monkeypatch.setitem(sys.modules, "habana_frameworks.torch.core", core)
    fake = fake_torch(**{kind: 2})
    assert blocks.pick_device(fake) == kind
    assert blocks.use_device(fake, kind, 1) == device
    blocks.synchronize(fake, kind)
    assert steps == (["mark_step"] if kind == "hpu" else [])
    if kind in ("cuda", "xpu", "hpu"):
        assert getattr(fake, kind).calls == [("set_device", 1)] * (kind != "hpu") + ["synchronize"]
        assert blocks.free_memory(fake, kind, 1) == 7 << 30
        assert blocks.device_name(fake, kind, 1) == "part 1"
    assert blocks.device_count(fake, kind) == (1 if kind in ("cpu", "mps") else 2)
    if kind == "mps":
        assert blocks.free_memory(fake, kind) == 5


def test_seven_devices_of_eight_are_said_to_be_seven():
    with pytest.raises(blocks.ToolError, match=f"{re.escape(socket.gethostname())} shows 7 cuda devices, and number 7 was"):
        blocks.use_device(fake_torch(cuda=7), "cuda", 7)


def test_heat_and_power_delivery_are_reported_and_a_power_cap_is_not():
    states = [{"host": "a", "local_rank": 0, "throttle": ["software power cap"]},
              {"host": "b", "local_rank": 3, "throttle": ["hardware thermal slowdown", "idle"]}, {"host": "c", "local_rank": 1}]  # fmt: skip
    assert blocks.hot_devices(states) == ["b, local rank 3: the driver slows the device down: hardware thermal slowdown"]

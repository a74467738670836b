"""Carry tests/tools/blocks.py into the tools: `python tests/tools/sync_blocks.py [--check] [FILE ...]`.

A block stands between `# --- common: NAME ---` and `# --- end common: NAME ---`. An empty pair is filled.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "blocks.py"
TOOLS = HERE.parent.parent / "tools"
BLOCK = re.compile(r"^# --- common: (?P<name>[\w-]+) ---\n(?P<body>.*?)^# --- end common: (?P=name) ---$", re.MULTILINE | re.DOTALL)
MARKER = re.compile(r"^# --- (?:end )?common: .*$", re.MULTILINE)


def blocks(text: str) -> dict[str, str]:
    """The blocks of a file by name. Raises ValueError for a marker without its partner or a name used twice."""
    found = [(match["name"], match["body"]) for match in BLOCK.finditer(text)]
    if len(MARKER.findall(text)) != 2 * len(found) or len(dict(found)) != len(found):
        raise ValueError("a block's marker has no partner, or a block stands there twice")
    return dict(found)


def tool_files() -> list[Path]:
    """Every Python tool, with or without the suffix."""
    found = (path for path in TOOLS.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(p for p in found if p.suffix == ".py" or (not p.suffix and "python" in p.read_text()[:64]))


def synced(text: str, source: dict[str, str]) -> str:
    """The file with each of its blocks as the source has it."""
    return BLOCK.sub(
        lambda m: m[0] if m["name"] not in source else m[0].replace(m["body"], source[m["name"]])
        if m["body"] else f"# --- common: {m['name']} ---\n{source[m['name']]}# --- end common: {m['name']} ---",
        text,
    )  # fmt: skip


def main(arguments: list[str]) -> int:
    source = blocks(SOURCE.read_text())
    stale = 0
    for path in [Path(a) for a in arguments if a != "--check"] or tool_files():
        text = path.read_text()
        unknown = set(blocks(text)) - set(source)
        if unknown:
            print(f"{path}: no such block: {', '.join(sorted(unknown))}")
            return 1
        if (new := synced(text, source)) != text:
            stale += 1
            print(path)
            if "--check" not in arguments:
                path.write_text(new)
    return int("--check" in arguments and stale > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What the last check of a book found, as long as nothing has changed that a check reads.

The key covers every file below the book's folder but outputs and caches, the builder's own files, the installed packages,
the programs that judge fences, the environment that the settings name, and the day. Files count by size and time of
change, as make counts them; `--no-cache` forgets.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import astuple
from datetime import date
from pathlib import Path

from bookbuild.cache import digest, read_cached, write_cached
from bookbuild.model import Problem
from bookbuild.outline import read_config

KIND = "check"
_PROGRAMS = ("bash", "shellcheck", "node")
_LEFT_OUT = frozenset(
    {".cache", ".git", ".venv", "__pycache__", "node_modules", ".pytest_cache", ".ruff_cache"}
)
_VARIABLES = ("SITE_URL", "REPO_URL", "EDIT_URI", "SOURCE_DATE_EPOCH", "LANG", "LC_ALL", "TZ")


def state(config: Path, output: Path) -> str:
    """A hash of all that a check of this book reads."""
    root = config.parent.resolve()
    site = (root / str(read_config(config).get("site_dir", "site"))).resolve()
    left_out = {site, output.resolve()}
    parts = [str(config.resolve()), sys.version, str(date.today())]
    parts += [f"{name}={os.environ.get(name)}" for name in _VARIABLES]
    parts += [str(shutil.which(name)) for name in _PROGRAMS]
    parts += _stats(Path(path) for path in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    parts += _stats(_files(Path(__file__).resolve().parent, set()))
    parts += _stats(_files(root, left_out))
    return digest(*parts)


def recalled(config: Path, key: str) -> list[Problem] | None:
    """What a check of this state found, None where it was not kept."""
    text = read_cached(config.parent, KIND, key)
    if text is None:
        return None
    try:
        return [Problem(*fields) for fields in json.loads(text)]
    except (ValueError, TypeError):
        return None


def remember(config: Path, key: str, problems: list[Problem]) -> None:
    """Keep what was found; the states before are dropped, since no one comes back to them."""
    shutil.rmtree(config.parent / ".cache" / KIND, ignore_errors=True)
    write_cached(config.parent, KIND, key, json.dumps([astuple(problem) for problem in problems]))


def _files(folder: Path, left_out: set[Path]) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(f for f in folders if f not in _LEFT_OUT and here / f not in left_out)
        yield from (here / name for name in sorted(names))


def _stats(paths: Iterator[Path]) -> list[str]:
    found = []
    for path in paths:
        try:
            stat = path.stat()
        except OSError:  # a link that leads nowhere
            continue
        found.append(f"{path} {stat.st_size} {stat.st_mtime_ns}")
    return found

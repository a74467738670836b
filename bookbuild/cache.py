"""Results kept below `.cache/` under a hash of all that they depend on; deleting the folder is always safe."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def digest(*parts: str | bytes) -> str:
    """SHA-256 of the parts, each told from its neighbours."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(f"{len(data)}:".encode())
        total.update(data)
    return total.hexdigest()


def cached_text(root: Path, kind: str, key: str, make: Callable[[], str]) -> str:
    """The text under `key`, made and kept where it is not yet there. A folder that cannot be written is no error."""
    known = read_cached(root, kind, key)
    if known is not None:
        return known
    text = make()
    write_cached(root, kind, key, text)
    return text


def read_cached(root: Path, kind: str, key: str) -> str | None:
    """The text kept under `key`, None where there is none."""
    try:
        return (root / ".cache" / kind / key).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def write_cached(root: Path, kind: str, key: str, text: str) -> None:
    """Keep a text in one step; a folder that cannot be written is no error."""
    place = root / ".cache" / kind / key
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=place.parent, delete=False
        ) as file:
            file.write(text)
        os.replace(file.name, place)
    except OSError:
        pass

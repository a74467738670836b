"""A folder that is complete or not there: built beside its place and swapped in at the end."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bookbuild.model import BookError

MARKER = ".bookbuild"  # an empty file by which build.py knows an output folder again
MKDOCS_FILES = ("index.html", "404.html", "sitemap.xml")  # what plain `mkdocs build` always writes


def is_ours(folder: Path) -> bool:
    """Whether a folder is a site that we, or plain MkDocs or Zensical, made."""
    if any((folder / name).exists() for name in ("mkdocs.yml", ".git")):
        return False
    return (folder / MARKER).is_file() or all((folder / name).is_file() for name in MKDOCS_FILES)


def refuse_foreign(folder: Path) -> None:
    """Raise BookError where a folder holds something that is not a site of ours."""
    if folder.exists() and not folder.is_dir():
        raise BookError(f"{folder}: output-foreign not a folder")
    while _is_foreign(folder, looked_at := _identity(folder)):
        if _identity(folder) == looked_at:  # else another build has put its site there meanwhile
            raise BookError(
                f"{folder}: output-foreign the folder holds other files; give an empty or new one"
            )


def _is_foreign(folder: Path, identity: object) -> bool:
    with suppress(FileNotFoundError):
        return identity is not None and any(folder.iterdir()) and not is_ours(folder)
    return False


def _identity(folder: Path) -> tuple[int, int] | None:
    with suppress(FileNotFoundError):
        found = folder.stat()
        return found.st_dev, found.st_ino
    return None


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """Yield a new folder beside `folder`; it takes its place when the block ends without an exception.

    The old folder stays as it was until then, and for good when the block raises.
    """
    folder = folder.resolve()  # so that a link stays and its folder changes
    refuse_foreign(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    new = folder.with_name(f".{folder.name}.new-{os.getpid()}")
    old = folder.with_name(f".{folder.name}.old-{os.getpid()}")
    new.mkdir()
    try:
        yield new
        (new / MARKER).touch()
        _swap(new, folder, old)
    except BaseException:
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _swap(new: Path, folder: Path, old: Path) -> None:
    """Put `new` in the place of `folder`. Of two builds that end at once the later one wins, and neither fails."""
    while True:
        shutil.rmtree(old, ignore_errors=True)
        with suppress(FileNotFoundError):  # none is there, or the other build has just moved it away
            folder.rename(old)
        try:
            new.rename(folder)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # else the other build's is there again
                raise


def _sweep(folder: Path) -> None:
    """Remove what builds that were killed have left beside `folder`; a killed swap's old folder comes back."""
    for left in folder.parent.glob(f".{folder.name}.*-*"):
        kind, _, pid = left.name.removeprefix(f".{folder.name}.").partition("-")
        if kind not in ("new", "old") or not pid.isdigit() or _is_running(int(pid)):
            continue
        if kind == "old" and not folder.exists():
            left.rename(folder)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

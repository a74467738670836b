"""Draw the book's figures from its data.

Each `figures/*.py` below docs_dir with a function `draw(data_dir, out_path)` makes the SVG of the same name beside
it. `DATA` in the script names the files of data/ that it reads (without .yml). The SVG ends in a comment with a
hash of the script and those files, so that a fresh clone draws nothing and a changed number draws its figures again.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from types import ModuleType

from bookbuild.model import BookError

STYLE_VERSION = 1  # raise it when STYLE changes, so that every figure is drawn again
# Mid-tones only: dark mode inverts the pictures, print has them on white.
STYLE = {
    "svg.hashsalt": "book",  # ids of clip paths would be random otherwise
    "svg.fonttype": "path",
    "font.family": ["IBM Plex Sans", "DejaVu Sans"],
    "font.size": 9,
    "figure.figsize": (7.2, 4.6),
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.transparent": True,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.05,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.labelcolor": "#222222",
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "text.color": "#222222",
    "axes.prop_cycle": "cycler('color', ['#3465a4', '#c4560a', '#2e8540', '#7a4fa3', '#8a6d00', '#b0305c'])",
    "legend.frameon": False,
}
_MARK = re.compile(r"<!-- drawn from ([0-9a-f]{64}) -->\s*\Z")


def draw_all(root: Path, docs_dir: Path, progress: Callable[[int, int], None] | None = None) -> list[Path]:
    """Draw every figure that is missing or not made from today's script and data; the files written.

    Raises BookError when a script cannot be loaded or fails; the old picture then stays.
    """
    scripts = [
        (path, module)
        for path in sorted((docs_dir / "figures").glob("*.py"))
        if (module := _load(root, path))
    ]
    written = []
    for done, (script, module) in enumerate(scripts):
        if progress:
            progress(done, len(scripts))
        picture = script.with_suffix(".svg")
        wanted = inputs_hash(script, module, docs_dir / "data")
        if drawn_from(picture) != wanted:
            _draw(root, script, module, docs_dir / "data", picture, wanted)
            written.append(picture)
    if progress:
        progress(len(scripts), len(scripts))
    return written


def inputs_hash(script: Path, module: ModuleType, data_dir: Path) -> str:
    """What a picture depends on: the style, its script, and the data files that DATA names (all without DATA)."""
    names = getattr(module, "DATA", None)
    files = sorted(data_dir.glob("*.yml")) if names is None else [data_dir / f"{name}.yml" for name in names]
    digest = hashlib.sha256(f"style {STYLE_VERSION}".encode())
    for path in (script, *files):
        if not path.is_file():
            raise BookError(f"{script}:1: figure-data {path.name} does not exist (DATA names files of data/)")
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def drawn_from(picture: Path) -> str | None:
    """The hash at the end of a drawn SVG; None where there is no picture, or none of ours."""
    if not picture.is_file():
        return None
    found = _MARK.search(picture.read_text(encoding="utf-8"))
    return found[1] if found else None


@contextmanager
def style() -> Iterator[None]:
    """matplotlib set up so that one drawing gives the same bytes wherever it is made."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import font_manager

    try:
        fonts = resources.files("fontpkg_ibm_plex_sans")
    except ModuleNotFoundError:
        fonts = None  # DejaVu Sans, which comes with matplotlib
    if fonts is not None:
        for path in sorted(Path(str(fonts)).rglob("IBMPlexSans[[]*.ttf")):
            font_manager.fontManager.addfont(str(path))
    with matplotlib.rc_context(STYLE):
        yield
        import matplotlib.pyplot as plt

        plt.close("all")


def _load(root: Path, path: Path) -> ModuleType | None:
    """A script of figures/ as a module; None where it draws nothing itself."""
    spec = importlib.util.spec_from_file_location(f"figure_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BookError(_failed(root, path, error)) from error
    return module if hasattr(module, "draw") else None


def _draw(root: Path, script: Path, module: ModuleType, data_dir: Path, picture: Path, wanted: str) -> None:
    fresh = picture.with_name(f".{picture.stem}.{os.getpid()}.svg")
    try:
        with style():
            module.draw(data_dir, fresh)
        text = fresh.read_text(encoding="utf-8").rstrip()
        fresh.write_text(f"{text}\n<!-- drawn from {wanted} -->\n", encoding="utf-8")
        os.replace(fresh, picture)
    except Exception as error:
        raise BookError(_failed(root, script, error)) from error
    finally:
        fresh.unlink(missing_ok=True)


def _failed(root: Path, script: Path, error: Exception) -> str:
    """One line that names the script's own line where the error passed through it."""
    line, trace = 1, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == str(script):
            line = trace.tb_lineno
        trace = trace.tb_next
    name = script.relative_to(root) if script.is_relative_to(root) else script
    return f"{name}:{line}: figure-failed {type(error).__name__}: {' '.join(str(error).split())}"

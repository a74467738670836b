"""Give build.py the packages it needs, with nothing but the standard library."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMP = ".build-py"  # in .venv: what was installed there, or that making it has not ended
MARK = "BOOKBUILD_BOOTSTRAPPED"  # in the environment: build.py has started itself once, never again
UNFINISHED = "unfinished"


class SetupError(Exception):
    """The environment cannot be used or made; the text is the one line that the user reads."""


def ensure(extra: str = "", allowed: bool = True, quiet: bool = False, root: Path = ROOT) -> None:
    """Return where the packages are at hand; otherwise make .venv and start this command again in it.

    `extra` is "" or the name of an extra in pyproject.toml ("test"). With `allowed` false nothing is made.
    """
    venv = root / ".venv"
    inside = Path(sys.prefix).resolve() == venv.resolve()
    if inside and read_stamp(venv):
        if is_current(venv, root, extra, python_version()):
            return
        lacking = ["what pyproject.toml and constraints.txt name now"]
    else:
        lacking = missing(extra, root)
        if not lacking:
            return
    if os.environ.get(MARK):
        raise SetupError(f"{venv} still lacks {', '.join(lacking)}; delete it and try again")
    if not allowed:
        raise SetupError(
            f"missing {', '.join(lacking)} (without --no-bootstrap, build.py installs into .venv)"
        )
    if not is_ready(venv, root, extra):
        make(venv, root, extra, quiet)
    start_again(venv)


def requirements(extra: str, root: Path) -> list[str]:
    """The requirement lines of pyproject.toml, with those of an extra."""
    import tomllib

    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["dependencies"] + (project["optional-dependencies"][extra] if extra else [])


def missing(extra: str = "", root: Path = ROOT) -> list[str]:
    """The requirements that the running environment does not meet, empty where all is well."""
    from importlib import metadata

    versions, lacking = {}, []
    for line in requirements(extra, root):
        name = re.split(r"[\s\[<>=!~;]", line, maxsplit=1)[0]
        try:
            versions[line] = metadata.version(name)
        except metadata.PackageNotFoundError:
            lacking.append(name)
    if lacking:
        return lacking
    try:
        from packaging.requirements import Requirement
    except ImportError:
        return ["packaging"]
    return [
        f"{line} (found {version})"
        for line, version in versions.items()
        if not Requirement(line).specifier.contains(version, prereleases=True)
    ]


def python_of(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def python_version() -> str:
    return "{}.{}".format(*sys.version_info)


def digest(root: Path) -> str:
    """Changes whenever other packages are wanted."""
    names = ("pyproject.toml", "constraints.txt")
    return hashlib.sha256(b"\0".join((root / name).read_bytes() for name in names)).hexdigest()


def read_stamp(venv: Path) -> str:
    try:
        return (venv / STAMP).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def is_current(venv: Path, root: Path, extra: str, version: str) -> bool:
    """Whether the stamp says that this very set of packages was installed for this Python."""
    stamps = {f"{digest(root)} {version} {kind}".strip() for kind in {extra, "test"}}
    return read_stamp(venv) in stamps


def ask(python: Path, code: str, root: Path) -> str | None:
    """What a one-line program prints in another Python, None where it does not run."""
    try:
        done = subprocess.run(
            [str(python), "-c", code], cwd=root, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def is_ready(venv: Path, root: Path, extra: str) -> bool:
    """Whether .venv can be started as it is: made by us for these packages, or by the user with them."""
    version = ask(python_of(venv), "import sys; print('{}.{}'.format(*sys.version_info))", root)
    if version is None:
        return False
    if read_stamp(venv):
        return is_current(venv, root, extra, version)
    code = f"from bookbuild.bootstrap import missing; print(len(missing({extra!r})))"
    return ask(python_of(venv), code, root) == "0"


def make(venv: Path, root: Path, extra: str, quiet: bool = False) -> None:
    """Make .venv or bring it up to date. One whose making was cut short, or whose Python is gone, is made anew."""
    python = python_of(venv)
    has_pip = ask(python, "import pip, sys; assert sys.version_info >= (3, 11, 5)", root) is not None
    keep = has_pip and read_stamp(venv) != UNFINISHED
    if not has_pip and not read_stamp(venv) and ask(python, "", root) is not None:  # not ours: uv makes such
        raise SetupError(
            "the .venv here has no pip: install -c constraints.txt -e . into it yourself, or delete it"
        )
    what = "the builder's packages" + (" and the test extra (torch is large; see README.md)" if extra else "")
    say(f"{'updating' if keep else 'making'} .venv with {what}, once", quiet)
    if not keep:
        if venv.exists():
            shutil.rmtree(venv)
        venv.mkdir()
    (venv / STAMP).write_text(UNFINISHED, encoding="utf-8")
    if not keep:
        hint = "on Debian and Ubuntu: apt-get install python3-venv"
        run([sys.executable, "-m", "venv", str(venv)], root, quiet, f"cannot make .venv ({hint})")
    target = f".[{extra}]" if extra else "."
    quiet_pip = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    command = [str(python), "-m", "pip", "install", *quiet_pip, "-c", "constraints.txt", "-e", target]
    run(command, root, quiet, "pip could not install the packages")
    version = ask(python, "import sys; print('{}.{}'.format(*sys.version_info))", root)
    (venv / STAMP).write_text(f"{digest(root)} {version} {extra}".strip(), encoding="utf-8")


def run(command: list[str], root: Path, quiet: bool, failure: str) -> None:
    """Run a command; on a terminal its last line is shown in place, on failure its last lines are."""
    live = not quiet and sys.stderr.isatty()
    width = shutil.get_terminal_size().columns
    last, began = deque(maxlen=12), time.monotonic()
    with subprocess.Popen(
        command, cwd=root, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        for line in process.stdout:
            last.append(line.rstrip())
            if live:
                shown = f"{time.monotonic() - began:4.0f} s  {line.strip()}"[: width - 1]
                print("\r\x1b[K" + shown, end="", file=sys.stderr, flush=True)
    if live:
        sys.stderr.write("\r\x1b[K")
    if process.returncode:
        raise SetupError("\n".join([*(f"  {line}" for line in last if line), failure]))


def say(text: str, quiet: bool) -> None:
    if not quiet:
        print(f"build.py: {text}", file=sys.stderr, flush=True)


def start_again(venv: Path) -> None:
    """Replace this process by the same command in .venv."""
    python = python_of(venv)
    env = {**os.environ, MARK: "1", "VIRTUAL_ENV": str(venv)}
    env["PATH"] = os.pathsep.join([str(python.parent), env.get("PATH", os.defpath)])
    command = [str(python), *sys.argv]
    if os.name == "nt":  # exec there returns to the shell at once
        sys.exit(subprocess.call(command, env=env))
    sys.stderr.flush()
    os.execve(command[0], command, env)

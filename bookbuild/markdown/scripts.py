"""The `script` fence: a tool of tools/ with its link, what its docstring says first, and its live --help.

Its content is a path below tools/. The help text is what the script prints at build time under this Python, kept in
`.cache/` under a hash of the script. Where the repository's address is known the name links to the source there;
build.py makes it a link to the published file instead.
"""

from __future__ import annotations

import ast
import os
import posixpath
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from bookbuild.cache import cached_text, digest
from bookbuild.data import nearest
from bookbuild.markdown.context import Context
from bookbuild.markdown.fences import NO_ADDRESS, Fence, add
from bookbuild.outline import read_config

TIMEOUT = 20  # seconds that a script may take for its help


class HelpError(Exception):
    """A script that does not print its help; the text says why."""


def make_script(fence: Fence) -> Element | None:
    """The box of one tool; a missing file or a help that fails is reported."""
    name = fence.text.strip().removeprefix("tools/")
    folder = fence.context.tools_dir
    path = (folder / name).resolve()
    if not path.is_relative_to(folder) or not path.is_file():
        known = [p.relative_to(folder).as_posix() for p in sorted(folder.rglob("*.*")) if p.is_file()]
        near = nearest(name, known) or next(
            (k for k in known if posixpath.basename(k) == posixpath.basename(name)), ""
        )
        fence.report(
            "script-missing", f"no file tools/{name}", line=1, hint=f"did you mean {near}?" if near else ""
        )
        return None
    box = Element("div", {"class": "script"})
    line = add(box, "p")
    address = source_url(fence.context, f"tools/{name}")
    link = add(line, "a" if address else NO_ADDRESS, f"tools/{name}", class_="tool-file", data_tool=name)
    if address:
        link.set("href", address)
    if words := summary(path):
        add(box, "p", words, class_="script-summary")
    if path.suffix == ".py":
        try:
            _help(box, name, help_text(path, fence.context.root))
        except HelpError as error:
            fence.report("script-help", f"tools/{name} --help: {error}", line=1)
    return box


def _help(box: Element, name: str, text: str) -> None:
    line = add(box, "p", class_="script-command")
    add(line, "code", f"python3 tools/{name} --help")
    line[-1].tail = " prints:"
    # the markup that superfences gives to ```text, so that the copy button and the styles are the same
    pre = SubElement(SubElement(box, "div", {"class": "language-text highlight"}), "pre")
    SubElement(pre, "span")
    add(pre, "code", f"{text.rstrip()}\n")


def source_url(context: Context, path: str) -> str:
    """Where a file of the repository can be read on its host, "" where mkdocs.yml names no repository."""
    repo = str(read_config(context.config_file).get("repo_url") or "").rstrip("/")
    if not repo:
        return ""
    here = context.root
    top = next((p for p in (here, *here.parents) if (p / ".git").exists()), here)
    full = (here / path).relative_to(top).as_posix()
    return f"{repo}/-/blob/HEAD/{full}" if "gitlab" in repo else f"{repo}/blob/HEAD/{full}"


def summary(path: Path) -> str:
    """The first paragraph of a module's docstring, or of the comment at the top of a shell script."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".py":
        try:
            words = ast.get_docstring(ast.parse(text)) or ""
        except SyntaxError:
            return ""
    else:
        lines = text.splitlines()[1:] if text.startswith("#!") else text.splitlines()
        kept = []
        for line in lines:
            if not line.startswith("#") and (line.strip() or kept):
                break
            kept.append(line.lstrip("# ").rstrip())
        words = "\n".join(kept).strip()
    return " ".join(words.strip().partition("\n\n")[0].split())


def help_text(path: Path, root: Path) -> str:
    """What `python path --help` prints; HelpError for one that fails. Asked once for each content."""
    stat = path.stat()
    return _help_of(path, root, (stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=256)
def _help_of(path: Path, root: Path, _stamp: tuple[int, int]) -> str:
    key = digest(path.read_bytes(), path.name, sys.version)
    return cached_text(root, "script-help", key, lambda: _ask(path))


def _ask(path: Path) -> str:
    env = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "utf-8"}
    env.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(
            [sys.executable, "-B", str(path), "--help"],
            capture_output=True,
            timeout=TIMEOUT,
            env=env,
            cwd=path.parent,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HelpError(
            f"no answer within {TIMEOUT} s" if isinstance(error, subprocess.TimeoutExpired) else str(error)
        ) from error
    out, err = (data.decode("utf-8", "replace").replace("\r\n", "\n") for data in (done.stdout, done.stderr))
    if done.returncode != 0 or not out.strip():
        last = (err.strip().splitlines() or ["no text"])[-1]
        raise HelpError(f"exit status {done.returncode}, {last}")
    return out

"""Where the books stand and which programs tests call: what tests import. Fixtures are in conftest.py."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MINIBOOK = ROOT / "tests" / "minibook" / "mkdocs.yml"
REALBOOK = ROOT / "mkdocs.yml"

# program → the Debian package that brings it; `build.py test` prints one install command from the skips
PACKAGES = {
    "bash": "bash",
    "chromium": "chromium",
    "chromedriver": "chromium-driver",
    "fio": "fio",
    "ip": "iproute2",
    "java": "default-jre-headless",
    "node": "nodejs",
    "npm": "npm",
    "pdfinfo": "poppler-utils",
    "pdftoppm": "poppler-utils",
    "pdftotext": "poppler-utils",
    "qpdf": "qpdf",
    "shellcheck": "shellcheck",
    "unshare": "util-linux",
}
# program → the npm package that brings it, and the command that puts it where find_program looks; .ci/run calls it, too
NPM_PACKAGES = {"ace-cli": "@daisy/ace-cli@1.4.6"}
NPM_FOLDER = ".npm"
NPM_INSTALL = f"npm install --prefix {NPM_FOLDER} --ignore-scripts --no-audit --no-fund"


def find_program(name: str) -> str | None:
    """The path of a program on the PATH or among those that npm has put beside the project."""
    return shutil.which(name) or shutil.which(name, path=ROOT / NPM_FOLDER / "node_modules" / ".bin")


def require_program(*names: str) -> None:
    """Skip when a program is absent, naming it and its package; fail instead where CI is set."""
    absent = [name for name in names if not find_program(name)]
    if not absent:
        return
    debian = [PACKAGES.get(n, n) for n in absent if n not in NPM_PACKAGES]
    npm = [NPM_PACKAGES[n] for n in absent if n in NPM_PACKAGES]
    hints = [f"apt-get install {' '.join(debian)}"] * bool(debian) + [f"{NPM_INSTALL} {' '.join(npm)}"] * bool(npm)
    reason = f"missing program: {', '.join(absent)} ({'; '.join(hints)})"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)

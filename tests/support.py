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
    "pdftoppm": "poppler-utils",
    "pdftotext": "poppler-utils",
    "qpdf": "qpdf",
    "shellcheck": "shellcheck",
    "unshare": "util-linux",
}


def require_program(*names: str) -> None:
    """Skip when a program is absent, naming it; fail instead where CI is set."""
    absent = [name for name in names if not shutil.which(name)]
    if not absent:
        return
    reason = f"missing program: {', '.join(absent)} (apt-get install {' '.join(PACKAGES.get(n, n) for n in absent)})"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)

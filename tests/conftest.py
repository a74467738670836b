"""Fixtures that every test may use: the mini book and the real book, rendered once, and guards for programs."""

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
    "chromium": "chromium",
    "chromedriver": "chromium-driver",
    "fio": "fio",
    "java": "default-jre-headless",
    "pdftoppm": "poppler-utils",
    "pdftotext": "poppler-utils",
    "qpdf": "qpdf",
    "shellcheck": "shellcheck",
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


@pytest.fixture(scope="session")
def minibook(tmp_path_factory):
    """The mini book, rendered into a temporary site."""
    from bookbuild.render import render

    return render(MINIBOOK, tmp_path_factory.mktemp("minibook-site"))


@pytest.fixture(scope="session")
def realbook(tmp_path_factory):
    """The real book, rendered into a temporary site."""
    from bookbuild.render import render

    return render(REALBOOK, tmp_path_factory.mktemp("book-site"))

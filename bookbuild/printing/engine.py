"""The call of WeasyPrint: what it may read, what it says, and the same bytes for the same book."""

from __future__ import annotations

import gc
import hashlib
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.model import BookError
from bookbuild.pagemap import PageMap
from bookbuild.printing.finish import finish, merge_nested_links
from bookbuild.printing.fonts import generic_families
from bookbuild.printing.pagemap import page_map

INSTALL = (
    "pdf-pango WeasyPrint cannot load Pango; install it (Debian, Ubuntu: apt-get install libpango-1.0-0 "
    "libpangoft2-1.0-0 libharfbuzz-subset0; Fedora: dnf install pango; macOS: brew install pango)"
)
VARIANT = "pdf/ua-1"
_PAGE = re.compile(r"Step 5 - Creating layout - Page (\d+)$")


def load():
    """The weasyprint module; without Pango one line that says how to install it."""
    try:
        import weasyprint
    except (ImportError, OSError) as error:
        raise BookError(INSTALL) from error
    return weasyprint


def render_pdf(
    html: Element, *, roots: tuple[Path, ...], say: Callable[[str], None], page_done: Callable[[int], None]
) -> tuple[bytes, int, PageMap]:
    """(PDF bytes, number of pages, what begins on them) of a document tree. `say` gets each line that WeasyPrint logs."""
    weasyprint = load()
    names = {f"root-{number}:": root.resolve().as_uri() for number, root in enumerate(roots)}
    text = "<!doctype html>" + trees.to_html(html)
    for root, name in zip(roots, names, strict=True):  # WeasyPrint writes hashes of addresses into the file
        text = text.replace(root.as_uri() + "/", name + "/")

    def say_where(message: str) -> None:
        for name, uri in names.items():
            message = message.replace(name + "/", uri + "/")
        say(message)

    with _quick_gc(), _listen(say_where, page_done):
        source = weasyprint.HTML(string=text, url_fetcher=_fetcher(names))
        document = source.render(font_config=_font_config(), pdf_variant=VARIANT)
        merge_nested_links(document)
        identifier = hashlib.sha256(text.encode()).digest()[:16]
        data = document.write_pdf(finisher=finish, pdf_identifier=identifier, pdf_variant=VARIANT)
        places = page_map(document)
    return data, len(document.pages), places


def _font_config():
    """WeasyPrint's fonts, where pictures that name no face of their own get the book's."""
    from weasyprint.text.ffi import fontconfig
    from weasyprint.text.fonts import FontConfiguration

    config = FontConfiguration()
    fontconfig.FcConfigParseAndLoadFromMemory(config._config, generic_families(), True)
    return config


def _fetcher(names: dict[str, str]):
    """Reads data: and files below the roots that `names` (name → file: address) stands for, nothing from the network."""
    from weasyprint.urls import URLFetcher

    class LocalFetcher(URLFetcher):
        def fetch(self, url, headers=None):
            name, found, path = url.partition("/")
            if not url.startswith("data:"):
                if not found or name not in names:
                    raise ValueError("only files of the book are read")
                url = f"{names[name]}/{path}"
            return super().fetch(url, headers)

    return LocalFetcher()


@contextmanager
def _quick_gc() -> Iterator[None]:
    """Layout makes millions of objects that live on; the collector's default looks at them again and again."""
    before = gc.get_threshold()
    gc.set_threshold(1_000_000, 100, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _listen(say: Callable[[str], None], page_done: Callable[[int], None]) -> Iterator[None]:
    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            message = record.getMessage()
            if record.name == "weasyprint.progress":
                if found := _PAGE.match(message):
                    page_done(int(found[1]))
            elif record.levelno >= logging.WARNING:
                say(message)

    listener = Listener(logging.INFO)
    logger, progress = logging.getLogger("weasyprint"), logging.getLogger("weasyprint.progress")
    before = logger.level, logger.propagate, progress.level
    logger.addHandler(listener)
    logger.propagate = False
    logger.setLevel(logging.WARNING)
    progress.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(listener)
        logger.level, logger.propagate, progress.level = before

"""How long the EPUB of a book takes beside its PDF.

    python tests/bench/bench_epub.py [CONFIG]

Renders the book of CONFIG (default: this repository's mkdocs.yml) once, writes its PDF and its EPUB once each, one after
the other, and prints the seconds and their ratio; exit status 1 when it is over 0.15. The cover is drawn anew.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bookbuild.epub import write_epub
from bookbuild.pdf import write_pdf
from bookbuild.render import render

LIMIT = 0.15
BOOK = Path(__file__).resolve().parents[2] / "mkdocs.yml"


def main(config: Path) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        book = replace(render(config, folder / "site"), root=folder)  # so that no cover is kept from an earlier build
        begin = time.perf_counter()
        facts = write_pdf(book, folder / "book.pdf")
        pdf = time.perf_counter() - begin
        begin = time.perf_counter()
        write_epub(book, folder / "book.epub", page_map=lambda: facts["page_map"])
        epub = time.perf_counter() - begin
        size = (folder / "book.epub").stat().st_size / 1e6
    print(
        f"PDF {pdf:.2f} s ({facts['pages']} pages), EPUB {epub:.2f} s ({size:.1f} MB): ratio {epub / pdf:.3f} (limit {LIMIT})"
    )
    return int(epub > LIMIT * pdf)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else BOOK))

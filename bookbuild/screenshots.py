"""Small pictures of the site and of a page of the PDF for the README.

    python -m bookbuild.screenshots site book/assets

`site` is what `build.py` made; the pictures are readme-site.png and readme-pdf.png. Needs the programs chromium
and pdftoppm. Run by hand when the look has changed: the pictures are committed.
"""

from __future__ import annotations

import argparse
import functools
import io
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from PIL import Image

from bookbuild.model import BookError

LIMIT = 150_000  # bytes a picture; a README is read over slow lines too
SITE_PAGE, PDF_PAGE_WITH = "compute/", "TFLOPS"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args) -> None:
        pass


def site_picture(site: Path, page: str = SITE_PAGE, width: int = 1280, height: int = 860) -> Image.Image:
    """The top of a page as a reader's window shows it."""
    handler = functools.partial(_Quiet, directory=str(site))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder, "page.png")
            _run(
                "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--hide-scrollbars", f"--user-data-dir={folder}/profile", f"--window-size={width},{height}",
                "--virtual-time-budget=4000", f"--screenshot={picture}", f"http://127.0.0.1:{server.server_port}/{page}",
            )  # fmt: skip
            return Image.open(io.BytesIO(picture.read_bytes())).convert("RGB")
    finally:
        server.shutdown()
        server.server_close()


def pdf_picture(pdf: Path, words: str = PDF_PAGE_WITH, dpi: int = 70) -> Image.Image:
    """Two facing pages of the PDF: the cover, and the page that has `words` most often."""
    pages = _run("pdftotext", "-layout", str(pdf), "-").decode().split("\f")
    best = max(range(len(pages)), key=lambda i: pages[i].count(words)) + 1
    sheets = [Image.open(io.BytesIO(_run("pdftoppm", "-r", str(dpi), "-f", str(n), "-l", str(n), "-png", str(pdf))))
              for n in (1, best)]  # fmt: skip
    gap = dpi // 4
    spread = Image.new("RGB", (sum(s.width for s in sheets) + 3 * gap, sheets[0].height + 2 * gap), "#e7ebeb")
    left = gap
    for sheet in sheets:
        spread.paste(sheet, (left, gap))
        left += sheet.width + gap
    return spread


def save(picture: Image.Image, target: Path) -> int:
    """Write a PNG of at most LIMIT bytes, with as many colours as that allows; its size."""
    for colours in (256, 128, 64, 32, 16):
        out = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
        if out.tell() <= LIMIT:
            target.write_bytes(out.getvalue())
            return out.tell()
    raise BookError(f"{target}: picture-large {out.tell()} bytes with 16 colours, over {LIMIT}")


def _run(program: str, *arguments: str) -> bytes:
    if not (found := shutil.which(program)):
        raise BookError(f"screenshots: program {program} is missing")
    return subprocess.run([found, *arguments], check=True, capture_output=True, timeout=120).stdout


def main() -> int:
    parser = argparse.ArgumentParser(prog="bookbuild.screenshots", description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path, help="folder that build.py made")
    parser.add_argument("target", type=Path, help="where the pictures go")
    args = parser.parse_args()
    try:
        pdf = next(iter(sorted((args.site / "downloads").glob("*.pdf"))), None)
        if pdf is None:
            raise BookError(f"{args.site}/downloads: no PDF there")
        for name, picture in (("site", site_picture(args.site)), ("pdf", pdf_picture(pdf))):
            target = args.target / f"readme-{name}.png"
            print(f"{target} {save(picture, target) / 1e3:.0f} kB")
    except BookError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

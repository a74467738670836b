"""Small pictures of the site and of the PDF for the README.

    python tests/readme_pictures.py site book/assets

`site` is what `build.py` made; the pictures are readme-site.png and readme-pdf.png. Needs the test extra and the
programs chromium, chromedriver, pdftotext and pdftoppm. Run by hand when the look has changed: the pictures are
committed.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tempfile
from pathlib import Path

from PIL import Image
from webserver import serve_folder, start_browser

LIMIT = 150_000  # bytes a picture; a README is read over slow lines too
SITE_PAGE, PDF_PAGE_WITH = "compute/#the-rates-side-by-side", "How much faster than BF16"


def site_picture(site: Path, page: str = SITE_PAGE, width: int = 1280, height: int = 800) -> Image.Image:
    """A place of the site as a reader's window shows it."""
    server, address = serve_folder(site)
    with tempfile.TemporaryDirectory() as profile:
        browser = start_browser(Path(profile), "hide-scrollbars")
        try:
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.get(f"{address}/{page}")
            browser.execute_async_script("document.fonts.ready.then(() => setTimeout(arguments[0], 800))")
            return Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
        finally:
            browser.quit()
            server.shutdown()


def pdf_picture(pdf: Path, words: str = PDF_PAGE_WITH, dpi: int = 70) -> Image.Image:
    """Two pages of the PDF side by side: the cover, and the last page that has `words`."""
    pages = _run("pdftotext", "-layout", str(pdf), "-").decode().split("\f")
    best = max(number for number, text in enumerate(pages, 1) if words in " ".join(text.split()))
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
    raise SystemExit(f"{target}: {out.tell()} bytes with 16 colours, over {LIMIT}")


def _run(*command: str) -> bytes:
    return subprocess.run(command, check=True, capture_output=True, timeout=120).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path, help="folder that build.py made")
    parser.add_argument("target", type=Path, help="where the pictures go")
    args = parser.parse_args()
    [pdf] = (args.site / "downloads").glob("*.pdf")
    for name, picture in (("site", site_picture(args.site)), ("pdf", pdf_picture(pdf))):
        target = args.target / f"readme-{name}.png"
        print(f"{target} {save(picture, target) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()

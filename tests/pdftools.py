"""What a reader of a PDF would find in it: words with their places, bookmarks, links."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pikepdf

MM = 72 / 25.4
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True)
class Word:
    text: str
    page: int  # from 0
    left: float  # points from the page's top left corner
    top: float
    right: float
    bottom: float


def text(pdf: Path, *options: str) -> str:
    return subprocess.run(
        ["pdftotext", "-enc", "UTF-8", *options, str(pdf), "-"], check=True, capture_output=True, text=True
    ).stdout


def pages(pdf: Path, *options: str) -> list[str]:
    return text(pdf, *options).split("\f")[:-1]


def words(pdf: Path) -> Iterator[tuple[Word, tuple[float, float]]]:
    """Every word and its page's (width, height)."""
    root = ElementTree.fromstring(_CONTROL.sub("", text(pdf, "-bbox")))
    space = "{http://www.w3.org/1999/xhtml}"
    for number, page in enumerate(root.iter(f"{space}page")):
        size = float(page.get("width")), float(page.get("height"))
        for word in page.iter(f"{space}word"):
            box = (float(word.get(k)) for k in ("xMin", "yMin", "xMax", "yMax"))
            yield Word(word.text or "", number, *box), size


def beyond(pdf: Path, side: float, top: float, bottom: float) -> list[Word]:
    """Words that reach into the outermost `side`, `top`, `bottom` points of a page; the cover has none."""
    slack = 1.0
    return [
        word
        for word, (width, height) in words(pdf)
        if word.page
        and (
            word.left < side - slack
            or word.right > width - side + slack
            or word.top < top - slack
            or word.bottom > height - bottom + slack
        )
    ]


def bookmarks(pdf: Path) -> list[tuple[int, str]]:
    """(depth from 0, title) in order."""
    found: list[tuple[int, str]] = []

    def walk(items, depth: int) -> None:
        for item in items:
            found.append((depth, item.title))
            walk(item.children, depth + 1)

    with pikepdf.open(pdf) as opened, opened.open_outline() as outline:
        walk(outline.root, 0)
    return found


def destinations(pdf: pikepdf.Pdf) -> dict[str, int]:
    """Named destinations and the page (from 0) each lies on."""
    numbers = {page.objgen: number for number, page in enumerate(pdf.pages)}
    names = pdf.Root.Names.Dests.Names
    return {str(names[i]): numbers[names[i + 1][0].objgen] for i in range(0, len(names), 2)}


def links(pdf: pikepdf.Pdf) -> Iterator[tuple[int, str, str]]:
    """(page from 0, "inside" or "outside", target) of every link."""
    for number, page in enumerate(pdf.pages):
        for annotation in page.get("/Annots", []):
            if annotation.Subtype != "/Link":
                continue
            if "/Dest" in annotation:
                yield number, "inside", str(annotation.Dest)
            else:
                yield number, "outside", str(annotation.A.URI)


def destination_tops(pdf: pikepdf.Pdf) -> dict[str, tuple[int, float]]:
    """Named destinations: page (from 0) and points from its top."""
    numbers = {page.objgen: number for number, page in enumerate(pdf.pages)}
    names = pdf.Root.Names.Dests.Names
    found = {}
    for i in range(0, len(names), 2):
        place = names[i + 1]
        number = numbers[place[0].objgen]
        height = float(pdf.pages[number].mediabox[3])
        found[str(names[i])] = number, height - float(place[3])
    return found

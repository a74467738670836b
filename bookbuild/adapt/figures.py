"""Pictures for paper: nothing from the web, and each at a size that suits the page.

A drawing keeps its own size, a photograph or screenshot is printed at 200 dots an inch; what is wider than
the text reaches into the margin column, what is wider than that or too high is scaled down.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.common import Place
from bookbuild.adapt.tables import FULL, PROSE
from bookbuild.links import Asset

HIGHEST = 500.0  # points; leaves room for a caption on the page
_DARK = ("only-dark", "gh-dark-mode-only")  # the other half of a pair of pictures
DOTS = 200  # an inch, for pictures made of pixels
_POINTS = {"": 0.75, "px": 0.75, "pt": 1.0, "pc": 12.0, "in": 72.0, "cm": 72 / 2.54, "mm": 72 / 25.4}
_LENGTH = re.compile(r"\s*([\d.]+)\s*(px|pt|pc|in|cm|mm)?\s*$")


def pictures(tree: Element, place: Place) -> None:
    """Before links are resolved: say what is missing, mark lone pictures as figures, set widths."""
    for parent, child in trees.with_parents(tree):
        if child.tag == f"{{{trees.SVG}}}svg" and "icon" not in trees.classes(child):
            _drawing(parent, child)
        if child.tag != "img" or child.get("src", "").startswith("data:"):
            continue
        if urlsplit(child.get("src", "")).fragment in _DARK:
            trees.replace(parent, child)
            continue
        if urlsplit(child.get("src", "")).netloc:
            place.warn("pdf-remote-image", f"picture {child.get('src')} is on the web and not printed")
            words = Element("span", {"class": "picture-missing"})
            words.text = child.get("alt") or child.get("src")
            trees.replace(parent, child, words)
            continue
        if not child.get("alt"):
            child.set("alt", child.get("title") or "Picture")
        if parent.tag == "p" and _lone(parent):
            parent.set("class", "picture")
        if parent.tag == "figure" or parent.get("class") == "picture":
            _place(parent, child, place)
        elif match := _LENGTH.match(child.get("width", "")):  # print has no presentational attributes
            child.set("style", f"width:{float(match[1]) * _POINTS[match[2] or '']:.1f}pt")


def _lone(paragraph: Element) -> bool:
    if len(paragraph) != 1 or (paragraph.text or "").strip():
        return False
    return not (paragraph[0].tail or "").strip()


def _place(block: Element, image: Element, place: Place) -> None:
    """Give a picture the largest size that its own, the measure and the page allow."""
    target = place.links.resolve(place.chapter, image.get("src", ""))
    if not isinstance(target, Asset):
        return
    if size := natural_size(place.links.book.site_dir / target.path):
        width, _ = _fit(block, *size)
        image.set("style", f"width:{width:.1f}pt")


def _drawing(parent: Element, svg: Element) -> None:
    """An SVG in the page itself: as large as fits, and with a title, which is what PDF tags know it by."""
    name = f"{{{trees.SVG}}}title"
    if svg.find(name) is None:
        title = Element(name)
        title.text = svg.get("aria-label") or "Diagram"
        svg.insert(0, title)
    if size := _size_of(svg):
        width, height = _fit(parent, *size)
        svg.set("width", f"{width:.1f}pt")
        svg.set("height", f"{height:.1f}pt")
        svg.set("viewBox", svg.get("viewBox") or f"0 0 {size[0] / 0.75:g} {size[1] / 0.75:g}")


def _fit(block: Element, width: float, height: float) -> tuple[float, float]:
    """Width and height in points that measure and page allow; what needs it reaches into the margin column."""
    measure = FULL if width > PROSE else PROSE
    share = min(1.0, measure / width, HIGHEST / height)
    if width * share > PROSE:
        block.set("class", " ".join(sorted(trees.classes(block) | {"wide"})))
    return width * share, height * share


def natural_size(file: Path) -> tuple[float, float] | None:
    """(width, height) in points; None where the file does not tell."""
    if file.suffix.lower() == ".svg":
        return _svg_size(file)
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(file) as picture:
            width, height = picture.size
    except (OSError, UnidentifiedImageError):  # WeasyPrint will say so
        return None
    return width * 72 / DOTS, height * 72 / DOTS


def _svg_size(file: Path) -> tuple[float, float] | None:
    try:
        _, root = next(ElementTree.iterparse(file, events=("start",)))
    except (ElementTree.ParseError, StopIteration):
        return None
    return _size_of(root)


def _size_of(root: Element) -> tuple[float, float] | None:
    sides = [_LENGTH.match(root.get(name, "")) for name in ("width", "height")]
    if all(sides):
        width, height = (float(m[1]) * _POINTS[m[2] or ""] for m in sides)
        return width, height
    box = root.get("viewBox", "").replace(",", " ").split()
    return (float(box[2]) * 0.75, float(box[3]) * 0.75) if len(box) == 4 else None

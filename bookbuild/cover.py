"""The cover, drawn from code: shapes that become SVG for the PDF and pixels for the EPUB.

The picture is a field of rooflines, the curve of attainable speed over arithmetic intensity: it climbs with
the memory's bandwidth until it meets the processor's peak. One of them is lit.
"""

from __future__ import annotations

import io
import math
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from bookbuild.cache import cached_text, digest
from bookbuild.model import Book
from bookbuild.printing.fonts import SANS, SERIF, Face
from bookbuild.printing.pages import title_words

GROUND, INK, SPARK = "#0d3b46", "#f4f1ea", "#f0a63a"
_FADED = "#7fa3a8"

Command = tuple[str, tuple[tuple[float, float], ...]]  # pen operations: M, L, Q, C, Z with their points


@dataclass(frozen=True)
class Shape:
    """One path; coordinates in the drawing's own units, y downwards."""

    path: tuple[Command, ...]
    fill: str = "none"
    stroke: str = "none"
    width: float = 0.0
    opacity: float = 1.0


def art(width: float, height: float) -> list[Shape]:
    """Ground and curves, without words."""
    shapes = [Shape(_rectangle(width, height), fill=GROUND)]
    count, lit = 34, 21
    for index in range(count):
        share = index / (count - 1)
        roof = height * (0.40 + 0.46 * share**1.25)  # where the curve runs flat
        ridge = width * (0.16 + 0.56 * (1 - share) ** 0.9 + 0.05 * math.sin(9 * share))
        foot = height * 1.04
        slope = width * 0.95
        start = ridge - slope * (foot - roof) / height
        path = (("M", ((start, foot),)), ("L", ((ridge, roof),)), ("L", ((width * 1.02, roof),)))
        if index == lit:
            shapes.append(Shape(path, stroke=SPARK, width=width * 0.0042))
            dot = width * 0.0085
            shapes.append(Shape(_disc(ridge, roof, dot), fill=SPARK))
        else:
            shapes.append(Shape(path, stroke=_FADED, width=width * 0.0012, opacity=0.35 + 0.5 * share))
    return shapes


def art_svg(width: float, height: float) -> str:
    return to_svg(art(width, height), width, height)


def cover_shapes(book: Book, width: float, height: float) -> list[Shape]:
    """The whole cover with its words as outlines, for readers that show it as one picture."""
    shapes = art(width, height)
    left, y = width * 0.09, height * 0.13
    title, subtitle = title_words(book)
    size = width * 0.098
    for line in _lines(title, SERIF, {"wght": 600, "opsz": 60}, size, width * 0.84):
        shapes += outline(line, SERIF, {"wght": 600, "opsz": 60}, size, left, y, INK)
        y += size * 1.12
    y += size * 0.05
    if subtitle:
        words = subtitle[:1].upper() + subtitle[1:]
        for line in _lines(words, SANS, {"wght": 400}, width * 0.036, width * 0.8):
            shapes += outline(line, SANS, {"wght": 400}, width * 0.036, left, y, SPARK)
            y += width * 0.05
    if book.author:
        size = width * 0.026
        rows = _lines(book.author, SANS, {"wght": 400}, size, width * 0.5)
        for row, line in enumerate(rows):
            place = height * 0.955 - size * 1.4 * (len(rows) - 1 - row)
            start = width * 0.91 - line_width(line, SANS, {"wght": 400}, size)
            shapes += outline(line, SANS, {"wght": 400}, size, start, place, INK)
    return shapes


def cover_svg(book: Book, width: float = 1600, height: float = 2560) -> str:
    return to_svg(cover_shapes(book, width, height), width, height)


def cover_png(book: Book, width: int = 1600, height: int = 2560) -> bytes:
    """The cover as pixels; the same bytes for the same book. Kept, since drawing it takes longer than most EPUBs' text."""
    programs = [f"{name} {version(name)}" for name in ("matplotlib", "pillow", "fonttools")]
    programs += [f"{face.package} {version(face.package)}" for face in (SANS, SERIF)]
    words = (*title_words(book), book.author, str(width), str(height))
    key = digest(Path(__file__).read_bytes(), *programs, *words)
    drawn = cached_text(book.root, "cover", key, lambda: b64encode(_pixels(book, width, height)).decode("ascii"))
    return b64decode(drawn)


def _pixels(book: Book, width: int, height: int) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    codes = {"M": [Outline.MOVETO], "L": [Outline.LINETO], "Q": [Outline.CURVE3] * 2, "C": [Outline.CURVE4] * 3}
    figure = Figure(figsize=(width / 100, height / 100), dpi=100)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    for shape in cover_shapes(book, width, height):
        points: list[tuple[float, float]] = []
        kinds: list[int] = []
        for name, own in shape.path:
            points += own or ((0.0, 0.0),)
            kinds += codes.get(name, [Outline.CLOSEPOLY])
        axes.add_patch(
            PathPatch(
                Outline(points, kinds),
                facecolor=shape.fill,
                edgecolor=shape.stroke,
                linewidth=shape.width * 72 / 100,
                alpha=shape.opacity,
                capstyle="butt",
            )
        )
    out = io.BytesIO()
    canvas.print_png(out, metadata={"Software": None})
    return out.getvalue()


def to_svg(shapes: list[Shape], width: float, height: float) -> str:
    paths = []
    for shape in shapes:
        data = "".join(name + " ".join(f"{x:.2f},{y:.2f}" for x, y in points) for name, points in shape.path)
        paint = f'fill="{shape.fill}"'
        if shape.stroke != "none":
            paint += f' stroke="{shape.stroke}" stroke-width="{shape.width:.2f}" stroke-linejoin="round"'
        if shape.opacity < 1:
            paint += f' opacity="{shape.opacity:.2f}"'
        paths.append(f'<path d="{data}" {paint}/>')
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(paths)}</svg>'


def outline(
    text: str, face: Face, axes: dict[str, float], size: float, x: float, y: float, fill: str
) -> list[Shape]:
    """The letters of a line as one shape; x, y is the start of its base line."""
    from fontTools.pens.recordingPen import DecomposingRecordingPen
    from fontTools.ttLib import TTFont

    with TTFont(face.upright, lazy=True) as font:
        glyphs, names = font.getGlyphSet(location=axes), font.getBestCmap()
        scale = size / font["head"].unitsPerEm
        path: list[Command] = []
        for char in text:
            glyph = glyphs[names.get(ord(char), ".notdef")]
            pen = DecomposingRecordingPen(glyphs)
            glyph.draw(pen)
            path += _placed(pen.value, scale, x, y)
            x += glyph.width * scale
    return [Shape(tuple(path), fill=fill)]


def _placed(operations, scale: float, x: float, y: float) -> Iterator[Command]:
    """Pen operations as commands; TrueType's curves with several control points are taken apart."""
    for name, points in operations:
        if name == "qCurveTo":
            controls, end = points[:-1], points[-1]
            for index, control in enumerate(controls):
                last = index == len(controls) - 1
                following = end if last else controls[index + 1]
                stop = end if last else ((control[0] + following[0]) / 2, (control[1] + following[1]) / 2)
                yield "Q", (_move(control, scale, x, y), _move(stop, scale, x, y))
        elif name in ("moveTo", "lineTo", "curveTo"):
            yield {"m": "M", "l": "L", "c": "C"}[name[0]], tuple(_move(p, scale, x, y) for p in points)
        elif name == "closePath":
            yield "Z", ()


def _move(point, scale: float, x: float, y: float) -> tuple[float, float]:
    return x + point[0] * scale, y - point[1] * scale


def _lines(text: str, face: Face, axes: dict[str, float], size: float, measure: float) -> list[str]:
    """The text broken into lines no wider than `measure`."""
    lines: list[str] = []
    for word in text.split():
        if lines and line_width(f"{lines[-1]} {word}", face, axes, size) <= measure:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def line_width(text: str, face: Face, axes: dict[str, float], size: float) -> float:
    from fontTools.ttLib import TTFont

    with TTFont(face.upright, lazy=True) as font:
        glyphs, names = font.getGlyphSet(location=axes), font.getBestCmap()
        return sum(glyphs[names.get(ord(c), ".notdef")].width for c in text) * size / font["head"].unitsPerEm


def _rectangle(width: float, height: float) -> tuple[Command, ...]:
    corners = ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))
    return ("M", corners[:1]), *(("L", (corner,)) for corner in corners[1:]), ("Z", ())


def _disc(x: float, y: float, radius: float) -> tuple[Command, ...]:
    k = 0.5523 * radius
    r = radius
    return (
        ("M", ((x + r, y),)),
        ("C", ((x + r, y + k), (x + k, y + r), (x, y + r))),
        ("C", ((x - k, y + r), (x - r, y + k), (x - r, y))),
        ("C", ((x - r, y - k), (x - k, y - r), (x, y - r))),
        ("C", ((x + k, y - r), (x + r, y - k), (x + r, y))),
        ("Z", ()),
    )

"""Formulas for paper: WeasyPrint does not lay out MathML, so each becomes a picture on the line's base."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.common import Place
from bookbuild.markdown.maths import prepared

_LIKE_TEXT = 1.05  # STIX is a little smaller on its body than Source Serif
_INK = "#1b2224"  # of running text in print.css
_BETWEEN_ROWS = "0.5em"
_EM = 100.0  # the size at which formulas are drawn; everything is written in em afterwards


def formulas(tree: Element, place: Place) -> None:
    """<math> → <img alt=TeX> with an SVG inside its address: as an image its glyph ids clash with no other's."""
    for parent, math in trees.with_parents(tree):
        if math.tag != f"{{{trees.MATHML}}}math":
            continue
        tex = math.get("alttext") or trees.text_of(math)
        block = math.get("display") == "block"
        try:
            picture = _picture(tex, block)
        except Exception as error:  # noqa: BLE001 ziamath raises whatever its parser stumbles over
            place.warn("pdf-formula", f"cannot draw ${tex}$: {error}")
            words = Element("code")
            words.text = tex
            trees.replace(parent, math, words)
            continue
        image = Element("img", {"class": "math-block" if block else "math", "alt": tex})
        image.set("src", picture[0])
        image.set("style", picture[1])
        trees.replace(parent, math, image)


@lru_cache(maxsize=4096)
def _picture(tex: str, block: bool) -> tuple[str, str]:
    """(data URL, CSS) of a formula: width, height and depth below the base line, in em."""
    import ziamath
    from ziamath.tex import tex2mml

    mathml = ElementTree.fromstring(tex2mml(prepared(tex), inline=not block))
    mathml.set("mathcolor", _INK)
    for table in mathml.iter(f"{{{trees.MATHML}}}mtable"):
        if table.get("rowspacing"):  # in points of a ten-point text, next to nothing at the size of _EM
            table.set("rowspacing", _BETWEEN_ROWS)
    drawn = ziamath.Math(mathml, size=_EM * _LIKE_TEXT)
    svg = drawn.svgxml()
    width, height = float(svg.get("width")), float(svg.get("height"))
    depth = drawn.getyofst() - drawn.margin
    data = b64encode(ElementTree.tostring(svg)).decode("ascii")
    style = f"width:{width / _EM:.3f}em;height:{height / _EM:.3f}em"
    if not block:
        style += f";vertical-align:{depth / _EM:.3f}em"
    return f"data:image/svg+xml;base64,{data}", style

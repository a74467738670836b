"""The `mermaid` fence: a picture made at build, without a browser and without the network.

    %% caption: How a batch travels. #fig-loop      first lines, each as wanted; GitHub's drawing ignores them
    %% alt: Storage feeds the loader, the loader the GPU.

Of the packages that draw Mermaid in Python, `mmdr` with its engine merman is used: Mermaid's own layouts for all kinds of
diagrams, the same bytes each time, MIT, wheels for Linux on x86 and ARM, macOS and Windows. `mermaidx` puts labels
into foreignObject, which WeasyPrint leaves blank; `merm` prints the quotes of quoted labels; `merman`'s own
wheels lack ARM Linux.

The drawing stands in the page as <svg>, not as <img>: its text is found by search, read aloud and set in the page's
typeface, which a picture's may not use. So its style sheet is worked into attributes (a page has one cascade, and a
strict content policy no <style>), and its ids start with the figure's own.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from bookbuild import trees
from bookbuild.cache import digest
from bookbuild.markdown.captions import caption_head
from bookbuild.markdown.fences import Fence, atomic
from bookbuild.markdown.index import LABEL
from bookbuild.markdown.svg import prefix_ids, prune, style_to_attributes

_CAPTION = re.compile(rf"^%%\s*caption:\s*(.*?)\s*(?:#({LABEL}))?\s*$", re.MULTILINE)
_ALT = re.compile(r"^%%\s*alt:\s*(.*?)\s*$", re.MULTILINE)
_INK, _LINE, _FILL, _GROUP = "#1c2733", "#35506b", "#eef3f8", "#f6f4ef"
_CONFIG = {
    "theme": "base",
    "look": "classic",
    "fontFamily": "IBM Plex Sans, sans-serif",
    "flowchart": {"nodeSpacing": 36, "rankSpacing": 44, "padding": 8},
    "themeVariables": {
        "useGradient": False,
        "fontSize": "14px",
        "primaryColor": _FILL,
        "primaryBorderColor": _LINE,
        "primaryTextColor": _INK,
        "lineColor": _LINE,
        "clusterBkg": _GROUP,
        "clusterBorder": "#b9b4a6",
        "titleColor": _INK,
        "edgeLabelBackground": "#ffffff",
        "noteBkgColor": "#fbf1d9",
        "noteBorderColor": "#c8a04a",
        "noteTextColor": _INK,
        "actorLineColor": _LINE,
        "signalColor": _INK,
    },
}


class DiagramError(ValueError):
    """A diagram that cannot be drawn; the text says why."""


def make_diagram(fence: Fence) -> Element | None:
    """The figure of a diagram; one that cannot be drawn is reported and leaves nothing."""
    caption = _CAPTION.search(fence.text)
    label = (caption[2] or "") if caption else ""
    words = caption[1] if caption else ""
    alt = _ALT.search(fence.text)
    try:
        svg = drawing(fence.text, label or f"diagram-{digest(fence.text)[:8]}")
    except DiagramError as error:
        fence.report("diagram", str(error))
        return None
    figure = Element("figure", {"class": "diagram"} | ({"id": label} if label else {}))
    name = alt[1] if alt else _plain(words) or "Diagram: " + ", ".join(_texts(svg))
    svg.set("aria-label", name)
    figure.append(svg)
    if words:
        figcaption = SubElement(figure, "figcaption")
        figcaption.text = words
        caption_head(figcaption, label, fence.context)
    return figure


def _plain(words: str) -> str:
    """A caption without Markdown's signs."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words).replace("`", "").replace("*", "")


def _texts(svg: Element) -> list[str]:
    found = (trees.text_of(e) for e in svg.iter("text"))
    return list(dict.fromkeys(text for text in found if text))


def drawing(source: str, prefix: str) -> Element:
    """<svg> with plain tags for Markdown's tree; every id in it starts with `prefix`."""
    svg = ElementTree.fromstring(_svg(source))
    rules = "\n".join(style.text or "" for style in svg.iter(f"{{{trees.SVG}}}style"))
    for element in svg.iter():
        element.tag = trees.split_tag(element.tag)[1]
        for key in [k for k in element.attrib if k.startswith("{")]:  # xml:space, which Markdown cannot write
            del element.attrib[key]
    style_to_attributes(svg, rules)
    prune(svg)
    prefix_ids(svg, prefix)
    left, top, width, height = (float(v) for v in svg.get("viewBox", "0 0 0 0").split())
    svg.attrib = {
        "xmlns": trees.SVG,
        "viewBox": f"{left:g} {top:g} {width:g} {height:g}",
        "width": f"{width:g}",
        "height": f"{height:g}",
        "role": "img",
        "font-family": svg.get("font-family", "sans-serif"),
        "font-size": svg.get("font-size", "14px"),
    }
    for element in svg.iter():
        if element.text:
            atomic(element, element.text)
        element.tail = None
    return svg


@lru_cache(maxsize=512)
def _svg(source: str) -> str:
    import mmdr

    try:
        return mmdr.render(f"%%{{init: {json.dumps(_CONFIG)}}}%%\n{source}", backend="merman").svg()
    except Exception as error:  # the engine's own classes
        raise DiagramError(" ".join(str(error).split()) or type(error).__name__) from error

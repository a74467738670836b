"""Icons of admonitions, drawn here as strokes on a 24 by 24 grid: print has no mask images (WeasyPrint#1458)."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from bookbuild.trees import SVG

_CIRCLE = "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18z"
_TRIANGLE = "M12 3.5L22 20.5H2z"
_PATHS = {
    "note": "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
    "abstract": "M5 3h14v18H5zM8.5 8h7M8.5 12h7M8.5 16h4",
    "info": _CIRCLE + "M12 11v6M12 7.2v.6",
    "tip": "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.5 10.9c.6.5 1 1.2 1 2.1h5c0-.9.4-1.6 1-2.1A6 6 0 0 0 12 3z",
    "success": _CIRCLE + "M8 12.5l3 3l5.5-6.5",
    "question": _CIRCLE + "M9.5 9.5a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.9-1.1 1.7M12 16.7v.6",
    "warning": _TRIANGLE + "M12 9.5v5M12 17v.6",
    "failure": _CIRCLE + "M8.5 8.5l7 7M15.5 8.5l-7 7",
    "danger": "M13.5 2.5L5 13.5h6L9.5 21.5L19 10h-6.5z",
    "bug": "M8 9a4 4 0 0 1 8 0M7 9h10v6a5 5 0 0 1-10 0zM12 9v11M3 8l4 3M21 8l-4 3M2.5 14H7M21.5 14H17M4 20l3.5-2.5M20 20l-3.5-2.5",
    "example": "M9.5 3h5M10.5 3v6L5 19.5a1 1 0 0 0 .9 1.5h12.2a1 1 0 0 0 .9-1.5L13.5 9V3M8 15h8",
    "quote": "M4 17c3-1 4-3 4-5H4V6h6v6c0 4-2 6-6 7zM14 17c3-1 4-3 4-5h-4V6h6v6c0 4-2 6-6 7z",
}  # fmt: skip
# Material's other names for the same kinds
_ALIASES = {
    "seealso": "note",
    "summary": "abstract",
    "tldr": "abstract",
    "todo": "info",
    "hint": "tip",
    "important": "tip",
    "check": "success",
    "done": "success",
    "help": "question",
    "faq": "question",
    "caution": "warning",
    "attention": "warning",
    "fail": "failure",
    "missing": "failure",
    "error": "danger",
    "snippet": "example",
    "cite": "quote",
}


def kind_of(marks: set[str]) -> str:
    """The kind an admonition's classes name; an unknown one is a note, as in Material."""
    for mark in sorted(marks):
        if (kind := _ALIASES.get(mark, mark)) in _PATHS:
            return kind
    return "note"


def icon(kind: str, label: str) -> Element:
    """An <svg> of class 'icon'; `label` is what a screen reader says."""
    svg = Element(f"{{{SVG}}}svg", {"class": "icon", "viewBox": "0 0 24 24", "width": "24", "height": "24"})
    SubElement(svg, f"{{{SVG}}}title").text = label
    SubElement(
        svg,
        f"{{{SVG}}}path",
        {
            "d": _PATHS[kind],
            "fill": "none",
            "stroke": "#0f4c5c",
            "stroke-width": "1.8",
            "stroke-linejoin": "round",
            "stroke-linecap": "round",
        },
    )
    return svg

"""Make a drawing fit to stand inside of a page: no style sheet, no foreign ids, nothing that is not drawn."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

import cssselect2
import tinycss2

_REFERENCE = re.compile(r"url\((['\"]?)#([^)'\"]+)\1\)")
# CSS properties that SVG has as attributes; the rest (cursor, animation, shadows) is for a live page
_ATTRIBUTES = frozenset(
    {"fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap"}
    | {
        "stroke-linejoin",
        "stroke-opacity",
        "opacity",
        "font-family",
        "font-size",
        "font-weight",
        "font-style",
    }
    | {"text-anchor", "dominant-baseline", "marker-start", "marker-end", "stop-color", "stop-opacity"}
    | {"display", "visibility"}
)
_SHAPES = frozenset(
    {"path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "image", "use"}
)
_RESOURCES = frozenset(
    {"marker", "linearGradient", "radialGradient", "clipPath", "pattern", "symbol", "mask"}
)


def style_to_attributes(svg: Element, css: str) -> None:
    """Give each element what the cascade of `css` and its own `style` say, as attributes. Tags carry no namespace."""
    matcher = cssselect2.Matcher()
    for rule in tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True):
        if rule.type != "qualified-rule":
            continue
        declared = _declarations(rule.content)
        try:
            selectors = cssselect2.compile_selector_list(rule.prelude)
        except cssselect2.SelectorError:
            continue
        for selector in selectors if declared else ():
            matcher.add_selector(selector, declared)
    for wrapped in cssselect2.ElementWrapper.from_xml_root(svg).iter_subtree():
        element = wrapped.etree_element
        layers = [declared for *_, declared in sorted(matcher.match(wrapped), key=lambda m: m[:2])]
        layers.append(_declarations(tinycss2.parse_component_value_list(element.attrib.pop("style", ""))))
        for important in (False, True):
            for declared in layers:
                for name, value, weight in declared:
                    if weight is important:
                        element.set(name, value)


def _declarations(content: list) -> list[tuple[str, str, bool]]:
    """(property, value, important) of the properties that are attributes in SVG."""
    found = []
    for item in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
        if item.type == "declaration" and item.lower_name in _ATTRIBUTES:
            value = tinycss2.serialize(item.value).strip()
            if value not in ("revert", "inherit", "unset"):
                found.append((item.lower_name, value, item.important))
    return found


def prune(svg: Element) -> None:
    """Drop styles, filters, classes, unused resources and groups in which nothing is drawn."""
    for element in svg.iter():
        for name in [n for n in element.attrib if n == "class" or n.startswith("data-") or n == "filter"]:
            del element.attrib[name]
    used = {found[2] for e in svg.iter() for v in e.attrib.values() for found in _REFERENCE.finditer(v)}
    used |= {
        v[1:] for e in svg.iter() for k, v in e.attrib.items() if k.endswith("href") and v.startswith("#")
    }
    _prune(svg, used)
    for element in svg.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)


def _prune(parent: Element, used: set[str]) -> None:
    for child in list(parent):
        _prune(child, used)
        kept = (
            child.tag in _SHAPES
            or (child.tag in _RESOURCES and child.get("id") in used)
            or (child.tag in ("g", "defs", "a") and len(child))
            or (child.tag in ("stop", "title", "desc"))
        )
        if not kept or child.get("display") == "none":
            parent.remove(child)


def prefix_ids(svg: Element, prefix: str) -> None:
    """Rename every id to `prefix-1`, `prefix-2` …, and what refers to them."""
    names = {
        name: f"{prefix}-{n}" for n, name in enumerate((e.get("id") for e in svg.iter() if e.get("id")), 1)
    }
    for element in svg.iter():
        for key, value in list(element.items()):
            if key == "id":
                element.set(key, names[value])
            elif key.endswith("href") and value.startswith("#"):
                element.set(key, "#" + names.get(value[1:], value[1:]))
            elif "url(" in value:
                element.set(key, _REFERENCE.sub(lambda m: f"url(#{names.get(m[2], m[2])})", value))

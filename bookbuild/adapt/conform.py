"""HTML as strict readers want it: only elements, attributes and addresses that EPUB's schemas know.

A book's own raw HTML may hold anything a browser forgives; an EPUB with one such attribute is refused by shops.
"""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.blocks import BLOCK
from bookbuild.adapt.common import Place

_PHRASE = frozenset(
    """a abbr b bdi bdo br cite code data del dfn em i img ins kbd mark q rp rt ruby s samp small span strong sub sup
    time u var wbr""".split()  # noqa: SIM905 - a list of words is easier to read and to compare
)
_FLOW = frozenset(
    """address article aside blockquote caption col colgroup dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6
    header hr li ol p pre section table tbody td tfoot th thead tr ul""".split()  # noqa: SIM905
)
_EITHER = {"a", "ins", "del"}  # may hold what their parent may hold
_WORDS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "pre"}  # blocks that hold no blocks
_RENAMED = {"tt": "code", "strike": "s", "center": "div", "main": "div", "nav": "div", "details": "section"}
_EVERYWHERE = {
    "id",
    "class",
    "lang",
    "title",
    "dir",
    "style",
    "role",
    "hidden",
    "tabindex",
    "translate",
    "data-label",
    BLOCK,  # until the pages of the PDF are marked
}
_OWN = {
    "a": {"href", "hreflang", "rel"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start", "reversed", "type"},
    "li": {"value"},
    "td": {"colspan", "rowspan", "headers"},
    "th": {"colspan", "rowspan", "headers", "scope", "abbr"},
    "col": {"span"},
    "colgroup": {"span"},
    "del": {"datetime"},
    "ins": {"datetime"},
    "time": {"datetime"},
    "data": {"value"},
}
_STYLED = {"align": "text-align", "valign": "vertical-align", "width": "width", "height": "height"}
_SCHEMES = {"http", "https", "mailto", "tel", "ftp"}  # epubcheck warns of schemes that are not registered
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XML_NAME = re.compile(r"^[^\W\d][\w.-]*$")
_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def conform(tree: Element, place: Place) -> None:
    """Make the tree valid; words stay."""
    for element in list(tree.iter()):
        if trees.split_tag(element.tag)[0] == "" and isinstance(element.tag, str):
            _name(element)
            _attributes(element)
        elif isinstance(element.tag, str):
            _foreign(element)
        _characters(element)
    _lists(tree)
    _nest(tree, phrase=False)
    for parent, child in trees.with_parents(tree):
        if child.tag == "picture":
            trees.replace(parent, child, *child.iter("img"))


def _name(element: Element) -> None:
    if element.tag == "picture":
        return
    element.tag = _RENAMED.get(element.tag, element.tag)
    if element.tag not in _PHRASE | _FLOW:
        element.tag = "span"


def _nest(element: Element, phrase: bool) -> None:
    """No block inside of words: one in a heading becomes a span, words around one become a block."""
    for child in element:
        if trees.split_tag(child.tag)[0]:
            continue
        if phrase and child.tag in _FLOW:
            child.tag = "span"
        elif not phrase and child.tag in _PHRASE - _EITHER and any(e.tag in _FLOW for e in child.iter()):
            child.tag = "div"
        _nest(child, phrase or child.tag in _WORDS or child.tag in _PHRASE - _EITHER)


def _attributes(element: Element) -> None:
    allowed = _OWN.get(element.tag, set())
    for key, value in list(element.items()):
        space, name = trees.split_tag(key)
        if key == "name" and element.tag == "a" and not element.get("id"):
            element.set("id", value)
        if space in (trees.EPUB, "http://www.w3.org/XML/1998/namespace") or name.startswith("aria-"):
            continue
        usable = (key in _EVERYWHERE and value != "") or key in allowed
        if key in ("width", "height", "colspan", "rowspan", "span", "start", "value") and not _is_count(
            value
        ):
            usable = usable and key == "value" and element.tag == "data"
        if usable:
            continue
        del element.attrib[key]
        if key in _STYLED and value:
            _style(element, key, value)
    if "href" in element.attrib:
        _address(element)
    if element.tag == "img":
        element.set("alt", element.get("alt", ""))


def _foreign(element: Element) -> None:
    """SVG and MathML stay as written, but for what XML cannot say and what would run."""
    for key in list(element.keys()):
        name = trees.split_tag(key)[1]
        if not _XML_NAME.match(name) or name.startswith("on"):
            del element.attrib[key]


def _is_count(value: str) -> bool:
    return value.isascii() and value.isdigit()


def _style(element: Element, key: str, value: str) -> None:
    if key in ("width", "height"):
        if not re.fullmatch(r"\d+(\.\d+)?%?", value) or element.tag not in (
            "img",
            "td",
            "th",
            "col",
            "table",
        ):
            return
        value = value if value.endswith("%") else f"{value}px"
    elif not value.isalpha():
        return
    if element.tag == "img" and key == "align":
        key, value = "vertical-align", {"center": "middle"}.get(value, value)
        if value in ("left", "right"):
            return
    before = element.get("style", "").rstrip("; ")
    element.set("style", f"{before + '; ' if before else ''}{_STYLED.get(key, key)}: {value.lower()}")


def _address(element: Element) -> None:
    """Addresses percent-encoded where they must be; without one where no reader could follow it."""
    href = "".join(element.get("href", "").split())
    if href.startswith("//"):
        href = f"https:{href}"
    try:
        parts = urlsplit(href)
        inside = href.startswith("#")
        usable = inside or (
            parts.scheme.lower() in _SCHEMES and (parts.netloc or parts.scheme in ("mailto", "tel"))
        )
        _ = parts.port
    except ValueError:
        usable = False
    if not usable:
        del element.attrib["href"]
    elif not inside:
        host, rest = href[: href.index(":") + 1], href[href.index(":") + 1 :]
        rest = quote(_BARE_PERCENT.sub("%25", rest), safe="%/:=&?~#+!$,;'@()*[]")
        tail = rest[2:].partition("/")
        if rest.startswith("//"):  # brackets are only for IPv6 hosts
            rest = "//" + tail[0] + tail[1] + tail[2].replace("[", "%5B").replace("]", "%5D")
        head, mark, fragment = rest.partition("#")
        element.set("href", host + head + mark + fragment.replace("#", "%23"))


def _lists(tree: Element) -> None:
    """Lists hold items only."""
    for group in list(tree.iter()):
        if group.tag not in ("ul", "ol"):
            continue
        for child in list(group):
            if child.tag != "li":
                item = Element("li")
                trees.replace(group, child, item)
                item.append(child)
        if not len(group):
            group.tag = "div"


def _characters(element: Element) -> None:
    """Control characters, as in terminal output, have no place in XML."""
    if element.text:
        element.text = _NOT_XML.sub("", element.text)
    if element.tail:
        element.tail = _NOT_XML.sub("", element.tail)
    for key, value in element.items():
        if _NOT_XML.search(value):
            element.set(key, _NOT_XML.sub("", value))

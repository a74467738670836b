"""HTML as trees: parse a fragment, walk it, write it as HTML or as XHTML.

HTML elements carry plain tag names, SVG and MathML ones their namespace, as tinyhtml5 gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import tinyhtml5

XHTML = "http://www.w3.org/1999/xhtml"
SVG = "http://www.w3.org/2000/svg"
MATHML = "http://www.w3.org/1998/Math/MathML"
XLINK = "http://www.w3.org/1999/xlink"
XMLNS = "http://www.w3.org/2000/xmlns/"
EPUB = "http://www.idpf.org/2007/ops"
_PREFIXES = {XLINK: "xlink", EPUB: "epub", "http://www.w3.org/XML/1998/namespace": "xml"}
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)


def parse_fragment(html: str, tag: str = "article") -> Element:
    """The body of an HTML fragment under one new element `tag`."""
    body = tinyhtml5.parse(html, namespace_html_elements=False).find("body")
    root = Element(tag)
    root.text = body.text
    root.extend(body)
    return root


def split_tag(tag: object) -> tuple[str, str]:
    """(namespace, local name) of an element's or attribute's name; comments give ("", "!")."""
    if not isinstance(tag, str):
        return "", "!"
    if tag.startswith("{"):
        space, _, name = tag[1:].partition("}")
        return space, name
    return "", tag


def text_of(element: Element) -> str:
    """All text inside, white space folded."""
    return " ".join("".join(element.itertext()).split())


def classes(element: Element) -> set[str]:
    return set((element.get("class") or "").split())


def with_parents(root: Element) -> Iterator[tuple[Element, Element]]:
    """(parent, child) pairs of a snapshot of the tree, in document order: safe to edit while walking."""
    return iter([(parent, child) for parent in root.iter() for child in parent])


def replace(parent: Element, old: Element, *new: Element) -> None:
    """Put `new` where `old` stood; the text behind `old` stays behind the last of them."""
    position = list(parent).index(old)
    parent.remove(old)
    for offset, element in enumerate(new):
        parent.insert(position + offset, element)
    if old.tail:
        if new:
            new[-1].tail = (new[-1].tail or "") + old.tail
        elif position:
            parent[position - 1].tail = (parent[position - 1].tail or "") + old.tail
        else:
            parent.text = (parent.text or "") + old.tail
    old.tail = None


def to_html(element: Element) -> str:
    """HTML5 text of an element and all below it."""
    return _write(element, foreign_space=False)


def to_xhtml(element: Element) -> str:
    """Well-formed XHTML text; SVG and MathML roots declare their namespace, no prefixes."""
    return _write(element, foreign_space=True)


def _write(element: Element, foreign_space: bool) -> str:
    out: list[str] = []
    _write_into(out.append, element, XHTML if foreign_space else None, foreign_space)
    return "".join(out)


def _write_into(put: Callable[[str], None], element: Element, around: str | None, xml: bool) -> None:
    space, name = split_tag(element.tag)
    if name == "!":  # comments and processing instructions are for authors
        return
    put(f"<{name}")
    own = space or XHTML
    if xml and own != around:
        put(f' xmlns="{own}"')
        if own == SVG and any(XLINK in key for e in element.iter() for key in e.attrib):
            put(f' xmlns:xlink="{XLINK}"')
    for key, value in element.items():
        attribute_space, attribute = split_tag(key)
        if attribute_space == XMLNS or attribute == "xmlns":
            continue
        prefix = _PREFIXES.get(attribute_space)
        put(f' {prefix + ":" if prefix else ""}{attribute}="{escape(value or "", quote=True)}"')
    if xml and len(element) == 0 and not element.text and (space or name in _VOID):
        put("/>")
        return
    put(">")
    if not xml and not space and name in _VOID:
        return
    raw_text = not xml and name in ("script", "style")
    if element.text:
        if not xml and name == "pre" and element.text.startswith("\n"):
            put("\n")  # an HTML parser drops the first line break of <pre>
        put(element.text if raw_text else escape(element.text, quote=False))
    for child in element:
        _write_into(put, child, own, xml)
        if child.tail:
            put(child.tail if raw_text else escape(child.tail, quote=False))
    put(f"</{name}>")


def parse_xml(text: str) -> Element:
    """Strict XML (for example an SVG made by a library)."""
    return ElementTree.fromstring(text)

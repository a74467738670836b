"""Where the pages of the PDF begin, marked in the EPUB's text, so that readers of both can name the same place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element, SubElement

from bookbuild.adapt.blocks import BLOCK
from bookbuild.adapt.epub import TYPE
from bookbuild.epub.documents import Document
from bookbuild.pagemap import PageMap

_HOLD_IT = {"li", "dt", "dd", "span"}  # a mark stands inside of these and before other blocks


def mark_pages(documents: list[Document], pages: PageMap | None) -> list[tuple[str, str]]:
    """Put a page break before the first block of each page; returns (label, href) of those, in reading order.

    Expects final ids: none that was made from another has a lone `_`, as those given here have. The blocks'
    numbers go, with or without `pages`. A page out of order, as after a block that floats, is left out.
    """
    order = {mark: number for number, (_, mark) in enumerate(pages or [])}
    found: list[tuple[str, str]] = []
    last = -1
    for document in documents:
        for parent, element in list(_with_parents(document.content)):
            number = order.get(element.attrib.pop(BLOCK, ""), -1)
            if pages and number > last:
                last, label = number, pages[number][0]
                name = f"page_{label}"
                _mark(parent, element, Element("span", _attributes(name, label)))
                found.append((label, f"{document.name}#{name}"))
    return found


def _with_parents(roots: Iterable[Element], parent: Element | None = None) -> Iterator[tuple[Element | None, Element]]:
    """In reading order."""
    for element in roots:
        yield parent, element
        yield from _with_parents(element, element)


def _attributes(name: str, label: str) -> dict[str, str]:
    return {"id": name, TYPE: "pagebreak", "role": "doc-pagebreak", "aria-label": f"Page {label}"}


def _mark(parent: Element | None, element: Element, mark: Element) -> None:
    if element.tag == "tr":
        element = element[0]
    elif parent is not None and element.tag not in _HOLD_IT:
        parent.insert(list(parent).index(element), mark)
        return
    mark.tail, element.text = element.text, None
    element.insert(0, mark)


def page_list(pages: list[tuple[str, str]]) -> Element:
    nav = Element("nav", {TYPE: "page-list", "role": "doc-pagelist", "aria-label": "Pages", "hidden": "hidden"})
    rows = SubElement(nav, "ol")
    for label, href in pages:
        SubElement(SubElement(rows, "li"), "a", {"href": href}).text = label
    return nav

"""Touches to WeasyPrint's PDF before it is written: page labels, and what PDF/UA-1 wants beyond its tags.

WeasyPrint leaves paragraphs of list items outside a list body, header cells without a scope, and describes a
link by its target's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

FIRST_BODY_PAGES = ("partstart", "chapterstart")  # @page names of print.css


def finish(document: Any, pdf: Any) -> None:
    """The `finisher` of weasyprint's write_pdf: a laid-out document and its pydyf.PDF, changed in place."""
    _label_pages(document, pdf)
    pdf.catalog["PageMode"] = "/UseOutlines"
    elements = {o.reference: o for o in pdf.objects if isinstance(o, dict) and o.get("Type") == "/StructElem"}
    for element in list(elements.values()):
        if element["S"] == "/LI":
            _wrap_body(element, elements, pdf)
        elif element["S"] == "/TH":
            _set_scope(element, elements)
    _describe_links(document)


def merge_nested_links(document: Any) -> None:
    """One link area for a link and what stands in it.

    WeasyPrint makes an area of its own for each box inside of a link, code or a pseudo-element, and tags it as
    no link. Call it between layout and writing.
    """
    for page in document.pages:
        areas = {id(box): number for number, (_, _, _, box) in enumerate(page.links)}
        nested = dict(_nested(page._page_box, None, areas))
        rectangles = [rectangle for _, _, rectangle, _ in page.links]
        for inner, outer in nested.items():
            a, b = rectangles[inner], rectangles[outer]
            rectangles[outer] = min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])
        page.links = [
            (kind, target, rectangles[number], box)
            for number, (kind, target, _, box) in enumerate(page.links)
            if number not in nested
        ]


def _nested(box: Any, around: int | None, areas: dict[int, int]) -> Iterator[tuple[int, int]]:
    """(number of an area, number of the outermost area around it) below a box."""
    number = areas.get(id(box))
    if number is not None and around is not None:
        yield number, around
    for child in getattr(box, "children", ()):
        yield from _nested(child, number if around is None else around, areas)


def _label_pages(document: Any, pdf: Any) -> None:
    """Cover, ii, iii, …, then 1, 2, … from the first part or chapter, as printed at the foot."""
    import pydyf

    names = [page._page_box.page_type.name for page in document.pages]
    labels = pydyf.Array()
    if names[0] == "cover":
        labels += [0, pydyf.Dictionary({"P": pydyf.String("Cover")})]
    first = next((i for i, name in enumerate(names) if name in FIRST_BODY_PAGES), len(names))
    start = 1 if names[0] == "cover" else 0
    if start < first:
        labels += [start, pydyf.Dictionary({"S": "/r", "St": start + 1})]
    if first < len(names):
        labels += [first, pydyf.Dictionary({"S": "/D"})]
    pdf.catalog["PageLabels"] = pydyf.Dictionary({"Nums": labels})


def _wrap_body(item: Any, elements: dict[bytes, Any], pdf: Any) -> None:
    """Everything in a list item that is neither label nor body goes into a body."""
    import pydyf

    loose = [k for k in item["K"] if elements.get(k, {}).get("S") not in ("/Lbl", "/LBody", "/LI", "/L")]
    if not loose:
        return
    body = pydyf.Dictionary(
        {
            "Type": "/StructElem",
            "S": "/LBody",
            "K": pydyf.Array(loose),
            "Pg": item["Pg"],
            "P": item.reference,
        }
    )
    pdf.add_object(body)
    elements[body.reference] = body
    for kid in loose:
        if kid in elements:
            elements[kid]["P"] = body.reference
    kept = [k for k in item["K"] if k not in loose]
    item["K"] = pydyf.Array([*kept, body.reference])


def _set_scope(cell: Any, elements: dict[bytes, Any]) -> None:
    row = elements.get(cell["P"], {})
    group = elements.get(row.get("P"), {})
    cell["A"]["Scope"] = "/Column" if group.get("S") == "/THead" else "/Row"


def _describe_links(document: Any) -> None:
    """A link is described by its own words."""
    import pydyf

    for page in document.pages:
        for box in page._page_box.descendants(placeholders=True):
            annotation = getattr(box, "link_annotation", None)
            words = " ".join(_words(box).split()) if annotation else ""
            if words:
                annotation["Contents"] = pydyf.String(words)


def _words(box: Any) -> str:
    if hasattr(box, "text"):
        return box.text
    return "".join(_words(child) for child in getattr(box, "children", ()))

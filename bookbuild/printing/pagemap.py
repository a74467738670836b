"""Which block of the book begins which page on paper."""

from __future__ import annotations

from typing import Any

from bookbuild.adapt.blocks import BLOCK
from bookbuild.pagemap import PageMap
from bookbuild.printing.finish import FIRST_BODY_PAGES
from bookbuild.printing.pages import roman


def page_labels(document: Any) -> list[str]:
    """Cover, ii, iii, …, then 1, 2, … from the first part or chapter, as printed at the foot."""
    names = [page._page_box.page_type.name for page in document.pages]
    first = next((i for i, name in enumerate(names) if name in FIRST_BODY_PAGES), len(names))
    front = [roman(number).lower() for number in range(1, first + 1)]
    if names[0] == "cover":
        front[0] = "Cover"
    return front + [str(number) for number in range(1, len(names) - first + 1)]


def page_map(document: Any) -> PageMap:
    """Of a laid-out document, in order; pages on which no block begins (cover, contents, blank ones) are left out."""
    found: PageMap = []
    seen: set[str] = set()
    for label, page in zip(page_labels(document), document.pages, strict=True):
        marks = [mark for box in page._page_box.descendants() if (mark := _mark(box))]
        begins = next((mark for mark in marks if mark not in seen), None)
        seen.update(marks)
        if begins:
            found.append((label, begins))
    return found


def _mark(box: Any) -> str | None:
    element = getattr(box, "element", None)
    return None if element is None else element.get(BLOCK)

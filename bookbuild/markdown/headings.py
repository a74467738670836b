"""Ids of headings as GitHub gives them: a second "Again" is `again-1` (Markdown's own would be `again_1`)."""

from __future__ import annotations

from copy import deepcopy
from html import unescape
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.extensions.toc import remove_fnrefs, render_inner_html, strip_tags
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


class HeadingExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        md.treeprocessors.register(
            _Ids(md), "book-heading-ids", 5.5
        )  # before toc, which keeps an id it finds


class _Ids(Treeprocessor):
    def run(self, root: Element) -> None:
        if "toc" not in self.md.treeprocessors:
            return
        toc = self.md.treeprocessors["toc"]
        used = {element.get("id") for element in root.iter() if element.get("id")}
        for heading in (e for e in root.iter() if e.tag in _HEADINGS and not e.get("id")):
            text = strip_tags(render_inner_html(_as_typed(remove_fnrefs(heading)), self.md))
            slug = name = toc.slugify(unescape(text), toc.sep)
            number = 0
            while not name or name in used:
                number += 1
                name = f"{slug}-{number}"
            used.add(name)
            heading.set("id", name)


def _as_typed(heading: Element) -> Element:
    """Formulas as TeX, which is what GitHub makes its slug from."""
    if heading.find(".//math") is None:
        return heading
    copy = deepcopy(heading)
    for math in copy.iter("math"):
        math.text, math[:] = AtomicString(math.get("alttext", "")), []
    return copy

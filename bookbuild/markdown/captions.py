"""Figures, captions and cross-references.

    ![What it shows](../figures/peak.svg "The caption."){#fig-peak}     alone in its paragraph: a figure
    Table: The caption. {#tab-x}                                        before a Markdown table: its caption
    [Figure](#fig-peak)  [Table](../compute/index.md#tab-x)             "Figure 2.1", "Table 2.3"
    [Chapter](../compute/index.md)                                      "Chapter 2"

A picture with a caption but no label is a figure without a number.
"""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element, SubElement

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor

from bookbuild.data import nearest
from bookbuild.markdown.context import Context, get_context
from bookbuild.markdown.fences import add
from bookbuild.markdown.index import KINDS, LABEL

# a picture and nothing else: (picture up to its address)("title")('title'){attributes}
_TITLED = re.compile(
    r"""^\s*(!\[(?:[^\]\\]|\\.)*\]\(\s*\S+?)\s+(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\)(\{[^{}]*\})?\s*$""",
    re.DOTALL,
)
_TABLE_CAPTION = re.compile(r"^Table:\s+")
_TRAILING_LABEL = re.compile(rf"\s*\{{#({LABEL})\}}\s*$")
_LABEL = re.compile(LABEL)


def caption_head(figcaption: Element, label: str, context: Context | None) -> None:
    """Put "Figure 2.1. " before a caption's words and name a label that stands twice."""
    if context is None or not label:
        return
    index = context.index
    found = index.find(label, context.page)
    if found is None:  # on a page that is not in nav, or in a snippet
        context.report("label-unknown", f"label '{label}' is not found in the sources of nav", near=label)
        return
    places = index.labels[label]
    if len(places) > 1 and found.page == context.page:
        for here in (p for p in places if p.page == context.page):
            others = ", ".join(f"{p.page}:{p.line}" for p in places if p is not here)
            context.report("label-twice", f"label '{label}' is also at {others}", line=here.line)
    head = Element("span", {"class": "label"})
    head.text = f"{found.words}."
    head.tail = f" {figcaption.text or ''}"
    figcaption.text = None
    figcaption.insert(0, head)


class CaptionExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        md.treeprocessors.register(
            _PictureCaptions(md), "book-picture-captions", 30
        )  # before inline Markdown
        md.treeprocessors.register(_TableCaptions(md), "book-table-captions", 7.6)
        md.treeprocessors.register(
            _Figures(md), "book-figures", 7.5
        )  # after attr_list gave the picture its label
        md.treeprocessors.register(_References(md), "book-references", 4)  # before MkDocs makes URLs of paths
        md.treeprocessors.register(_Lost(md), "book-lost-labels", 3.5)


class _PictureCaptions(Treeprocessor):
    """Takes the title off a picture that stands alone, so that Markdown in it is read as in any text."""

    def run(self, root: Element) -> None:
        for paragraph in root.iter("p"):
            if not len(paragraph) and (match := _TITLED.match(paragraph.text or "")):
                paragraph.text = f"{match[1]}){match[4] or ''}"
                caption = SubElement(paragraph, "figcaption")
                caption.text = (match[2] or match[3]).replace('\\"', '"').replace("\\'", "'")


class _Figures(Treeprocessor):
    """A picture alone in its paragraph, with a title or a label, becomes a figure."""

    def run(self, root: Element) -> None:
        for parent in list(root.iter()):
            for place, child in enumerate(list(parent)):
                if child.tag != "p":
                    continue
                caption = child.find("figcaption")
                if caption is not None:
                    child.remove(caption)
                image = _lone_image(child)
                if image is not None and (caption is not None or _is_captioned(image)):
                    figure = self._figure(image, caption)
                    figure.tail = child.tail
                    parent[place] = figure

    def _figure(self, image: Element, figcaption: Element | None) -> Element:
        label = image.attrib.pop("id", "")
        title = image.attrib.pop("title", "")
        if (
            not urlsplit(image.get("src", "")).path.lower().endswith(".svg")
        ):  # no drawing: as it is in the dark, too
            image.set("class", f"{image.get('class', '')} photo".strip())
        figure = Element("figure", {"id": label} if label else {})
        figure.append(image)
        image.tail = None
        if figcaption is None:
            figcaption = add(figure, "figcaption", title)
        else:
            figure.append(figcaption)
        caption_head(figcaption, label if _LABEL.fullmatch(label) else "", get_context(self.md))
        return figure


def _lone_image(paragraph: Element) -> Element | None:
    if len(paragraph) != 1 or (paragraph.text or "").strip() or (paragraph[0].tail or "").strip():
        return None
    return paragraph[0] if paragraph[0].tag == "img" else None


def _is_captioned(image: Element) -> bool:
    return bool(image.get("title") or _LABEL.fullmatch(image.get("id", "")))


class _TableCaptions(Treeprocessor):
    """`Table: …` right before a Markdown table becomes the caption of a figure around it."""

    def run(self, root: Element) -> None:
        for parent in list(root.iter()):
            for paragraph, table in zip(list(parent), list(parent)[1:], strict=False):
                if paragraph.tag == "p" and _TABLE_CAPTION.match(paragraph.text or ""):
                    if table.tag == "table":
                        self._wrap(parent, paragraph, table)
                    elif context := get_context(self.md):
                        near = (paragraph.text or "").splitlines()[0]
                        context.report(
                            "caption-alone", "a table's caption without a table after it", near=near
                        )

    def _wrap(self, parent: Element, caption: Element, table: Element) -> None:
        label = _take_label(caption)
        caption.tag, caption.tail = "figcaption", None
        caption.text = _TABLE_CAPTION.sub("", caption.text or "")
        caption_head(caption, label, get_context(self.md))
        figure = Element("figure", {"class": "table"})
        figure.tail, table.tail = table.tail, None
        if label:
            table.set("id", label)
        parent[list(parent).index(table)] = figure
        parent.remove(caption)
        figure.append(caption)
        scroll = SubElement(figure, "div", {"class": "table-scroll"})
        scroll.append(table)


def _take_label(caption: Element) -> str:
    """Cut `{#tab-x}` off the end of a caption."""
    last = caption[-1] if len(caption) else None
    text = (last.tail if last is not None else caption.text) or ""
    match = _TRAILING_LABEL.search(text)
    if not match:
        return last.attrib.pop("id", "") if last is not None and _LABEL.fullmatch(last.get("id", "")) else ""
    text = text[: match.start()]
    if last is not None:
        last.tail = text
    else:
        caption.text = text
    return match[1]


class _References(Treeprocessor):
    """Links that say only Figure, Table or Chapter get the number of what they lead to."""

    def run(self, root: Element) -> None:
        context = get_context(self.md)
        if context is None:
            return
        for link in root.iter("a"):
            word = (link.text or "").strip().capitalize() if not len(link) else ""
            if word == "Chapter":
                self._chapter(link, context)
            elif word in KINDS.values():
                self._label(link, word, context)

    def _label(self, link: Element, word: str, context: Context) -> None:
        href = urlsplit(link.get("href", ""))
        name = unquote(href.fragment)
        if href.scheme or not _LABEL.fullmatch(name):
            return
        page, index = target_page(context, href.path), context.index
        found = index.find(name, page)
        if found is None or found.page != page:
            near = f"{found.page}#{name}" if found else nearest(name, set(index.labels))
            text = f"no {word.lower()} has the label '{name}'" + (f" on {page}" if found else "")
            hint = f"did you mean {near}?" if near else ""
            context.report("reference-unknown", text, near=link.get("href", ""), hint=hint)
            return
        if KINDS[name[:3]] != word:
            context.report("reference-kind", f"'{name}' is not a {word.lower()}", near=link.get("href", ""))
        link.text = f"{link.text.strip()} {found.number}" if link.text.islower() else found.words

    def _chapter(self, link: Element, context: Context) -> None:
        href = urlsplit(link.get("href", ""))
        if href.scheme or href.netloc:
            return
        page = target_page(context, href.path)
        number = context.index.chapters.get(page)
        if number is None:
            hint = "front matter has no number" if page in context.index.chapters else ""
            context.report(
                "reference-unknown", f"no chapter is at '{href.path}'", near=link.get("href", ""), hint=hint
            )
            return
        link.text = f"{(link.text or '').strip()} {number}"


class _Lost(Treeprocessor):
    """A label that the index counts but the page does not have would shift every number after it."""

    def run(self, root: Element) -> None:
        context = get_context(self.md)
        if context is None:
            return
        there = {element.get("id") for element in root.iter() if element.tag != "img"}
        for label in context.index.on_page(context.page):
            if label.name not in there:
                hint = "a figure stands alone in its paragraph, a caption before its table; neither in indented code"
                context.report(
                    "label-lost", f"'{label.name}' did not become a figure", line=label.line, hint=hint
                )


def target_page(context: Context, path: str) -> str:
    """Source path below docs_dir of a relative link's path; the page itself for ""."""
    if not path:
        return context.page
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(context.page), unquote(path)))
    if path.endswith("/") or (context.docs_dir / joined).is_dir():
        joined = posixpath.normpath(posixpath.join(joined, "index.md"))
    return joined

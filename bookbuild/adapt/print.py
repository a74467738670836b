"""What paper needs: nothing to click, nothing hidden, notes at the foot. Order matters; PRINT has it."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.blocks import block_lines, blocks
from bookbuild.adapt.codelines import annotations, code_lines
from bookbuild.adapt.common import COMMON, Place, Rewrite
from bookbuild.adapt.figures import pictures
from bookbuild.adapt.icons import icon, kind_of
from bookbuild.adapt.mathpics import formulas
from bookbuild.adapt.notes import footnotes
from bookbuild.adapt.prose import names, pairs, quotes
from bookbuild.adapt.tables import tables

_SITE_ONLY = {"script", "style", "button", "form", "input", "template", "noscript", "iframe", "video"}


def admonitions(tree: Element, place: Place) -> None:
    """Admonitions and details are open boxes whose title carries a visible icon."""
    for element in tree.iter():
        marks = trees.classes(element)
        if element.tag == "details":
            element.tag = "div"
            element.attrib.pop("open", None)
            for child in element.iterfind("summary"):
                child.tag = "p"
                child.set("class", "admonition-title")
            marks |= {"admonition", "details"}
        elif not (element.tag == "div" and "admonition" in marks):
            continue
        kind = kind_of(marks)
        element.set("class", " ".join(sorted(marks | {kind})))
        title = next((c for c in element if "admonition-title" in trees.classes(c)), None)
        if title is None:
            title = Element("p", {"class": "admonition-title untitled"})
            element.insert(0, title)
        drawn = icon(kind, kind.capitalize())
        drawn.tail, title.text = title.text, None
        title.insert(0, drawn)


def tabs(tree: Element, place: Place) -> None:
    """All tabs of a set stand one after the other, each under its label."""
    for group in [e for e in tree.iter("div") if "tabbed-set" in trees.classes(e)]:
        labels = [label for label in group.iter("label") if not _inside(group, label, "tabbed-content")]
        blocks = [b for c in group if "tabbed-content" in trees.classes(c) for b in c]
        group[:], group.text = [], None
        group.set("class", "tabs")
        for label, block in zip(labels, blocks, strict=True):
            block.set("class", "tab")
            head = Element("p", {"class": "tab-label"})
            head.text, head[:] = label.text, list(label)
            block.insert(0, head)
            group.append(block)


def _inside(group: Element, wanted: Element, mark: str) -> bool:
    return any(wanted in list(c.iter()) for c in group if mark in trees.classes(c))


def task_lists(tree: Element, place: Place) -> None:
    """Check boxes become the signs that fonts have for them."""
    for parent, child in trees.with_parents(tree):
        if child.tag == "label" and "task-list-control" in trees.classes(child):
            box = child.find("input")
        elif child.tag == "input" and child.get("type") == "checkbox" and parent.tag in ("li", "p"):
            box = child
        else:
            continue
        sign = Element("span", {"class": "task-box"})
        sign.text = "☑" if box is not None and "checked" in box.attrib else "☐"
        trees.replace(parent, child, sign)


def site_only(tree: Element, place: Place) -> None:
    """What only a browser can use goes."""
    for parent, child in trees.with_parents(tree):
        if child.tag in _SITE_ONLY or {"site-only", "no-print"} & trees.classes(child):
            trees.replace(parent, child)


def titles(tree: Element, place: Place) -> None:
    """No pop-up texts in print."""
    for element in tree.iter():
        element.attrib.pop("title", None)


def sort_links(tree: Element, place: Place) -> None:
    """Links carry a class that says where they lead: this chapter, a section of it, another one, or the web."""
    top = place.chapter.key
    front = {chapter.key for chapter in place.links.book.front}
    sections = {f"#{e.get('id')}" for e in tree.iter() if e.tag in ("h2", "h3", "h4") and e.get("id")}
    for link in tree.iter("a"):
        href = link.get("href")
        if not href:
            continue
        if not href.startswith("#"):
            kind = "outside"
        elif href == f"#{top}" or href.startswith(f"#{top}--"):
            kind = "here section" if href in sections else "here"
        else:
            kind = "elsewhere roman" if href[1:].partition("--")[0] in front else "elsewhere"
        link.set("class", " ".join(sorted(trees.classes(link) | set(kind.split()))))


PRINT: tuple[Rewrite, ...] = (
    blocks,
    footnotes,
    annotations,
    tabs,
    task_lists,
    admonitions,
    site_only,
    pictures,
    formulas,
    code_lines,
    block_lines,
    tables,
    quotes,
    pairs,
    names,
    titles,
    *COMMON,
    sort_links,
)

"""Rewrites that every one-file output needs: own copy, links resolved, ids unique in the book."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.links import Asset, Broken, External, Inside, LinkMap
from bookbuild.model import Chapter

ID_LISTS = ("for", "headers", "aria-labelledby", "aria-describedby", "aria-controls")
URL_REFERENCE = re.compile(r"url\((['\"]?)#([^)'\"]+)\1\)")


@dataclass(frozen=True)
class Place:
    """Where a tree is going: its chapter, the book's links, and how the medium addresses things."""

    chapter: Chapter
    links: LinkMap
    inside: Callable[[Inside], str]  # href of a place in the book
    asset: Callable[[str], str]  # src of a file of the site, path below its root
    warn: Callable[[str, str], None] = lambda code, text: None  # what this medium had to give up


Rewrite = Callable[[Element, Place], None]


def adapt(place: Place, rewrites: Iterable[Rewrite]) -> Element:
    """A copy of the chapter's tree after all rewrites; the book itself stays as it is."""
    tree = deepcopy(place.chapter.tree)
    for rewrite in rewrites:
        rewrite(tree, place)
    return tree


def unique_id(chapter: Chapter, anchor: str) -> str:
    """The id, unique in the whole book, of an anchor of a chapter; "" is the chapter's top."""
    return f"{chapter.key}--{anchor}" if anchor else chapter.key


def resolve_links(tree: Element, place: Place) -> None:
    """Links inside the book jump inside the file; a link that leads nowhere keeps its words only."""
    for element in tree.iter("a"):
        href = element.get("href")
        if href is None:
            continue
        match place.links.resolve(place.chapter, href):
            case External(url):
                element.set("href", url)
            case Inside() as target:
                if address := place.inside(target):
                    element.set("href", address)
                else:  # a chapter that is not printed
                    del element.attrib["href"]
            case Asset(path):
                if place.links.book.url:
                    element.set("href", urljoin(place.links.book.url, path))
                else:
                    del element.attrib["href"]
            case Broken():
                del element.attrib["href"]
    for element in tree.iter("img"):
        target = place.links.resolve(place.chapter, element.get("src", ""))
        if isinstance(target, Asset):
            element.set("src", place.asset(target.path))


def prefix_ids(tree: Element, place: Place) -> None:
    """Every id carries its chapter's key, and so does whatever refers to it inside the page."""
    own = place.chapter.ids | {e.get("id") for e in tree.iter() if e.get("id")}

    def renamed(name: str) -> str:
        return unique_id(place.chapter, name)

    for element in tree.iter():
        for key, value in list(element.items()):
            if key == "id" or (key == "name" and element.tag == "a"):
                element.set(key, renamed(value))
            elif key in ID_LISTS:
                element.set(key, " ".join(renamed(v) if v in own else v for v in value.split()))
            elif "url(" in value:
                element.set(key, URL_REFERENCE.sub(lambda m: f"url(#{renamed(m[2])})", value))
            elif value.startswith("#") and _is_svg_href(element, key):
                element.set(key, "#" + renamed(value[1:]))


def _is_svg_href(element: Element, key: str) -> bool:
    return trees.split_tag(element.tag)[0] == trees.SVG and trees.split_tag(key)[1] == "href"


def drop_permalinks(tree: Element, place: Place) -> None:
    """The site's ¶ marks after headings."""
    for parent, child in trees.with_parents(tree):
        if child.tag == "a" and "headerlink" in trees.classes(child):
            trees.replace(parent, child)


COMMON: tuple[Rewrite, ...] = (drop_permalinks, resolve_links, prefix_ids)

"""An EPUB as a strict reader sees it: read with zipfile and an XML parser, with nothing of the builder's own."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import cache, cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

X = "{http://www.w3.org/1999/xhtml}"
TYPE = "{http://www.idpf.org/2007/ops}type"
OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"
NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
SVG = "{http://www.w3.org/2000/svg}"


class Epub:
    """Names are full paths inside the zip."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            self.infos = archive.infolist()
            self.data = {info.filename: archive.read(info) for info in self.infos}

    @cached_property
    def opf_name(self) -> str:
        container = ElementTree.fromstring(self.data["META-INF/container.xml"])
        return next(e.get("full-path", "") for e in container.iter() if e.tag.endswith("}rootfile"))

    @cached_property
    def opf(self) -> Element:
        return ElementTree.fromstring(self.data[self.opf_name])

    @cached_property
    def manifest(self) -> dict[str, Element]:
        """Full name → item."""
        return {self.at(self.opf_name, i.get("href", "")): i for i in self.opf.iter(f"{OPF}item")}

    @cached_property
    def spine(self) -> list[str]:
        by_id = {item.get("id"): name for name, item in self.manifest.items()}
        return [by_id[ref.get("idref")] for ref in self.opf.iter(f"{OPF}itemref")]

    @cache  # noqa: B019  one EPUB lives as long as its test session
    def tree(self, name: str) -> Element:
        return ElementTree.fromstring(self.data[name])

    @cached_property
    def nav(self) -> str:
        return next(n for n, item in self.manifest.items() if "nav" in (item.get("properties") or "").split())

    def ids(self, name: str) -> list[str]:
        return [e.get("id") for e in self.tree(name).iter() if e.get("id") is not None]

    @staticmethod
    def at(base: str, href: str) -> str:
        """The full name that a relative address means."""
        path = unquote(urlsplit(href).path)
        return posixpath.normpath(posixpath.join(posixpath.dirname(base), path)) if path else base

    def addresses(self) -> Iterator[tuple[str, str]]:
        """(file, address) of everything that the package, the contents and the chapters refer to."""
        yield from ((self.opf_name, e.get("href")) for e in self.opf.iter() if e.get("href"))
        for name in self.manifest:
            if name.endswith((".xhtml", ".ncx")):
                for element in self.tree(name).iter():
                    for key, value in element.items():
                        if key.rpartition("}")[2] in ("href", "src"):
                            yield name, value

    def dangling(self) -> list[tuple[str, str]]:
        """The addresses inside of the file that lead nowhere."""
        lost = []
        for name, address in self.addresses():
            parts = urlsplit(address)
            if parts.scheme:
                continue
            target = self.at(name, address)
            found = target in self.data
            if found and parts.fragment:
                found = unquote(parts.fragment) in self.ids(target)
            if not found:
                lost.append((name, address))
        return lost

    def contents(self) -> list:
        """The nav as [title, href, [below]] lists."""
        toc = next(e for e in self.tree(self.nav).iter(f"{X}nav") if e.get(TYPE) == "toc")

        def rows(ol: Element) -> list:
            found = []
            for li in ol.iterfind(f"{X}li"):
                link, below = li.find(f"{X}a"), li.find(f"{X}ol")
                found.append([text(link), link.get("href"), rows(below) if below is not None else []])
            return found

        return rows(toc.find(f"{X}ol"))

    def ncx(self) -> list:
        name = next(n for n in self.manifest if n.endswith(".ncx"))

        def points(parent: Element) -> list:
            return [
                [text(p.find(f"{NCX}navLabel")), p.find(f"{NCX}content").get("src"), points(p)]
                for p in parent.iterfind(f"{NCX}navPoint")
            ]

        return points(self.tree(name).find(f"{NCX}navMap"))

    def metadata(self, name: str) -> list[str]:
        """Values of a Dublin Core element or of a meta property."""
        found = [e.text or "" for e in self.opf.iter(f"{DC}{name}")]
        return found + [e.text or "" for e in self.opf.iter(f"{OPF}meta") if e.get("property") == name]

    def link(self, words: str) -> tuple[str, str | None]:
        """(file, href) of the first link with these words outside of the contents."""
        for name in self.spine:
            for a in self.tree(name).iter(f"{X}a"):
                if text(a) == words and name != self.nav:
                    return name, a.get("href")
        raise AssertionError(f"no link '{words}'")

    def pictures(self, key: str) -> list[str]:
        """Full names of the pictures that a chapter shows."""
        home = next(n for n in self.spine if key in self.ids(n))
        return [self.at(home, e.get("src", "")) for e in self.sections(key)[0].iter(f"{X}img")]

    def sections(self, key: str) -> list[Element]:
        """The <section class=chapter> elements of a chapter, in the spine's order; a large one has several."""
        start = next(n for n in self.spine if key in self.ids(n))
        stem = start.removesuffix(".xhtml")
        names = [n for n in self.spine if n == start or re.fullmatch(re.escape(stem) + r"-\d+\.xhtml", n)]
        return [e for n in names for e in self.tree(n).iter(f"{X}section") if "chapter" in classes(e)]


def text(element: Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def classes(element: Element) -> set[str]:
    return set((element.get("class") or "").split())


def local(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "!"


# ---- words in order, as a reader meets them

_INLINE = frozenset(
    """a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q s samp small span strong sub sup time u
    var""".split()  # noqa: SIM905
)

# What the site has and a file does not, and the reverse; everything else must be there, once, in the same order.
SITE_ONLY = {
    "permalinks": lambda e: "headerlink" in classes(e),
    "numbers of lines in a column": lambda e: "linenos" in classes(e),
    "what only a browser can use": lambda e: (
        local(e) in {"script", "style", "button", "form", "input", "template", "noscript"}
        or "site-only" in classes(e)
    ),
    "comments": lambda e: local(e) == "!",
}
EPUB_ONLY = {
    "the chapter's number": lambda e: "chapter-number" in classes(e),
    "numbers before notes, which a list gives on the site": lambda e: "footnote-number" in classes(e),
    "boxes of tasks": lambda e: "task-box" in classes(e),
    "what icons say to a screen reader": lambda e: "icon" in classes(e),
}
CURLY = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " "})
ANNOTATION = re.compile(r"^(\W*?)\s*\((\d+)\)!?\s*(\W*)$")


def words(roots: Iterable[Element], leave_out) -> list[str]:
    """The words of trees in order; typographic quotes and spaces count as the plain ones they stand for."""
    put: list[str] = []

    def walk(element: Element) -> None:
        if not any(rule(element) for rule in leave_out):
            gap = "" if local(element) in _INLINE else " "
            put.append(gap)
            put.append(element.text or "")
            for child in element:
                walk(child)
            put.append(gap)
        put.append(element.tail or "")

    for root in roots:
        walk(root)
        put.append(" ")
    return "".join(put).translate(CURLY).split()


def site_words(article: Element) -> list[str]:
    """Of a page of the site, with each tab's label before its block and annotations as the numbers readers see."""
    tree = deepcopy(article)
    open_tabs(tree)
    for span in tree.iter("span"):
        if any(c.startswith("c") for c in classes(span)) and (mark := ANNOTATION.match(span.text or "")):
            span.text = mark[2]
    return words([tree], SITE_ONLY.values())


def open_tabs(tree: Element) -> None:
    """Each tab's label before its block."""
    for group in [e for e in tree.iter("div") if "tabbed-set" in classes(e)]:
        labels = next((list(c) for c in group if "tabbed-labels" in classes(c)), None)
        content = next((c for c in group if "tabbed-content" in classes(c)), None)
        if labels is None or content is None:
            continue
        for child in [c for c in group if c is not content]:
            group.remove(child)
        for label, block in zip(labels, content, strict=True):
            label.tag = "p"
            block.insert(0, label)


def epub_words(sections: list[Element]) -> list[str]:
    return words(sections, EPUB_ONLY.values())

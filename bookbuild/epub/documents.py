"""Chapters as files: adapted trees under their openings, cut at sections where they are large, links between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement

from bookbuild import trees
from bookbuild.adapt.epub import TYPE
from bookbuild.epub.names import FileNames, name_ids, xml_name
from bookbuild.epub.pictures import Pictures, paper
from bookbuild.model import Chapter

LARGEST = 280_000  # bytes of one file; readers turn slow, and some refuse, beyond 300 kB


@dataclass
class Document:
    """One XHTML file. `content` becomes the children of <body>."""

    name: str  # below the package's folder
    title: str
    content: list[Element]
    matter: str = "bodymatter"  # or frontmatter, cover
    chapter: Chapter | None = None
    styles: tuple[str, ...] = field(default=("styles/epub.css", "styles/wide.css"))

    def properties(self) -> list[str]:
        """What the manifest must say that the file holds."""
        found = set()
        for root in self.content:
            for element in root.iter():
                space = trees.split_tag(element.tag)[0]
                found |= {"mathml"} if space == trees.MATHML else {"svg"} if space == trees.SVG else set()
        return sorted(found)

    def xhtml(self, language: str) -> bytes:
        html = Element("html", {"lang": language, "{http://www.w3.org/XML/1998/namespace}lang": language})
        head = SubElement(html, "head")
        SubElement(head, "meta", {"charset": "utf-8"})
        SubElement(head, "title").text = self.title
        for style in self.styles:
            SubElement(head, "link", {"rel": "stylesheet", "type": "text/css", "href": style})
        body = {"class": "bare"} if self.matter == "cover" else {TYPE: self.matter}
        SubElement(html, "body", body).extend(self.content)
        text = trees.to_xhtml(html)
        text = text.replace("<html", f'<html xmlns="{trees.XHTML}" xmlns:epub="{trees.EPUB}"', 1)
        return f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n{text}\n'.encode()


def chapter_documents(chapter: Chapter, tree: Element, names: FileNames) -> list[Document]:
    """The files of a chapter, the first with its title."""
    opening = _opening(chapter, tree)
    notes = _take_notes(tree)
    pieces = list(_pieces(tree))
    documents = []
    for number, piece in enumerate(pieces):
        section = Element("section", {"class": "chapter"})
        if number == 0:
            section.set("id", chapter.key)
            section.append(opening)
            section.text = tree.text
        if chapter.number is not None:
            section.set(TYPE, "chapter")
            section.set("role", "doc-chapter")
            section.set("aria-label", chapter.title)
        section.extend(piece)
        if own := _notes_of(section, notes):
            section.append(own)
        matter = "bodymatter" if chapter.number is not None else "frontmatter"
        documents.append(
            Document(names.take(chapter.key, ".xhtml"), chapter.title, [section], matter, chapter)
        )
    return documents


def _opening(chapter: Chapter, tree: Element) -> Element:
    """The chapter's number and title; a page without a title of its own gets the navigation's."""
    header = Element("header", {"class": "opening"})
    if chapter.number is not None:
        SubElement(header, "p", {"class": "chapter-number"}).text = f"Chapter {chapter.number}"
    title = next((e for e in tree if e.tag == "h1"), None)
    if title is not None and title is tree[0]:
        trees.replace(tree, title)
    else:
        title = Element("h1")
        title.text = chapter.title
    header.append(title)
    return header


def _pieces(tree: Element) -> list[list[Element]]:
    """Runs of top-level elements, each below LARGEST where a heading of level two or three allows."""
    children = list(tree)
    if sum(map(_size, children)) <= LARGEST:
        return [children]
    pieces: list[list[Element]] = [[]]
    filled = 0
    for block in _blocks(children, "h2"):
        sized = sum(map(_size, block))
        parts = _blocks(block, "h3") if sized > LARGEST else [block]
        for part in parts:
            size = sum(map(_size, part))
            if filled and filled + size > LARGEST:
                pieces.append([])
                filled = 0
            pieces[-1] += part
            filled += size
    return pieces


def _blocks(elements: list[Element], heading: str) -> list[list[Element]]:
    blocks: list[list[Element]] = [[]]
    for element in elements:
        if element.tag == heading and blocks[-1]:
            blocks.append([])
        blocks[-1].append(element)
    return blocks


def _size(element: Element) -> int:
    return len(trees.to_xhtml(element).encode())


def _take_notes(tree: Element) -> dict[str, Element]:
    """Cut the footnotes out of the tree: id → aside."""
    notes: dict[str, Element] = {}
    for section in [e for e in tree if e.tag == "section" and e.get(TYPE) == "footnotes"]:
        notes |= {aside.get("id", ""): aside for aside in section}
        trees.replace(tree, section)
    return notes


def _notes_of(section: Element, notes: dict[str, Element]) -> Element | None:
    """The notes that a file refers to first: readers pop up only what stands in the same file."""
    wanted = [link.get("href", "")[1:] for link in section.iter("a") if link.get(TYPE) == "noteref"]
    own = [name for name in notes if name in wanted]
    if not own:
        return None
    block = Element(
        "section", {"class": "footnotes", TYPE: "footnotes", "role": "group", "aria-label": "Notes"}
    )
    block.extend(notes.pop(name) for name in own)
    return block


def place_pictures(tree: Element, pictures: Pictures, warn) -> None:
    """Pictures inside of addresses become files; what cannot be shown leaves its words."""
    for parent, image in trees.with_parents(tree):
        if image.tag != "img":
            continue
        source = image.get("src", "")
        if source.startswith("data:") and (picture := pictures.from_data(source)):
            image.set("src", picture.name)
        elif not source.startswith("images/"):
            warn("epub-picture", f"picture {source[:80]} is not in the book and not shown")
            words = Element("span", {"class": "picture-missing"})
            words.text = image.get("alt") or source.rpartition("/")[2][:80]
            trees.replace(parent, image, words)


def place_drawings(tree: Element) -> None:
    """Drawings inside of the text get white paper as those in files do, unless they draw in the text's own ink."""
    for parent, svg in trees.with_parents(tree):
        if svg.tag != f"{{{trees.SVG}}}svg" or trees.split_tag(parent.tag)[0]:
            continue
        inked = any(value.lower() == "currentcolor" for e in svg.iter() for value in e.attrib.values())
        if not inked and not {"twemoji", "icon"} & (trees.classes(parent) | trees.classes(svg)):
            svg.insert(0, Element(f"{{{trees.SVG}}}rect", paper(svg.get("viewBox"))))


def connect(documents: list[Document]) -> dict[str, str]:
    """Point every link at the file that holds its anchor; returns anchor → href, with its original spelling."""
    home: dict[str, str] = {}
    for document in documents:
        for root in document.content:
            for element in root.iter():
                if name := element.get("id"):
                    home.setdefault(name, document.name)
    tops = {d.content[0].get("id") for d in documents}  # to the start of a file one goes without an anchor
    for document in documents:
        for root in document.content:
            links = [(a, a.get("href", "")[1:]) for a in root.iter("a") if a.get("href", "").startswith("#")]
            name_ids(root)
            for link, anchor in links:
                file = home.get(anchor)
                if file is None:
                    del link.attrib["href"]
                elif anchor in tops:
                    link.set("href", file)
                elif file != document.name:
                    link.set("href", file + link.get("href", ""))
    return {anchor: file if anchor in tops else f"{file}#{xml_name(anchor)}" for anchor, file in home.items()}

"""The text of a PDF in its logical order, by its tags, and the same of the site's pages: what must be equal on paper."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from xml.etree.ElementTree import Element

from epubtools import ANNOTATION, CURLY, SITE_ONLY, SVG, classes, local, open_tabs, words

from bookbuild.model import Chapter

# What paper has and the site has not, and the reverse; everything else must be there, once, in the same order.
_PAGE_REFERENCE = re.compile(r"^\s*\(p\. (?:\d+|[ivxl]+)\)$")
_BREAKS = str.maketrans("", "", "-\u2010\u2011\u00ad")  # hyphens at line ends; those of the text go on both sides
PAPER_ONLY = {
    "bullets and numbers of lists": lambda t: t.name == "Lbl",
    "page references": lambda t: bool(_PAGE_REFERENCE.match(t.words)),
    "the head of a table again, where it goes on on another page": lambda t: t.name == "THead" and t.again,
    "words in drawings": lambda t: t.name == "Figure",
    "boxes of tasks": lambda t: t.words.strip() in {"☑", "☐"},
}
ON_PAPER = {name: rule for name, rule in SITE_ONLY.items() if name != "numbers of lines in a column"}
NOT_ON_PAPER = {
    "formulas, pictures on paper": lambda e: local(e) == "math",
    "words in drawings": lambda e: e.tag == f"{SVG}svg",
    "the comma before a unit, a new line on paper": lambda e: "comma" in classes(e),
    "what cannot be printed": lambda e: local(e) in {"iframe", "video"} or "no-print" in classes(e),
    "ways back from notes": lambda e: "footnote-backref" in classes(e),
}


@dataclass
class Tag:
    name: str
    text: str = ""
    below: list[Tag] = field(default_factory=list)
    again: bool = False

    @property
    def words(self) -> str:
        """The tag's text, where it is a short one."""
        return "".join(islice(self.texts(), 8))

    def all_below(self) -> Iterator[Tag]:
        for tag in self.below:
            yield tag
            yield from tag.all_below()

    def texts(self, leave_out=lambda tag: False) -> Iterator[str]:
        if not leave_out(self):
            yield self.text
            for tag in self.below:
                yield from tag.texts(leave_out)


def structure(pdf: Path) -> list[Tag]:
    """What stands below the document: sections of the text, and for each page with notes a NonStruct of them."""
    told = subprocess.run(["pdfinfo", "-struct-text", str(pdf)], check=True, capture_output=True, text=True).stdout
    root = Tag("")
    path = [(-1, root)]
    for line in told.splitlines():
        depth, content = len(line) - len(line.lstrip(" ")), line.strip()
        if content.startswith(("/", "Object ")):  # an attribute, a link's annotation
            continue
        tag = Tag("", content[1:-1]) if content.startswith('"') else Tag(content.split()[0].rstrip(":"))
        while path[-1][0] >= depth:
            path.pop()
        path[-1][1].below.append(tag)
        path.append((depth, tag))
    sections = root.below[0].below
    _mark_heads(sections)
    return sections


def _mark_heads(sections: list[Tag]) -> None:
    """The first table of a page, before any other text there, goes on when its head is that of the last one before."""
    last: list[str] = []
    for section in sections:
        leaf = section
        inside = []
        while leaf.below:
            leaf = leaf.below[0]
            inside.append(leaf)
        head = next((tag for tag in inside if tag.name == "THead"), None)
        if head and list(head.texts()) == last:
            head.again = True
        for tag in section.all_below():
            if tag.name == "THead":
                last = list(tag.texts())


def print_text(tags: list[Tag], first: Chapter) -> tuple[str, str]:
    """(text, notes) from the section on that begins with the title of the first chapter."""
    head = first.tree.find("h1")
    title = plain(" ".join(words([head], ON_PAPER.values())) if head is not None else first.title)
    start = next(i for i, tag in enumerate(tags) if tag.name == "Sect" and title in _headings(tag))
    body = [text for tag in tags[start:] if tag.name == "Sect" for text in tag.texts(_only_printed)]
    notes = [text for tag in tags[start:] if tag.name != "Sect" for text in tag.texts(_only_printed)]
    return plain("".join(body)), plain("".join(notes))


def _headings(tag: Tag) -> list[str]:
    own = [plain("".join(tag.texts()))] if tag.name == "H1" else []
    return own + [text for below in tag.below for text in _headings(below)]


def _only_printed(tag: Tag) -> bool:
    return any(rule(tag) for rule in PAPER_ONLY.values())


def site_text(chapter: Chapter) -> tuple[str, str]:
    """(text, notes) of a page of the site, with its number and the numbers that its lists of notes give."""
    tree = deepcopy(chapter.tree)
    open_tabs(tree)
    _number_annotations(tree)
    out = [*ON_PAPER.values(), *NOT_ON_PAPER.values()]
    notes = [li for div in tree.iter("div") if "footnote" in classes(div) for li in div.iterfind("ol/li")]
    told = "".join(f"{number} {' '.join(words([li], out))}" for number, li in enumerate(notes, start=1))
    title = "" if tree.find("h1") is not None else chapter.title
    main = words([tree], [*out, lambda e: local(e) == "div" and "footnote" in classes(e)])
    return plain(" ".join([str(chapter.number or ""), title, *main])), plain(told)


def _number_annotations(tree: Element) -> None:
    """`# (1)!` in code as the number that readers see, there and in the list below."""
    for parent in list(tree.iter()):
        for block, notes in zip(list(parent), list(parent)[1:], strict=False):
            if block.tag != "div" or "highlight" not in classes(block) or notes.tag != "ol":
                continue
            marks = [(span, ANNOTATION.match(span.text or "")) for span in block.iter("span")]
            marks = [(s, m) for s, m in marks if m and any(c.startswith("c") for c in classes(s))]
            for span, mark in marks:
                span.text = mark[2]
            for number, item in enumerate(notes if marks else (), start=1):
                item.text = f"{number} {item.text or ''}"


def plain(text: str) -> str:
    """Without spaces and hyphens, which lines end with, without capitals and with straight quotes."""
    return "".join(text.translate(CURLY).translate(_BREAKS).casefold().split())

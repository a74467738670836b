"""Fences of ours: a language that makes something else than code, as a tree that Markdown goes on with.

A maker gets a fence's text and gives back an element, or None for nothing. pymdownx.superfences finds the
fences, wherever they stand (in lists, quotes, tabs; not inside of other fences), and keeps their place by a mark;
the elements are put there before inline Markdown is read, so that a caption may hold links, code and maths.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from markdown.util import HTML_PLACEHOLDER_RE, AtomicString

from bookbuild.markdown.context import Context, get_context
from bookbuild.markdown.index import label_of

NO_ADDRESS = "book-anchor"  # tag of an <a> without href until the page is done


@dataclass(frozen=True)
class Fence:
    """One fence on its page."""

    text: str
    md: Markdown
    context: Context

    @property
    def line(self) -> int:
        """1-based line of the fence's first line of content."""
        return self.context.line_of_block(self.text)

    def report(self, code: str, text: str, *, near: str = "", line: int = 0, hint: str = "") -> None:
        """A problem at line `line` of the fence (1-based), or where `near` stands in it, or at its opening."""
        start = self.line
        if not line and near:
            line = _line_with(near, self.text.splitlines())
        self.context.report(code, text, line=max(start + line - 1, 0) if start else 0, hint=hint)


def _line_with(near: str, lines: list[str]) -> int:
    """1-based number of the first line that holds `near` as a word of its own, else at all; 0 for none."""
    for pattern in (rf"(?<![\w.-]){re.escape(near)}(?![\w.-])", re.escape(near)):
        if found := [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]:
            return found[0]
    return 0


Maker = Callable[[Fence], Element | None]


class Stashed(str):
    """Waits in Markdown's stash of raw HTML. A bare element there would be md_in_html's to read."""

    element: Element


class FenceExtension(Extension):
    """Registers a maker for a fence's language."""

    def __init__(self, language: str, maker: Maker) -> None:
        super().__init__()
        self.language, self.maker = language, maker

    def extendMarkdown(self, md: Markdown) -> None:
        self.md = md
        md.registerExtension(self)
        if "book-stashed" not in md.treeprocessors:
            md.treeprocessors.register(_Unstash(md), "book-stashed", 40)
            md.treeprocessors.register(_Anchors(md), "book-anchors", -10)

    def reset(self) -> None:
        """Superfences comes after us in the list of extensions, so it is told when all are there."""
        if "fenced_code_block" not in self.md.preprocessors:
            return
        fences = getattr(self.md.preprocessors["fenced_code_block"], "extension", None)
        if fences is not None and not any(f["name"] == self.language for f in fences.superfences):
            fences.extend_super_fences(self.language, self._format, _accept, _nothing)

    def _format(self, src: str = "", md: Markdown | None = None, **_ignored) -> Element | str | None:
        context = get_context(md)
        if context is None:  # Markdown outside of a book: the fence stays code
            return None
        made = self.maker(Fence(src, md, context))
        if made is None:  # the author has been told; links to its label lead here
            made = Element("div", {"id": label} if (label := label_of(src)) else {})
        stashed = Stashed()
        stashed.element = made
        return stashed


def _accept(language, inputs, options, attrs, md) -> bool:
    return True


def _nothing(md) -> None:
    pass


class _Unstash(Treeprocessor):
    """Puts the stashed elements where their marks stand."""

    def run(self, root: Element) -> None:
        if not any(isinstance(e, Stashed) for e in self.md.htmlStash.rawHtmlBlocks):
            return
        for parent in list(root.iter()):
            for child in list(parent):
                if child.tag == "p" and (found := self._alone(child)) is not None:
                    found.tail = child.tail
                    parent[list(parent).index(child)] = found
            self._within(parent)

    def _alone(self, paragraph: Element) -> Element | None:
        """The element whose mark is all that a paragraph holds."""
        match = HTML_PLACEHOLDER_RE.fullmatch((paragraph.text or "").strip()) if not len(paragraph) else None
        return self._element(int(match[1])) if match else None

    def _element(self, index: int) -> Element | None:
        blocks = self.md.htmlStash.rawHtmlBlocks
        stashed = blocks[index] if index < len(blocks) else None
        if not isinstance(stashed, Stashed):
            return None
        blocks[index] = ""
        return stashed.element

    def _within(self, parent: Element) -> None:
        """A mark between other words, as in an item of a tight list."""
        text = parent.text or ""
        if isinstance(text, AtomicString) or "wzxhzdk" not in text:
            return
        position = 0
        while match := HTML_PLACEHOLDER_RE.search(
            parent.text if position == 0 else parent[position - 1].tail or ""
        ):
            found = self._element(int(match[1]))
            if found is None:
                return
            before, after = match.string[: match.start()], match.string[match.end() :]
            if position == 0:
                parent.text = before
            else:
                parent[position - 1].tail = before
            found.tail = after
            parent.insert(position, found)
            position += 1


class _Anchors(Treeprocessor):
    """MkDocs insists on an address in every <a>; one without goes under another name until it has looked (at 0)."""

    def run(self, root: Element) -> None:
        for element in root.iter(NO_ADDRESS):
            element.tag = "a"


def atomic(element: Element, text: str) -> Element:
    """Give an element a text in which nothing is Markdown."""
    element.text = AtomicString(text)
    return element


def add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    """A new last child with a literal text; `class_` stands for class, `_` in names for '-'."""
    names = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    return atomic(SubElement(parent, tag, names), text) if text else SubElement(parent, tag, names)

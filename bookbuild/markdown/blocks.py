"""Fences and raw HTML are blocks of their own: no paragraph around them, whatever stands next to them.

Until the end Markdown keeps a mark in the text where such a block will stand. A mark that shares a paragraph with words, as in an
item of a loose list, would put a block into a <p>, which HTML does not allow.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.extensions.footnotes import NBSP_PLACEHOLDER
from markdown.treeprocessors import Treeprocessor
from markdown.util import HTML_PLACEHOLDER_RE


class BlockExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        md.treeprocessors.register(
            _Split(md), "book-split", 45
        )  # after footnotes (50), before fences of ours (40)


class _Split(Treeprocessor):
    """A block that shares a paragraph with text leaves it."""

    def run(self, root: Element) -> None:
        for parent in list(root.iter()):
            for paragraph in list(parent):
                if paragraph.tag != "p" or "wzxhzdk" not in (paragraph.text or ""):
                    continue
                if not len(paragraph):
                    self._split(parent, paragraph)
                elif (paragraph.text or "").endswith(NBSP_PLACEHOLDER):
                    self._before_backlink(parent, paragraph)

    def _split(self, parent: Element, paragraph: Element) -> None:
        runs: list[list[str]] = [[]]
        for line in (paragraph.text or "").split("\n"):
            if HTML_PLACEHOLDER_RE.fullmatch(line.strip()):
                runs += [[line.strip()], []]
            else:
                runs[-1].append(line)
        texts = [text for run in runs if (text := "\n".join(run)).strip()]
        place, attributes = list(parent).index(paragraph), paragraph.attrib
        parent.remove(paragraph)
        for offset, text in enumerate(texts):
            part = Element("p", attributes)
            part.text = text
            parent.insert(place + offset, part)

    def _before_backlink(self, parent: Element, paragraph: Element) -> None:
        """The last block of a footnote, to which its way back was added."""
        text = (paragraph.text or "").removesuffix(NBSP_PLACEHOLDER)
        if HTML_PLACEHOLDER_RE.fullmatch(text.strip()):
            block = Element("p")
            block.text, paragraph.text = text.strip(), None
            parent.insert(list(parent).index(paragraph), block)

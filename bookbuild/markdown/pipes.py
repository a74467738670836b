r"""A pipe inside of code inside of a table: `a \| b` shows `a | b`, as GitHub has it (Python-Markdown#436)."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from markdown.util import HTML_PLACEHOLDER_RE, AtomicString


class PipeExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        md.treeprocessors.register(_Pipes(md), "book-pipes", 19)  # right after inline Markdown was read


class _Pipes(Treeprocessor):
    def run(self, root: Element) -> None:
        for table in root.iter("table"):
            for code in table.iter("code"):
                text = code.text or ""
                if stashed := HTML_PLACEHOLDER_RE.fullmatch(text):  # inlinehilite keeps its words there
                    blocks, index = self.md.htmlStash.rawHtmlBlocks, int(stashed[1])
                    blocks[index] = blocks[index].replace("\\|", "|")
                elif "\\|" in text:
                    code.text = AtomicString(text.replace("\\|", "|"))

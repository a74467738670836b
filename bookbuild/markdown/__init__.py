"""Python-Markdown extensions of the book; `bookbuild.markdown` in mkdocs.yml registers them all."""

from __future__ import annotations

from markdown import Extension, Markdown

from bookbuild.markdown.blocks import BlockExtension
from bookbuild.markdown.captions import CaptionExtension
from bookbuild.markdown.diagrams import make_diagram
from bookbuild.markdown.fences import FenceExtension
from bookbuild.markdown.headings import HeadingExtension
from bookbuild.markdown.links import LinkExtension
from bookbuild.markdown.lists import ListExtension
from bookbuild.markdown.maths import MathsExtension
from bookbuild.markdown.pipes import PipeExtension
from bookbuild.markdown.scripts import make_script
from bookbuild.markdown.snippets import SnippetExtension
from bookbuild.markdown.table_html import make_table
from bookbuild.markdown.values import ValueExtension
from bookbuild.markdown.worked import make_worked


class BookExtension(Extension):
    """All constructs of ours in one extension, so that a mkdocs.yml names one line."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        constructs = [
            SnippetExtension(),
            ListExtension(),
            BlockExtension(),
            HeadingExtension(),
            LinkExtension(),
            PipeExtension(),
            MathsExtension(),
            CaptionExtension(),
            ValueExtension(),
            FenceExtension("table", make_table),
            FenceExtension("script", make_script),
            FenceExtension("mermaid", make_diagram),
            FenceExtension("worked", make_worked),
        ]
        md.registerExtensions(constructs, {})


def makeExtension(**settings) -> BookExtension:
    return BookExtension(**settings)

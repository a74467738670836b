"""Python-Markdown extensions of the book; `bookbuild.markdown` in mkdocs.yml registers them all."""

from __future__ import annotations

from markdown import Extension, Markdown


class BookExtension(Extension):
    """All constructs of ours in one extension, so that a mkdocs.yml names one line."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)


def makeExtension(**settings) -> BookExtension:
    return BookExtension(**settings)

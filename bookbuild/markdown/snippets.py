"""Snippets (`--8<-- "file"`) of pymdown-extensions: found from the book's root, and a missing one has file and line.

The extension's own answer to a missing snippet is a silent gap or, with check_paths, a build that dies without
naming the page. Here each is tried once before it runs; what is missing is reported and its line left out.
"""

from __future__ import annotations

import os

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from pymdownx.snippets import SnippetMissingError, SnippetPreprocessor

from bookbuild.markdown.context import get_context


class SnippetExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        md.preprocessors.register(_Check(md), "book-snippets", 33)  # right before snippets themselves


class _Check(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        if "snippet" not in self.md.preprocessors or (context := get_context(self.md)) is None:
            return lines
        snippets = self.md.preprocessors["snippet"]
        here = os.getcwd()
        if not getattr(
            snippets, "from_book_root", False
        ):  # relative paths were taken from the working directory
            snippets.base_path = [
                str(context.root / os.path.relpath(base, here)) for base in snippets.base_path
            ]
            snippets.from_book_root = True
        snippets.check_paths = True
        if not any("8<-" in line for line in lines):
            return lines
        kept, block = [], False
        for line in lines:
            match = snippets.RE_ALL_SNIPPETS.match(line)
            if match and match["block_marker"] and not match["escape"]:
                block = not block
            asked = block or bool(match and match["inline_marker"] and not match["escape"])
            path = line.strip() if block else (match["snippet"][1:-1] if asked and match else "")
            if not asked or (match and match["block_marker"]) or not path or self._there(snippets, path):
                kept.append(line)
            else:
                context.report("snippet-missing", f"no snippet '{path}'", near=line.strip())
        return kept

    def _there(self, snippets: SnippetPreprocessor, path: str) -> bool:
        snippets.seen, snippets.bases, snippets.failed = set(), None, set()
        try:
            snippets.parse_snippets([f'--8<-- "{path}"'])
        except SnippetMissingError:
            return False
        return True

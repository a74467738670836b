"""Links that GitHub follows and site tools do not: to a folder, and with a percent-encoded anchor."""

from __future__ import annotations

import posixpath
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from markdown.util import AMP_SUBSTITUTE

from bookbuild.markdown.context import Context, get_context
from bookbuild.markdown.fences import NO_ADDRESS


class LinkExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        md.treeprocessors.register(_Addresses(md), "book-addresses", 8)  # before anybody takes one apart
        md.treeprocessors.register(_Links(md), "book-links", 3)  # before MkDocs makes URLs of paths


class _Addresses(Treeprocessor):
    """What is no address at all, as in http://[host, ends MkDocs with a traceback; here it is named and left out."""

    def run(self, root: Element) -> None:
        context = get_context(self.md)
        for element in root.iter():
            key = {"a": "href", "img": "src"}.get(element.tag) if isinstance(element.tag, str) else None
            address = element.get(key, "") if key else ""
            try:
                urlsplit(address)
            except ValueError:
                if context is not None:
                    context.report("link-address", f"'{address}' is not an address", near=address)
                if key == "href":
                    element.tag = NO_ADDRESS
                    del element.attrib[key]
                else:
                    element.set(key, "")


class _Links(Treeprocessor):
    def run(self, root: Element) -> None:
        context = get_context(self.md)
        for link in root.iter("a"):
            href = link.get("href")
            if href and AMP_SUBSTITUTE not in href:  # which marks an address of e-mail in disguise
                link.set("href", mended(href, context))


def mended(href: str, context: Context | None) -> str:
    """`../storage/` is its index.md where there is one; an anchor is the id itself, decoded once."""
    parts = urlsplit(href)
    if parts.scheme or parts.netloc or parts.path.startswith("/"):
        return href
    path = parts.path
    if path and context is not None and not posixpath.splitext(posixpath.basename(path))[1]:
        folder = (context.source.parent / unquote(path)).resolve()
        if folder.is_dir() and folder.is_relative_to(context.docs_dir) and (folder / "index.md").is_file():
            path = quote(posixpath.join(unquote(path), "index.md"))
    return urlunsplit(("", "", path, parts.query, unquote(parts.fragment)))

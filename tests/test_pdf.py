"""The PDF as its readers find it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pdftools
import pikepdf
import pytest
from fragmentbook import fragment_book
from support import require_program

from bookbuild.model import Book, BookError
from bookbuild.pdf import PAPERS, TYPE_AREA, write_pdf

SIDE = 0.45 * (PAPERS["a4"][0] - TYPE_AREA) * pdftools.MM  # the narrower margin
COLUMNS = [f"Head{i:02}" for i in range(12)]
LONG_LINE = "call(" + ", ".join(f"argument_{i:02}=value" for i in range(10)) + ")"
ROWS = 120


def table(heads: list[str], rows: int, name: str = "cell") -> str:
    head = "".join(f"<th>{h}</th>" for h in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{name}{r}x{c}</td>' for c in range(len(heads)))}</tr>" for r in range(rows)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def footnoted(words: str) -> str:
    return (
        '<p>Text<sup id="fnref:1"><a class="footnote-ref" href="#fn:1">1</a></sup>.</p><div class="footnote"><ol>'
        f'<li id="fn:1"><p>{words} <a class="footnote-backref" href="#fnref:1">↩</a></p></li></ol></div>'
    )


ONE = f"""<h1 id="one">First chapter</h1>
<p>It holds 3.35 TB/s and links to <a href="../two/#größe--co">a part</a>, <a href="../two/">a chapter</a>,
<a href="#test">the call</a>, <a href="#caf%C3%A9">an encoded anchor</a> and <a href="https://example.org/">the <code>web</code></a>.</p>
<h2 id="test"><code>test(</code></h2>
<pre><code>def f(x):
    if x:
        return {LONG_LINE}
</code></pre>
<h2 id="café">Café</h2>
<div class="admonition warning"><p class="admonition-title">Mind the gap</p><p>Text</p></div>
<p>So <math alttext="\\frac{{a}}{{b}}"><mfrac><mi>a</mi><mi>b</mi></mfrac></math>.</p>
<div class="tabbed-set"><div class="tabbed-labels"><label>Linux</label><label>macOS</label></div>
<div class="tabbed-content"><div class="tabbed-block"><p>apt</p></div><div class="tabbed-block"><p>brew</p></div></div></div>
{footnoted("The note of the first chapter.")}"""
TWO = f"""<h1 id="two">Second chapter</h1>
<h2 id="größe--co">Größe &amp; Co</h2>
{footnoted("The note of the second chapter.")}
{table(COLUMNS, 4, "wide")}
<h2 id="long">A long table</h2>
{table(["Number", "Name"], ROWS, "long")}
<h2 id="vast">A vast table</h2>
{table([f"internationalisation{i}" for i in range(14)], 3, "vast")}"""


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Book:
    return fragment_book(
        tmp_path_factory.mktemp("fragments"),
        {"Part of code": {"one.md": ONE}, "Part of tables": {"two.md": TWO}},
        {"index.md": '<h1 id="p">Preface</h1><p>See <a href="../one/">one</a>.</p>'},
        title="Fragments, a book",
        author="A. Uthor",
        description="What it is about.",
        copyright="Text: CC BY-SA 4.0.",
    )


@pytest.fixture(scope="module")
def made(book, tmp_path_factory) -> tuple[Path, dict]:
    require_program("pdftotext")
    out = tmp_path_factory.mktemp("pdf") / "book.pdf"
    return out, write_pdf(book, out)


@pytest.fixture(scope="module")
def pdf(made) -> Path:
    return made[0]


def unhyphenated(words: str) -> str:
    return re.sub(r"\s+", "", words)


def test_it_says_how_much_it_printed_and_complains_of_nothing(made):
    path, facts = made
    with pikepdf.open(path) as opened:
        assert facts["pages"] == len(opened.pages)
        assert 0 < facts["links"] <= len(list(pdftools.links(opened)))  # one that wraps is two areas
    assert facts["warnings"] == []


def test_the_reader_finds_cover_imprint_contents_and_chapters(pdf):
    pages = pdftools.pages(pdf)
    assert "Fragments" in pages[0] and "A book" in pages[0]
    assert "CC BY-SA 4.0" in pages[1] and "WeasyPrint" in pages[1]
    assert "Contents" in pages[2]
    for title in ("Preface", "First chapter", "Second chapter", "Part of code"):
        assert title in pages[2] and any(title in page for page in pages[3:])


def test_the_contents_name_the_page_that_a_chapter_is_on(pdf):
    """The number printed after a title is the label of the page where its heading stands."""
    contents = pdftools.pages(pdf, "-layout")[2]
    with pikepdf.open(pdf) as opened:
        places = pdftools.destinations(opened)
        labels = [page.label for page in opened.pages]
    for title, anchor in [
        ("Preface", "index"),
        ("First chapter", "one"),
        ("Second chapter", "two"),
        ("Größe & Co", "two--größe--co"),
        ("Part of tables", "part-2"),
    ]:
        printed = re.search(rf"{re.escape(title)}\s+(\S+)$", contents, re.MULTILINE)[1]
        assert printed == labels[places[anchor]], title


def test_page_numbers_at_the_foot_are_the_labels(pdf):
    """Every page with a number at its foot shows the label that viewers show."""
    with pikepdf.open(pdf) as opened:
        labels = [page.label for page in opened.pages]
    shown = {}
    for word, (_, height) in pdftools.words(pdf):
        if word.page and word.top > height - 18 * pdftools.MM:
            shown[word.page] = word.text
    assert len(shown) >= 6
    assert {page: labels[page] for page in shown} == shown
    assert labels[0] == "Cover" and "1" in labels and "iii" in labels


def test_front_matter_is_counted_in_roman_and_the_body_from_one(pdf):
    with pikepdf.open(pdf) as opened:
        labels = [page.label for page in opened.pages]
        places = pdftools.destinations(opened)
    assert labels[places["part-1"]] == "1"
    assert set(labels[places["index"]]) <= set("ivx")


def test_every_link_inside_has_its_destination(pdf):
    with pikepdf.open(pdf) as opened:
        places = pdftools.destinations(opened)
        found = list(pdftools.links(opened))
    inside = {target for _, kind, target in found if kind == "inside"}
    assert {"two--größe--co", "two", "one--test", "one--café"} <= inside
    assert inside <= set(places)
    assert "https://example.org/" in {target for _, kind, target in found if kind == "outside"}


def test_links_to_other_chapters_name_the_page(pdf):
    with pikepdf.open(pdf) as opened:
        places, labels = pdftools.destinations(opened), [page.label for page in opened.pages]
    chapter = " ".join(pdftools.pages(pdf)[places["one"]].split())
    assert f"a chapter (p. {labels[places['two']]})" in chapter


def test_bookmarks_are_the_nav(book, pdf):
    expected = [(0, "Preface")]
    for part in book.parts:
        expected.append((0, part.title))
        for chapter in part.chapters:
            expected.append((1, chapter.title))
            expected += [(2, h.text) for h in chapter.headings if h.level == 2]
    assert pdftools.bookmarks(pdf) == expected


def test_each_note_stands_at_the_foot_of_its_own_page(pdf):
    with pikepdf.open(pdf) as opened:
        places = pdftools.destinations(opened)
    pages = pdftools.pages(pdf)
    for chapter, words in (
        ("one", "The note of the first chapter."),
        ("two", "The note of the second chapter."),
    ):
        assert [words in page for page in pages].count(True) == 1
        assert words in pages[places[f"{chapter}--fn:1"]]
    height = PAPERS["a4"][1] * pdftools.MM
    feet = [w for w, _ in pdftools.words(pdf) if w.text in ("first", "second") and w.top > 0.7 * height]
    assert {w.text for w in feet} == {"first", "second"}
    assert "↩" not in "".join(pages)


def test_every_tab_is_there(pdf):
    everything = pdftools.text(pdf)
    assert all(word in everything for word in ("Linux", "macOS", "apt", "brew"))


def test_nothing_stands_beyond_the_type_area(pdf):
    require_program("pdftotext")
    assert pdftools.beyond(pdf, SIDE, 12 * pdftools.MM, 10 * pdftools.MM) == []


def test_a_long_code_line_loses_nothing(pdf):
    assert unhyphenated(LONG_LINE) in unhyphenated(pdftools.text(pdf, "-layout"))


def test_code_keeps_its_indentation(pdf):
    """Four spaces of a typeface 0.6 em wide at 8 pt are 19.2 pt; they are there as characters, too."""
    lefts = {w.text: w.left for w, _ in pdftools.words(pdf) if w.text in ("def", "if", "return")}
    assert lefts["if"] - lefts["def"] == pytest.approx(19.2, abs=0.1)
    assert lefts["return"] - lefts["def"] == pytest.approx(38.4, abs=0.1)
    lines = pdftools.text(pdf, "-layout").splitlines()
    places = [
        next(line for line in lines if words in line) for words in ("def f(x):", "if x:", "return call(")
    ]
    margins = [len(line) - len(line.lstrip()) for line in places]
    assert margins[0] < margins[1] < margins[2]


def test_a_table_of_twelve_columns_loses_nothing(pdf):
    everything = pdftools.text(pdf)
    for words in [*COLUMNS, *(f"wide{r}x{c}" for r in range(4) for c in range(12))]:
        assert words in everything


def test_a_table_too_wide_for_any_page_loses_nothing(pdf):
    everything = unhyphenated(pdftools.text(pdf))
    with pikepdf.open(pdf) as opened:
        turned = [i for i, page in enumerate(opened.pages) if page.mediabox[2] > page.mediabox[3]]
    assert turned, "it stands on a turned page"
    assert all(f"vast{r}x{c}" in everything for r in range(3) for c in range(14))


def test_the_head_is_repeated_on_each_page_of_a_long_table(pdf):
    pages = [page for page in pdftools.pages(pdf) if re.search(r"long\d+x0", page)]
    assert len(pages) >= 3
    assert all(page.count("Number") == 1 for page in pages)
    rows = [len(re.findall(r"long\d+x0", page)) for page in pages]
    assert sum(rows) == ROWS and min(rows) > 2, "no one or two rows stand alone"


def test_a_fraction_is_a_picture_that_says_what_it_is(pdf):
    with pikepdf.open(pdf) as opened:
        figures = [str(e.Alt) for e in structure(opened) if e.get("/S") == "/Figure"]
    assert r"\frac{a}{b}" in figures
    assert "Warning" in figures, "the admonition's icon"


def structure(opened: pikepdf.Pdf):
    """Every structure element of the document."""
    todo = [opened.Root.StructTreeRoot]
    while todo:
        element = todo.pop()
        if not isinstance(element, pikepdf.Dictionary):
            continue
        if "/S" in element:
            yield element
        kids = element.get("/K", [])
        todo += list(kids) if isinstance(kids, pikepdf.Array) else [kids]


def test_it_is_accessible_as_far_as_a_validator_can_tell(pdf):
    import page

    result = page.validate_pdf(str(pdf), profile=page.ValidationProfile.PDF_UA_1)
    assert result.is_compliant, str(result)


def test_tags_are_nested_as_pdf_ua_wants_them(pdf):
    with pikepdf.open(pdf) as opened:
        elements = list(structure(opened))
        heads = [e for e in elements if e.S == "/TH"]
        assert heads and all(e.A.Scope in ("/Column", "/Row") for e in heads)
        assert opened.Root.Lang == "en" and opened.Root.MarkInfo.Marked
        assert opened.Root.ViewerPreferences.DisplayDocTitle


def test_metadata_are_the_book_s(pdf):
    with pikepdf.open(pdf) as opened:
        assert str(opened.docinfo["/Title"]) == "Fragments, a book"
        assert str(opened.docinfo["/Author"]) == "A. Uthor"
        assert str(opened.docinfo["/Subject"]) == "What it is about."


def test_the_file_is_well_formed(pdf):
    require_program("qpdf")
    result = subprocess.run(["qpdf", "--check", str(pdf)], check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_same_book_gives_the_same_bytes_and_no_path_of_this_machine(book, tmp_path):
    """In another process and folder, as hash seeds and temporary names differ there."""
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[3])\n"
        "import test_pdf; from fragmentbook import fragment_book\n"
        "from bookbuild.pdf import write_pdf\n"
        "book = fragment_book(Path(sys.argv[1]), {'P': {'one.md': test_pdf.ONE, 'two.md': test_pdf.TWO}})\n"
        "write_pdf(book, Path(sys.argv[2]))"
    )
    made = []
    for name in ("x", "yy"):
        out = tmp_path / name / "book.pdf"
        out.parent.mkdir()
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "PYTHONHASHSEED": str(len(name))}
        subprocess.run(
            [
                sys.executable,
                "-c",
                script,
                str(tmp_path / name / "book"),
                str(out),
                str(Path(__file__).parent),
            ],
            check=True,
            env=environment,
        )
        made.append(out.read_bytes())
    assert made[0] == made[1]
    with pikepdf.open(tmp_path / "x" / "book.pdf") as opened:
        opened.save(tmp_path / "plain.pdf", object_stream_mode=pikepdf.ObjectStreamMode.disable, qdf=True)
        assert str(opened.docinfo["/CreationDate"]) == "D:20231114221320Z"  # 1700000000 s after 1970
    plain = (tmp_path / "plain.pdf").read_bytes()
    assert b"file:" not in plain and str(tmp_path).encode() not in plain and b"site-packages" not in plain


def test_letter_is_letter(book, tmp_path):
    write_pdf(book, tmp_path / "letter.pdf", paper="letter", chapters={"one.md"})
    with pikepdf.open(tmp_path / "letter.pdf") as opened:
        width, height = (float(v) for v in opened.pages[0].mediabox[2:])
    assert (width, height) == (pytest.approx(612, abs=0.2), pytest.approx(792, abs=0.2))
    side = 0.45 * (215.9 - TYPE_AREA) * pdftools.MM
    assert pdftools.beyond(tmp_path / "letter.pdf", side, 12 * pdftools.MM, 10 * pdftools.MM) == []


def test_a_chapter_alone_has_no_cover_and_no_dead_links(book, tmp_path):
    write_pdf(book, tmp_path / "one.pdf", chapters={"one.md"})
    with pikepdf.open(tmp_path / "one.pdf") as opened:
        places = pdftools.destinations(opened)
        found = list(pdftools.links(opened))
    assert places["one"] == 0
    assert {t for _, kind, t in found if kind == "inside"} <= set(places)
    assert not any(t.startswith("two") for _, _, t in found)


def test_wrong_wishes_are_one_line(book, tmp_path):
    with pytest.raises(BookError, match="a4, letter"):
        write_pdf(book, tmp_path / "x.pdf", paper="a5")
    with pytest.raises(BookError, match="no chapter"):
        write_pdf(book, tmp_path / "x.pdf", chapters={"none.md"})
    assert list(tmp_path.iterdir()) == []


def test_without_pango_one_line_says_how_to_get_it(book, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(BookError) as caught:
        write_pdf(book, tmp_path / "x.pdf")
    line = str(caught.value)
    assert "\n" not in line
    assert all(words in line for words in ("apt-get install", "dnf install", "brew install"))


def test_what_weasyprint_says_is_reported(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "bad.svg").write_text("<svg><not closed")
    book = fragment_book(tmp_path, {"": {"a.md": '<h1>A</h1><p><img src="../bad.svg" alt="broken"></p>'}})
    facts = write_pdf(book, tmp_path / "a.pdf")
    assert any("bad.svg" in problem.text for problem in facts["warnings"])
    assert all(str(tmp_path) not in str(problem) for problem in facts["warnings"])


def test_progress_reaches_the_end(book, tmp_path):
    seen: list[tuple[int, int]] = []
    facts = write_pdf(
        book, tmp_path / "a.pdf", chapters={"one.md"}, progress=lambda *counts: seen.append(counts)
    )
    assert seen[-1] == (facts["pages"], facts["pages"])
    assert all(a[0] <= b[0] for a, b in pairwise(seen))


def test_a_table_of_2000_rows_is_laid_out_page_by_page(tmp_path):
    """WeasyPrint#1104: its pages are not laid out again and again, and each has the head."""
    book = fragment_book(tmp_path, {"P": {"a.md": f"<h1>A</h1>{table(['Number', 'Name'], 2000, 'row')}"}})
    layouts: list[int] = []
    facts = write_pdf(
        book, tmp_path / "a.pdf", chapters={"a.md"}, progress=lambda done, _: layouts.append(done)
    )
    assert len(layouts) <= 3 * facts["pages"] + 1
    pages = pdftools.pages(tmp_path / "a.pdf")
    assert all(page.count("Number") == 1 for page in pages)
    assert sum(len(re.findall(r"row\d+x0", page)) for page in pages) == 2000

"""The PDFs of the real book and of the mini book, whole."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pdftools
import pdfwords
import pikepdf
import pytest
from support import require_program

from bookbuild import trees
from bookbuild.links import External, Inside, LinkMap
from bookbuild.model import Book, Part
from bookbuild.pdf import PAPERS, TYPE_AREA

ROMAN = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV"]
ANNOTATED = re.compile(r"\(\d+\)!?$")
SIDE = 0.45 * (PAPERS["a4"][0] - TYPE_AREA) * pdftools.MM
HEAD, FOOT = 12 * pdftools.MM, 10 * pdftools.MM  # where running heads and page numbers end


@pytest.fixture(scope="session", params=["realbook", "minibook"])
def made(request) -> tuple[Book, Path, dict]:
    require_program("pdfinfo", "pdftotext", "qpdf")
    path, facts = request.getfixturevalue(f"{request.param}_pdf")
    return request.getfixturevalue(request.param), path, facts


@pytest.fixture(scope="session")
def text(made) -> str:
    return squeezed(pdftools.text(made[1]))


def squeezed(words: str) -> str:
    return "".join(words.replace("\u00ad", "").split())


def test_weasyprint_had_nothing_to_complain_of(made):
    assert [str(problem) for problem in made[2]["warnings"]] == []


def test_it_is_well_formed(made):
    result = subprocess.run(["qpdf", "--check", str(made[1])], check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_link_inside_has_a_destination(made):
    with pikepdf.open(made[1]) as opened:
        places = pdftools.destinations(opened)
        assert {t for _, kind, t in pdftools.links(opened) if kind == "inside"} <= set(places)


def test_links_of_the_chapters_are_links_of_the_file(made):
    """Every page that a chapter links to is linked to in the PDF; every address outside is there, too."""
    book, path, _ = made
    links = LinkMap(book)
    inside, outside = set(), set()
    for chapter in book.chapters:
        for element in chapter.tree.iter("a"):
            if element.get("href") and not {"headerlink", "footnote-backref"} & trees.classes(element):
                match links.resolve(chapter, element.get("href")):
                    case Inside(target, anchor):
                        inside.add(f"{target.key}--{anchor}" if anchor else target.key)
                    case External(url):
                        outside.add(url)
    with pikepdf.open(path) as opened:
        found = list(pdftools.links(opened))
    notes = {name for name in inside if "--fn:" in name}  # their calls are WeasyPrint's own
    assert inside - notes <= {t for _, kind, t in found if kind == "inside"}
    assert len(outside) <= len({t for _, kind, t in found if kind == "outside"})


def test_bookmarks_are_the_nav(made):
    book, path, _ = made
    expected: list[tuple[int, str]] = []
    for depth, chapters, title in [(0, book.front, ""), *((1, p.chapters, p.title) for p in book.parts)]:
        if title:
            expected.append((0, title))
        level = depth if title else 0
        for chapter in chapters:
            expected.append((level, chapter.title))
            expected += [(level + 1, h.text) for h in chapter.headings if h.level == 2]
    assert pdftools.bookmarks(path) == expected


def test_no_word_stands_beyond_the_type_area(made):
    assert pdftools.beyond(made[1], SIDE, HEAD, FOOT) == []


def test_no_word_of_prose_is_lost(made, text):
    """Each chapter's headings and the first words of each paragraph are in the file's text."""
    lost = []
    for chapter in made[0].chapters:
        for element in chapter.tree.iter():
            if element.tag in ("h2", "h3") and element.get("id"):
                words = (element.text or "").split()[:4]
            elif element.tag == "p" and not len(element):
                words = (element.text or "").split()[:3]
            else:
                continue
            plain = [w for w in words if w.isascii() and w.isalpha()]
            if plain and squeezed(" ".join(plain[:2])) not in text and plain[0] not in text:
                lost.append((chapter.path, " ".join(words)))
    assert lost == []


def test_words_of_each_chapter_are_those_of_the_site_in_order(made):
    """By the file's tags, letter by letter, notes apart; the accepted differences have their names in pdfwords."""
    book, path, _ = made
    text, notes = pdfwords.print_text(pdfwords.structure(path), next(book.chapters))
    for chapters, opening in [(book.front, ""), *((part.chapters, part_page(part)) for part in book.parts)]:
        text = without(text, opening, "the part's page")
        for chapter in chapters:
            own, own_notes = pdfwords.site_text(chapter)
            text, notes = without(text, own, chapter.path), without(notes, own_notes, f"notes of {chapter.path}")
    assert (text, notes) == ("", "")


def part_page(part: Part) -> str:
    """The words of the page before a part's first chapter: its title and what it holds."""
    listed = " ".join(f"{chapter.number} {chapter.title}" for chapter in part.chapters)
    return pdfwords.plain(f"Part {ROMAN[part.number]} {part.title} {listed}") if part.title else ""


def without(text: str, start: str, what: str) -> str:
    """What follows `start` in `text`, which must begin with it."""
    same = len(os.path.commonprefix([text, start]))
    around = slice(max(0, same - 40), same + 40)
    assert same == len(start), f"{what}: paper has …{text[around]}… where the site has …{start[around]}…"
    return text[same:]


def test_every_cell_of_every_table_is_there(made, text):
    lost = []
    for chapter in made[0].chapters:
        for cell in chapter.tree.iter("td"):
            words = squeezed(cell.text or "")
            if words.isascii() and words.isalnum() and words not in text:
                lost.append((chapter.path, words))
    assert lost == []


def test_every_line_of_code_is_there(made):
    text = squeezed(
        pdftools.text(made[1], "-layout")
    )  # in reading order columns of output are told one by one
    lost = []
    for chapter in made[0].chapters:
        for code in chapter.tree.iterfind(".//pre/code"):
            for line in "".join(code.itertext()).splitlines():
                if line.isascii() and not ANNOTATED.search(line) and squeezed(line) not in text:
                    lost.append((chapter.path, line))
    assert lost == []


def test_neither_paths_of_this_machine_nor_addresses_of_files_are_in_it(made, tmp_path):
    book, path, _ = made
    with pikepdf.open(path) as opened:
        opened.save(tmp_path / "plain.pdf", qdf=True)
    plain = (tmp_path / "plain.pdf").read_bytes()
    assert b"file:" not in plain
    assert str(book.root).encode() not in plain and str(book.site_dir).encode() not in plain


def test_validators_find_it_accessible(made):
    import page

    result = page.validate_pdf(str(made[1]), profile=page.ValidationProfile.PDF_UA_1)
    assert result.is_compliant, str(result)


def test_fonts_are_embedded_and_only_the_book_s_own(made):
    """A fallback to a font of this machine would make the file depend on it."""
    with pikepdf.open(made[1]) as opened:
        names = set()
        for obj in opened.objects:
            if (
                isinstance(obj, pikepdf.Dictionary)
                and obj.get("/Type") == "/Font"
                and "/DescendantFonts" in obj
            ):
                names.add(str(obj.BaseFont).partition("+")[2].strip(","))
                assert "/FontFile2" in obj.DescendantFonts[0].FontDescriptor
    families = ("Source-Serif-4", "IBM-Plex-Sans", "JetBrains-Mono")
    assert {n for n in names if not n.startswith(families)} == set()


def test_no_heading_stands_at_the_foot_of_a_page(made):
    """Below every heading there is a line of words, or of the next heading's, on its page."""
    book, path, _ = made
    words = [(w, size) for w, size in pdftools.words(path)]
    lonely = []
    with pikepdf.open(path) as opened:
        tops = pdftools.destination_tops(opened)
    for chapter in book.chapters:
        for heading in chapter.headings:
            if heading.level == 1 or not heading.id:
                continue
            page, top = tops[f"{chapter.key}--{heading.id}"]
            lines = {
                round(w.top / 5)
                for w, (_, height) in words
                if w.page == page and top - 2 < w.top < height - 22 * pdftools.MM
            }
            if len(lines) < 2:  # the heading's own and one more
                lonely.append((page + 1, heading.text))
    assert lonely == []


def test_captions_stand_on_the_page_of_what_they_name(made):
    """A figure's or table's label is printed on the page where its anchor lies."""
    book, path, _ = made
    pages = [squeezed(page) for page in pdftools.pages(path)]
    apart = []
    with pikepdf.open(path) as opened:
        places = pdftools.destinations(opened)
    for chapter in book.chapters:
        for figure in chapter.tree.iter("figure"):
            label = next((e for e in figure.iter("span") if e.get("class") == "label"), None)
            name = figure.get("id") or next((t.get("id") for t in figure.iter("table")), None)
            if label is None or not name:
                continue
            if squeezed(trees.text_of(label)) not in pages[places[f"{chapter.key}--{name}"]]:
                apart.append(name)
    assert apart == []

"""The EPUB as its readers and the shops find it."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from epubtools import TYPE, Epub, X, classes, epub_words, local, site_words, text
from fragmentbook import fragment_book
from oddbook import GRADIENT, write, written
from PIL import Image
from support import MINIBOOK, ROOT

from bookbuild.model import BookError
from bookbuild.outline import read_outline

XML_NAME = re.compile(r"^[A-Za-z_][\w.-]*$", re.ASCII)


@pytest.fixture(scope="module")
def mini(minibook_epub) -> Epub:
    return Epub(minibook_epub)


def test_epubcheck_finds_nothing_in_the_mini_book(minibook_epub, epubcheck):
    """0 fatals, 0 errors, 0 warnings."""
    assert epubcheck(minibook_epub) == []


def test_every_address_leads_somewhere(mini):
    """Package, contents, chapters: each href and src names a file that is there and an id in it."""
    assert mini.dangling() == []


@pytest.mark.parametrize("which", ["minibook_epub", "oddbook_epub"])
def test_ids_are_xml_names_and_unique(which, request):
    book = Epub(request.getfixturevalue(which))
    for name in book.spine:
        ids = book.ids(name)
        assert len(ids) == len(set(ids)), name
        assert [i for i in ids if not XML_NAME.match(i)] == [], name


def test_ids_stay_unique_where_a_reader_joins_all_files(mini):
    every = [i for name in mini.spine for i in mini.ids(name)]
    assert len(every) == len(set(every))


def test_the_nav_is_nested_as_parts_chapters_and_sections(mini, minibook):
    outline = read_outline(MINIBOOK)
    contents = mini.contents()
    front, parts = contents[: len(outline.front)], contents[len(outline.front) :]
    assert [title for title, _, _ in front] == [c.title for c in minibook.front]
    assert [title.split(". ", 1)[1] for title, _, _ in parts] == [s.title for s in outline.sections]
    for (_, _, chapters), part in zip(parts, minibook.parts, strict=True):
        assert [title for title, _, _ in chapters] == [f"{c.number}. {c.title}" for c in part.chapters]
        for (_, _, sections), chapter in zip(chapters, part.chapters, strict=True):
            assert [title for title, _, _ in sections] == [h.text for h in chapter.headings if h.level == 2]


def test_the_ncx_says_what_the_nav_says(mini):
    assert mini.ncx() == mini.contents()


def test_the_spine_is_the_reading_order(mini, minibook):
    """Cover, title page, contents, then front matter and each part's chapters as the navigation has them."""
    chapters = [c.key for c in minibook.chapters]
    homes = [next(i for i, name in enumerate(mini.spine) if key in mini.ids(name)) for key in chapters]
    assert homes == sorted(homes)
    assert [Path(name).stem for name in mini.spine[:3]] == ["cover", "title", "nav"]


def test_landmarks_name_cover_contents_and_start(mini, minibook):
    marks = next(e for e in mini.tree(mini.nav).iter(f"{X}nav") if e.get(TYPE) == "landmarks")
    found = {a.get(TYPE): mini.at(mini.nav, a.get("href")) for a in marks.iter(f"{X}a")}
    assert {"cover", "toc", "bodymatter"} <= set(found)
    assert minibook.parts[0].chapters[0].key in mini.ids(found["bodymatter"])


def test_each_footnote_reaches_its_own_chapters_note(mini, minibook):
    """mkdocs-print-site-plugin#41, mdBook#542: `[^1]` stands in several chapters."""
    seen = []
    for name in mini.spine:
        for link in mini.tree(name).iter(f"{X}a"):
            if "footnote-ref" not in classes(link):
                continue
            assert (link.get(TYPE), link.get("role")) == ("noteref", "doc-noteref")
            home = mini.at(name, link.get("href"))
            note = next(
                e for e in mini.tree(home).iter() if e.get("id") == link.get("href").partition("#")[2]
            )
            assert home == name, "readers pop up what stands in the same file"
            assert (local(note), note.get(TYPE), note.get("role")) == ("aside", "footnote", "doc-footnote")
            back = [a for a in note.iter(f"{X}a") if a.get("role") == "doc-backlink"]
            assert back, "a way back"
            assert mini.at(name, back[0].get("href")) == name
            seen.append(text(note))
    assert any("first chapter" in words for words in seen)
    assert any("second chapter" in words for words in seen)


def test_words_of_each_chapter_are_those_of_the_site_in_order(mini, minibook):
    """Nothing lost, nothing doubled; the accepted differences have their names in epubtools."""
    for chapter in minibook.chapters:
        assert epub_words(mini.sections(chapter.key)) == site_words(chapter.tree), chapter.path


def test_nothing_from_the_building_machine_or_the_web(mini, minibook):
    """No file: address and no path of the machine; pictures, styles and fonts are inside (mkdocs-pdf-export-plugin#28)."""
    for name, data in mini.data.items():
        if name.endswith((".xhtml", ".opf", ".ncx", ".css", ".svg")):
            assert b"file:" not in data, name
            assert str(ROOT).encode() not in data, name
            assert str(minibook.site_dir).encode() not in data, name
    for name in mini.spine:
        loaded = [
            e.get("src") or e.get("href")
            for e in mini.tree(name).iter()
            if local(e) in ("img", "link", "image", "source")
        ]
        assert [a for a in loaded if a and ":" in a] == []


def test_everything_in_the_zip_is_in_the_manifest(mini):
    beside = {"mimetype", "META-INF/container.xml", mini.opf_name}
    assert set(mini.data) - beside == set(mini.manifest)


def test_mimetype_comes_first_and_is_stored(mini):
    assert mini.infos[0].filename == "mimetype"
    assert mini.infos[0].compress_type == zipfile.ZIP_STORED
    assert mini.data["mimetype"] == b"application/epub+zip"


def test_metadata_of_the_publication(tmp_path):
    book = written(
        tmp_path,
        "<h1 id='x'>X</h1>",
        title="Field guide, the short one",
        description="About fields.",
        author="A. Author, of somewhere",
        copyright="CC BY-SA 4.0",
        language="de",
        url="https://example.org/guide/",
        extra={"subjects": ["Fields", "Guides"]},
    )
    assert book.metadata("title") == ["Field guide", "The short one"]
    assert book.metadata("title-type") == ["main", "subtitle"]
    assert book.metadata("creator") == ["A. Author, of somewhere"]
    assert book.metadata("language") == ["de"]
    assert book.metadata("description") == ["About fields."]
    assert book.metadata("rights") == ["CC BY-SA 4.0"]
    assert book.metadata("subject") == ["Fields", "Guides"]


def test_the_identifier_stays_with_the_address_and_changes_with_it(tmp_path):
    """The same for two editions, another for another book and for an excerpt."""

    def identifier(name: str, chapters=None, **settings) -> str:
        folder = tmp_path / name
        folder.mkdir()
        parts = {"P": {"one.md": "<h1 id='a'>A</h1>", "two.md": f"<h1 id='b'>{name}</h1>"}}
        write(fragment_book(folder, parts, **settings), folder / "b.epub", chapters=chapters)
        return Epub(folder / "b.epub").metadata("identifier")[0]

    first = identifier("first", url="https://example.org/a/")
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", first)
    assert identifier("second", url="https://example.org/a/") == first
    assert identifier("third", url="https://example.org/b/") != first
    assert identifier("excerpt", {"one.md"}, url="https://example.org/a/") != first
    assert identifier("untold") == identifier("untold again")


def test_accessibility_metadata(mini):
    """What EPUB Accessibility 1.1 requires of every publication, and the features that readers filter by."""
    assert "textual" in mini.metadata("schema:accessMode")
    assert mini.metadata("schema:accessModeSufficient") == ["textual"]
    assert {"tableOfContents", "structuralNavigation", "readingOrder"} <= set(
        mini.metadata("schema:accessibilityFeature")
    )
    assert mini.metadata("schema:accessibilityHazard") == ["none"]
    assert len(mini.metadata("schema:accessibilitySummary")[0].split()) > 20


def test_features_are_claimed_only_where_they_are(tmp_path):
    (tmp_path / "plain").mkdir(), (tmp_path / "rich").mkdir()
    plain = written(tmp_path / "plain", "<h1 id='x'>X</h1><p>Words.</p>")
    assert plain.metadata("schema:accessMode") == ["textual"]
    assert not {"alternativeText", "MathML"} & set(plain.metadata("schema:accessibilityFeature"))
    rich = written(tmp_path / "rich", f"<h1 id='x'>X</h1>{GRADIENT}<math alttext='a'><mi>a</mi></math>")
    assert rich.metadata("schema:accessMode") == ["textual", "visual"]
    assert {"alternativeText", "MathML"} <= set(rich.metadata("schema:accessibilityFeature"))


def test_conformance_is_claimed_where_the_book_names_who_vouches_for_it(tmp_path, epubcheck):
    """And never where a picture could not be shown: its words alone are no equal."""
    named = {"accessibility": {"certified_by": "A. Reader"}}
    for name, html, extra, claims in (
        ("untold", "<h1 id='x'>X</h1>", {}, []),
        ("named", "<h1 id='x'>X</h1>", named, ["EPUB Accessibility 1.1 - WCAG 2.2 Level AA"]),
        ("lost", "<h1 id='x'>X</h1><p><img src='../lost.png' alt='Lost'></p>", named, []),
    ):
        (tmp_path / name).mkdir()
        book = written(tmp_path / name, html, extra=extra)
        assert book.metadata("dcterms:conformsTo") == claims, name
        assert book.metadata("a11y:certifiedBy") == ["A. Reader"] * bool(claims), name
    assert epubcheck(tmp_path / "named" / "book.epub") == []


def test_the_manifest_says_which_files_hold_mathml_and_svg(tmp_path):
    book = written(tmp_path, f"<h1 id='x'>X</h1>{GRADIENT}<p><math alttext='a'><mi>a</mi></math></p>")
    item = next(i for name, i in book.manifest.items() if name.endswith("/one.xhtml"))
    assert set(item.get("properties").split()) == {"svg", "mathml"}


def test_the_cover_is_a_picture_of_the_size_shops_ask_for(mini):
    name = next(n for n, item in mini.manifest.items() if item.get("properties") == "cover-image")
    assert Image.open(io.BytesIO(mini.data[name])).size == (1600, 2560)


def build_with(epoch: str, out: Path) -> None:
    """Build the mini book's EPUB in a process of its own."""
    code = (
        "import sys; from pathlib import Path; from bookbuild.render import render; from bookbuild.epub import write_epub\n"
        "write_epub(render(Path(sys.argv[1]), Path(sys.argv[2]).with_suffix('.site')), Path(sys.argv[2]))"
    )
    env = {**os.environ, "SOURCE_DATE_EPOCH": epoch, "NO_MKDOCS_2_WARNING": "1", "PYTHONHASHSEED": "random"}
    subprocess.run([sys.executable, "-c", code, MINIBOOK, out], env=env, check=True)


def test_two_builds_give_the_same_bytes(tmp_path):
    for name in ("one.epub", "two.epub"):
        build_with("1700000000", tmp_path / name)
    assert (tmp_path / "one.epub").read_bytes() == (tmp_path / "two.epub").read_bytes()


def test_dates_are_the_given_ones_in_utc(tmp_path, monkeypatch):
    """1700000000 is 2023-11-14 22:13:20 UTC; in New Zealand it was the 15th (aerkalov/ebooklib#340, #367)."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    book = written(tmp_path, "<h1 id='x'>X</h1>")
    assert {info.date_time for info in book.infos} == {(2023, 11, 14, 22, 13, 20)}
    assert book.metadata("dcterms:modified") == ["2023-11-14T22:13:20Z"]
    assert book.metadata("date") == ["2023-11-14"]


def test_epoch_zero_builds_with_dates_a_zip_can_hold(tmp_path, monkeypatch):
    """sphinx#14168"""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    book = written(tmp_path, "<h1 id='x'>X</h1>")
    assert {info.date_time for info in book.infos} == {(1980, 1, 1, 0, 0, 0)}


def test_an_epoch_that_is_no_number_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(BookError, match="SOURCE_DATE_EPOCH.*yesterday"):
        written(tmp_path, "<h1 id='x'>X</h1>")


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    folder = tmp_path / "taken.epub"
    folder.mkdir()
    with pytest.raises(BookError, match="taken.epub"):
        write(fragment_book(tmp_path, {"P": {"one.md": "<h1>X</h1>"}}), folder)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["site", "taken.epub"]


def test_chapters_that_are_not_there_are_an_error(tmp_path):
    with pytest.raises(BookError):
        write(fragment_book(tmp_path, {"P": {"one.md": ""}}), tmp_path / "x.epub", chapters={"two.md"})


def test_progress_counts_chapters(tmp_path):
    seen = []
    book = fragment_book(tmp_path, {"P": {"one.md": "<h1>A</h1>", "two.md": "<h1>B</h1>"}})
    write(book, tmp_path / "x.epub", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]

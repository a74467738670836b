"""The EPUB as its readers and the shops find it."""

from __future__ import annotations

import base64
import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import MINIBOOK, ROOT
from epubtools import TYPE, Epub, X, classes, epub_words, local, site_words, text, words
from fragmentbook import fragment_book
from PIL import Image

from bookbuild import trees
from bookbuild.epub import write_epub
from bookbuild.model import BookError
from bookbuild.outline import read_outline

XML_NAME = re.compile(r"^[A-Za-z_][\w.-]*$", re.ASCII)
GRADIENT = (
    '<svg viewBox="0 0 30 10" preserveAspectRatio="xMidYMid"><defs><linearGradient id="fade" gradientUnits="userSpaceOnUse">'
    '<stop offset="0" stop-color="red"></stop></linearGradient></defs><rect id="box" width="30" height="10" fill="url(#fade)"></rect>'
    '<use xlink:href="#box"></use></svg>'
)


def picture(size: tuple[int, int], kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.effect_noise(size, 60).convert("RGB").save(out, kind)
    return out.getvalue()


DOTS = picture((4, 4))
RAW = """<center>mid <font color="red">font</font> <tt>tt</tt></center><h1 id="late">Late</h1>
<div align="center" foo="bar" @click="x" onclick="alert(1)"><p align="right">p <img src="../p.png" width="100" height="50%" border="0"></p></div>
<a name="old"></a><a name="old">x</a><iframe src="https://example.org/film" title="Film"></iframe><video src="x.mp4" controls></video>
<table width="100%" border="1"><tr><td bgcolor="red" valign="top" width="20%" nowrap>x<td>y</table>
<p>Placeholder <name>and</name> <my-tag>custom</my-tag> <span><div>block</div></span></p><em><p>emphatic</p></em>
<ul><ul><li>x</li></ul></ul><ul></ul><ol type="a" start="3"><li value="7">x</ol><form><input><button>Go</button>in form</form>
<h2>No id</h2><h4 id="has space">odd</h4><p id="">a<p id="dup">1<p id="dup">2<script>alert(1)</script><style>p{}</style>
<picture><source srcset="../p.png"><img src="../p.png" alt="P"></picture><dl><dt>x<dd>y</dl><hr noshade><br clear="all">
<pre>plain</pre><nav>n</nav><main>m</main><blink>b</blink><ruby>r<rp>(</rp><rt>k</rt><rp>)</rp></ruby><progress value="1">p</progress>
<h3>Heading <p>para</h3><abbr title="">a</abbr><p lang="">x <q cite="">q</q> <label>l</label> <time datetime="2020-01-01">t</time>
<p>\x1b[31mred\x1b[0m \x0b \ufffe end</p><object data="x.swf"></object><blockquote cite="x y">b</blockquote><table><caption>c</caption></table>"""
MATHS = "<p><math alttext='\\frac{a}{b}' display='block'><mfrac><mi>a</mi><mi>b</mi></mfrac></math></p>"
ADDRESSES = """<p><a href="http://example.org/a[1]|b c?q={x}&amp;r=50%#f#g">odd</a> <a href="vscode://x">scheme</a>
<a href="https://example.org/%7Ea?b=c%20d">fine</a> <a href="//example.org/x">bare</a></p>"""
PICTURES = f"""<p><img src="data:image/png;base64,{base64.b64encode(DOTS).decode()}" alt="inline">
<img src="../lie.jpg" alt="a PNG"><img src="../new.webp" alt="not for Kindle"></p>"""
LOST = """<p><img src="https://example.org/badge.svg" alt="words 0"></p><p><img src="../lost.png" alt="words 1"></p>
<p><img src="../broken.png" alt="words 2"></p>"""


def footnoted(number: str, words: str, ref: str = "fnref") -> tuple[str, str]:
    """(reference, note) as Python-Markdown writes them."""
    return (
        f'<sup id="{ref}:{number}"><a class="footnote-ref" href="#fn:{number}">{number}</a></sup>',
        f'<li id="fn:{number}"><p>{words} <a class="footnote-backref" href="#{ref}:{number}" title="Jump">↩</a></p></li>',
    )


def long_chapter() -> str:
    """About 700 kB in eight sections with a note each."""
    sections, notes = "", ""
    for number in range(1, 9):
        ref, note = footnoted(str(number), f"Note {number}.")
        sections += f'<h2 id="s{number}">Section {number}</h2><p>{"words " * 15_000}{ref}</p><p><a href="#s1">up {number}</a></p>'
        notes += note
    return f'<h1 id="one">Long</h1>{sections}<div class="footnote"><hr><ol>{notes}</ol></div>'


CLASHING = ("one.md", "ONE.md", "9 b (ü).md", "nav.md")
ODD = {
    "raw.md": RAW,
    "svg.md": f'<h1 id="x">SVG</h1>{GRADIENT}',
    "maths.md": f'<h1 id="x">Maths</h1>{MATHS}',
    "addresses.md": f'<h1 id="x">Addresses</h1>{ADDRESSES}',
    "pictures.md": f'<h1 id="x">Pictures</h1>{PICTURES}',
    "long.md": long_chapter(),
    "after.md": '<h1 id="two">After</h1><p><a href="../long/#s8">last section</a></p>',
    "lost.md": f'<h1 id="x">Lost</h1>{LOST}',
    **{name: f'<h1 id="x">{name}</h1><p><a href="../ONE/#x">up from {name}</a></p>' for name in CLASHING},
}


@pytest.fixture(scope="module")
def mini(minibook_epub) -> Epub:
    return Epub(minibook_epub)


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> Path:
    """A book of everything that has made EPUBs invalid, so that the checker need run only once."""
    folder = tmp_path_factory.mktemp("odd")
    site_with(
        folder,
        {"p.png": DOTS, "lie.jpg": DOTS, "new.webp": picture((4, 4), "WEBP"), "broken.png": b"not a picture"},
    )
    book = fragment_book(folder, {"Odd & <more>": ODD})
    write_epub(book, folder / "odd.epub")
    return folder / "odd.epub"


@pytest.fixture(autouse=True)
def plain_cover(monkeypatch):
    """Drawing the cover takes longer than all the rest; the mini book has the real one."""
    monkeypatch.setattr("bookbuild.epub.cover_png", lambda book: picture((5, 8)))


def written(tmp_path: Path, html: str, **settings) -> Epub:
    """The EPUB of a book with one chapter, one.md."""
    return Epub(path_of(tmp_path, html, **settings))


def path_of(tmp_path: Path, html: str, **settings) -> Path:
    out = tmp_path / "book.epub"
    write_epub(fragment_book(tmp_path, {"Part": {"one.md": html}}, **settings), out)
    return out


# ---- the whole mini book


def test_epubcheck_finds_nothing_in_the_mini_book(minibook_epub, epubcheck):
    """0 fatals, 0 errors, 0 warnings."""
    assert epubcheck(minibook_epub) == []


def test_every_address_leads_somewhere(mini):
    """Package, contents, chapters: each href and src names a file that is there and an id in it."""
    assert mini.dangling() == []


def test_ids_are_xml_names_and_unique(mini):
    for name in mini.spine:
        ids = mini.ids(name)
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


# ---- the package


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
        write_epub(fragment_book(folder, parts, **settings), folder / "b.epub", chapters=chapters)
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


def test_the_manifest_says_which_files_hold_mathml_and_svg(tmp_path):
    book = written(tmp_path, f"<h1 id='x'>X</h1>{GRADIENT}<p><math alttext='a'><mi>a</mi></math></p>")
    item = next(i for name, i in book.manifest.items() if name.endswith("/one.xhtml"))
    assert set(item.get("properties").split()) == {"svg", "mathml"}


def test_the_cover_is_a_picture_of_the_size_shops_ask_for(mini):
    name = next(n for n, item in mini.manifest.items() if item.get("properties") == "cover-image")
    assert Image.open(io.BytesIO(mini.data[name])).size == (1600, 2560)


# ---- dates and bytes


def build_with(epoch: str, out: Path) -> None:
    """Build the mini book's EPUB in a process of its own."""
    code = (
        "import sys; from pathlib import Path; from bookbuild.render import render; from bookbuild.epub import write_epub\n"
        "write_epub(render(Path(sys.argv[1]), Path(sys.argv[2]).with_suffix('.site')), Path(sys.argv[2]))"
    )
    env = {**os.environ, "SOURCE_DATE_EPOCH": epoch, "NO_MKDOCS_2_WARNING": "1", "PYTHONHASHSEED": "random"}
    subprocess.run([sys.executable, "-c", code, MINIBOOK, out], env=env, check=True, capture_output=True)


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
        write_epub(fragment_book(tmp_path, {"P": {"one.md": "<h1>X</h1>"}}), folder)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["site", "taken.epub"]


def test_chapters_that_are_not_there_are_an_error(tmp_path):
    with pytest.raises(BookError):
        write_epub(fragment_book(tmp_path, {"P": {"one.md": ""}}), tmp_path / "x.epub", chapters={"two.md"})


def test_progress_counts_chapters(tmp_path):
    seen = []
    book = fragment_book(tmp_path, {"P": {"one.md": "<h1>A</h1>", "two.md": "<h1>B</h1>"}})
    write_epub(book, tmp_path / "x.epub", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


# ---- links and names


def link_of(book: Epub, words: str) -> tuple[str, str | None]:
    """(file, href) of the link with these words."""
    for name in book.spine:
        for a in book.tree(name).iter(f"{X}a"):
            if text(a) == words and name != book.nav:
                return name, a.get("href")
    raise AssertionError(f"no link '{words}'")


def test_links_between_chapters_jump_inside_the_file(tmp_path):
    """orzih/mkdocs-with-pdf#3, #20; WeasyPrint#2655"""
    pages = {
        "one.md": '<h1 id="one">One</h1><a href="../two/">page</a> <a href="../two/#größe--co">part</a> '
        '<a href="#test%28">call</a> <h2 id="test(">test(</h2>',
        "two.md": '<h1 id="two">Two</h1><h2 id="größe--co">Größe &amp; Co</h2>',
    }
    out = tmp_path / "b.epub"
    write_epub(fragment_book(tmp_path, {"P": pages}), out)
    book = Epub(out)
    home, href = link_of(book, "part")
    target = next(e for e in book.tree(book.at(home, href)).iter() if e.get("id") == href.partition("#")[2])
    assert text(target) == "Größe & Co"
    home, href = link_of(book, "call")
    target = next(e for e in book.tree(home).iter() if e.get("id") == href.partition("#")[2])
    assert (local(target), text(target)) == ("h2", "test(")
    assert link_of(book, "page")[1] == "two.xhtml"
    assert book.dangling() == []


def test_links_that_lead_nowhere_keep_their_words_only(tmp_path):
    """Also to files of the site where the book has no address, and to schemes no reader follows."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "data.csv").write_text("a,b")
    hrefs = [
        "../lost/",
        "#lost",
        "../data.csv",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "vscode://x",
        "http://[host]:80/",
        "",
    ]
    book = written(
        tmp_path, "<h1>X</h1>" + "".join(f'<p><a href="{h}">to {i}</a></p>' for i, h in enumerate(hrefs[:-1]))
    )
    assert [link_of(book, f"to {i}")[1] for i in range(len(hrefs) - 1)] == [None] * (len(hrefs) - 1)


def test_links_to_files_of_the_site_lead_to_the_web_where_the_book_has_an_address(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "data.csv").write_text("a,b")
    book = written(tmp_path, '<h1>X</h1><a href="../data.csv">data</a>', url="https://example.org/b/")
    assert link_of(book, "data")[1] == "https://example.org/b/data.csv"


def test_addresses_of_the_web_are_encoded_where_they_must_be(odd):
    book = Epub(odd)
    assert link_of(book, "odd")[1] == "http://example.org/a%5B1%5D%7Cbc?q=%7Bx%7D&r=50%25#f%23g"
    assert link_of(book, "fine")[1] == "https://example.org/%7Ea?b=c%20d"
    assert link_of(book, "bare")[1] == "https://example.org/x"
    assert link_of(book, "scheme")[1] is None


def test_an_excerpt_links_to_the_web_for_what_it_leaves_out(tmp_path):
    pages = {
        "one.md": '<h1 id="one">One</h1><a href="../two/#two">other</a>',
        "two.md": '<h1 id="two">Two</h1>',
    }
    for url, expected in (("https://example.org/b/", "https://example.org/b/two/#two"), ("", None)):
        out = tmp_path / "b.epub"
        write_epub(fragment_book(tmp_path, {"P": pages}, url=url), out, chapters={"one.md"})
        assert link_of(Epub(out), "other")[1] == expected


def test_files_whose_names_clash_or_are_not_plain(odd):
    """Names that differ only in case are one file on some readers; others need signs that some do not decode."""
    book = Epub(odd)
    assert all(name.isascii() for name in book.spine)
    assert len({name.lower() for name in book.spine}) == len(book.spine)
    tops = set()
    for name in CLASHING:
        home, href = link_of(book, f"up from {name}")
        tops.add(book.at(home, href))
    [top] = tops
    assert text(next(book.tree(top).iter(f"{X}h1"))) == "ONE.md"


# ---- notes


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


def test_a_note_used_twice_leads_back_twice(tmp_path):
    first, note = footnoted("1", "Once.")
    second = first.replace("fnref:", "fnref2:")
    note = note.replace("</p>", ' <a class="footnote-backref" href="#fnref2:1" title="Jump">↩</a></p>')
    book = written(
        tmp_path, f'<h1>X</h1><p>A{first} B{second}</p><div class="footnote"><hr><ol>{note}</ol></div>'
    )
    aside = next(book.tree("EPUB/one.xhtml").iter(f"{X}aside"))
    assert [a.get("href") for a in aside.iter(f"{X}a")] == ["#one--fnref_3a_1", "#one--fnref2_3a_1"]
    assert book.dangling() == []


def test_a_heading_with_a_footnote_gives_a_valid_nav(minibook_epub, tmp_path):
    """jgm/pandoc#4453: the nav has the words without the mark, and no second id."""
    from bookbuild.render import render

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n")
    (tmp_path / "docs" / "one.md").write_text("# One[^1]\n\n## Two *words*[^1]\n\n[^1]: Note.\n")
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: X\ntheme: {name: material, font: false}\nmarkdown_extensions: [footnotes, toc]\n"
        "nav: [index.md, {Part: [one.md]}]\n"
    )
    write_epub(render(tmp_path / "mkdocs.yml", tmp_path / "site"), tmp_path / "x.epub")
    book = Epub(tmp_path / "x.epub")
    [[_, _, [[title, _, [[section, _, _]]]]]] = book.contents()[1:]
    assert (title, section) == ("1. One", "Two words")
    assert [e for e in book.tree(book.nav).iter() if (e.get("id") or "").startswith("fnref")] == []
    assert book.dangling() == []


# ---- constructs


def test_both_tabs_stand_there_with_their_labels(tmp_path):
    """mkdocs-print-site-plugin#53"""
    html = (
        '<h1>X</h1><div class="tabbed-set tabbed-alternate" data-tabs="1:2"><input checked id="__tabbed_1_1" name="__tabbed_1" '
        'type="radio"><input id="__tabbed_1_2" name="__tabbed_1" type="radio"><div class="tabbed-labels"><label for="__tabbed_1_1">'
        'Linux</label><label for="__tabbed_1_2">macOS</label></div><div class="tabbed-content"><div class="tabbed-block"><p>apt</p>'
        '</div><div class="tabbed-block"><p>brew</p></div></div></div>'
    )
    section = written(tmp_path, html).sections("one")[0]
    assert epub_words([section])[-4:] == ["Linux", "apt", "macOS", "brew"]


def test_details_are_open_sections(tmp_path):
    section = written(
        tmp_path, "<h1>X</h1><details class='note'><summary>More</summary><p>Hidden</p></details>"
    ).sections("one")[0]
    assert epub_words([section])[-2:] == ["More", "Hidden"] and not list(section.iter(f"{X}details"))


def test_admonitions_are_asides_that_say_their_kind(tmp_path):
    """In words also: the icon has a title, as a colour would say nothing to a screen reader."""
    kinds = {"warning": "note", "tip": "doc-tip", "example": "doc-example"}
    html = "".join(
        f'<div class="admonition {k}"><p class="admonition-title">Mind</p><p>Text</p></div>' for k in kinds
    )
    asides = list(written(tmp_path, f"<h1>X</h1>{html}").sections("one")[0].iter(f"{X}aside"))
    assert [a.get("role") for a in asides] == list(kinds.values())
    assert [next(e.text for e in a.iter() if local(e) == "title").lower() for a in asides] == list(kinds)


def test_code_keeps_its_lines_and_indentation(tmp_path):
    """d2l-en#2585; also where a reader has no CSS, and where a coloured run crosses a line's end."""
    source = 'def f(x):\n    """A\n    doc."""\n\n        return x\n'
    html = source.replace('"""A\n    doc."""', '<span class="sd">"""A\n    doc."""</span>')
    pre = next(
        written(tmp_path, f"<h1>X</h1><pre><span></span><code>{html}</code></pre>")
        .sections("one")[0]
        .iter(f"{X}pre")
    )
    assert "".join(pre.itertext()) == source
    assert [e.get("class") for e in pre.iter(f"{X}span") if "line" in classes(e)] == [
        "line",
        "line in4",
        "line in4",
        "line",
        "line in8",
    ]


def test_numbers_of_lines_do_not_come_into_the_code(tmp_path):
    html = (
        '<h1>X</h1><table class="highlighttable"><tbody><tr><td class="linenos"><pre>1\n2</pre></td><td class="code"><div>'
        "<pre><code>a\nb\n</code></pre></div></td></tr></tbody></table>"
    )
    section = written(tmp_path, html).sections("one")[0]
    assert not list(section.iter(f"{X}table"))
    assert "".join(next(section.iter(f"{X}pre")).itertext()) == "a\nb\n"


def test_annotations_of_code_are_numbered_below_it(tmp_path):
    html = '<h1>X</h1><div class="highlight"><pre><code>x <span class="c1"># (1)!</span>\n</code></pre></div><ol><li>Why</li></ol>'
    section = written(tmp_path, html).sections("one")[0]
    assert [text(e) for e in section.iter(f"{X}span") if "annotation" in classes(e)] == ["1"]
    assert [classes(e) for e in section.iter(f"{X}ol")] == [{"annotations"}]


def test_cells_carry_the_names_of_their_columns(tmp_path):
    """So that a row can be shown as a list where the table does not fit."""
    html = "<h1>X</h1><table><thead><tr><th>Part</th><th>GiB</th><th>TB/s</th></tr></thead><tbody><tr><td>A</td><td>1</td><td>2</td></tr></tbody></table>"
    cells = list(written(tmp_path, html).sections("one")[0].iter(f"{X}td"))
    assert [c.get("data-label") for c in cells] == ["Part", "GiB", "TB/s"]


def test_a_caption_stands_first_or_last_in_its_figure(tmp_path):
    """quarto-cli#5234"""
    html = '<h1>X</h1><figure id="f"><table><tbody><tr><td>1</td></tr></tbody></table><figcaption>Table 1.</figcaption><p>Source</p></figure>'
    figure = next(written(tmp_path, html).sections("one")[0].iter(f"{X}figure"))
    assert [local(e) for e in figure] == ["div", "figcaption"]
    assert words([figure], ()) == ["1", "Table", "1.", "Source"]


def test_tasks_show_their_boxes(tmp_path):
    html = (
        '<h1>X</h1><ul class="task-list">'
        + "".join(
            f'<li class="task-list-item"><label class="task-list-control"><input type="checkbox" disabled{c}>'
            f'<span class="task-list-indicator"></span></label> {w}</li>'
            for c, w in (("", "open"), (" checked", "done"))
        )
        + "</ul>"
    )
    assert [text(li) for li in written(tmp_path, html).sections("one")[0].iter(f"{X}li")] == [
        "☐ open",
        "☑ done",
    ]


def test_inline_svg_is_kept_as_written(odd):
    """aerkalov/ebooklib#294: names with capitals, references between its parts."""
    source = Epub(odd).data["EPUB/svg.xhtml"].decode()
    for kept in (
        'viewBox="0 0 30 10"',
        'preserveAspectRatio="xMidYMid"',
        "<linearGradient",
        'gradientUnits="userSpaceOnUse"',
    ):
        assert kept in source
    assert (
        'id="svg--fade"' in source
        and 'fill="url(#svg--fade)"' in source
        and 'xlink:href="#svg--box"' in source
    )


def test_formulas_stay_mathml_with_their_source(odd):
    math = next(e for e in Epub(odd).sections("maths")[0].iter() if local(e) == "math")
    assert math.get("alttext") == "\\frac{a}{b}" and math.get("display") == "block"


def test_formulas_can_be_pictures_for_readers_without_mathml(tmp_path):
    """The picture says the formula's source; as high as the text it stands in."""
    out = tmp_path / "b.epub"
    write_epub(fragment_book(tmp_path, {"P": {"one.md": f"<h1>X</h1>{MATHS}"}}), out, maths="images")
    book = Epub(out)
    image = next(book.sections("one")[0].iter(f"{X}img"))
    assert image.get("alt") == "\\frac{a}{b}"
    assert re.search(r"width:\s*[\d.]+em", image.get("style"))
    assert book.manifest[pictures_of(book)[0]].get("media-type") == "image/svg+xml"
    assert "MathML" not in book.metadata("schema:accessibilityFeature")


# ---- pictures


def site_with(tmp_path: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def pictures_of(book: Epub, key: str = "one") -> list[str]:
    """Full names of the pictures that a chapter shows."""
    return [book.at(f"EPUB/{key}.xhtml", e.get("src")) for e in book.sections(key)[0].iter(f"{X}img")]


def test_pictures_of_the_same_name_stay_apart_and_the_same_picture_is_kept_once(tmp_path):
    one, two = picture((4, 4)), picture((5, 5))
    site_with(tmp_path, {"a/p.png": one, "b/p.png": two, "c/copy.png": one})
    book = written(
        tmp_path,
        '<h1>X</h1><img src="../a/p.png" alt=""><img src="../b/p.png" alt=""><img src="../c/copy.png" alt="">',
    )
    first, second, third = pictures_of(book)
    assert (book.data[first], book.data[second]) == (one, two)
    assert third == first


def test_a_picture_inside_of_an_address_becomes_a_file(odd):
    book = Epub(odd)
    assert book.data[pictures_of(book, "pictures")[0]] == DOTS


def test_formats_go_by_content_and_foreign_ones_are_converted(odd):
    """A PNG called .jpg, and WebP, which Kindle and older readers do not show."""
    book = Epub(odd)
    assert {book.manifest[n].get("media-type") for n in pictures_of(book, "pictures")} == {"image/png"}
    assert all(
        n.endswith(".png") and book.data[n].startswith(b"\x89PNG") for n in pictures_of(book, "pictures")
    )


def test_pictures_that_are_not_in_the_book_leave_their_words(odd, tmp_path):
    """One on the web, one that is lost, one that is none; each is told with its page."""
    assert epub_words(Epub(odd).sections("lost")) == ["Lost", "words", "0", "words", "1", "words", "2"]
    facts = write_epub(fragment_book(tmp_path, {"P": {"one.md": LOST}}), tmp_path / "b.epub")
    assert [(w.file, w.code, w.severity) for w in facts["warnings"]] == [
        ("docs/one.md", "epub-picture", "warning")
    ] * 3


def test_drawings_stand_on_white_paper(tmp_path):
    """Dark ink without a ground could not be seen in a reader's dark mode; the drawing itself stays as written."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-5 -7 30 10"><linearGradient id="fade"/><path d="M0 0h9"/></svg>'
    clear = io.BytesIO()
    Image.new("RGBA", (4, 4), (0, 0, 0, 0)).save(clear, "PNG")
    site_with(tmp_path, {"d.svg": svg.encode(), "d.png": clear.getvalue()})
    book = written(tmp_path, '<h1>X</h1><img src="../d.svg" alt=""><img src="../d.png" alt="">')
    drawing, pixels = (book.data[name] for name in pictures_of(book))
    ground, *rest = ElementTree.fromstring(drawing)
    assert (local(ground), ground.get("x"), ground.get("y"), ground.get("width")) == (
        "rect",
        "-5",
        "-7",
        "100%",
    )
    assert b'viewBox="-5 -7 30 10"' in drawing and [local(e) for e in rest] == ["linearGradient", "path"]
    assert Image.open(io.BytesIO(pixels)).convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


def test_drawings_in_the_text_get_paper_unless_they_use_its_ink(tmp_path):
    html = '<h1>X</h1><svg viewBox="1 2 3 4"><path d="M0 0h9"/></svg><svg viewBox="0 0 9 9"><path stroke="currentColor"/></svg>'
    plain, inked = (e for e in written(tmp_path, html).sections("one")[0].iter() if local(e) == "svg")
    assert next((local(e), e.get("x"), e.get("y")) for e in plain) == ("rect", "1", "2")
    assert [local(e) for e in inked] == ["path"]


def test_large_pictures_shrink_to_what_devices_show(tmp_path):
    site_with(tmp_path, {"wide.png": picture((2400, 600)), "tall.jpg": picture((800, 3200), "JPEG")})
    book = written(tmp_path, '<h1>X</h1><img src="../wide.png" alt=""><img src="../tall.jpg" alt="">')
    assert [Image.open(io.BytesIO(book.data[n])).size for n in pictures_of(book)] == [
        (1600, 400),
        (400, 1600),
    ]


# ---- large chapters, odd input


def test_a_large_chapter_is_cut_at_its_sections(odd):
    """No file over 300 kB; links, contents and notes find their new places, and no word is lost."""
    book = Epub(odd)
    files = [n for n in book.spine if Path(n).stem.startswith("long")]
    assert len(files) > 1
    assert max(len(book.data[n]) for n in files) <= 300_000
    assert book.dangling() == []
    home, href = link_of(book, "last section")
    assert book.at(home, href) == files[-1]
    for name in files:
        refs = [a.get("href") for a in book.tree(name).iter(f"{X}a") if a.get(TYPE) == "noteref"]
        notes = [e.get("id") for e in book.tree(name).iter(f"{X}aside")]
        assert sorted(refs) == sorted(f"#{n}" for n in notes)
    sections = book.sections("long")
    bodies = [w for s in sections for w in epub_words([e for e in s if "footnotes" not in classes(e)])]
    notes = [w for s in sections for w in epub_words([e for e in s if "footnotes" in classes(e)])]
    assert bodies + notes == site_words(trees.parse_fragment(ODD["long.md"]))


def test_epubcheck_finds_nothing_in_the_odd_book(odd, epubcheck):
    """Raw HTML of any kind, odd names, addresses and pictures: what browsers forgive, shops do not."""
    assert epubcheck(odd) == []
    assert "red" in text(Epub(odd).sections("raw")[0])


def test_words_survive_being_made_valid(tmp_path):
    html = "<h1>X</h1><center>one <font>two</font></center><h3>three <p>four</h3><p><name>five</name> <blink>six</blink></p>"
    assert epub_words(written(tmp_path, html).sections("one")) == [
        "X",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
    ]


def test_a_page_without_a_title_gets_the_navigations(tmp_path):
    out = tmp_path / "b.epub"
    write_epub(fragment_book(tmp_path, {"P": {"untitled.md": "<p>Text</p>"}}), out)
    assert [text(e) for e in Epub(out).sections("untitled")[0].iter(f"{X}h1")] == ["untitled"]


def test_a_flat_book_has_no_part_pages(tmp_path):
    out = tmp_path / "b.epub"
    write_epub(fragment_book(tmp_path, {"": {"one.md": "<h1>One</h1>", "two.md": "<h1>Two</h1>"}}), out)
    assert [title for title, _, _ in Epub(out).contents()] == ["1. One", "2. Two"]

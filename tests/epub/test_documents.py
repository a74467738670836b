"""Chapters as files: where links lead, how files are named and cut, where notes stand."""

from __future__ import annotations

from pathlib import Path

from epubtools import TYPE, Epub, X, classes, epub_words, local, site_words, text
from fragmentbook import fragment_book
from oddbook import CLASHING, ODD, footnoted, write, written, written_pages

from bookbuild import trees


def test_links_between_chapters_jump_inside_the_file(tmp_path):
    """orzih/mkdocs-with-pdf#3, #20; WeasyPrint#2655"""
    pages = {
        "one.md": '<h1 id="one">One</h1><a href="../two/">page</a> <a href="../two/#größe--co">part</a> '
        '<a href="#test%28">call</a> <h2 id="test(">test(</h2>',
        "two.md": '<h1 id="two">Two</h1><h2 id="größe--co">Größe &amp; Co</h2>',
    }
    book = written_pages(tmp_path, pages)
    home, href = book.link("part")
    target = next(e for e in book.tree(book.at(home, href)).iter() if e.get("id") == href.partition("#")[2])
    assert text(target) == "Größe & Co"
    home, href = book.link("call")
    target = next(e for e in book.tree(home).iter() if e.get("id") == href.partition("#")[2])
    assert (local(target), text(target)) == ("h2", "test(")
    assert book.link("page")[1] == "two.xhtml"
    assert book.dangling() == []


def test_links_to_files_of_the_site_lead_to_the_web_where_the_book_has_an_address(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "data.csv").write_text("a,b")
    book = written(tmp_path, '<h1>X</h1><a href="../data.csv">data</a>', url="https://example.org/b/")
    assert book.link("data")[1] == "https://example.org/b/data.csv"


def test_an_excerpt_links_to_the_web_for_what_it_leaves_out(tmp_path):
    pages = {
        "one.md": '<h1 id="one">One</h1><a href="../two/#two">other</a>',
        "two.md": '<h1 id="two">Two</h1>',
    }
    for url, expected in (("https://example.org/b/", "https://example.org/b/two/#two"), ("", None)):
        assert written_pages(tmp_path, pages, {"one.md"}, url=url).link("other")[1] == expected


def test_files_whose_names_clash_or_are_not_plain(oddbook_epub):
    """Names that differ only in case are one file on some readers; others need signs that some do not decode."""
    book = Epub(oddbook_epub)
    assert all(name.isascii() for name in book.spine)
    assert len({name.lower() for name in book.spine}) == len(book.spine)
    tops = set()
    for name in CLASHING:
        home, href = book.link(f"up from {name}")
        tops.add(book.at(home, href))
    [top] = tops
    assert text(next(book.tree(top).iter(f"{X}h1"))) == "ONE.md"


def test_a_large_chapter_is_cut_at_its_sections(oddbook_epub):
    """No file over 300 kB; links, contents and notes find their new places, and no word is lost."""
    book = Epub(oddbook_epub)
    files = [n for n in book.spine if Path(n).stem.startswith("long")]
    assert len(files) > 1
    assert max(len(book.data[n]) for n in files) <= 300_000
    assert book.dangling() == []
    home, href = book.link("last section")
    assert book.at(home, href) == files[-1]
    for name in files:
        refs = [a.get("href") for a in book.tree(name).iter(f"{X}a") if a.get(TYPE) == "noteref"]
        notes = [e.get("id") for e in book.tree(name).iter(f"{X}aside")]
        assert sorted(refs) == sorted(f"#{n}" for n in notes)
    sections = book.sections("long")
    bodies = [w for s in sections for w in epub_words([e for e in s if "footnotes" not in classes(e)])]
    notes = [w for s in sections for w in epub_words([e for e in s if "footnotes" in classes(e)])]
    assert bodies + notes == site_words(trees.parse_fragment(ODD["long.md"]))


def test_a_chapter_that_has_nothing_to_be_cut_at_is_told(tmp_path):
    pages = {"one.md": f"<h1>One</h1><p>{'words ' * 60_000}</p>", "two.md": "<h1>Two</h1>"}
    facts = write(fragment_book(tmp_path, {"P": pages}), tmp_path / "b.epub")
    [warning] = facts["warnings"]
    assert (warning.file, warning.code, warning.severity) == ("docs/one.md", "epub-large", "warning")
    assert "360 kB" in warning.text


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
    write(render(tmp_path / "mkdocs.yml", tmp_path / "site"), tmp_path / "x.epub")
    book = Epub(tmp_path / "x.epub")
    [[_, _, [[title, _, [[section, _, _]]]]]] = book.contents()[1:]
    assert (title, section) == ("1. One", "Two words")
    assert [e for e in book.tree(book.nav).iter() if (e.get("id") or "").startswith("fnref")] == []
    assert book.dangling() == []


def test_a_page_without_a_title_gets_the_navigations(tmp_path):
    book = written_pages(tmp_path, {"untitled.md": "<p>Text</p>"})
    assert [text(e) for e in book.sections("untitled")[0].iter(f"{X}h1")] == ["untitled"]


def test_a_flat_book_has_no_part_pages(tmp_path):
    out = tmp_path / "b.epub"
    write(fragment_book(tmp_path, {"": {"one.md": "<h1>One</h1>", "two.md": "<h1>Two</h1>"}}), out)
    assert [title for title, _, _ in Epub(out).contents()] == ["1. One", "2. Two"]

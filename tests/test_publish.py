"""What build.py adds to a rendered site: downloads, tools and tables as files, and links that reach them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import tinyhtml5

from bookbuild import trees
from bookbuild.publish import File, page_file, publish, renew
from bookbuild.render import render
from bookbuild.tabledata import table_data

TOOL = b"#!/usr/bin/env python3\nprint('\xc3\xa9')\n"
TABLE = """
<figure class="table" markdown="0"><figcaption><span class="label">Table 1.1.</span> Two parts.</figcaption>
<table class="data-table" id="tab-two" data-name="parts">
<thead><tr><th data-key="name">Part</th><th class="num" data-key="tdp_w">Power<span>, </span><span>W</span></th><th>Note</th></tr></thead>
<tbody>
<tr id="tab-two-a"><td>A, the first<sup class="mark"><a href="#note-1">a</a> <a href="#src-1">1</a></sup></td>
<td class="num" data-sort="1000">1,000</td><td>x</td></tr>
<tr id="tab-two-b"><td>B</td><td class="num unknown" data-sort="">n/p<sup class="mark"><a href="#note-2">b</a></sup></td><td>say "y"</td></tr>
</tbody></table>
<ol><li id="note-1">Air cooled.</li><li id="note-2">Reports differ.</li></ol><ol><li id="src-1"><a href="https://example.org/a">A's data sheet</a></li></ol></figure>
"""


def make_book(folder: Path, pages: dict[str, str], site_url: str = "", theme: str = "material"):
    """A book of its own in `folder`, rendered; with one tool and one file that is none."""
    (folder / "docs").mkdir(parents=True)
    for name, text in pages.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "tools" / "net" / "__pycache__").mkdir(parents=True)
    (folder / "tools" / "net" / "ping it.py").write_bytes(TOOL)
    (folder / "tools" / "net" / "__pycache__" / "x.pyc").write_bytes(b"\0")
    config = {"site_name": "Other book", "site_url": site_url, "plugins": ["search"], "markdown_extensions": ["md_in_html"]}
    config["theme"] = {"name": theme, "font": False} if theme == "material" else {"name": theme}
    (folder / "mkdocs.yml").write_text(json.dumps(config))
    site = folder / "out"
    site.mkdir()
    return render(folder / "mkdocs.yml", site)


def download(book, name: str, size: int) -> Path:
    path = book.site_dir / "downloads" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x" * size)
    return path


def page(book, path: str):
    chapter = next(c for c in book.chapters if c.path == path)
    text = (book.site_dir / page_file(chapter)).read_text(encoding="utf-8")
    return chapter, text, tinyhtml5.parse(text, namespace_html_elements=False)


def reached(book, chapter, href: str) -> Path:
    """The file of the site that a browser reaches from a page by `href`."""
    address = urljoin(f"http://host/{page_file(chapter)}", href)
    return book.site_dir / unquote(urlsplit(address).path).lstrip("/")


PAGES = {
    "index.md": "# Home\n\nWords.\n\n## Section\n\nMore.\n",
    "deep/page.md": '# Tools\n\n<p>Run <a class="tool-file" data-tool="net/ping it.py">ping</a>.</p>\n' + TABLE,
    "plain.md": "# Plain\n\nNothing to add here.\n",
}


@pytest.fixture
def book(tmp_path):
    return make_book(tmp_path / "book", PAGES, site_url="https://book.example/ml/")


def test_downloads_are_linked_from_home_with_their_size(book):
    """The links lead to the files, each with its size in decimal units, before the first section."""
    made = [download(book, "other.pdf", 2_400_000), download(book, "other.epub", 87_000)]
    publish(book, made)
    chapter, _, tree = page(book, "index.md")
    [box] = [e for e in tree.iter("div") if "downloads" in trees.classes(e)]
    links = list(box.iter("a"))
    assert [reached(book, chapter, a.get("href")) for a in links] == made
    assert [trees.text_of(a) for a in links] == ["PDF 2.4 MB", "EPUB 87 kB"]
    order = [e for e in tree.iter() if e is box or e.tag == "h2"]
    assert order[0] is box


def test_downloads_fill_the_place_that_the_home_page_keeps(tmp_path):
    place = '# Home\n\n<div class="downloads" data-downloads hidden></div>\n\n## One\n\n## Two\n'
    book = make_book(tmp_path / "b", {"index.md": place})
    before = page(book, "index.md")[2]
    assert [e.get("hidden") for e in before.iter("div") if "downloads" in trees.classes(e)] == [""]
    publish(book, [download(book, "b.pdf", 10)])
    boxes = [e for e in page(book, "index.md")[2].iter("div") if "downloads" in trees.classes(e)]
    assert len(boxes) == 1 and boxes[0].get("hidden") is None
    assert trees.text_of(boxes[0]) == "PDF 10 B"


def test_without_downloads_no_link_to_them(book):
    publish(book)
    assert "downloads/" not in page(book, "index.md")[1]


def test_tools_are_served_byte_for_byte(book):
    publish(book)
    assert (book.site_dir / "tools/net/ping it.py").read_bytes() == TOOL
    assert not list(book.site_dir.glob("tools/**/*.pyc"))


def test_a_tool_on_a_page_has_its_link_its_curl_line_and_its_checksum(book):
    """The href reaches the file; the command downloads from the public address and verifies what came."""
    publish(book)
    chapter, _, tree = page(book, "deep/page.md")
    [link] = [e for e in tree.iter("a") if "tool-file" in trees.classes(e)]
    assert reached(book, chapter, link.get("href")).read_bytes() == TOOL
    [box] = [e for e in tree.iter("div") if "tool-get" in trees.classes(e)]
    commands = "".join(box.itertext())
    assert "curl -fsSLO https://book.example/ml/tools/net/ping%20it.py\n" in commands
    assert f'"{hashlib.sha256(TOOL).hexdigest()}  ping it.py"' in commands


def test_an_unknown_address_is_filled_in_by_the_page(tmp_path):
    """Without site_url the line names a placeholder, and the browser is told which path to resolve."""
    book = make_book(tmp_path / "b", PAGES)
    publish(book)
    chapter, _, tree = page(book, "deep/page.md")
    [place] = [e for e in tree.iter("span") if e.get("data-site-path")]
    assert trees.text_of(place).startswith("SITE_URL/tools/")
    assert reached(book, chapter, place.get("data-site-path")).read_bytes() == TOOL


def test_a_table_has_its_rows_as_csv_and_json(book):
    """Numbers are plain, unknown cells keep their word in CSV and are null in JSON, sources are addresses."""
    publish(book)
    chapter, _, tree = page(book, "deep/page.md")
    [line] = [e for e in tree.iter("p") if "table-files" in trees.classes(e)]
    as_csv, as_json = [reached(book, chapter, a.get("href")) for a in line.iter("a")]
    assert list(csv.reader(io.StringIO(as_csv.read_text(encoding="utf-8")))) == [
        ["Part", "Power, W", "Note", "Notes", "Sources"],
        ["A, the first", "1000", "x", "Air cooled.", "https://example.org/a"],
        ["B", "n/p", 'say "y"', "Power, W: Reports differ.", ""],
    ]
    table = json.loads(as_json.read_text(encoding="utf-8"))
    assert table["caption"] == "Table 1.1. Two parts."
    assert table["columns"][1] == {"key": "tdp_w", "head": "Power, W"}
    assert [(r["id"], r["values"]["tdp_w"], r["notes"], r["sources"]) for r in table["rows"]] == [
        ("a", 1000, [{"key": None, "text": "Air cooled."}], ["https://example.org/a"]),
        ("b", None, [{"key": "tdp_w", "text": "Reports differ."}], []),
    ]


def test_other_pages_stay_as_mkdocs_wrote_them(book):
    before = {p: p.read_bytes() for p in book.site_dir.rglob("*.html")}
    publish(book, [download(book, "other.pdf", 9)])
    changed = {p.relative_to(book.site_dir).as_posix() for p, content in before.items() if p.read_bytes() != content}
    assert changed == {"index.html", "deep/page/index.html"}


def test_a_rewritten_page_keeps_its_scripts_and_its_doctype(book):
    """Inline scripts and the theme's settings come through letter by letter, or the site would stop working."""
    before = page(book, "index.md")
    publish(book, [download(book, "other.pdf", 9)])
    after = page(book, "index.md")
    assert after[1].startswith("<!doctype html>\n<html")
    scripts = [(e.attrib, e.text) for e in before[2].iter("script")]
    assert scripts and [(e.attrib, e.text) for e in after[2].iter("script")] == scripts
    assert [e.attrib for e in after[2].iter("link")] == [e.attrib for e in before[2].iter("link")]
    svg = "{http://www.w3.org/2000/svg}path"
    assert [e.get("d") for e in after[2].iter(svg)] == [e.get("d") for e in before[2].iter(svg)]


def test_manifest_lists_every_file_with_its_size_and_checksum(book):
    publish(book, [download(book, "other.pdf", 1234)])
    listing = json.loads((book.site_dir / "downloads/index.json").read_text())["files"]
    assert [f["path"] for f in listing] == ["data/tab-two.csv", "data/tab-two.json", "downloads/other.pdf", "tools/net/ping it.py"]
    for entry in listing:
        content = (book.site_dir / entry["path"]).read_bytes()
        assert entry["bytes"] == len(content)
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("home", [PAGES["index.md"], '# Home\n\n<div data-downloads hidden></div>\n'])
def test_a_site_learns_of_a_download_that_is_put_in_later(tmp_path, home):
    """A PDF made alone: its size on the home page and its checksum in the manifest are the new file's, once each."""
    book = make_book(tmp_path / "book", {**PAGES, "index.md": home})
    publish(book, [download(book, "other.pdf", 1_000)])
    for name, size in (("other.pdf", 5_000), ("other.epub", 7_000)):
        renew(book.site_dir, [download(book, name, size)])
    tree = page(book, "index.md")[2]
    sizes = [trees.text_of(a) for a in tree.iter("a") if (a.get("href") or "").startswith("downloads/")]
    assert sizes == ["PDF 5 kB", "EPUB 7 kB"]
    listing = json.loads((book.site_dir / "downloads/index.json").read_text())["files"]
    assert {f["path"]: f["bytes"] for f in listing if f["path"].startswith("downloads/")} == {
        "downloads/other.epub": 7_000,
        "downloads/other.pdf": 5_000,
    }
    for entry in listing:
        assert entry["sha256"] == hashlib.sha256((book.site_dir / entry["path"]).read_bytes()).hexdigest()
    assert "data/tab-two.csv" in {entry["path"] for entry in listing}


def test_a_folder_of_downloads_alone_gets_no_manifest(tmp_path):
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "a.pdf").write_bytes(b"x")
    renew(tmp_path, [tmp_path / "downloads" / "a.pdf"])
    assert [path.name for path in tmp_path.rglob("*")] == ["downloads", "a.pdf"]


def test_another_theme_gets_the_links_too(tmp_path):
    """A book in MkDocs' own theme has no <article>; the links still stand in its text."""
    book = make_book(tmp_path / "b", PAGES, theme="mkdocs")
    publish(book, [download(book, "b.epub", 1500)])
    tree = page(book, "index.md")[2]
    main = next(e for e in tree.iter() if e.get("role") == "main")
    assert "EPUB 2 kB" in trees.text_of(main)


def test_a_book_with_nothing_to_publish_stays_untouched(tmp_path):
    book = make_book(tmp_path / "b", {"index.md": "# Home\n"})
    for path in sorted((book.root / "tools").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    before = {p: p.read_bytes() for p in book.site_dir.rglob("*") if p.is_file()}
    assert publish(book) == ()
    assert {p: p.read_bytes() for p in book.site_dir.rglob("*") if p.is_file()} == before


def test_every_data_table_of_the_book_can_be_downloaded(realbook):
    """Each table's rows and columns are there as numbers and words, as many as the page shows."""
    for chapter in realbook.chapters:
        shown = [t for t in chapter.tree.iter("table") if "data-table" in trees.classes(t)]
        tables = list(table_data(chapter))
        assert len(tables) == len(shown), chapter.path
        for table, element in zip(tables, shown, strict=True):
            assert table.name and table.caption
            assert len(table.rows) == len(element.findall("tbody/tr")) > 0
            assert all(len(row.cells) == len(table.heads) == len(set(table.keys)) for row in table.rows), table.name
            assert any(row.sources for row in table.rows), f"{table.name}: no source in the file"


@pytest.mark.parametrize(("size", "words"), [(1, "1 B"), (999, "999 B"), (1000, "1 kB"), (87_400, "87 kB"), (2_449_000, "2.4 MB")])
def test_sizes_are_decimal_and_short(size, words):
    assert File("x", size, "").size == words

"""The real book's EPUB: what shops, readers and reading devices would refuse or cut."""

from __future__ import annotations

import zipfile

import pytest
from epubtools import Epub, epub_words, site_words

SCREENS = ((360, 640), (1024, 768))
OVERFLOW = """
const width = document.documentElement.clientWidth, found = [];
for (const e of document.body.querySelectorAll("*")) {
  if (e.closest("thead") && getComputedStyle(e.closest("thead")).position === "absolute") continue;  // for screen readers only
  const box = e.getBoundingClientRect();
  if (box.width && (box.right > width + 1 || box.left < -1)) found.push(`${e.localName}.${e.getAttribute("class")}`);
  else if (e.clientWidth && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible")
    found.push(`${e.localName}.${e.getAttribute("class")} scrolls`);
}
return found.slice(0, 5);
"""


@pytest.fixture(scope="module")
def book(realbook_epub) -> Epub:
    return Epub(realbook_epub)


def test_epubcheck_finds_nothing(realbook_epub, epubcheck):
    """0 fatals, 0 errors, 0 warnings."""
    assert epubcheck(realbook_epub) == []


def test_every_address_leads_somewhere(book):
    assert book.dangling() == []


def test_words_of_each_chapter_are_those_of_the_site_in_order(book, realbook):
    """The accepted differences have their names in epubtools."""
    for chapter in realbook.chapters:
        assert epub_words(book.sections(chapter.key)) == site_words(chapter.tree), chapter.path


def test_the_contents_hold_every_chapter_in_its_part(book, realbook):
    contents = book.contents()[len(realbook.front) :]
    assert [[c[0].split(". ", 1)[1] for c in part[2]] for part in contents] == [
        [c.title for c in part.chapters] for part in realbook.parts
    ]


def test_files_are_of_a_size_that_readers_take(book, realbook_epub):
    """Chapters below 300 kB, the whole below 15 MB."""
    assert max(len(book.data[name]) for name in book.spine) <= 300_000
    assert realbook_epub.stat().st_size < 15_000_000


@pytest.mark.parametrize("which", ["minibook_epub", "realbook_epub", "oddbook_epub"])
def test_a_browser_reads_each_file_as_strict_xhtml(which, request, browser, tmp_path):
    """As application/xhtml+xml, where one fault ends the page with an error."""
    path = request.getfixturevalue(which)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    for name in Epub(path).spine:
        browser.get((tmp_path / name).as_uri())
        kind, faults = browser.execute_script(
            "return [document.contentType, document.getElementsByTagName('parsererror').length]"
        )
        assert (kind, faults) == ("application/xhtml+xml", 0), name


@pytest.mark.parametrize("screen", SCREENS, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("which", ["minibook_epub", "realbook_epub"])
def test_nothing_is_cut_on_a_screen(which, request, browser, tmp_path, screen):
    """On a phone and on a tablet: no element reaches beyond the page, and none needs scrolling sideways."""
    path = request.getfixturevalue(which)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    metrics = {"width": screen[0], "height": screen[1], "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        cut = {}
        for name in Epub(path).spine:
            browser.get((tmp_path / name).as_uri())
            if found := browser.execute_script(OVERFLOW):
                cut[name] = found
        assert cut == {}
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

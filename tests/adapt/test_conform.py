"""HTML that browsers forgive, made valid."""

from __future__ import annotations

from epubtools import Epub, epub_words, text
from oddbook import written


def test_epubcheck_finds_nothing_in_the_odd_book(oddbook_epub, epubcheck):
    """Raw HTML of any kind, odd names, addresses and pictures: what browsers forgive, shops do not."""
    assert epubcheck(oddbook_epub) == []
    assert "red" in text(Epub(oddbook_epub).sections("raw")[0])


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


def test_addresses_of_the_web_are_encoded_where_they_must_be(oddbook_epub):
    book = Epub(oddbook_epub)
    assert book.link("odd")[1] == "http://example.org/a%5B1%5D%7Cbc?q=%7Bx%7D&r=50%25#f%23g"
    assert book.link("fine")[1] == "https://example.org/%7Ea?b=c%20d"
    assert book.link("bare")[1] == "https://example.org/x"
    assert book.link("scheme")[1] is None


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
    assert [book.link(f"to {i}")[1] for i in range(len(hrefs) - 1)] == [None] * (len(hrefs) - 1)

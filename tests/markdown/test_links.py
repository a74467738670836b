"""Links as GitHub follows them, and headings' ids as GitHub gives them."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("link", "href"),
    [
        ("sub/", "sub/index.md"),
        ("sub", "sub/index.md"),
        ("sub/#part", "sub/index.md#part"),
        ("./", "./index.md"),
        ("other.md#gr%C3%B6%C3%9Fe--co", "other.md#größe--co"),
        ("#test%28", "#test("),
        ("empty/", "empty/"),
        ("https://example.org/sub/#a%20b", "https://example.org/sub/#a%20b"),
        ("/sub/", "/sub/"),
        ("mailto:somebody@example.org", "mailto:somebody@example.org"),
        ("figure.svg", "figure.svg"),
    ],
)
def test_links_lead_where_github_leads(desk, link, href):
    desk.write("docs/sub/index.md", "# Sub\n")
    desk.write("docs/empty/picture.svg", "<svg/>")
    assert desk.tree(f"[words]({link})").find("p/a").get("href") == href


def test_an_address_of_e_mail_is_left_to_markdown(desk):
    assert desk.tree("<somebody@example.org>").find("p/a").get("href") == "mailto:somebody@example.org"


def test_what_is_no_address_is_reported_and_keeps_its_words(desk):
    """MkDocs dies of it with a traceback."""
    assert desk.wrong("# P\n\n[words](http://[host)\n") == [
        "docs/page.md:3: link-address 'http://[host' is not an address"
    ]
    assert desk.tree("[words](http://[host)").find("p/a").text == "words"


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Größe & Co", "größe--co"),
        ("A / B", "a--b"),
        ("`test(`", "test"),
        ("What is *this*?", "what-is-this"),
        ("Two[^1]", "two"),
        ("The bound $t \\ge B/W$", "the-bound-t-ge-bw"),
        ("snake_case and dash-es", "snake_case-and-dash-es"),
        ("Given {#own}", "own"),
    ],
)
def test_headings_have_githubs_slugs(desk, heading, slug):
    assert desk.tree(f"## {heading}\n\n[^1]: Note.\n").find("h2").get("id") == slug


def test_a_second_heading_of_the_same_words_counts_as_github_counts(desk):
    tree = desk.tree("## Again\n\n## Again\n\n## Again\n\n## Again 1\n")
    assert [h.get("id") for h in tree.iter("h2")] == ["again", "again-1", "again-2", "again-1-1"]

"""Figures, captions, numbers and references, within a page and across the book."""

from __future__ import annotations

import pytest

from bookbuild import trees
from bookbuild.markdown.index import labels_in, read_index

FIGURE = '![A line that rises](peak.svg "Peaks by *year*."){#fig-peak}\n'
TABLE = "Table: By hand, with `code`. {#tab-hand}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"


def words(tree, path: str) -> list[str]:
    return [trees.text_of(e) for e in tree.iterfind(path)]


def test_a_picture_alone_with_title_and_label_is_a_numbered_figure(desk):
    figure = desk.tree(FIGURE).find("figure")
    assert figure.get("id") == "fig-peak"
    assert dict(figure.find("img").items()) == {"alt": "A line that rises", "src": "peak.svg"}
    assert trees.text_of(figure.find("figcaption")) == "Figure 1.1. Peaks by year."
    assert trees.text_of(figure.find("figcaption/span[@class='label']")) == "Figure 1.1."
    assert figure.find("figcaption/em").text == "year"


def test_a_caption_is_markdown(desk):
    tree = desk.tree("![A](a.svg 'With `code`, [a link](other.md), $x$ and \"quotes\".'){#fig-peak .wide}\n")
    caption = tree.find("figure/figcaption")
    assert [e.tag.rpartition("}")[2] for e in caption] == ["span", "code", "a", "math"]
    assert trees.text_of(caption) == 'Figure 1.1. With code, a link, x and "quotes".'
    assert tree.find("figure/img").get("class") == "wide"


def test_a_caption_without_a_label_has_no_number(desk):
    tree = desk.tree('![A](a.svg "One.")\n\n' + FIGURE)
    assert words(tree, "figure/figcaption") == ["One.", "Figure 1.1. Peaks by year."]


def test_pictures_in_a_line_and_without_caption_stay_pictures(desk):
    tree = desk.tree('![A](a.svg)\n\nIn ![B](b.svg "B") a line.\n')
    assert tree.find(".//figure") is None
    assert len(tree.findall("p/img")) == 2


def test_pictures_that_are_no_drawings_are_told_from_drawings(desk):
    """A drawing's colours turn over in the dark; a photograph's must not."""
    tree = desk.tree('![A](a.png "A")\n\n![B](b.svg "B")\n')
    assert [img.get("class") for img in tree.iter("img")] == ["photo", None]


def test_a_table_written_by_hand_gets_its_caption(desk):
    figure = desk.tree(TABLE).find("figure")
    assert trees.text_of(figure.find("figcaption")) == "Table 1.1. By hand, with code."
    assert figure.find(".//table").get("id") == "tab-hand"


def test_a_caption_with_no_table_after_it_is_reported(desk):
    alone, lost = desk.wrong("# P\n\nTable: Lost. {#tab-x}\n\nText.\n")
    assert alone == "docs/page.md:3: caption-alone a table's caption without a table after it"
    assert lost.startswith("docs/page.md:3: label-lost 'tab-x' did not become a figure")


def test_numbers_count_by_chapter_and_kind(desk):
    desk.write("docs/other.md", FIGURE.replace("peak", "first") + "\n" + FIGURE.replace("peak", "second"))
    desk.write("docs/index.md", FIGURE.replace("peak", "front"))
    desk.html(FIGURE + "\n" + TABLE)
    index = read_index(desk.root / "mkdocs.yml")
    assert {name: found[0].number for name, found in index.labels.items()} == {
        "fig-front": "1",
        "fig-peak": "1.1",
        "tab-hand": "1.1",
        "fig-first": "2.1",
        "fig-second": "2.2",
    }


def test_references_forward_and_to_other_pages(desk):
    desk.write("docs/other.md", FIGURE.replace("fig-peak", "fig-far") + TABLE.replace("tab-hand", "tab-far"))
    tree = desk.tree(
        "[Figure](#fig-peak), [Figure](other.md#fig-far), [table](other.md#tab-far), [Chapter](other.md), "
        "[chapter](other.md#x), [a figure](#fig-peak).\n\n" + FIGURE
    )
    assert words(tree, "p/a") == ["Figure 1.1", "Figure 2.1", "table 2.1", "Chapter 2", "chapter 2", "a figure"]
    assert desk.problems == []


def test_ordinary_links_that_say_table_stay_ordinary(desk):
    text = "## A table\n\n[Table](#a-table), [Figure](https://example.org/#fig-x), [Chapter](https://example.org/)\n"
    assert words(desk.tree(text), "p/a") == ["Table", "Figure", "Chapter"]
    assert desk.problems == []


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("[Figure](#fig-paek)", "reference-unknown no figure has the label 'fig-paek' (did you mean fig-peak?)"),
        ("[Figure](other.md#fig-peak)", "reference-unknown no figure has the label 'fig-peak' on other.md (did you mean page.md#fig-peak?)"),
        ("[Table](#fig-peak)", "reference-kind 'fig-peak' is not a table"),
        ("[Chapter](nowhere.md)", "reference-unknown no chapter is at 'nowhere.md'"),
        ("[Chapter](index.md)", "reference-unknown no chapter is at 'index.md' (front matter has no number)"),
    ],
)  # fmt: skip
def test_a_reference_that_leads_nowhere_is_reported(desk, link, problem):
    assert desk.wrong(f"# P\n\nSee {link}.\n\n{FIGURE}") == [f"docs/page.md:3: {problem}"]


def test_a_label_that_stands_twice_is_reported_in_both_places(desk):
    desk.write("docs/other.md", f"# O\n\n\n{FIGURE}")
    assert desk.wrong(f"# P\n\n{FIGURE}") == ["docs/page.md:3: label-twice label 'fig-peak' is also at other.md:4"]
    assert desk.wrong(f"# O\n\n\n{FIGURE}", "other.md") == [
        "docs/other.md:4: label-twice label 'fig-peak' is also at page.md:3"
    ]


def test_a_label_that_becomes_no_figure_is_reported(desk):
    """It would count all the same, and shift the numbers after it."""
    [problem] = desk.wrong(f"# P\n\nText before\n{FIGURE}")
    assert problem.startswith("docs/page.md:4: label-lost 'fig-peak' did not become a figure")


def test_labels_in_code_do_not_count():
    text = "```markdown\n![A](a.svg){#fig-a}\n```\n~~~~\n~~~\nTable: T {#tab-t}\n~~~~\n![B](b.svg){#fig-b}\n"
    assert list(labels_in(text)) == [("fig-b", 8)]


def test_a_mark_four_columns_deeper_does_not_end_a_fence(desk):
    """A fence shown inside of a fence, as in an item: what follows the shown end is still code, also to the numbers."""
    text = "```markdown\n- item\n\n    ```\n    code\n    ```\n\n![A](a.svg){#fig-a}\n```\n\n![B](b.svg){#fig-b}\n"
    assert list(labels_in(text)) == [("fig-b", 11)]
    assert [e.get("id") for e in desk.tree(text).iter("figure")] == ["fig-b"]


def test_labels_of_fences_count_once_each():
    text = "```table\ncaption: C\nlabel: tab-a\n```\n\n> ```mermaid\n> %% caption: X #fig-m\n> ```\n```yaml\nlabel: tab-y\n```\n"
    assert list(labels_in(text)) == [("tab-a", 3), ("fig-m", 7)]


def test_an_edited_page_moves_the_numbers_of_others(desk):
    desk.write("docs/page.md", FIGURE)
    link = "[Figure](page.md#fig-peak)\n"
    assert words(desk.tree(link, "other.md"), "p/a") == ["Figure 1.1"]
    desk.write("docs/page.md", FIGURE.replace("peak", "new") + "\n" + FIGURE)
    assert words(desk.tree(link, "other.md"), "p/a") == ["Figure 1.2"]

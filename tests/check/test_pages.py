"""Each fault planted into a page is found on its line, under its code, and nothing else is."""

from __future__ import annotations

import pytest

ONE = "docs/one.md"
HEAD = "# One\n\n"

# name, text after the first heading (line 3 and on), expected [(line, code)]
FAULTS = [
    ("page", "To [x](folder/too.md).\n", [(3, "link-page")]),
    ("page on a later line of a paragraph", "Words\nand [x](nowhere.md).\n", [(4, "link-page")]),
    ("page in a cell", "| a | b |\n|---|---|\n| 1 | [x](nowhere.md) |\n", [(5, "link-page")]),
    ("page in a list in a box", "!!! note\n    Text\n\n    - [x](nowhere.md)\n", [(6, "link-page")]),
    ("page in a tab", '=== "Tab"\n    [x](nowhere.md)\n', [(4, "link-page")]),
    ("page by reference", "To [x][y].\n\n[y]: nowhere.md\n", [(3, "link-page")]),
    ("page in raw HTML", '<p>\n<a href="nowhere.md">x</a></p>\n', [(4, "link-page")]),
    ("folder without index", "To [x](nofolder/).\n", [(3, "link-page")]),
    ("anchor here", "To [x](#nowhere).\n", [(3, "link-anchor")]),
    ("anchor elsewhere", "To [x](folder/two.md#groesse).\n", [(3, "link-anchor")]),
    ("anchor, encoded", "To [x](folder/two.md#gr%C3%B6sse).\n", [(3, "link-anchor")]),
    ("link from the root", "To [x](/folder/two.md).\n", [(3, "link-absolute")]),
    ("link out of the book", "To [x](../tools/a.py).\n", [(3, "link-outside")]),
    ("the same wrong page twice", "To [x](no.md)\nand [y](no.md).\n", [(3, "link-page"), (4, "link-page")]),
    ("page in a caption", '![A](figures/plot.svg "By [x](no.md).")\n', [(3, "link-page")]),
    (
        "page in raw HTML that is there only for Markdown",
        'To <a href="folder/two.md">x</a>.\n',
        [(3, "link-page")],
    ),
    ("file that the site leaves out", "To [x](data/chips.yml).\n", [(3, "link-unpublished")]),
    ("anchor of GitHub's other spelling", "To [x](#one_1).\n", [(3, "link-anchor")]),
    ("address without a host", "To [x](http:/example.org).\n", [(3, "link-scheme")]),
    ("address of a machine's file", "To [x](file:///etc/hosts).\n", [(3, "link-scheme")]),
    ("address without a protocol", "To [x](//example.org/).\n", [(3, "link-scheme")]),
    ("address that is none", "To [x](http://[example).\n", [(3, "link-address")]),
    ("address as text", "See https://example.org/x.\n", [(3, "link-bare")]),
    ("reference without definition", "To [x][nodefinition].\n", [(3, "link-reference")]),
    ("reference with code without definition", "Text\nto [`x` y][no].\n", [(4, "link-reference")]),
    ("link without target", "To [x]().\n", [(3, "link-empty")]),
    ("note that is not there", "Text.\n\n- Item[^no]\n", [(5, "footnote-missing")]),
    ("note without a mark", "Text.\n\n[^a]: Note.\n", [(5, "footnote-unused")]),
    ("two notes of a name", "Text[^a].\n\n[^a]: Note.\n[^a]: More.\n", [(6, "footnote-twice")]),
    ("figure's number asked in vain", "See [Figure](#fig-no).\n", [(3, "reference-unknown")]),
    ("picture", '![A plot](figures/plott.svg "Caption.")\n', [(3, "image-missing")]),
    ("picture in a line", "Look ![a plot](figures/none.png) here.\n", [(3, "image-missing")]),
    ("picture in raw HTML", '<p><img src="none.png" alt="x"></p>\n', [(3, "image-missing")]),
    ("picture out of the book", "Look ![a plot](../theme/main.html) here.\n", [(3, "image-missing")]),
    ("picture from the root", "Look ![a plot](/figures/plot.svg) here.\n", [(3, "image-missing")]),
    ("picture that the site leaves out", "Look ![a plot](data/plot.svg) here.\n", [(3, "image-missing")]),
    (
        "picture in raw HTML that is there only for Markdown",
        'Look <img src="figures/plot.svg" alt="A plot"> here.\n',
        [(3, "image-missing")],
    ),
    ("picture elsewhere", "Look ![a plot](https://example.org/x.png) here.\n", [(3, "image-remote")]),
    ("alt text", "Look ![](figures/plot.svg) here.\n", [(3, "image-alt")]),
    ("alt text in raw HTML", '<p><img src="../figures/plot.svg"></p>\n', [(3, "image-alt")]),
    ("alt text that is a file's name", "Look ![plot.svg](figures/plot.svg) here.\n", [(3, "image-alt")]),
    ("caption of a figure", "![A plot](figures/plot.svg){#fig-a}\n", [(3, "image-caption")]),
    ("caption", "![A plot](figures/plot.svg)\n", [(3, "image-caption")]),
    ("row too long", "| a | b |\n|---|---|\n| 1 | 2 |\n| 1 | 2 | 3 |\n", [(6, "table-ragged")]),
    ("row too short", "| a | b |\n|---|---|\n| 1 |\n", [(5, "table-ragged")]),
    ("head and rule differ", "| a | b | c |\n|---|---|\n| 1 | 2 | 3 |\n", [(4, "table-unread")]),
    ("table without a rule", "| a | b |\n| 1 | 2 |\n", [(3, "table-unread")]),
    ("text glued to a table", "| a | b |\n|---|---|\n| 1 | 2 |\nText.\n", [(6, "table-ragged")]),
    ("row in an item", "- | a | b |\n  |---|---|\n  | 1 |\n", [(5, "table-ragged")]),
    ("pipe in code", "| a | b |\n|---|---|\n| `x | y` | 2 |\n", [(5, "table-ragged")]),
    ("heading without a blank, none to GitHub", "Text.\n\n##Near\n", [(5, "structure-differs")]),
    ("Markdown in raw HTML", "<div>\n\n- one\n\n</div>\n", [(5, "structure-differs")]),
    (
        "link that a note's mark makes none",
        "To [x](folder/two.md).\n\nSee [this][^1],\n[that][this].\n\n[this]: folder/two.md\n\n[^1]: Note.\n",
        [(5, "structure-differs")],
    ),
    ("page in the head of a box", 'Text.\n\n!!! note "To [x](no.md)"\n    Text.\n', [(5, "link-page")]),
    ("page behind code that looks like a fence", "```x``` is code.\n\nTo [x](no.md).\n", [(5, "link-page")]),
    (
        "page behind a fence that shows fences",
        '=== "Tab"\n\n    ```text\n        ```\n    [y](no.md)\n    ```\n\n    [x](no.md)\n',
        [(10, "link-page")],
    ),
    ("second title", "Text.\n\n# Two\n", [(5, "heading-first")]),
    ("level skipped", "## A\n\n#### B\n", [(5, "heading-skipped")]),
    ("leftover", "Words.\nTODO: more.\n", [(4, "leftover")]),
    ("filler", "Lorem ipsum dolor.\n", [(3, "leftover")]),
    ("leftover in a comment", "<!-- FIXME -->\n", [(3, "leftover")]),
    ("leftover in an alt text", "Look ![TODO](figures/plot.svg) here.\n", [(3, "leftover")]),
    ("leftover in a diagram", "```mermaid\nflowchart LR\n  a[TBD] --> b\n```\n", [(5, "leftover")]),
    ("snippet", 'Text.\n\n--8<-- "none.txt"\n', [(5, "snippet-missing")]),
]


@pytest.mark.parametrize(("text", "expected"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_planted_fault_is_found_on_its_line_and_nothing_else(planted, text, expected):
    planted.write("docs/data/chips.yml", "records: []\n")
    planted.write("docs/data/plot.svg", "<svg/>")
    planted.write(ONE, HEAD + text)
    assert planted.found() == [(ONE, line, code) for line, code in expected]


def test_open_fence_is_found_where_it_opens(planted):
    """What stands behind it is code to GitHub and to us, so nothing else may be said."""
    planted.write(ONE, HEAD + "Text.\n\n```python\nx = 1\n\n## Not a heading\n")
    assert (ONE, 5, "fence-open") in planted.found()


def test_open_fence_hides_no_second_fault_before_it(planted):
    planted.write(ONE, HEAD + "[x](no.md)\n\n```python\nx = 1\n")
    assert planted.found() == [(ONE, 3, "link-page"), (ONE, 5, "fence-open")]


def test_page_without_title(planted):
    planted.write(ONE, "Text.\n")
    assert planted.found() == [(ONE, 1, "heading-first")]


def test_unknown_front_matter_key_with_the_one_meant(planted):
    planted.write(ONE, "---\ntitle: One\ndescripton: x\n---\n\n# One\n")
    [problem] = planted.problems()
    assert (problem.file, problem.line, problem.code) == (ONE, 3, "frontmatter-key")
    assert "description" in problem.hint


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("---\ntitle: One: two\n---\n\n# One\n", 2, "frontmatter-yaml"),
        ("---\ntitle: One\ntitle: Two\n---\n\n# One\n", 3, "frontmatter-yaml"),
        ("---\ntitle: One\n\n# One\n", 1, "frontmatter-yaml"),
        ("Note: a word with a colon\n\n# One\n", 1, "frontmatter-stray"),
        ("---\ntitle: TODO\n---\n\n# One\n", 2, "leftover"),
    ],
)
def test_front_matter_that_is_not_read_as_meant(planted, text, line, code):
    planted.write(ONE, text)
    assert (ONE, line, code) in planted.found()


def test_a_bad_head_is_told_once(planted):
    """Its lines stand on the page as text, which nobody needs to hear besides."""
    planted.write(ONE, "---\ntitle: One: two\n---\n\n# One\n")
    assert planted.found() == [(ONE, 2, "frontmatter-yaml")]


def test_clean_book_has_no_problems(planted):
    assert planted.problems() == []


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[x](folder/too.md)", "folder/two.md"),
        ("[x](two.md)", "folder/two.md"),
        ("[x](folder/two.md#große--co)", "#größe--co"),
        ("[x](#größe--co)", "folder/two.md#größe--co"),
        ("[x](/folder/two.md)", "write folder/two.md"),
        ("[x](www.example.org)", "https://www.example.org"),
        ("[x](htps://example.org)", "https"),
        ("![x](figures/plots.svg)", "figures/plot.svg"),
    ],
)
def test_hint_names_what_was_meant(planted, text, hint):
    planted.write(ONE, f"{HEAD}Look: {text} there.\n")
    [problem] = planted.problems()
    assert hint in problem.hint


@pytest.mark.parametrize(
    "text",
    [
        "`[x](nowhere.md)`",
        "```text\n[x](nowhere.md) TODO ![](x.png)\n```",
        "    [x](nowhere.md)",
        "[x](https://example.org/nowhere.md) and <mailto:a@example.org>",
        "[x](folder/) is no index, yet [y](./folder/two.md) is there and [z](one.md#again-1) too".replace(
            "[x](folder/) is", "`x` is"
        ),
        "A todo list, an xxx-large font.",
        "$$\na_b [x](nowhere.md)\n$$",
        "| a \\| b | c |\n|---|---|\n| `x \\| y` | 2 |",
        "![dot](figures/plot.svg) stays in its line",
        '<img src="../figures/plot.svg" alt="">',
        "[![dot](figures/plot.svg)](folder/two.md)",
        '!!! note "See [two](folder/two.md)"\n    Text.',
        '??? note "See [two](folder/two.md)"\n    Text.',
        "To [x](folder/two.md#gr%C3%B6%C3%9Fe--co) and [y][two].\n\n[two]: folder/two.md",
        "Rows[i][j] and a[0][1], |x| and |y|.",
        "One[^a], two[^b].\n\n[^b]: Second.\n[^a]: First.\n\n    - with\n    - a list",
        '<h2 id="own">Own</h2>\n\nTo [own](#own), <a name="there"></a> to [there](#there).',
        "See <https://example.org/x> and `https://example.org/y`.",
        "- | a | b |\n  |---|---|\n  | 1 | 2 |",
        '```python linenums="1"\nx = 1\n```',
    ],
)
def test_what_is_right_is_left_alone(planted, text):
    planted.write(ONE, f"{HEAD}{text}\n\n## Again\n\n## Again\n")
    assert planted.problems() == []


def test_lists_that_python_markdown_alone_would_lose_are_no_difference(planted):
    """338 of 1,661 items of a real book vanished in such places; ours reads them as GitHub does."""
    planted.write(ONE, f"{HEAD}Text:\n- one\n  - two\n    1. three\n- four\n")
    assert planted.problems() == []


def test_what_a_snippet_brings_in_is_no_difference(planted):
    planted.write("docs/part.inc", "- one\n- two\n\n| a |\n|---|\n| 1 |\n")
    planted.write(ONE, f'{HEAD}Text.\n\n--8<-- "docs/part.inc"\n\n## Next\n')
    assert planted.problems() == []


def test_a_page_outside_of_nav_can_be_linked(planted):
    planted.write("docs/more.md", "# More\n\n## Part\n")
    planted.write(ONE, f"{HEAD}To [x](more.md#part).\n")
    assert planted.found() == [("docs/more.md", 0, "nav-omitted")]


def test_each_page_is_read_once(planted, monkeypatch):
    from bookbuild.check import sources

    read = []
    parse = sources.read_gfm
    monkeypatch.setattr(sources, "read_gfm", lambda text, found: read.append(text) or parse(text, found))
    planted.write(ONE, HEAD + "To [x](no.md).\n\n- one\n")
    planted.problems()
    assert len(read) == 2 and len(set(read)) == 2


def test_a_label_on_a_page_outside_of_nav_has_no_number(planted):
    planted.write("docs/more.md", '# More\n\n![A plot](figures/plot.svg "Caption."){#fig-a}\n')
    assert ("docs/more.md", 3, "label-unknown") in planted.found()


def test_lost_list_is_found(planted, monkeypatch):
    """Without our list reading, the difference is named with its line."""
    from bookbuild.markdown import lists

    monkeypatch.setattr(lists, "arrange", lambda lines, in_item=False: lines)
    planted.write(ONE, f"{HEAD}Text:\n- one\n- two\n")
    assert (ONE, 4, "structure-differs") in planted.found()

"""Lists are read as GitHub reads them, and nothing else is touched."""

from __future__ import annotations

import random

import pytest
from support import ROOT

from bookbuild.markdown.structure import differences, gfm, rendered


def outline(element) -> list:
    """The lists below an element, as nested (tag, [items])."""
    found = []
    for child in element:
        if child.tag in ("ul", "ol"):
            found.append((child.tag, [((item.text or "").strip().split("\n")[0] or para(item), outline(item)) for item in child]))
        else:
            found += outline(child)
    return found


def para(item) -> str:
    return next((p.text or "" for p in item if p.tag == "p"), "")


CASES = {
    "a list right after text": ("text\n- a\n- b\n", [("ul", [("a", []), ("b", [])])]),
    "two spaces nest": ("- a\n  - b\n    - c\n- d\n", [("ul", [("a", [("ul", [("b", [("ul", [("c", [])])])])]), ("d", [])])]),
    "three spaces nest under a number": ("1. a\n   - b\n2. c\n", [("ol", [("a", [("ul", [("b", [])])]), ("c", [])])]),
    "numbers after bullets": ("- a\n1. b\n2. c\n", [("ul", [("a", [])]), ("ol", [("b", []), ("c", [])])]),
    "a bracket after the number": ("1) a\n2) b\n", [("ol", [("a", []), ("b", [])])]),
    "another bullet, another list": ("- a\n* b\n", [("ul", [("a", [])]), ("ul", [("b", [])])]),
    "in a quote": ("> text\n> - a\n>   - b\n", [("ul", [("a", [("ul", [("b", [])])])])]),
    "in an admonition": ("!!! note\n    text\n    - a\n      - b\n", [("ul", [("a", [("ul", [("b", [])])])])]),
    "in a tab": ('=== "T"\n    text\n    - a\n      - b\n', [("ul", [("a", [("ul", [("b", [])])])])]),
    "in details": ("??? note\n    - a\n\n      - b\n", [("ul", [("a", [("ul", [("b", [])])])])]),
    "a number in running text": ("in the year\n2024. that was\n", []),
    "a number that goes on in an item": ("- in the year\n  2024. that was\n", [("ul", [("in the year", [])])]),
    "an item over two lines": ("- a\ngoes on\n- b\n", [("ul", [("a", []), ("b", [])])]),
    "a heading ends the list": ("- a\n## H\n- b\n", [("ul", [("a", [])]), ("ul", [("b", [])])]),
    "four spaces nest as well": ("- a\n    - b\n        - c\n", [("ul", [("a", [("ul", [("b", [("ul", [("c", [])])])])])])]),
    "a list that starts its item": ("- - a\n  - b\n- c\n", [("ul", [("", [("ul", [("a", []), ("b", [])])]), ("c", [])])]),
    "an empty item": ("-\n- a\n", [("ul", [("", []), ("a", [])])]),
    "a rule is no item": ("- - -\n* * *\n", []),
    "emphasis is no item": ("*a* b\n**c**\n-d\n1.e\n", []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lists(desk, case):
    text, wanted = CASES[case]
    assert outline(desk.tree(text)) == wanted


def test_text_of_an_item_keeps_its_place_before_the_list_in_it(desk):
    """In an admonition Python-Markdown moves it behind."""
    tree = desk.tree("!!! note\n\n    - first\n      - second\n\n      - third\n")
    assert " ".join("".join(tree.find(".//ul").itertext()).split()) == "first second third"


def test_items_may_hold_blocks(desk):
    text = "1. a\n   ```python\n   - no\n   ```\n2. b\n\n   | c | d |\n   |---|---|\n   | 1 | 2 |\n\n   > quote\n3. e\n   !!! note\n       f\n"
    items = desk.tree(text).find("ol")
    assert [len(items), [e.tag for e in items[1]]] == [3, ["p", "table", "blockquote"]]
    assert "".join(items[0].find(".//pre").itertext()).strip() == "- no"
    assert items[2].find("div").get("class") == "admonition note"


@pytest.mark.parametrize(
    "text",
    [
        "```text\ntext\n- a\n  - b\n```\n",
        "    indented\n    - a\n      - b\n",
        "<pre>\ntext\n- a\n</pre>\n",
        "<!-- text\n- a\n-->\n",
        "$$\na\n- b\n$$\n",
        "| a |\n|---|\n| - b |\n",
    ],
)
def test_code_html_and_formulas_hold_no_lists(desk, text):
    assert outline(desk.tree(text)) == []


def test_a_fence_right_after_text_leaves_the_paragraph(desk):
    tree = desk.tree("text\n```text\ncode\n```\nmore\n")
    assert [e.tag for e in tree] == ["p", "div", "p"]


def test_github_and_the_page_read_the_mini_book_alike(minibook):
    for chapter in minibook.chapters:
        text = chapter.source.read_text(encoding="utf-8")
        assert list(differences(text, chapter.tree)) == [], chapter.path


def test_the_comparison_sees_what_the_mini_book_has(minibook):
    """Otherwise two empty readings would be equal."""
    [lists] = [c for c in minibook.chapters if c.path == "first/lists.md"]
    kinds = [mark.kind for mark in rendered(lists.tree)]
    # counted by hand in the source
    assert (kinds.count("ul"), kinds.count("ol"), kinds.count("li"), kinds.count("code")) == (9, 3, 21, 3)


@pytest.mark.parametrize(
    ("text", "html", "place"),
    [
        ("text\n\n- a\n- b\n", "<p>text - a - b</p>", 3),
        ("# H\n\n- a\n  - b\n", "<h1>H</h1><ul><li>a</li><li>b</li></ul>", 4),
        ("a\n\n```\nx\n```\n", "<p>a</p>", 3),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>", 1),
        ("[a](b.md)\n\ntext [c](d.md)\n", '<p><a href="b.md">a</a></p><p>text c</p>', 3),
    ],
)
def test_a_difference_is_found_with_its_line(text, html, place):
    from bookbuild.trees import parse_fragment

    assert [line for line, _ in differences(text, parse_fragment(html))] == [place]


class Writer:
    """Writes pages of nested lists, code, tables and quotes by chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def page(self) -> str:
        return "\n".join(self.blocks(0, "")) + "\n"

    def blocks(self, depth: int, indent: str) -> list[str]:
        out: list[str] = []
        for _ in range(self.chance.randint(1, 4)):
            out += [*self.block(depth, indent), ""]
        return out

    def text(self) -> str:
        return self.chance.choice(["alpha", "beta gamma", "delta `x`", "**epsilon** zeta"])

    def block(self, depth: int, indent: str) -> list[str]:
        kind = self.chance.random()
        if kind < 0.3 or depth > 3:
            return [indent + self.text() for _ in range(self.chance.randint(1, 2))]
        if kind < 0.4:
            return [indent + line for line in ("```py", "- x", "1. y", "```")]
        if kind < 0.45:
            return [indent + "> " + self.text(), indent + "> - quoted"]
        if kind < 0.5:
            return [indent + line for line in ("| a | b |", "|---|---|", "| 1 | 2 |")]
        if kind < 0.55:
            return [indent + "!!! note", "", *("    " + line if line else "" for line in self.blocks(depth + 1, indent))]
        return self.list(depth, indent)

    def list(self, depth: int, indent: str) -> list[str]:
        sign, out = self.chance.choice(["-", "*", "1.", "1)", "-  "]), []
        for _ in range(self.chance.randint(1, 3)):
            out.append(f"{indent}{sign} {self.text()}")
            for _ in range(self.chance.choice([0, 0, 1, 2])):
                if self.chance.random() < 0.4:
                    out.append("")
                out += self.block(depth + 1, indent + " " * (len(sign) + 1))
        return [*out, ""]


@pytest.mark.parametrize("seed", range(120))
def test_pages_made_by_chance_are_read_alike(desk, seed):
    text = Writer(seed).page()
    assert list(differences(text, desk.tree(text))) == [], text


def test_the_pages_made_by_chance_hold_lists_in_lists():
    marks = [mark for seed in range(120) for mark in gfm(Writer(seed).page())]
    assert sum(mark.kind in ("ul", "ol") and mark.depth > 0 for mark in marks) > 100


def test_the_real_book_is_read_alike(realbook):
    for chapter in realbook.chapters:
        text = chapter.source.read_text(encoding="utf-8")
        assert list(differences(text, chapter.tree)) == [], chapter.source.relative_to(ROOT)

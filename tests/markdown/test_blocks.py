"""A fence stands on its own wherever it is written, and never inside of a paragraph."""

from __future__ import annotations

import pytest

TABLE = """\
```table
label: tab-q
caption: Q
data: parts
columns:
  - name: N
```
"""
CODE = "```text\n- x\n```\n"


def indented(text: str, columns: int) -> str:
    return "".join(f"{' ' * columns}{line}\n" for line in text.splitlines())


PLACES = {
    "in a tight list": lambda fence: f"- item\n{indented(fence, 2)}- next\n",
    "in a loose list": lambda fence: f"- item\n\n{indented(fence, 2)}\n- next\n",
    "after text in a loose list": lambda fence: f"- item\n{indented(fence, 2)}\n- next\n",
    "in a quote": lambda fence: "".join(f"> {line}\n" for line in fence.splitlines()),
    "in an admonition": lambda fence: f"!!! note\n    text\n{indented(fence, 4)}",
    "in a tab": lambda fence: f'=== "A"\n{indented(fence, 4)}',
    "in details": lambda fence: f"??? note\n{indented(fence, 4)}",
    "in HTML": lambda fence: f"<div markdown>\n\n{fence}\n</div>\n",
    "between lines of text": lambda fence: f"text\n{fence}more\n",
    "at the end of a footnote": lambda fence: f"x[^1]\n\n[^1]: note\n\n{indented(fence, 4)}",
    "in a definition": lambda fence: f"term\n:   words\n\n{indented(fence, 4)}",
}


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize(("fence", "tag"), [(TABLE, "figure"), (CODE, "pre")], ids=["table", "code"])
def test_a_fence(desk, place, fence, tag):
    """No mark is left over, the block is there once, and the page's HTML is what a browser makes of it."""
    desk.write("docs/data/parts.yml", "records: [{id: a, name: A}]")
    text = PLACES[place](fence)
    html = desk.html(text)
    assert "\x02" not in html
    assert "wzxhzdk" not in html
    tree = desk.tree(text)
    assert len(list(tree.iter(tag))) == 1
    assert html.count("<p>") + html.count("<p ") == len(list(tree.iter("p")))  # else a parser had to close one
    assert desk.problems == []

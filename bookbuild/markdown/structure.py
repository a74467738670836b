"""How GitHub reads a page and how we rendered it, as two lists of marks that must be equal.

GitHub's side is markdown-it-py on the source; what GitHub does not know (admonitions, tabs, details) is opened first, and
fences of ours are left out on both sides. Marks say kind and depth: headings by level, lists, their items, tables by rows and
columns, code blocks, links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from bookbuild import trees

OURS = frozenset(
    {"table", "script", "mermaid", "worked", "calculator"}
)  # fences that become something else than code
_GENERATED = frozenset(
    {
        "script",
        "diagram",
        "headerlink",
        "footnote-backref",
        "tabbed-labels",
        "admonition-title",
        "math",
        "worked",
    }
)
WORD_SCHEMES = ("val", "sum")  # links whose words are all that anybody sees
_BOX = re.compile(r'^( *)(?:!{3} ?\w|\?{3}\+? ?[\w"]|={3}[!+]{0,2} ")')
_FENCE = re.compile(r"^([ >]*)(`{3,}(?=[^`]*$)|~{3,})(.*)$")
SNIPPET = re.compile(r"^\s*-+8<-+\s")
_RAW = re.compile(r"<(?:a|h[1-6]|[uo]l|li|table|pre)\b", re.IGNORECASE)

_NAMES = {
    "ul": "a list of bullets",
    "ol": "a numbered list",
    "li": "an item",
    "code": "a code block",
    "note": "a mark of a footnote",
}


@dataclass(frozen=True)
class Mark:
    kind: str  # 'h2', 'ul', 'ol', 'li', 'table 3x4', 'code', 'link', 'note'
    depth: int = 0  # of lists around it
    line: int = field(default=0, compare=False)  # in the source; 0 on the rendered side
    words: str = field(default="", compare=False)  # some of those it begins with, on GitHub's side
    element: Element | None = field(default=None, compare=False, repr=False)  # on the rendered side

    def __str__(self) -> str:
        heading = f"a heading of level {self.kind[1:]}" if self.kind[0] == "h" else f"a {self.kind}"
        words = _NAMES.get(self.kind, heading)
        return f"{words} at depth {self.depth}" if self.kind in ("ul", "ol", "li") else words


def differences(text: str, tree: Element, tokens: list[Token] | None = None) -> Iterator[tuple[int, str]]:
    """(line, what) of each place where the page differs from how GitHub reads its source, empty where all is equal.

    `tokens` spares a second reading of the text.
    """
    ours, theirs = rendered(tree), gfm(text, tokens)
    if ours == theirs:
        return
    lines = text.split("\n")
    for i, j, k, m in _apart(theirs, ours):
        there = ", ".join(map(str, theirs[i : min(j, i + 3)])) or "nothing"
        here = ", ".join(map(str, ours[k : min(m, k + 3)])) or "nothing"
        place = theirs[min(i, len(theirs) - 1)].line if theirs else 1
        if i == j:
            place = _line_of(ours[k], lines, theirs[i - 1].line if i else 1, place)
        yield place, f"GitHub reads {there} where the page has {here}"


def _apart(theirs: list[Mark], ours: list[Mark]) -> Iterator[tuple[int, int, int, int]]:
    """Ranges in which the two lists differ. Equal words are laid side by side first, since marks alone repeat."""
    keys = [[(mark.kind, mark.depth, _key(mark)) for mark in side] for side in (theirs, ours)]
    for what, i, j, k, m in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if what == "equal" or theirs[i:j] == ours[k:m]:  # words may differ, as in "Figure" and "Figure 2.1"
            continue
        inner = SequenceMatcher(None, theirs[i:j], ours[k:m], autojunk=False)
        for part, a, b, c, d in inner.get_opcodes():
            if part != "equal":
                yield i + a, i + b, k + c, k + d


def _key(mark: Mark) -> str:
    """The first letters and digits of what a mark holds; the same on both sides, whatever the markup."""
    texts = mark.element.itertext() if mark.element is not None else [mark.words]
    found = ""
    for text in texts:
        found += "".join(c for c in text[:40] if c.isalnum())
        if len(found) >= 8:
            break
    return found[:8]


def _line_of(mark: Mark, lines: list[str], after: int, otherwise: int) -> int:
    """The line behind `after` on which the first words of what the page shows stand."""
    texts = (text.strip() for text in mark.element.itertext()) if mark.element is not None else ()
    first = next((text.split("\n")[0] for text in texts if text), "")
    numbers = range(after + 1, len(lines) + 1)
    return next((n for n in numbers if first and first in lines[n - 1]), otherwise)


# ---- GitHub's side ----


@lru_cache(maxsize=1)
def gfm_parser() -> MarkdownIt:
    """CommonMark with GitHub's tables, footnotes and front matter; definition lists besides."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: True  # every address as it is written, none left out
    parser.normalizeLink = parser.normalizeLinkText = lambda url: url
    return parser.use(footnote_plugin, inline=False).use(deflist_plugin).use(front_matter_plugin)


def read_gfm(text: str, found: dict[str, Any] | None = None) -> list[Token]:
    """The tokens of a source, their lines those of the text; `found` receives what the parser notes besides."""
    lines = without_maths(opened_boxes(text.split("\n")))
    return gfm_parser().parse("\n".join(lines), {} if found is None else found)


def gfm(text: str, tokens: list[Token] | None = None) -> list[Mark]:
    """The marks of a source as GitHub reads it, in the order of the page; notes come last as they do there."""
    tokens = read_gfm(text) if tokens is None else tokens
    marks: list[Mark] = []
    depth = line = 0
    for place, token in enumerate(tokens):
        if token.map:
            line = token.map[0] + 1
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            marks.append(Mark(token.tag, depth, line, _first_words(tokens, place)))
            depth += 1
        elif kind in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif kind == "list_item_open":
            marks.append(Mark("li", depth, line, _first_words(tokens, place)))
        elif kind == "heading_open":
            marks.append(Mark(token.tag, 0, line, _first_words(tokens, place)))
        elif kind == "code_block" or (kind == "fence" and (token.info.split() or [""])[0] not in OURS):
            marks.append(Mark("code", 0, line, token.content))
        elif kind == "table_open":
            marks.append(Mark(_table_of(tokens[place:]), 0, line, _first_words(tokens, place)))
        elif kind == "inline":
            marks += _inline(token, line)
        elif kind == "html_block":
            marks += _raw(token.content, depth, line)
    return marks


def _first_words(tokens: list[Token], place: int) -> str:
    """What a block begins with, as it is typed."""
    return next((t.content for t in tokens[place : place + 8] if t.content), "")


def _inline(inline: Token, line: int) -> Iterator[Mark]:
    children = inline.children or []
    for place, token in enumerate(children):
        if token.type == "link_open" and _is_address(str(token.attrs.get("href", ""))):
            yield Mark("link", 0, line, "".join(t.content for t in children[place : place + 4]))
        elif token.type == "html_inline":
            yield from _raw(token.content, 0, line)
        elif token.type == "footnote_ref":
            yield Mark("note", 0, line)


def _is_address(href: str) -> bool:
    try:
        return bool(href) and urlsplit(href).scheme not in WORD_SCHEMES
    except ValueError:
        return False


def _raw(html: str, depth: int, line: int) -> list[Mark]:
    """Raw HTML stands on the page as it is written."""
    if not _RAW.search(html):
        return []
    return [Mark(mark.kind, depth + mark.depth, line) for mark in rendered(trees.parse_fragment(html))]


def _table_of(tokens: list[Token]) -> str:
    rows = columns = 0
    for token in tokens:
        rows += token.type == "tr_open"
        columns += token.type == "th_open"
        if token.type == "table_close":
            break
    return f"table {rows}x{columns}"


class Fences:
    """Tells the lines of fences from others, fed with one line after the other."""

    def __init__(self) -> None:
        self.mark, self.column = "", 0  # of the fence that is open
        self.language = ""  # of the last one that was opened

    def take(self, line: str) -> bool:
        """Whether the line belongs to a fence, its first and its last one included."""
        match = _FENCE.match(line)
        if self.mark:
            is_end = match and match[2].startswith(self.mark) and not match[3].strip()
            if match and is_end and len(match[1]) < self.column + 4:  # deeper it is text of the code
                self.mark = ""
            return True
        if match:
            self.mark, self.column = match[2], len(match[1])
            self.language = (match[3].split() or [""])[0]
        return bool(match)


def opened_boxes(lines: list[str]) -> list[str]:
    """The lines without heads and indents of admonitions, details and tabs, as many as before."""
    out: list[str] = []
    boxes: list[int] = []  # columns at which the heads of open boxes stand
    fences = Fences()
    for line in lines:
        bare, column = line.strip(), len(line) - len(line.lstrip(" "))
        if boxes and bare and not fences.mark and column < boxes[-1] + 4:
            while boxes and column < boxes[-1] + 4:
                closed = boxes.pop()
            if out and not out[-1].strip():  # no list goes on across a box's end
                out[-1] = " " * (closed - 4 * len(boxes)) + "<!-- -->"
        inner = line[min(4 * len(boxes), column) :]
        if not fences.take(inner) and _BOX.match(inner):
            inner = " " * (column - 4 * len(boxes)) + "<!-- -->"
            boxes.append(column)
        out.append(inner)
    return out


def without_maths(lines: list[str]) -> list[str]:
    """The lines with formulas and snippet lines blank: GitHub reads no Markdown in the former and has not the latter."""
    out, fences, maths = list(lines), Fences(), False
    for number, line in enumerate(out):
        if not maths and fences.take(line):
            continue
        if maths or line.strip().startswith("$$"):
            body = line.strip()
            closes = body.endswith("$$") and (maths or len(body) > 2)
            maths = not closes and bool(body)  # a blank line ends a formula that was not closed
            out[number] = ""
        elif SNIPPET.match(line):
            out[number] = ""
    return out


# ---- our side ----


def rendered(tree: Element) -> list[Mark]:
    """The marks of a rendered page."""
    marks: list[Mark] = []
    _walk(tree, 0, marks)
    return marks


def _walk(element: Element, depth: int, marks: list[Mark]) -> None:
    for child in element:
        _, tag = trees.split_tag(child.tag)
        names = trees.classes(child)
        if names & _GENERATED or tag in ("svg", "math", "summary"):  # a box's head is text to GitHub
            continue
        below = depth
        if tag in ("ul", "ol") and "footnote" not in trees.classes(element):
            marks.append(Mark(tag, depth, element=child))
            below = depth + 1
        elif tag == "li" and "footnote" not in names and not (child.get("id") or "").startswith("fn:"):
            marks.append(Mark("li", depth, element=child))
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            marks.append(Mark(tag, element=child))
        elif tag == "pre" or "highlighttable" in names:  # the latter is code beside its line numbers
            marks.append(Mark("code", element=child))
            continue
        elif tag == "figure" and child.find(".//table[@data-name]") is not None:
            continue  # a data table: a fence to GitHub
        elif tag == "figcaption" and element.find("img") is not None:
            continue  # a picture's title: no text to GitHub
        elif tag == "table":
            rows = [row for row in child.iter("tr")]
            marks.append(Mark(f"table {len(rows)}x{len(rows[0]) if rows else 0}", element=child))
        elif tag == "a" and "footnote-ref" in names:
            marks.append(Mark("note", element=child))
        elif tag == "a" and child.get("href"):
            marks.append(Mark("link", element=child))
        _walk(child, below, marks)

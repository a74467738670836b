"""What a reading system needs: everything open, notes that pop up, code that wraps, tables that are never cut."""

from __future__ import annotations

from itertools import zip_longest
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.blocks import block_lines, blocks
from bookbuild.adapt.codelines import annotations, split_lines
from bookbuild.adapt.common import COMMON, Place, Rewrite
from bookbuild.adapt.conform import conform
from bookbuild.adapt.icons import icon, kind_of
from bookbuild.adapt.print import tabs, task_lists
from bookbuild.adapt.prose import pairs, quotes
from bookbuild.adapt.tables import SIZE, Widths, column_widths

TYPE = f"{{{trees.EPUB}}}type"
_SITE_ONLY = frozenset(
    "script style button form input select textarea template noscript link".split()  # noqa: SIM905
)
_PLAYED = {"iframe", "video", "audio", "object", "embed", "canvas"}
_ROLES = {"tip": "doc-tip", "example": "doc-example"}  # an aside may have these; of other kinds it is a note
STACKS = (16, 20, 25, 31, 38, 46, 56, 70, 90)  # em; wide.css is written for each
_COMFORT = 7  # em of a table's type that a column of words gets before its table is given up
# em of the text per em of a table's type: the size in epub.css, and room for readers whose typefaces run wider
_TABLE_TYPE = 0.85 * 1.1
_DEEPEST = 24  # columns of indentation that epub.css knows


def site_only(tree: Element, place: Place) -> None:
    """What only a browser can use goes; what it would play becomes a link to it."""
    for parent, child in trees.with_parents(tree):
        if child.tag in _SITE_ONLY or {"site-only", "no-epub"} & trees.classes(child):
            trees.replace(parent, child)
        elif child.tag in _PLAYED:
            inner = next((s.get("src") for s in child.iter("source")), None)
            source = child.get("src") or child.get("data") or inner
            link = Element("a", {"href": source} if source else {})
            link.text = child.get("title") or source
            trees.replace(parent, child, link)


def admonitions(tree: Element, place: Place) -> None:
    """Admonitions are asides, details are open sections; the icon says the kind also to a screen reader."""
    for element in list(tree.iter()):
        marks = trees.classes(element)
        if element.tag == "details":
            element.tag = "section"
            element.attrib.pop("open", None)
            title = element.find("summary")
            marks |= {"admonition", "details"}
        elif element.tag == "div" and "admonition" in marks:
            element.tag = "aside"
            title = next((c for c in element if "admonition-title" in trees.classes(c)), None)
        else:
            continue
        kind = kind_of(marks)
        element.set("class", " ".join(sorted(marks | {kind})))
        if element.tag == "aside":
            element.set("role", _ROLES.get(kind, "note"))
            if kind == "tip":
                element.set(TYPE, "tip")
        if title is None:
            continue
        title.tag = "p"
        title.set("class", "admonition-title")
        drawn = icon(kind, kind.capitalize())
        drawn.set("role", "img")
        for stroke in drawn.iterfind("*[@stroke]"):
            stroke.set("stroke", "currentColor")  # the reader's ink, in dark mode too
        drawn.tail, title.text = f" {title.text or ''}", None
        title.insert(0, drawn)


def code(tree: Element, place: Place) -> None:
    """One block a line, indented as deep as its text, so that a line that wraps hangs below its own start.

    The line breaks stay inside of the blocks: a reader that knows no CSS still shows lines, and copies them.
    """
    for parent, table in trees.with_parents(tree):
        if table.tag == "table" and "highlighttable" in trees.classes(table):  # line numbers in a column
            kept = [
                c for c in table.iter() if {"filename", "code"} & trees.classes(c) and c.tag in ("th", "td")
            ]
            trees.replace(parent, table, *(child for cell in kept for child in cell))
    for pre in tree.iter("pre"):
        block = pre.find("code")
        if block is None:
            continue
        lines = split_lines(block)
        while lines and not trees.text_of(lines[-1]):
            lines.pop()
        for line in lines:
            text = "".join(line.itertext())
            indent = min(len(text) - len(text.lstrip(" ")), _DEEPEST)
            line.set("class", f"line in{indent}" if indent else "line")
            if len(line):
                line[-1].tail = (line[-1].tail or "") + "\n"
            else:
                line.text = (line.text or "") + "\n"
        block.text, block[:] = None, lines
        pre[:], pre.text = [block], None
        block.tail = None


def tables(tree: Element, place: Place) -> None:
    """Heads get a scope, cells the name of their column: on a narrow screen each row becomes a list of them."""
    for parent, table in trees.with_parents(tree):
        if table.tag != "table":
            continue
        heads = [trees.text_of(h) for h in _columns(table.find("thead/tr"))]
        for head in table.iterfind("thead/tr/th"):
            head.set("scope", head.get("scope", "col"))
        for head in table.iterfind("tbody/tr/th"):
            head.set("scope", head.get("scope", "row"))
        rows = [_columns(row) for row in table.iter("tr")]
        if any(heads) and not _spans(table):
            _label(table, heads)
            mark = f"below{_narrowest(rows, _COMFORT if len(heads) > 2 else 0)}"
        else:  # cannot be taken apart: words break instead
            mark = f"break{_narrowest(rows, 0)}"
        table.set("class", " ".join(sorted(trees.classes(table) | {mark})))
        frame = Element("div", {"class": "table-frame"})
        trees.replace(parent, table, frame)
        frame.append(table)


def _narrowest(rows: list[list[Element]], comfort: float) -> int:
    """The width in em of the text around it, out of STACKS, below which a table does not fit.

    A column needs its longest word, one of running text also `comfort` em of the table's type.
    """
    columns = zip_longest(column_widths(rows[:1]), column_widths(rows[1:]), fillvalue=Widths(0, 0))
    points = sum(max(head.word, own.word, min(own.cell, comfort * SIZE)) + SIZE for head, own in columns)
    return next((width for width in STACKS if width > _TABLE_TYPE * points / SIZE), STACKS[-1])


def _columns(row: Element | None) -> list[Element]:
    return [] if row is None else [cell for cell in row if cell.tag in ("th", "td")]


def _spans(table: Element) -> bool:
    return len(table.findall("thead/tr")) != 1 or any(
        cell.get("colspan", "1") != "1" or cell.get("rowspan", "1") != "1"
        for cell in table.iter()
        if cell.tag in ("td", "th")
    )


def _label(table: Element, heads: list[str]) -> None:
    """Roles are written out, because a table that is laid out as blocks loses them in some browsers."""
    table.set("role", "table")
    for group in table:
        if group.tag in ("thead", "tbody", "tfoot"):
            group.set("role", "rowgroup")
    for row in table.iter("tr"):
        row.set("role", "row")
        for cell, head in zip(_columns(row), heads, strict=False):
            scope = cell.get("scope")
            cell.set("role", {"col": "columnheader", "row": "rowheader"}.get(scope or "", "cell"))
            if cell.tag == "td" and head:
                cell.set("data-label", head)


def footnotes(tree: Element, place: Place) -> None:
    """The list at the page's end becomes asides that pop up; marks and ways back say what they are.

    Runs after the ids have their prefix. Each aside carries the note's id (jgm/pandoc#9851).
    """
    for link in tree.iter("a"):
        marks = trees.classes(link)
        if "footnote-ref" in marks:
            link.set(TYPE, "noteref")
            link.set("role", "doc-noteref")
        elif "footnote-backref" in marks:
            link.set("role", "doc-backlink")
            link.attrib.pop("title", None)
            link.set("aria-label", "Back to the text")
            link.tail = link.tail or " "  # where several marks lead to one note, so several lead back
    for parent, block in trees.with_parents(tree):
        if block.tag != "div" or "footnote" not in trees.classes(block):
            continue
        notes = Element("section", {"class": "footnotes", TYPE: "footnotes"})
        for number, item in enumerate(block.iterfind("ol/li"), start=1):
            notes.append(_aside(item, number))
        trees.replace(parent, block, *([notes] if len(notes) else []))


def marks(tree: Element, place: Place) -> None:
    """The letters and numbers in a data table that lead to its notes and sources pop up where readers do that."""
    for sup in tree.iter("sup"):
        if "mark" in trees.classes(sup):
            for link in sup.iter("a"):
                link.set(TYPE, "noteref")
                link.set("role", "doc-noteref")


def _aside(item: Element, number: int) -> Element:
    aside = Element("aside", {TYPE: "footnote", "role": "doc-footnote", "class": "footnote"})
    if item.get("id"):
        aside.set("id", item.get("id"))
    aside.text, aside[:] = item.text, list(item)
    mark = Element("span", {"class": "footnote-number"})
    mark.text = f"{number}."
    first = aside[0] if len(aside) and aside[0].tag == "p" else aside
    mark.tail, first.text = f" {(first.text or '').lstrip()}", None
    first.insert(0, mark)
    return aside


def captions(tree: Element, place: Place) -> None:
    """A caption must be a figure's first or last child (quarto-cli#5234): what follows one joins it."""
    for figure in tree.iter("figure"):
        caption = figure.find("figcaption")
        if caption is None:
            continue
        after = list(figure)[list(figure).index(caption) + 1 :]
        if caption is figure[0] or not after:
            continue
        for element in after:
            figure.remove(element)
            caption.append(element)


EPUB: tuple[Rewrite, ...] = (
    blocks,
    annotations,
    tabs,
    task_lists,
    site_only,
    admonitions,
    code,
    block_lines,
    captions,
    quotes,
    pairs,
    tables,  # measures words with what pairs() has joined
    *COMMON,
    footnotes,
    marks,
    conform,
)

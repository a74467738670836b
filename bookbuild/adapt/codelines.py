"""Code for paper: one block a line, so that wrapped lines hang and keep their indentation; numbered notes."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.common import Place

MEASURE = 74  # characters of code that fit beside the margin column; longer lines use the whole width
FOLD = 60  # the shortest line that may have to wrap somewhere
_ANNOTATION = re.compile(r"^(\W*?)\s*\((\d+)\)!?\s*(\W*)$")


def code_lines(tree: Element, place: Place) -> None:
    """Every <pre> of code becomes lines; the longest decides how wide the block stands."""
    for parent, pre in trees.with_parents(tree):
        code = pre.find("code") if pre.tag == "pre" else None
        if code is None:
            continue
        for index, empty in enumerate(list(pre)):  # Pygments' <span></span> before the code
            if empty is not code and not len(empty) and not (empty.text or "").strip():
                pre.remove(pre[index])
        lines = split_lines(code)
        while lines and not trees.text_of(lines[-1]):
            lines.pop()
        code.text, code[:] = None, lines
        pre.text = code.tail = None
        lengths = [len("".join(line.itertext())) for line in lines]
        for line, length in zip(lines, lengths, strict=True):
            if length > FOLD:
                line.set("class", "line fold")
        longest = max(lengths, default=0)
        if longest > MEASURE:
            block = parent if "highlight" in trees.classes(parent) else pre
            block.set("class", " ".join(sorted(trees.classes(block) | {"wide"})))


def split_lines(code: Element) -> list[Element]:
    """<span class="line"> for each line of text; marked-up runs that cross a line end are cut in two."""
    lines = [Element("span", {"class": "line"})]

    def put_text(text: str | None, path: list[Element]) -> list[Element]:
        for number, piece in enumerate((text or "").split("\n")):
            if number:
                lines.append(Element("span", {"class": "line"}))
                path = _reopen(lines[-1], path)
            target = path[-1] if path else lines[-1]
            if len(target):
                target[-1].tail = (target[-1].tail or "") + piece
            else:
                target.text = (target.text or "") + piece
        return path

    def walk(element: Element, path: list[Element]) -> list[Element]:
        path = put_text(element.text, path)
        for child in element:
            opened = Element(child.tag, dict(child.items()))
            (path[-1] if path else lines[-1]).append(opened)
            path = walk(child, [*path, opened])[:-1]
            path = put_text(child.tail, path)
        return path

    walk(code, [])
    return lines


def _reopen(line: Element, path: list[Element]) -> list[Element]:
    reopened: list[Element] = []
    parent = line
    for element in path:
        again = Element(element.tag, {k: v for k, v in element.items() if k != "id"})
        parent.append(again)
        reopened.append(again)
        parent = again
    return reopened


def annotations(tree: Element, place: Place) -> None:
    """`# (1)!` in code becomes a numbered mark, and the list below it the notes with the same numbers."""
    for parent, block in trees.with_parents(tree):
        if block.tag != "div" or "highlight" not in trees.classes(block):
            continue
        siblings = list(parent)
        after = siblings[siblings.index(block) + 1 :]
        notes = after[0] if after and after[0].tag == "ol" else None
        if notes is None or (block.tail or "").strip():
            continue
        marked = [_mark(span) for span in block.iter("span")]
        if any(marked):
            notes.set("class", "annotations")


def _mark(span: Element) -> bool:
    """Replace the comment that is nothing but a number in parentheses."""
    if len(span) or not any(c.startswith("c") for c in trees.classes(span)):
        return False
    match = _ANNOTATION.match(span.text or "")
    if not match:
        return False
    span.set("class", "annotation")
    span.text = match[2]
    return True

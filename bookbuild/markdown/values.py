"""Numbers that come from book/data, in the text.

    [3.35 TB/s](val:nvidia-h100-sxm/memory.bandwidth_tb_per_s)     the data's value, in the unit and with the digits of the words
    [TB/s](val:…)  [?](val:…)                                      filled in, in that unit or the data's
    [2 × 70e9 B = 140 GB](sum:)                                    computed again with units, to the shown digits
    [8 × 700 W = 5.6 kW](sum:nvidia-h100-sxm/power_w)              and one of its numbers is that datum

GitHub knows neither protocol and shows the words. Words that the data do not bear out are named, and the page shows the data's.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.util import AtomicString

from bookbuild.data import DataError, is_number, number_text
from bookbuild.facts import Fact, find_anywhere
from bookbuild.markdown.context import Context, get_context
from bookbuild.markdown.structure import WORD_SCHEMES
from bookbuild.sums import UNIT, Shown, SumError, check_sum, in_unit, read_number, read_sum
from bookbuild.units import Unit, UnitError, fits, parse_unit

_LINK = r"(?<![!\\])\[((?:[^\[\]\n]|\n(?!\n))*)\]\((" + "|".join(WORD_SCHEMES) + r"):([^()\n]*)\)"
_HARD = "\u00a0"  # a space that does not break
_GAP = re.compile(rf"(?<=\d)[ {_HARD}](?=[A-Za-zµμ%°])")

Report = Callable[..., None]


class ValueExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        self.links = _Links(_LINK, md)
        # after code and maths, before escapes: the words are no Markdown
        md.inlinePatterns.register(self.links, "book-values", 189.8)

    def reset(self) -> None:
        self.links.seen.clear()


class _Links(InlineProcessor):
    def __init__(self, pattern: str, md: Markdown) -> None:
        super().__init__(pattern, md)
        self.seen: Counter[str] = Counter()  # how often which link has come, to tell their lines apart

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element, int, int]:  # type: ignore[override]
        words, scheme, target = " ".join(m[1].split(" ")).strip(), m[2], m[3].strip()
        self.seen[m[0]] += 1
        context = get_context(self.md)
        report = _reporter(context, m[0], self.seen[m[0]])
        make = {"val": value, "sum": total}[scheme]
        return make(words.replace("\n", " "), target, context, report), m.start(0), m.end(0)


def _reporter(context: Context | None, link: str, count: int) -> Report:
    def report(code: str, text: str, hint: str = "", severity: str = "error") -> None:
        if context is not None:
            context.report(code, text, line=_line(context, link, count), hint=hint, severity=severity)

    return report


def _line(context: Context, link: str, count: int) -> int:
    """The line of the n-th place where a link stands in the source."""
    text, place = context.source.read_text(encoding="utf-8"), -1
    for _ in range(count):
        place = text.find(link, place + 1)
    place = place if place >= 0 else text.find(link)
    return text.count("\n", 0, place) + 1 if place >= 0 else context.line_of(link[link.rindex("](") :])


def _words(error: DataError) -> str:
    return f"{error.file.name} cannot be read: {error.text}" if error.file else error.text


def _span(name: str, words: str) -> Element:
    span = Element("span", {"class": name})
    span.text = AtomicString(_GAP.sub(_HARD, words))
    return span


# ---- val: ----


def value(words: str, reference: str, context: Context | None, report: Report) -> Element:
    span = _span("value", words)
    if context is None:
        return span
    try:
        fact = find_anywhere(context.data_dir, reference)
    except DataError as error:
        report("value-unknown", _words(error), error.hint)
        return span
    span.set("title", _provenance(fact))
    span.text = AtomicString(_GAP.sub(_HARD, _shown(words, reference, fact, report)))
    return span


def _provenance(fact: Fact) -> str:
    """'dense peak over bandwidth; NVIDIA, H100 data sheet; checked 2026-12-01'"""
    parts = [fact.words] if fact.words else []
    for source in fact.sources[:1]:
        parts += [source.words, f"checked {source.checked}" if source.checked else ""]
    return "; ".join(filter(None, parts))


def _shown(words: str, reference: str, fact: Fact, report: Report) -> str:
    """What the page says instead of the words: the same where they are right."""
    key = reference.rpartition("/")[2]
    if fact.value is None or isinstance(fact.value, (dict, list)):
        report("value-unknown", f"'{reference}' is no single value", "the data say null" if fact.value is None else "")
        return words
    if not is_number(fact.value):
        if words not in ("?", str(fact.value)):
            report("value-stale", f"'{words}' is not what the data say", f"{key} is {fact.value}", "warning")
        return str(fact.value)
    try:
        own = parse_unit(fact.unit) if fact.unit else None
        number, unit = _read(words, own)
    except (UnitError, OverflowError, ZeroDivisionError) as error:
        hint = getattr(error, "hint", "") or f"it is {fact.text}"
        report("value-unit", f"'{words}' cannot be read: {error}", hint)
        return words
    if number is not None and unit is None:  # a number alone is in the unit of its key, told by the words around it
        number, unit = replace(number, unit=own), own
    exact = own.quantity(float(fact.value)) if own else float(fact.value)
    if not _same_kind(own, unit):
        report("value-unit", f"'{words}' is no unit of {key}", f"it is {fact.text}")
        return words
    if number is None:
        return _filled(exact, fact, unit, own)
    if number.agrees(exact):
        return words
    right = number.like(exact)
    report("value-stale", f"'{words}' is not what the data say", f"{key} is {right}", "warning")
    return right


def _read(words: str, own: Unit | None) -> tuple[Shown | None, Unit | None]:
    """(the number, its unit) that the words ask for; no number where the build fills it in."""
    if words == "?":
        return None, own
    found = read_number(words)
    if found is None:
        match = UNIT.fullmatch(words.lstrip("? "))
        if not match:
            raise UnitError("neither a number nor a unit")
        return None, parse_unit(match[1])
    number, end = found
    if words[end:].strip():
        raise UnitError(f"'{words[end:].strip()}' follows the number")
    return number, number.unit


def _same_kind(own: Unit | None, asked: Unit | None) -> bool:
    """A plain number of the data may be called by what it counts: 18 links; a number with a unit needs one of its kind."""
    if own is None or asked is None:
        return (own is None or own.base.dimensionless) and (asked is None or fits(1.0, asked.base))
    return own.base.dimensionality == asked.base.dimensionality


def _filled(exact: object, fact: Fact, unit: Unit | None, own: Unit | None) -> str:
    if unit == own:
        words = number_text(fact.value)
    else:
        digits = len(number_text(fact.value).replace(".", "").strip("0")) or 1
        number = in_unit(exact, unit) or 0.0
        rounded = float(f"{number:.{max(digits, 3)}g}")
        words = number_text(rounded)
    return f"{words}{_HARD}{unit.text}" if unit else words


# ---- sum: ----


def total(words: str, references: str, context: Context | None, report: Report) -> Element:
    span = _span("sum", words)
    try:
        found = read_sum(words)
        check_sum(found)
    except SumError as error:
        report(error.code, error.text, error.hint)
        return span
    titles = []
    for reference in filter(None, (part.strip() for part in references.split(","))):
        if context is None:
            break
        try:
            fact = find_anywhere(context.data_dir, reference)
        except DataError as error:
            report("value-unknown", _words(error), error.hint)
            continue
        titles.append(_provenance(fact))
        _operand(reference, fact, list(found.numbers), report)
    if titles:
        span.set("title", "; ".join(dict.fromkeys(titles)))
    return span


def _operand(reference: str, fact: Fact, numbers: list[Shown], report: Report) -> None:
    """A datum that a sum names must be one of its numbers, else the sum is of yesterday."""
    if not is_number(fact.value):
        report("value-unit", f"'{reference}' is no number", f"it is {fact.text}")
        return
    own = parse_unit(fact.unit) if fact.unit else None
    exact = own.quantity(float(fact.value)) if own else float(fact.value)
    if any(number.agrees(exact) or (number.unit is None and number.agrees(float(fact.value))) for number in numbers):
        return
    alike = [number for number in numbers if in_unit(exact, number.unit) is not None and (number.unit or not own)]
    alike = [number for number in alike if number.value > 0 and (in_unit(exact, number.unit) or 0) > 0]
    near = min(alike, key=lambda n: abs(math.log((in_unit(exact, n.unit) or 1) / n.value)), default=None)
    hint = f"in place of {near.text.strip()}?" if near else ""
    report("sum-stale", f"no number of the sum is {reference}, which is {fact.text}", hint)


"""The `worked` fence: a case of a calculator worked out, from the definition that the form on the site computes with.

calculator: kv-cache            # id in book/data/calculators.yml
label: tab-kv-70b               # optional; makes it a numbered table
caption: Cache of a 70B model   # optional; the calculator's question where there is none
presets: [llama-3-70b]          # optional; each input that takes this record's value does
inputs: {context: 131072}       # optional; numbers in the input's unit, ids of presets, words of a choice
outputs: [per_token, total]     # optional; all of them where there is none
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown

from bookbuild.calculator_records import load
from bookbuild.calculator_words import equation, terms, unit_words, value_words
from bookbuild.calculators import Calculator, Case, Constant, Fault, Input, Result, evaluate_case
from bookbuild.data import DataError, nearest, parse_yaml
from bookbuild.markdown.captions import caption_head
from bookbuild.markdown.context import Context
from bookbuild.markdown.fences import Fence, add
from bookbuild.markdown.maths import element_of

_KEYS = {"calculator", "label", "caption", "presets", "inputs", "outputs"}


@dataclass(frozen=True)
class Spec:
    calculator: str
    label: str = ""
    caption: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()


class SpecError(ValueError):
    """What is wrong with a fence; `near` is the word to look for in it."""

    def __init__(self, text: str, near: str = "", hint: str = "", line: int = 0) -> None:
        super().__init__(text)
        self.text, self.near, self.hint, self.line = text, near, hint, line


def make_worked(fence: Fence) -> Element | None:
    """The figure around a worked example; what is wrong is reported and leaves nothing."""
    try:
        spec = parse_spec(fence.text)
        return figure(spec, _case(spec, fence.context), fence)
    except SpecError as error:
        fence.report("worked-spec", error.text, near=error.near, line=error.line, hint=error.hint)
    except DataError as error:
        place = f"{error.file.name}:{error.line} " if error.file else ""
        fence.report("worked-data", f"{place}{error.text}", near="calculator:", hint=error.hint)
    return None


def parse_spec(text: str) -> Spec:
    try:
        content = parse_yaml(text)
    except DataError as error:
        raise SpecError(error.text, line=error.line) from error
    if not isinstance(content, Mapping) or not isinstance(content.get("calculator"), str):
        raise SpecError("a worked example names its calculator", hint="calculator: kv-cache")
    for key in content:
        if key not in _KEYS:
            near = nearest(key, _KEYS)
            raise SpecError(f"unknown setting '{key}'", str(key), f"did you mean {near}?" if near else "")
    inputs, outputs = content.get("inputs") or {}, content.get("outputs") or []
    if not isinstance(inputs, Mapping):
        raise SpecError("inputs is a mapping", "inputs", "inputs: {layers: 32}")
    presets = content.get("presets") or []
    for key, found in (("outputs", outputs), ("presets", presets)):
        if not isinstance(found, list):
            raise SpecError(f"{key} is a list of names", key)
    label, caption = (str(content.get(key) or "") for key in ("label", "caption"))
    if label and not label.startswith("tab-"):
        raise SpecError(f"label '{label}' does not begin with tab-", "label")
    return Spec(
        content["calculator"], label, caption, inputs, tuple(map(str, outputs)), tuple(map(str, presets))
    )


def _case(spec: Spec, context: Context) -> Case:
    known = load(context.data_dir)
    if spec.calculator not in known:
        near = nearest(spec.calculator, set(known))
        raise SpecError(
            f"no calculator '{spec.calculator}'", spec.calculator, f"did you mean {near}?" if near else ""
        )
    calculator = known[spec.calculator]
    names = [output.name for output in calculator.outputs]
    for name in spec.outputs:
        if name not in names:
            hint = f"there are {', '.join(names)}"
            raise SpecError(f"'{spec.calculator}' has no output '{name}'", name, hint)
    try:
        return evaluate_case(calculator, _preset(calculator, spec) | dict(spec.inputs))
    except Fault as fault:
        near = next((name for name in spec.inputs if name in fault.text), "inputs")
        raise SpecError(fault.text, near, fault.hint) from fault


def _preset(calculator: Calculator, spec: Spec) -> dict[str, str]:
    given: dict[str, str] = {}
    for name in spec.presets:
        takers = [entry.name for entry in calculator.inputs.values() if name in entry.presets]
        if not takers:
            near = nearest(name, {known for entry in calculator.inputs.values() for known in entry.presets})
            hint = f"did you mean {near}?" if near else ""
            raise SpecError(f"no input of '{spec.calculator}' has a preset '{name}'", name, hint)
        given |= dict.fromkeys(takers, name)
    return given


def figure(spec: Spec, case: Case, fence: Fence) -> Element:
    """Caption, table of inputs and results, the formulas with symbols and numbers, sources."""
    calculator = case.calculator
    wanted = case.needed(list(spec.outputs) or [output.name for output in calculator.outputs])
    root = Element("figure", {"class": "table worked", "data-calculator": calculator.id})
    caption = SubElement(root, "figcaption")
    caption.text = spec.caption or calculator.question
    caption_head(caption, spec.label, fence.context)
    _table(SubElement(root, "div", {"class": "table-scroll"}), spec.label, case, wanted, fence.md)
    known = terms(case)
    for result in calculator.results.values():
        if result.name in wanted:
            formula = SubElement(root, "div", {"class": "maths"})
            formula.append(element_of(equation(case, result, known), True, fence.md))
    if calculator.note:
        add(root, "p", calculator.note, class_="note")
    _sources(root, case)
    return root


def _table(around: Element, label: str, case: Case, wanted: set[str], md: Markdown) -> None:
    table = SubElement(around, "table", {"id": label} if label else {})
    head = SubElement(SubElement(table, "thead"), "tr")
    for text, attributes in (("Given", {}), ("Symbol", {}), ("Value", {"class": "num"}), ("Unit", {})):
        add(head, "th", text, scope="col", **{f"{k}_": v for k, v in attributes.items()})
    given = SubElement(table, "tbody")
    for entry in case.calculator.inputs.values():
        if entry.name in wanted:
            _row(
                given,
                md,
                entry,
                value_words(case.value(entry.name)),
                _beside(case, entry),
                _origin(case, entry),
            )
    for constant in case.calculator.constants.values():
        if constant.name in wanted:
            _row(given, md, constant, value_words(constant.value), unit_words(constant.unit))
    found = SubElement(table, "tbody", {"class": "results"})
    for result in case.calculator.outputs:
        if result.name in wanted:
            value = case.value(result.name)
            words = result.choices.get(value)
            shown = words or value_words(value, result.digits)
            _row(found, md, result, shown, "" if words else unit_words(result.unit))


def _row(
    body: Element, md: Markdown, part: Input | Result | Constant, value: str, unit: str, origin: str = ""
) -> None:
    row = SubElement(body, "tr")
    head = add(row, "th", part.title, scope="row")
    if origin:
        add(head, "span", f" {origin}", class_="origin")
    symbol = SubElement(row, "td")
    if not isinstance(part, Constant):
        symbol.append(element_of(part.symbol, False, md))
    add(row, "td", value, class_="num")
    add(row, "td", unit)


def _beside(case: Case, entry: Input) -> str:
    """The unit, and the words of a choice."""
    words = entry.choices.get(case.value(entry.name), "")
    unit = unit_words(entry.unit)
    return f"{unit}, {words}" if unit and words else unit or words


def _origin(case: Case, entry: Input) -> str:
    """'(NVIDIA H100 SXM: 81 559 MiB as the driver reports it; 80 GB as the vendor prints it)'"""
    if entry.name not in case.chosen:
        return ""
    preset = entry.presets[case.chosen[entry.name]]
    beside = f": {'; '.join(preset.words)}" if preset.words else ""
    return f"({preset.name}{beside})"


def _sources(root: Element, case: Case) -> None:
    """Where the formulas come from, in one line."""
    line = SubElement(root, "p", {"class": "source"})
    found = case.calculator.sources
    line.text = "Source: " if len(found) == 1 else "Sources: "
    dates = {source.checked for source in found}
    for place, source in enumerate(found):
        item = (
            add(line, "a", source.words, href=source.url) if source.url else add(line, "span", source.words)
        )
        item.tail = "; " if place < len(found) - 1 else f". Checked {', '.join(sorted(dates))}."

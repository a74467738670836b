"""The `mermaid` fence: a drawing that every output can show, with text and without tricks."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bookbuild import trees
from bookbuild.trees import SVG

FLOW = """\
%% caption: How a *batch* travels. #fig-loop
flowchart LR
    A["Storage, 1 TB/s"] --> B(Loader)
    B -- yes --> C[GPU]
"""
KINDS = {
    "flowchart": FLOW,
    "sequence": "sequenceDiagram\n    Rank 0->>Rank 1: weights\n    Note over Rank 0: waits\n",
    "state": "stateDiagram-v2\n    [*] --> Running\n    Running --> Failed: Xid 79\n",
    "class": "classDiagram\n    Base <|-- Derived\n    Base : +int size\n",
    "gantt": "gantt\n    dateFormat YYYY-MM-DD\n    section A\n    Train :a1, 2026-01-01, 30d\n",
    "pie": 'pie title Share\n    "Compute" : 70\n    "Waiting" : 30\n',
    "entities": "erDiagram\n    NODE ||--o{ GPU : holds\n",
}
WORDS = {
    "flowchart": {"Storage, 1 TB/s", "Loader", "yes", "GPU"},
    "sequence": {"Rank 0", "Rank 1", "weights", "waits"},
    "state": {"Running", "Failed", "Xid 79"},
    "class": {"Base", "Derived"},
    "gantt": {"Train"},
    "pie": {"Share", "Compute", "Waiting"},
    "entities": {"NODE", "GPU", "holds"},
}


def fence(source: str) -> str:
    return f"```mermaid\n{source}```\n"


def svg_of(tree):
    return tree.find(f".//{{{SVG}}}svg")


def texts(svg) -> set[str]:
    return {trees.text_of(e) for e in svg.iter(f"{{{SVG}}}text")} | {
        trees.text_of(e) for e in svg.iter(f"{{{SVG}}}tspan")
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_word_is_text_of_the_drawing(desk, kind):
    """WeasyPrint lays out no foreignObject."""
    svg = svg_of(desk.tree(fence(KINDS[kind])))
    assert WORDS[kind] <= texts(svg)
    assert not list(svg.iter(f"{{{SVG}}}foreignObject"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_drawing_needs_no_style_sheet_script_or_address(desk, kind):
    svg = svg_of(desk.tree(fence(KINDS[kind])))
    names = {trees.split_tag(e.tag)[1] for e in svg.iter()}
    assert not names & {"style", "script", "foreignObject", "filter", "image"}
    attributes = {trees.split_tag(key)[1] for e in svg.iter() for key in e.attrib}
    assert not attributes & {"style", "class", "href", "filter"}


def test_colours_are_worked_into_the_shapes(desk):
    rects = list(svg_of(desk.tree(fence(FLOW))).iter(f"{{{SVG}}}rect"))
    assert {"#eef3f8"} <= {rect.get("fill") for rect in rects}
    assert {"#35506b"} <= {rect.get("stroke") for rect in rects}


def test_the_figure_has_label_number_caption_and_a_name(desk):
    figure = desk.tree(fence(FLOW)).find("figure")
    assert (figure.get("id"), figure.get("class")) == ("fig-loop", "diagram")
    assert trees.text_of(figure.find("figcaption")) == "Figure 1.1. How a batch travels."
    svg = svg_of(figure)
    assert (svg.get("role"), svg.get("aria-label")) == ("img", "How a batch travels.")


def test_a_diagram_may_say_what_it_shows(desk):
    svg = svg_of(desk.tree(fence("%% alt: Storage feeds the loader.\n" + FLOW)))
    assert svg.get("aria-label") == "Storage feeds the loader."


def test_a_diagram_without_caption_is_named_by_its_words(desk):
    svg = svg_of(desk.tree(fence("flowchart LR\n    A --> B\n")))
    assert svg.get("aria-label") == "Diagram: A, B"


def test_ids_are_of_each_diagram_alone(desk):
    tree = desk.tree(fence(FLOW) + "\n" + fence(KINDS["state"]) + "\n" + fence(KINDS["sequence"]))
    ids = [e.get("id") for e in tree.iter() if e.get("id")]
    assert len(ids) == len(set(ids)) > 1
    used = {v[5:-1] for e in tree.iter() for v in e.attrib.values() if v.startswith("url(#")}
    assert used and used <= set(ids)


def test_the_same_source_gives_the_same_bytes_in_every_process():
    code = (
        "from bookbuild import trees; from bookbuild.markdown.diagrams import drawing\n"
        "print(''.join(trees.to_html(drawing(s, 'd')) for s in ['flowchart LR\\nA-->B{C}', 'sequenceDiagram\\nA->>B: x']))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
    assert "<svg" in runs.pop()


def test_a_diagram_that_cannot_be_drawn_is_reported_with_its_line(desk):
    [problem] = desk.wrong("# P\n\n```mermaid\nflowchart LR\n    A --> \n    --> [\n```\n")
    assert problem.startswith("docs/page.md:3: diagram ")
    assert "\n" not in problem


def test_drawn_at_its_size_and_no_wider_than_the_page(desk):
    svg = svg_of(desk.tree(fence(FLOW)))
    box = [float(v) for v in svg.get("viewBox").split()]
    assert [float(svg.get("width")), float(svg.get("height"))] == box[2:]

"""Code on paper."""

from __future__ import annotations

from fragmentbook import rewritten

from bookbuild import trees
from bookbuild.adapt.codelines import annotations, code_lines


def lines_of(tree) -> list[str]:
    return ["".join(e.itertext()) for e in tree.iter("span") if "line" in trees.classes(e)]


def test_lines_keep_their_text_and_indentation(tmp_path):
    html = "<pre><span></span><code>def f():\n    if x:\n\n\treturn 1\n</code></pre>"
    assert lines_of(rewritten(tmp_path, html, code_lines)) == ["def f():", "    if x:", "", "\treturn 1"]


def test_a_mark_that_crosses_a_line_end_is_cut_in_two(tmp_path):
    html = '<pre><code>a <b class="s" id="x">one\n  two</b> z\n</code></pre>'
    tree = rewritten(tmp_path, html, code_lines)
    assert lines_of(tree) == ["a one", "  two z"]
    assert [(e.get("class"), e.text) for e in tree.iter("b")] == [("s", "one"), ("s", "  two")]
    assert sum(e.get("id") == "x" for e in tree.iter()) == 1


def test_only_code_that_needs_it_stands_wide(tmp_path):
    short = '<div class="highlight"><pre><code>x = 1\n</code></pre></div>'
    long = f'<div class="highlight"><pre><code>{"x" * 88}\n</code></pre></div>'
    tree = rewritten(tmp_path, short + long, code_lines)
    assert ["wide" in trees.classes(e) for e in tree.iter("div")] == [False, True]


def test_annotation_marks_become_numbers_of_the_list_below(tmp_path):
    html = (
        '<div class="highlight"><pre><code>a = 1  <span class="c1"># (1)!</span>\n'
        'b = 2  <span class="c1"># a comment (2)</span>\n</code></pre></div>\n<ol><li>Why.</li></ol>'
    )
    tree = rewritten(tmp_path, html, annotations)
    marks = [e.text for e in tree.iter("span") if "annotation" in trees.classes(e)]
    assert marks == ["1"]
    assert "# a comment (2)" in "".join(tree.itertext())
    assert trees.classes(tree.find("ol")) == {"annotations"}


def test_a_list_below_code_without_marks_stays_a_list(tmp_path):
    html = '<div class="highlight"><pre><code>a = 1\n</code></pre></div><ol><li>First.</li></ol>'
    assert rewritten(tmp_path, html, annotations).find("ol").get("class") is None

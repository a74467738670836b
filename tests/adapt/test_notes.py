"""Footnotes on paper."""

from __future__ import annotations

from fragmentbook import rewritten

from bookbuild import trees
from bookbuild.adapt.notes import footnotes

PAGE = """
<p>One<sup id="fnref:a"><a class="footnote-ref" href="#fn:a">1</a></sup>, two<sup id="fnref:b"><a
class="footnote-ref" href="#fn:b">2</a></sup>, one again<sup id="fnref2:a"><a class="footnote-ref"
href="#fn:a">1</a></sup>.</p>
<div class="footnote"><hr><ol>
<li id="fn:a"><p>First note. <a class="footnote-backref" href="#fnref:a">↩</a><a class="footnote-backref"
href="#fnref2:a">↩</a></p></li>
<li id="fn:b"><p>Second <em>note</em>.</p><p>Its end.&#160;<a class="footnote-backref" href="#fnref:b">↩</a></p></li>
</ol></div>"""


def test_each_note_stands_where_it_is_first_referred_to(tmp_path):
    tree = rewritten(tmp_path, PAGE, footnotes)
    notes = [e for e in tree.iter("span") if "footnote" in trees.classes(e)]
    assert [(n.get("id"), trees.text_of(n), n.get("data-number")) for n in notes] == [
        ("fn:a", "First note.", "1"),
        ("fn:b", "Second note.Its end.", "2"),
    ]
    assert notes[0].tail == ", two"


def test_a_second_reference_links_to_the_first_note(tmp_path):
    tree = rewritten(tmp_path, PAGE, footnotes)
    [again] = [e for e in tree.iter("sup") if "footnote-again" in trees.classes(e)]
    assert (again[0].get("href"), again[0].text, again.tail) == ("#fn:a", "1", ".")


def test_list_and_ways_back_are_gone(tmp_path):
    tree = rewritten(tmp_path, PAGE, footnotes)
    assert tree.find(".//ol") is None and tree.find(".//hr") is None
    assert "↩" not in "".join(tree.itertext())
    assert not any(e.tag in ("p", "div") for n in tree.iter("span") for e in n.iter()), (
        "a <p> would end its <p>"
    )

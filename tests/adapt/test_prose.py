"""Words on paper."""

from __future__ import annotations

import pytest
from fragmentbook import fragment_book, place_in, rewritten

from bookbuild import trees
from bookbuild.adapt.prose import names, pairs, quotes


def text(tmp_path, html, rewrite) -> str:
    return "".join(rewritten(tmp_path, html, rewrite).itertext())


@pytest.mark.parametrize(
    "words",
    ["3.35 TB/s", "80 GB", "700 W", "16 GiB", "400 Gbps", "989 TFLOPS", "5 %", "12 ms", "8 GPUs", "300 B"],
)
def test_a_number_and_its_unit_do_not_part(tmp_path, words):
    assert text(tmp_path, f"<p>It is {words}.</p>", pairs) == f"It is {words.replace(' ', chr(0xA0))}."


@pytest.mark.parametrize("words", ["Figure 2.1", "Table 3.10", "Chapter 4", "Part II"])
def test_a_reference_and_its_number_do_not_part(tmp_path, words):
    assert text(tmp_path, f"<p>See {words}.</p>", pairs) == f"See {words.replace(' ', chr(0xA0))}."


@pytest.mark.parametrize("words", ["in 2024 Google said", "of 8 Bits", "the 4 best", "version 3 makes"])
def test_other_words_may_part(tmp_path, words):
    assert text(tmp_path, f"<p>{words}</p>", pairs) == words


def test_code_is_left_alone(tmp_path):
    html = "<p><code>sleep 5 s 'x'</code></p><pre>80 GB \"y\"</pre>"
    assert text(tmp_path, html, pairs) == text(tmp_path, html, quotes) == "sleep 5 s 'x'80 GB \"y\""


@pytest.mark.parametrize(
    ("straight", "curly"),
    [
        ('"Quoted," it\'s said', "“Quoted,” it’s said"),
        ("('single' words)", "(‘single’ words)"),
        ("the '90s and GPUs' clocks", "the ’90s and GPUs’ clocks"),
        ('<em>"all"</em> "<b>some</b>"', "“all” “some”"),
    ],
)
def test_quotes_are_curly(tmp_path, straight, curly):
    assert text(tmp_path, f"<p>{straight}</p>", quotes) == curly


def test_quotes_begin_anew_in_each_block(tmp_path):
    tree = rewritten(tmp_path, "<ul><li>word</li><li>'next'</li></ul>", quotes)
    assert [trees.text_of(e) for e in tree.iter("li")] == ["word", "‘next’"]


def test_long_names_are_marked_and_other_words_are_not(tmp_path):
    html = "<p>DeepSpeed runs <b>on InfiniBand</b> with MI300X-class, NCCL and TensorFlow, communication.</p>"
    tree = rewritten(tmp_path, html, names)
    marked = [e.text for e in tree.iter("span") if "name" in trees.classes(e)]
    assert marked == ["DeepSpeed", "InfiniBand", "TensorFlow"]
    words = "DeepSpeed runs on InfiniBand with MI300X-class, NCCL and TensorFlow, communication."
    assert trees.text_of(tree) == words


def test_quotes_of_other_languages_are_left_as_their_authors_set_them(tmp_path):
    book = fragment_book(tmp_path, {"": {"one.md": '<p>"Wort"</p>'}}, language="de")
    place = place_in(book)
    quotes(place.chapter.tree, place)
    assert trees.text_of(place.chapter.tree) == '"Wort"'

"""The web fonts: small, lawful, the same each time, and able to draw the book."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from fontTools.ttLib import TTFont
from support import REALBOOK

from bookbuild import fonts, trees
from bookbuild.model import BookError
from bookbuild.outline import read_config

MONO = tuple(face for face in fonts.FACES if face.target == "book-mono.woff2")


def test_files_are_woff2_of_web_size(webfonts):
    """Each file is WOFF2 and no heavier than 60 kB, so that a page with all of them stays light."""
    for file in webfonts:
        assert file.read_bytes()[:4] == b"wOF2"
        assert file.stat().st_size < 60_000, file.name


def test_weights_from_regular_to_bold_in_one_file(webfonts):
    """The weight axis spans 400 to 700, the weights that the style sheet uses; no other axis is left."""
    for file in webfonts:
        font = TTFont(file)
        axes = {axis.axisTag: (axis.minValue, axis.maxValue) for axis in font["fvar"].axes} if "fvar" in font else {}
        assert axes == ({} if "math" in file.name else {"wght": (400, 700)}), file.name


def test_the_font_for_formulas_knows_how_to_set_them(webfonts):
    """Fractions, roots and big brackets come from the MATH table, letters from the mathematical italics."""
    [file] = [f for f in webfonts if "math" in f.name]
    assert "MATH" in TTFont(file)
    assert {0x210E, *range(0x1D434, 0x1D468)} - {0x1D455} <= fonts.characters([file])  # ℎ is the italic h


def test_reserved_names_are_gone_and_licences_stay(webfonts):
    """The Open Font License lets a changed font be passed on without its reserved name and with its licence."""
    for file in webfonts:
        names = {record.nameID: str(record) for record in TTFont(file)["name"].names}
        assert not {1, 4, 6, 16} & set(names), file.name
        assert "Open Font License" in names[13]
    licences = (webfonts[0].parent / fonts.LICENCES).read_text(encoding="utf-8")
    for file in webfonts:
        assert f"{file.name}\n" in licences
    assert licences.count("Open Font License") >= len(webfonts)


def test_second_call_makes_nothing(tmp_path):
    """What is there already is kept: the files' times do not change."""
    [file] = fonts.make_fonts(tmp_path, MONO)
    before = file.stat().st_mtime_ns
    fonts.make_fonts(tmp_path, MONO)
    assert file.stat().st_mtime_ns == before


def test_a_lost_file_is_made_again_and_the_same(tmp_path):
    [file] = fonts.make_fonts(tmp_path, MONO)
    content = file.read_bytes()
    file.unlink()
    fonts.make_fonts(tmp_path, MONO)
    assert file.read_bytes() == content


def test_missing_package_is_one_line(tmp_path):
    """An uninstalled font package is named with the command that installs it."""
    absent = replace(MONO[0], package="fontpkg_no_such_font")
    with pytest.raises(BookError, match=r"^fonts: package fontpkg-no-such-font is not installed \(pip install"):
        fonts.make_fonts(tmp_path, [absent])


def test_a_book_that_asks_for_no_fonts_gets_none(minibook):
    assert fonts.fonts_folder(minibook.root / "mkdocs.yml") is None


def test_style_sheet_and_fonts_name_the_same_files():
    """Every file that the style sheet loads is made, and every file that is made is loaded."""
    folder = fonts.fonts_folder(REALBOOK)
    css = "".join((REALBOOK.parent / "book" / name).read_text() for name in read_config(REALBOOK)["extra_css"])
    loaded = {part.split('"')[1] for part in css.split("url(")[1:]}
    assert loaded == {f"{folder.name}/{face.target}" for face in fonts.FACES}


def test_fonts_draw_every_character_of_the_book(webfonts, realbook):
    """Each character of each page is in the fonts of its kind; a missing one is named with its page."""
    code = fonts.characters(f for f in webfonts if "mono" in f.name)
    text = fonts.characters(webfonts)  # the style sheet lets the families stand in for each other
    missing = {}
    for chapter in realbook.chapters:
        for character, in_code in _characters(chapter.tree):
            if ord(character) not in (code if in_code else text):
                missing.setdefault((character, unicodedata.name(character, hex(ord(character)))), chapter.path)
    assert not missing


def _is_drawn(character):
    """Whether a character leaves ink: neither space nor an invisible mark such as a soft hyphen."""
    return not character.isspace() and unicodedata.category(character) != "Cf"


def _characters(tree):
    """Distinct (character, whether in code) of the text that the fonts draw; maths has fonts of its own."""
    found = set()

    def walk(element, in_code):
        space, name = trees.split_tag(element.tag)
        if space or name in ("script", "style", "svg", "math"):
            return
        in_code = in_code or name in ("code", "pre", "kbd", "samp")
        found.update((c, in_code) for c in element.text or "" if _is_drawn(c))
        for child in element:
            walk(child, in_code)
            found.update((c, in_code) for c in child.tail or "" if _is_drawn(c))

    walk(tree, False)
    return found

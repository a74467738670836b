"""Figures are drawn from data, the same way each time, and only when something changed."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from bookbuild.figures import _load, draw_all, drawn_from, inputs_hash
from bookbuild.model import BookError

BOOK = Path(__file__).resolve().parent.parent / "book"
FIGURES = sorted((BOOK / "figures").glob("*.py"))

SCRIPT = """
DATA = ("numbers",)


def draw(data_dir, out_path):
    import matplotlib.pyplot as plt
    import yaml

    values = yaml.safe_load((data_dir / "numbers.yml").read_text())
    figure, axes = plt.subplots()
    axes.plot(values)
    axes.set_title("Größe")
    figure.savefig(out_path, metadata={"Date": None, "Creator": None})
"""


@pytest.fixture
def book(tmp_path):
    """A book with one figure and its data."""
    for name in ("figures", "data"):
        (tmp_path / "docs" / name).mkdir(parents=True)
    (tmp_path / "docs" / "figures" / "line.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "docs" / "data" / "numbers.yml").write_text("[1, 2, 4]\n", encoding="utf-8")
    return tmp_path


def draw(root: Path) -> list[str]:
    return [path.name for path in draw_all(root, root / "docs")]


def test_a_figure_is_drawn_once(book):
    assert draw(book) == ["line.svg"]
    assert draw(book) == []
    assert [p.name for p in (book / "docs" / "figures").glob("*.svg")] == ["line.svg"]


def test_changed_data_draw_again(book):
    draw(book)
    before = (book / "docs" / "figures" / "line.svg").read_bytes()
    (book / "docs" / "data" / "numbers.yml").write_text("[1, 2, 5]\n", encoding="utf-8")
    assert draw(book) == ["line.svg"]
    assert (book / "docs" / "figures" / "line.svg").read_bytes() != before


def test_changed_script_draws_again(book):
    draw(book)
    script = book / "docs" / "figures" / "line.py"
    script.write_text(SCRIPT.replace("Größe", "Länge"), encoding="utf-8")
    assert draw(book) == ["line.svg"]


def test_other_data_files_do_not_matter(book):
    draw(book)
    (book / "docs" / "data" / "other.yml").write_text("[]\n", encoding="utf-8")
    assert draw(book) == []


def test_two_drawings_are_equal_byte_for_byte(book):
    picture = book / "docs" / "figures" / "line.svg"
    draw(book)
    first = picture.read_bytes()
    picture.unlink()
    draw(book)
    assert picture.read_bytes() == first


def test_a_drawing_has_no_date_no_background_and_no_live_text(book):
    draw(book)
    text = (book / "docs" / "figures" / "line.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)
    svg = "{http://www.w3.org/2000/svg}"
    assert "dc:date" not in text
    assert not list(root.iter(f"{svg}text")), "letters are outlines, the reader's fonts do not matter"
    patch = next(g for g in root.iter(f"{svg}g") if g.get("id") == "patch_1")
    styles = [path.get("style", "") for path in patch]
    assert all("fill: none" in s or "opacity: 0" in s for s in styles), "the page shows through"


def test_a_failing_script_names_its_line_and_keeps_the_old_picture(book):
    draw(book)
    picture = book / "docs" / "figures" / "line.svg"
    before = picture.read_bytes()
    (book / "docs" / "data" / "numbers.yml").write_text("not: a list\n", encoding="utf-8")
    with pytest.raises(BookError) as error:
        draw(book)
    assert str(error.value).startswith("docs/figures/line.py:11: figure-failed ")
    assert "\n" not in str(error.value)
    assert picture.read_bytes() == before
    assert [p.name for p in picture.parent.glob(".*")] == []


def test_a_script_that_does_not_compile_is_one_line(book):
    (book / "docs" / "figures" / "line.py").write_text("def draw(:\n", encoding="utf-8")
    with pytest.raises(BookError, match=r"^docs/figures/line.py:1: figure-failed SyntaxError"):
        draw(book)


def test_missing_data_file_is_named(book):
    (book / "docs" / "data" / "numbers.yml").unlink()
    with pytest.raises(BookError, match="figure-data numbers.yml does not exist"):
        draw(book)


def test_helpers_without_draw_are_left_alone(book):
    (book / "docs" / "figures" / "helper.py").write_text("COLOURS = ()\n", encoding="utf-8")
    assert draw(book) == ["line.svg"]


@pytest.mark.parametrize("script", FIGURES, ids=lambda p: p.stem)
def test_figures_of_the_book_are_current(script):
    module = _load(BOOK.parent, script)
    assert drawn_from(script.with_suffix(".svg")) == inputs_hash(script, module, BOOK / "data")


def test_figure_of_balance_places_the_parts_where_arithmetic_puts_them():
    module = _load(BOOK.parent, BOOK / "figures" / "peak-and-bandwidth.py")
    ridges = {record["id"]: peak / bandwidth for record, bandwidth, peak in module.points(BOOK / "data")}
    assert len(ridges) == len(module.NAMED), "every named part has a point"
    assert ridges["nvidia-h100-sxm"] == pytest.approx(295.3, abs=0.1)  # 989.4 / 3.35
    assert ridges["nvidia-h200-sxm"] == pytest.approx(206.1, abs=0.1)  # 989.4 / 4.8
    assert ridges["amd-mi300x"] == pytest.approx(246.7, abs=0.1)  # 1307.4 / 5.3
    assert ridges["nvidia-a100-sxm-80"] == pytest.approx(153.0, abs=0.1)  # 312 / 2.039


def test_figure_of_rates_has_the_ratios_of_the_printed_peaks():
    module = _load(BOOK.parent, BOOK / "figures" / "bits-and-rate.py")
    found = module.ratios(BOOK / "data")
    assert list(found) != [] and set(found) == set(module.PARTS)
    assert found["nvidia-b200-sxm"][2]["fp4_tflops"] == pytest.approx(4.0)  # 9000 / 2250
    assert found["intel-gaudi3"][2]["fp8_tflops"] == pytest.approx(1.0)  # 1835 / 1835
    assert found["nvidia-rubin"][2]["fp8_tflops"] == pytest.approx(4.375)  # 17500 / 4000
    assert "fp8_tflops" not in found["nvidia-a100-sxm-80"][2]

"""The pictures of an EPUB: formats, sizes, names and grounds."""

from __future__ import annotations

import io
from xml.etree import ElementTree

from epubtools import Epub, epub_words, local
from fragmentbook import fragment_book
from oddbook import DOTS, LOST, picture, site_with, write, written
from PIL import Image, ImageChops, ImageStat


def test_pictures_of_the_same_name_stay_apart_and_the_same_picture_is_kept_once(tmp_path):
    one, two = picture((4, 4)), picture((5, 5))
    site_with(tmp_path, {"a/p.png": one, "b/p.png": two, "c/copy.png": one})
    book = written(
        tmp_path,
        '<h1>X</h1><img src="../a/p.png" alt=""><img src="../b/p.png" alt=""><img src="../c/copy.png" alt="">',
    )
    first, second, third = book.pictures("one")
    assert (book.data[first], book.data[second]) == (one, two)
    assert third == first


def test_a_picture_inside_of_an_address_becomes_a_file(oddbook_epub):
    book = Epub(oddbook_epub)
    assert book.data[book.pictures("pictures")[0]] == DOTS


def test_formats_go_by_content_and_foreign_ones_are_converted(oddbook_epub):
    """A PNG called .jpg, and WebP, which Kindle and older readers do not show."""
    book = Epub(oddbook_epub)
    assert {book.manifest[n].get("media-type") for n in book.pictures("pictures")} == {"image/png"}
    assert all(n.endswith(".png") and book.data[n].startswith(b"\x89PNG") for n in book.pictures("pictures"))


def test_pictures_that_are_not_in_the_book_leave_their_words(oddbook_epub, tmp_path):
    """One on the web, one that is lost, one that is none; each is told with its page."""
    assert epub_words(Epub(oddbook_epub).sections("lost")) == [
        "Lost",
        "words",
        "0",
        "words",
        "1",
        "words",
        "2",
    ]
    facts = write(fragment_book(tmp_path, {"P": {"one.md": LOST}}), tmp_path / "b.epub")
    assert [(w.file, w.code, w.severity) for w in facts["warnings"]] == [
        ("docs/one.md", "epub-picture", "warning")
    ] * 3


def test_drawings_stand_on_white_paper(tmp_path):
    """Dark ink without a ground could not be seen in a reader's dark mode; the drawing itself stays as written."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-5 -7 30 10"><linearGradient id="fade"/><path d="M0 0h9"/></svg>'
    clear = io.BytesIO()
    Image.new("RGBA", (4, 4), (0, 0, 0, 0)).save(clear, "PNG")
    site_with(tmp_path, {"d.svg": svg.encode(), "d.png": clear.getvalue()})
    book = written(tmp_path, '<h1>X</h1><img src="../d.svg" alt=""><img src="../d.png" alt="">')
    drawing, pixels = (book.data[name] for name in book.pictures("one"))
    ground, *rest = ElementTree.fromstring(drawing)
    assert (local(ground), ground.get("x"), ground.get("y"), ground.get("width")) == (
        "rect",
        "-5",
        "-7",
        "100%",
    )
    assert b'viewBox="-5 -7 30 10"' in drawing and [local(e) for e in rest] == ["linearGradient", "path"]
    assert Image.open(io.BytesIO(pixels)).convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


def test_drawings_in_the_text_get_paper_unless_they_use_its_ink(tmp_path):
    html = '<h1>X</h1><svg viewBox="1 2 3 4"><path d="M0 0h9"/></svg><svg viewBox="0 0 9 9"><path stroke="currentColor"/></svg>'
    plain, inked = (e for e in written(tmp_path, html).sections("one")[0].iter() if local(e) == "svg")
    assert next((local(e), e.get("x"), e.get("y")) for e in plain) == ("rect", "1", "2")
    assert [local(e) for e in inked] == ["path"]


def test_pictures_are_packed_smaller_without_a_visible_change(tmp_path):
    """A PNG that was saved without care keeps every pixel; a photograph that shrinks stays within 2 of 255 on average."""
    loose, photo = io.BytesIO(), io.BytesIO()
    drawn = Image.linear_gradient("L").resize((900, 600)).convert("RGB")
    drawn.save(loose, "PNG", compress_level=0)
    Image.radial_gradient("L").resize((3200, 2400)).convert("RGB").save(photo, "JPEG", quality=98)
    site_with(tmp_path, {"loose.png": loose.getvalue(), "photo.jpg": photo.getvalue()})
    book = written(tmp_path, '<h1>X</h1><img src="../loose.png" alt=""><img src="../photo.jpg" alt="">')
    png, jpeg = (book.data[name] for name in book.pictures("one"))
    assert len(png) < len(loose.getvalue()) / 10 and len(jpeg) < len(photo.getvalue()) / 2
    assert Image.open(io.BytesIO(png)).convert("RGB").tobytes() == drawn.tobytes()
    small = Image.open(photo).resize((1600, 1200), Image.Resampling.BOX)
    change = ImageStat.Stat(ImageChops.difference(small, Image.open(io.BytesIO(jpeg)).convert("RGB")))
    assert max(change.mean) < 2


def test_large_pictures_shrink_to_what_devices_show(tmp_path):
    site_with(tmp_path, {"wide.png": picture((2400, 600)), "tall.jpg": picture((800, 3200), "JPEG")})
    book = written(tmp_path, '<h1>X</h1><img src="../wide.png" alt=""><img src="../tall.jpg" alt="">')
    assert [Image.open(io.BytesIO(book.data[n])).size for n in book.pictures("one")] == [
        (1600, 400),
        (400, 1600),
    ]

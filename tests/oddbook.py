"""Small books for tests of the EPUB, and one of everything that has made EPUBs invalid."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from unittest.mock import patch

from epubtools import Epub
from fragmentbook import fragment_book
from PIL import Image

from bookbuild.epub import write_epub
from bookbuild.model import Book

GRADIENT = (
    '<svg viewBox="0 0 30 10" preserveAspectRatio="xMidYMid"><defs><linearGradient id="fade" gradientUnits="userSpaceOnUse">'
    '<stop offset="0" stop-color="red"></stop></linearGradient></defs><rect id="box" width="30" height="10" fill="url(#fade)"></rect>'
    '<use xlink:href="#box"></use></svg>'
)


def picture(size: tuple[int, int], kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.effect_noise(size, 60).convert("RGB").save(out, kind)
    return out.getvalue()


DOTS = picture((4, 4))
RAW = """<center>mid <font color="red">font</font> <tt>tt</tt></center><h1 id="late">Late</h1>
<div align="center" foo="bar" @click="x" onclick="alert(1)"><p align="right">p <img src="../p.png" width="100" height="50%" border="0"></p></div>
<a name="old"></a><a name="old">x</a><iframe src="https://example.org/film" title="Film"></iframe><video src="x.mp4" controls></video>
<table width="100%" border="1"><tr><td bgcolor="red" valign="top" width="20%" nowrap>x<td>y</table>
<p>Placeholder <name>and</name> <my-tag>custom</my-tag> <span><div>block</div></span></p><em><p>emphatic</p></em>
<ul><ul><li>x</li></ul></ul><ul></ul><ol type="a" start="3"><li value="7">x</ol><form><input><button>Go</button>in form</form>
<h2>No id</h2><h4 id="has space">odd</h4><p id="">a<p id="dup">1<p id="dup">2<script>alert(1)</script><style>p{}</style>
<picture><source srcset="../p.png"><img src="../p.png" alt="P"></picture><dl><dt>x<dd>y</dl><hr noshade><br clear="all">
<pre>plain</pre><nav>n</nav><main>m</main><blink>b</blink><ruby>r<rp>(</rp><rt>k</rt><rp>)</rp></ruby><progress value="1">p</progress>
<h3>Heading <p>para</h3><abbr title="">a</abbr><p lang="">x <q cite="">q</q> <label>l</label> <time datetime="2020-01-01">t</time>
<p>\x1b[31mred\x1b[0m \x0b \ufffe end</p><object data="x.swf"></object><blockquote cite="x y">b</blockquote><table><caption>c</caption></table>"""
MATHS = "<p><math alttext='\\frac{a}{b}' display='block'><mfrac><mi>a</mi><mi>b</mi></mfrac></math></p>"
ADDRESSES = """<p><a href="http://example.org/a[1]|b c?q={x}&amp;r=50%#f#g">odd</a> <a href="vscode://x">scheme</a>
<a href="https://example.org/%7Ea?b=c%20d">fine</a> <a href="//example.org/x">bare</a></p>"""
PICTURES = f"""<p><img src="data:image/png;base64,{base64.b64encode(DOTS).decode()}" alt="inline">
<img src="../lie.jpg" alt="a PNG"><img src="../new.webp" alt="not for Kindle"></p>"""
LOST = """<p><img src="https://example.org/badge.svg" alt="words 0"></p><p><img src="../lost.png" alt="words 1"></p>
<p><img src="../broken.png" alt="words 2"></p>"""


def footnoted(number: str, words: str, ref: str = "fnref") -> tuple[str, str]:
    """(reference, note) as Python-Markdown writes them."""
    return (
        f'<sup id="{ref}:{number}"><a class="footnote-ref" href="#fn:{number}">{number}</a></sup>',
        f'<li id="fn:{number}"><p>{words} <a class="footnote-backref" href="#{ref}:{number}" title="Jump">↩</a></p></li>',
    )


def long_chapter() -> str:
    """About 700 kB in eight sections with a note each."""
    sections, notes = "", ""
    for number in range(1, 9):
        ref, note = footnoted(str(number), f"Note {number}.")
        sections += f'<h2 id="s{number}">Section {number}</h2><p>{"words " * 15_000}{ref}</p><p><a href="#s1">up {number}</a></p>'
        notes += note
    return f'<h1 id="one">Long</h1>{sections}<div class="footnote"><hr><ol>{notes}</ol></div>'


CLASHING = ("one.md", "ONE.md", "9 b (ü).md", "nav.md")
ODD = {
    "raw.md": RAW,
    "svg.md": f'<h1 id="x">SVG</h1>{GRADIENT}',
    "maths.md": f'<h1 id="x">Maths</h1>{MATHS}',
    "addresses.md": f'<h1 id="x">Addresses</h1>{ADDRESSES}',
    "pictures.md": f'<h1 id="x">Pictures</h1>{PICTURES}',
    "long.md": long_chapter(),
    "after.md": '<h1 id="two">After</h1><p><a href="../long/#s8">last section</a></p>',
    "lost.md": f'<h1 id="x">Lost</h1>{LOST}',
    **{name: f'<h1 id="x">{name}</h1><p><a href="../ONE/#x">up from {name}</a></p>' for name in CLASHING},
}


def write(book: Book, out: Path, **settings) -> dict:
    """write_epub with a plain cover: drawing the real one takes longer than all the rest."""
    with patch("bookbuild.epub.cover_png", return_value=picture((5, 8))):
        return write_epub(book, out, **settings)


def written(folder: Path, html: str, **settings) -> Epub:
    """The EPUB of a book with one chapter, one.md."""
    return written_pages(folder, {"one.md": html}, **settings)


def written_pages(folder: Path, pages: dict[str, str], chapters: set[str] | None = None, **settings) -> Epub:
    """The EPUB of a book with one part."""
    out = folder / "book.epub"
    write(fragment_book(folder, {"Part": pages}, **settings), out, chapters=chapters)
    return Epub(out)


def site_with(tmp_path: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def write_odd(folder: Path) -> Path:
    """The EPUB of ODD, so that the checker need run only once for all of it."""
    pictures = {
        "p.png": DOTS,
        "lie.jpg": DOTS,
        "new.webp": picture((4, 4), "WEBP"),
        "broken.png": b"not a picture",
    }
    site_with(folder, pictures)
    write(fragment_book(folder, {"Odd & <more>": ODD}), folder / "odd.epub")
    return folder / "odd.epub"

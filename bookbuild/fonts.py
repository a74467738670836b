"""The site's web fonts: WOFF2 subsets of the open fonts that pip installed, so that no font file is committed.

`mkdocs.yml` says where they belong, below `docs_dir`:

    extra:
      fonts: assets/fonts

A book that does not say so gets none. Without them the style sheet falls back to system fonts. Subsets of
fonts under the Open Font License may not carry their reserved names, so the families are called Book Serif,
Book Sans, Book Mono and Book Math; each file keeps its copyright and licence inside, and LICENSES.txt repeats them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from bookbuild.model import BookError
from bookbuild.outline import docs_dir, read_config

LICENCES = "LICENSES.txt"
STAMP = ".made-from"  # hash of what the files were made from; a dot file stays out of the site
_KEPT_NAMES = (0, 13, 14)  # copyright, licence and where to read it; the reserved family names go


Ranges = tuple[tuple[int, int], ...]  # first and last code points

# Latin as English and European names need it, Greek for formulas, arrows, maths, box drawing, marks of lists.
TEXT: Ranges = (
    (0x20, 0x7E), (0xA0, 0xFF), (0x131, 0x131), (0x152, 0x153), (0x160, 0x161), (0x17D, 0x17E), (0x192, 0x192),
    (0x2C6, 0x2DD), (0x391, 0x3D6), (0x2000, 0x206F), (0x2070, 0x209F), (0x20A0, 0x20BF), (0x2100, 0x214F),
    (0x2150, 0x218F), (0x2190, 0x21FF), (0x2200, 0x22FF), (0x2300, 0x23FF), (0x2500, 0x25FF), (0x2600, 0x27BF),
)  # fmt: skip
# What formulas are made of; italics of their own (1D434 on) are how browsers draw <mi>.
MATHS: Ranges = (
    (0x20, 0x7E), (0xAC, 0xAC), (0xB1, 0xB1), (0xB7, 0xB7), (0xD7, 0xD7), (0xF7, 0xF7), (0x131, 0x131), (0x237, 0x237),
    (0x302, 0x305), (0x391, 0x3F6), (0x2016, 0x2016), (0x2026, 0x2026), (0x2032, 0x2034), (0x20D7, 0x20D7),
    (0x210E, 0x210F), (0x2113, 0x2113), (0x211D, 0x211D), (0x2190, 0x2194), (0x21D0, 0x21D4), (0x2200, 0x22A5),
    (0x22C5, 0x22C6), (0x22EE, 0x22F1), (0x2308, 0x230B), (0x23DE, 0x23DF), (0x27E8, 0x27E9), (0x1D400, 0x1D467),
    (0x1D49C, 0x1D4B5), (0x1D6FC, 0x1D71B),
)  # fmt: skip
FEATURES = ("kern", "liga", "calt", "ccmp", "locl", "mark", "tnum", "lnum")  # small capitals and such double a file


@dataclass(frozen=True)
class Face:
    """One file: where it comes from, what is left of its axes and characters, and what it is called."""

    package: str
    source: str  # below the package
    target: str
    axes: tuple[tuple[str, float | tuple[float, float]], ...] = ()
    ranges: Ranges = TEXT
    features: tuple[str, ...] = FEATURES


# Optical size 14 is the one drawn for running text; the rest of the weight range would only cost bytes.
_WEIGHTS = ("wght", (400, 700))
FACES = (
    Face("fontpkg_source_serif_4", "files/SourceSerif4[opsz,wght].ttf", "book-serif.woff2", (("opsz", 14), _WEIGHTS)),
    Face("fontpkg_source_serif_4", "files/SourceSerif4-Italic[opsz,wght].ttf", "book-serif-italic.woff2",
         (("opsz", 14), _WEIGHTS)),
    Face("fontpkg_ibm_plex_sans", "files/IBMPlexSans[wdth,wght].ttf", "book-sans.woff2", (("wdth", 100), _WEIGHTS)),
    Face("fontpkg_ibm_plex_sans", "files/IBMPlexSans-Italic[wdth,wght].ttf", "book-sans-italic.woff2",
         (("wdth", 100), _WEIGHTS)),
    Face("fontpkg_jetbrains_mono", "files/JetBrainsMono[wght].ttf", "book-mono.woff2", (_WEIGHTS,)),
    Face("ziamath", "fonts/STIXTwoMath-Regular.ttf", "book-math.woff2", ranges=MATHS, features=()),
)  # fmt: skip


def fonts_folder(config_file: Path) -> Path | None:
    """The folder below `docs_dir` where a book wants its web fonts; None if it asks for none."""
    wanted = (read_config(config_file).get("extra") or {}).get("fonts")
    return docs_dir(config_file) / wanted if wanted else None


def make_fonts(target: Path, faces: Iterable[Face] = FACES) -> list[Path]:
    """Write the WOFF2 files into `target` unless they are there already; return their paths.

    Raises BookError where a font package is not installed.
    """
    faces = tuple(faces)
    files = [target / face.target for face in faces]
    stamp = _stamp(faces)
    made = target / STAMP
    if made.is_file() and made.read_text() == stamp and all(f.is_file() for f in files):
        return files
    target.mkdir(parents=True, exist_ok=True)
    for face, file in zip(faces, files, strict=True):
        _put(file, _woff2(face))
    _put(target / LICENCES, _licences(files).encode())
    _put(made, stamp.encode())
    return files


def characters(files: Iterable[Path]) -> frozenset[int]:
    """Every code point that at least one of the font files can draw."""
    from fontTools.ttLib import TTFont

    return frozenset(code for file in files for code in TTFont(file, lazy=True).getBestCmap())


def _stamp(faces: tuple[Face, ...]) -> str:
    versions = [metadata.version(face.package.replace("_", "-")) for face in faces if _folder(face.package)]
    made_from = repr((1, [asdict(face) for face in faces], versions, metadata.version("fonttools")))  # 1: this code
    return hashlib.sha256(made_from.encode()).hexdigest()


def _folder(package: str) -> Path | None:
    """Where an installed package lies; it is not imported, as its code is of no interest here."""
    spec = find_spec(package)
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def _source(face: Face) -> bytes:
    folder = _folder(face.package)
    if folder is None or not (folder / face.source).is_file():
        distribution = face.package.replace("_", "-")
        raise BookError(f"fonts: package {distribution} is not installed (pip install {distribution})")
    return (folder / face.source).read_bytes()


def _woff2(face: Face) -> bytes:
    """The subset of one variable font, its axes narrowed; the same input gives the same bytes."""
    from io import BytesIO

    from fontTools import subset
    from fontTools.ttLib import TTFont
    from fontTools.varLib import instancer

    font = TTFont(BytesIO(_source(face)), recalcTimestamp=False)
    options = subset.Options(
        flavor="woff2",
        layout_features=list(face.features),
        name_IDs=list(_KEPT_NAMES),
        hinting=False,
        desubroutinize=True,
        notdef_outline=True,
        recalc_timestamp=False,
    )
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in face.ranges for code in range(first, last + 1)])
    subsetter.subset(font)  # first, as the narrowed font no longer lists variations of empty glyphs
    if face.axes:
        font = instancer.instantiateVariableFont(font, dict(face.axes), inplace=True)
    out = BytesIO()
    subset.save_font(font, out, options)
    return out.getvalue()


def _licences(files: list[Path]) -> str:
    """Copyright and licence of each file as the font itself words them."""
    from fontTools.ttLib import TTFont

    words = []
    for file in files:
        names = TTFont(file, lazy=True)["name"]
        words.append("\n".join([file.name, *(names.getDebugName(number) or "" for number in _KEPT_NAMES)]))
    return "\n\n".join(words) + "\n"


def _put(file: Path, content: bytes) -> None:
    """Appear whole or not at all: another build may be reading."""
    partial = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    partial.write_bytes(content)
    os.replace(partial, file)

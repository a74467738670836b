"""The site's web fonts: WOFF2 subsets of the open fonts that pip installed, so that no font file is committed.

`mkdocs.yml` says where they belong, below `docs_dir`:

    extra:
      fonts: assets/fonts

A book that does not say so gets none. Without them the style sheet falls back to system fonts. Subsets of
fonts under the Open Font License may not carry their reserved names, so the families are called Book Serif,
Book Sans and Book Mono and the licences lie beside them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib import metadata, resources
from pathlib import Path

from bookbuild.model import BookError
from bookbuild.outline import docs_dir, read_config

STAMP = ".made-from"  # hash of what the files were made from; a dot file stays out of the site
_KEPT_NAMES = (0, 13, 14)  # copyright, licence and where to read it; the reserved family names go


@dataclass(frozen=True)
class Face:
    """One file: where it comes from, what is left of its axes, and what it is called."""

    package: str
    source: str
    target: str
    axes: tuple[tuple[str, float | tuple[float, float]], ...]


# Optical size 14 is the one drawn for running text; the rest of the weight range would only cost bytes.
FACES = (
    Face("fontpkg_source_serif_4", "SourceSerif4[opsz,wght].ttf", "book-serif.woff2",
         (("opsz", 14), ("wght", (400, 700)))),
    Face("fontpkg_source_serif_4", "SourceSerif4-Italic[opsz,wght].ttf", "book-serif-italic.woff2",
         (("opsz", 14), ("wght", (400, 700)))),
    Face("fontpkg_ibm_plex_sans", "IBMPlexSans[wdth,wght].ttf", "book-sans.woff2",
         (("wdth", 100), ("wght", (400, 700)))),
    Face("fontpkg_ibm_plex_sans", "IBMPlexSans-Italic[wdth,wght].ttf", "book-sans-italic.woff2",
         (("wdth", 100), ("wght", (400, 700)))),
    Face("fontpkg_jetbrains_mono", "JetBrainsMono[wght].ttf", "book-mono.woff2",
         (("wght", (400, 700)),)),
)  # fmt: skip

# Latin as English and European names need it, Greek for formulas, arrows, maths, box drawing, marks of lists.
RANGES = (
    (0x20, 0x7E), (0xA0, 0xFF), (0x131, 0x131), (0x152, 0x153), (0x160, 0x161), (0x17D, 0x17E), (0x192, 0x192),
    (0x2C6, 0x2DD), (0x391, 0x3D6), (0x2000, 0x206F), (0x2070, 0x209F), (0x20A0, 0x20BF), (0x2100, 0x214F),
    (0x2150, 0x218F), (0x2190, 0x21FF), (0x2200, 0x22FF), (0x2300, 0x23FF), (0x2500, 0x25FF), (0x2600, 0x27BF),
)  # fmt: skip
FEATURES = ("kern", "liga", "calt", "ccmp", "locl", "mark", "tnum", "lnum")  # small capitals and such double a file


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
        _put(target / f"LICENSE-{face.target.split('-')[1].split('.')[0]}.txt", _resource(face.package, "LICENSE"))
    _put(made, stamp.encode())
    return files


def characters(files: Iterable[Path]) -> frozenset[int]:
    """Every code point that at least one of the font files can draw."""
    from fontTools.ttLib import TTFont

    return frozenset(code for file in files for code in TTFont(file, lazy=True).getBestCmap())


def _stamp(faces: tuple[Face, ...]) -> str:
    versions = [metadata.version(face.package.replace("_", "-")) for face in faces if _installed(face.package)]
    made_from = repr((RANGES, FEATURES, [asdict(face) for face in faces], versions, metadata.version("fonttools")))
    return hashlib.sha256(made_from.encode()).hexdigest()


def _installed(package: str) -> bool:
    try:
        return resources.files(package).joinpath("files").is_dir()
    except ModuleNotFoundError:
        return False


def _resource(package: str, name: str) -> bytes:
    if not _installed(package):
        distribution = package.replace("_", "-")
        raise BookError(f"fonts: package {distribution} is not installed (pip install {distribution})")
    return resources.files(package).joinpath(name).read_bytes()


def _woff2(face: Face) -> bytes:
    """The subset of one variable font, its axes narrowed; the same input gives the same bytes."""
    from io import BytesIO

    from fontTools import subset
    from fontTools.ttLib import TTFont
    from fontTools.varLib import instancer

    font = TTFont(BytesIO(_resource(face.package, f"files/{face.source}")), recalcTimestamp=False)
    options = subset.Options(
        flavor="woff2",
        layout_features=list(FEATURES),
        name_IDs=list(_KEPT_NAMES),
        hinting=False,
        desubroutinize=True,
        notdef_outline=True,
        recalc_timestamp=False,
    )
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
    subsetter.subset(font)  # first, as the narrowed font no longer lists variations of empty glyphs
    font = instancer.instantiateVariableFont(font, dict(face.axes), inplace=True)
    out = BytesIO()
    subset.save_font(font, out, options)
    return out.getvalue()


def _put(file: Path, content: bytes) -> None:
    """Appear whole or not at all: another build may be reading."""
    partial = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    partial.write_bytes(content)
    os.replace(partial, file)

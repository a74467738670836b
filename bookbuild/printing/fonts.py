"""The book's typefaces, taken from Python packages so that no font file is committed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from bookbuild.model import BookError


@dataclass(frozen=True)
class Face:
    family: str
    package: str
    upright_name: str
    italic_name: str

    @property
    def upright(self) -> Path:
        return self._file(self.upright_name)

    @property
    def italic(self) -> Path:
        return self._file(self.italic_name)

    def _file(self, name: str) -> Path:
        try:
            path = Path(str(files(self.package).joinpath("files", name)))
        except ModuleNotFoundError:
            path = None
        if path is None or not path.is_file():
            pip_name = self.package.replace("_", "-")
            raise BookError(f"pdf-font {self.family} not found (pip install {pip_name})")
        return path


SERIF = Face(
    "Source Serif 4",
    "fontpkg_source_serif_4",
    "SourceSerif4[opsz,wght].ttf",
    "SourceSerif4-Italic[opsz,wght].ttf",
)
SANS = Face(
    "IBM Plex Sans",
    "fontpkg_ibm_plex_sans",
    "IBMPlexSans[wdth,wght].ttf",
    "IBMPlexSans-Italic[wdth,wght].ttf",
)
MONO = Face(
    "JetBrains Mono",
    "fontpkg_jetbrains_mono",
    "JetBrainsMono[wght].ttf",
    "JetBrainsMono-Italic[wght].ttf",
)


def generic_families() -> bytes:
    """Fontconfig rules: "sans-serif" and the like, which pictures ask for, are the book's faces on any machine."""
    rules = "".join(
        f'<match target="scan"><test name="family"><string>{face.family}</string></test>'
        f'<edit name="family" mode="append_last"><string>{name}</string></edit></match>'
        for name, face in (("serif", SERIF), ("sans-serif", SANS), ("monospace", MONO))
    )
    return f'<?xml version="1.0"?><fontconfig>{rules}</fontconfig>'.encode()


def font_faces() -> str:
    """@font-face rules; the files are variable in weight, so one rule a style is enough."""
    return "\n".join(
        f'@font-face {{ font-family: "{face.family}"; font-style: {style}; src: url("{path.as_uri()}") }}'
        for face in (SERIF, SANS, MONO)
        for style, path in (("normal", face.upright), ("italic", face.italic))
    )

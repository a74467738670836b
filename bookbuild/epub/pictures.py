"""The pictures of an EPUB: collected once each under plain names, in formats and sizes that readers take."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from urllib.parse import unquote_to_bytes

from PIL import Image, UnidentifiedImageError

from bookbuild.epub.names import FileNames

LONGEST = 1600  # pixels of a picture's longer side; sharp on every reading device
_CORE = {"PNG": ("image/png", ".png"), "JPEG": ("image/jpeg", ".jpg"), "GIF": ("image/gif", ".gif")}
_SVG = ("image/svg+xml", ".svg")
_WORTH = 50_000  # bytes; smaller files are left as they are


@dataclass(frozen=True)
class Picture:
    name: str  # below the package's folder
    media_type: str
    data: bytes


class Pictures:
    """Hands out addresses of pictures; the same bytes are kept once."""

    def __init__(self, site_dir: Path) -> None:
        self._site_dir = site_dir
        self._names = FileNames()
        self._by_source: dict[str, Picture | None] = {}
        self._by_hash: dict[str, Picture] = {}

    def __iter__(self):
        return iter(self._by_hash.values())

    def from_site(self, path: str) -> Picture | None:
        """The picture at a path below the site's root; None where it is none."""
        if path not in self._by_source:
            stem = PurePosixPath(path).with_suffix("").as_posix().replace("/", "-")
            self._by_source[path] = self._keep((self._site_dir / path).read_bytes(), stem)
        return self._by_source[path]

    def from_data(self, uri: str) -> Picture | None:
        """The picture inside a data: address (an EPUB may not show those); None where it cannot be read."""
        head, _, body = uri.partition(",")
        try:
            raw = unquote_to_bytes(body)
            data = base64.b64decode(raw, validate=False) if head.endswith(";base64") else raw
        except binascii.Error:
            return None
        return self._keep(data, "inline")

    def _keep(self, data: bytes, stem: str) -> Picture | None:
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self._by_hash:
            if (found := _accepted(data)) is None:
                return None
            data, (media_type, suffix) = found
            self._by_hash[digest] = Picture(f"images/{self._names.take(stem, suffix)}", media_type, data)
        return self._by_hash[digest]


def _accepted(data: bytes) -> tuple[bytes, tuple[str, str]] | None:
    """The bytes to store and their format, by content: names and endings are not to be believed."""
    if _is_svg(data):
        return data, _SVG
    try:
        with Image.open(BytesIO(data)) as image:
            image.load()
            return _shrunk(data, image)
    except (UnidentifiedImageError, OSError, SyntaxError):
        return None


def _is_svg(data: bytes) -> bool:
    head = data[:2000].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"<") and b"<svg" in data[:4000]


def _shrunk(data: bytes, image: Image.Image) -> tuple[bytes, tuple[str, str]]:
    kind = image.format or ""
    moving = getattr(image, "is_animated", False)
    if moving and kind in _CORE:
        return data, _CORE[kind]
    large = max(image.size) > LONGEST
    if kind in _CORE and not large and (kind != "PNG" or len(data) < _WORTH):
        return data, _CORE[kind]
    target = "JPEG" if kind == "JPEG" else "PNG"
    if large:
        if image.mode not in ("RGB", "RGBA", "L", "LA"):
            image = image.convert("RGBA" if "transparency" in image.info or image.mode == "PA" else "RGB")
        image.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    out = BytesIO()
    if target == "JPEG":
        image.save(out, "JPEG", quality=88, optimize=True, progressive=True)
    else:
        image.save(out, "PNG", optimize=True)
    smaller = out.getvalue()
    if kind == target and not large and len(smaller) >= len(data):
        smaller = data
    return smaller, _CORE[target]

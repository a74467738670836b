"""The pictures of an EPUB: collected once each under plain names, in formats and sizes that readers take."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from urllib.parse import unquote_to_bytes

from lxml import etree
from PIL import Image, UnidentifiedImageError

from bookbuild.epub.names import FileNames
from bookbuild.trees import SVG

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
        return _grounded(data)
    try:
        with Image.open(BytesIO(data)) as image:
            image.load()
            return _shrunk(data, image)
    except (UnidentifiedImageError, OSError, SyntaxError):
        return None


def _is_svg(data: bytes) -> bool:
    head = data[:2000].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"<") and b"<svg" in data[:4000]


def paper(view_box: str | None) -> dict[str, str]:
    """The attributes of a white rectangle that fills a drawing."""
    corner = (view_box or "0 0").replace(",", " ").split()
    return {"x": corner[0], "y": corner[1], "width": "100%", "height": "100%", "fill": "#fff"}


def _grounded(data: bytes) -> tuple[bytes, tuple[str, str]] | None:
    """The drawing on white paper, otherwise as it was: dark ink on a reader's dark page could not be seen.

    A rectangle, since readers' dark modes take backgrounds away from style sheets, but not from pictures.
    """
    try:
        root = etree.fromstring(
            data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
        )
    except etree.XMLSyntaxError:
        return None
    if etree.QName(root).localname != "svg":
        return None
    ground = etree.Element(f"{{{SVG}}}rect", paper(root.get("viewBox")))
    root.insert(0, ground)
    return etree.tostring(root.getroottree(), encoding="utf-8", xml_declaration=True), _SVG


def _shrunk(data: bytes, image: Image.Image) -> tuple[bytes, tuple[str, str]]:
    """Small enough, in a core format and on a white ground."""
    kind = image.format or ""
    if kind in _CORE and getattr(image, "is_animated", False):
        return data, _CORE[kind]
    large = max(image.size) > LONGEST
    clear = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    if kind in _CORE and not large and not clear and (kind != "PNG" or len(data) < _WORTH):
        return data, _CORE[kind]
    if clear:
        layer = image.convert("RGBA")
        image = Image.new("RGB", image.size, "white")
        image.paste(layer, mask=layer.getchannel("A"))
    if large:
        if image.mode not in ("RGB", "L"):
            image = image.convert("RGB")
        image.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    target = "JPEG" if kind == "JPEG" else "PNG"
    out = BytesIO()
    if target == "JPEG":
        image.save(out, "JPEG", quality=88, optimize=True, progressive=True)
    else:
        image.save(out, "PNG", optimize=True)
    smaller = out.getvalue()
    unchanged = kind == target and not large and not clear
    return (data if unchanged and len(data) <= len(smaller) else smaller), _CORE[target]

"""The zip of an EPUB: mimetype first and stored, every date the build's, whole or not at all."""

from __future__ import annotations

import os
import zipfile
from datetime import datetime
from io import BytesIO
from pathlib import Path

from ebooklib import epub

from bookbuild.dates import zip_date
from bookbuild.model import BookError

MIMETYPE = "application/epub+zip"


def write(package: epub.EpubBook, out: Path, date: datetime) -> None:
    """Write an EbookLib book to `out`; the same content and date give the same bytes (aerkalov/ebooklib#340)."""
    raw = BytesIO()
    writer = _Writer(raw, package, {"mtime": date, "raise_exceptions": True})
    writer.process()
    writer.write()
    temporary = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(raw) as source, zipfile.ZipFile(temporary, "w") as target:
            for name in sorted(source.namelist(), key=_order):
                info = zipfile.ZipInfo(name, zip_date(date))
                info.create_system, info.external_attr = 3, 0o644 << 16  # as on Unix, whatever builds it
                stored = name == "mimetype"
                info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
                target.writestr(info, source.read(name), compresslevel=None if stored else 9)
        os.replace(temporary, out)
    except OSError as error:
        raise BookError(f"{out}: epub-write {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


class _Writer(epub.EpubWriter):
    """EbookLib's writer, which does not say which language the package document itself is in."""

    def _write_opf_file(self, root) -> None:
        root.set("{http://www.w3.org/XML/1998/namespace}lang", self.book.language)
        super()._write_opf_file(root)


def _order(name: str) -> tuple[bool, bool, str]:
    return name != "mimetype", not name.startswith("META-INF/"), name

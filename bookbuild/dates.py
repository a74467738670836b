"""The date of a build: SOURCE_DATE_EPOCH where it is set, so that a build can be repeated byte by byte."""

from __future__ import annotations

import os
import time
from datetime import datetime, timezone

from bookbuild.model import BookError

_ZIP_START = datetime(1980, 1, 1, tzinfo=timezone.utc)  # a zip knows no date before this one


def build_date() -> datetime:
    """Now, or what SOURCE_DATE_EPOCH says, in UTC and whole seconds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return datetime.fromtimestamp(int(epoch) if epoch else int(time.time()), timezone.utc)
    except (ValueError, OverflowError, OSError) as error:
        raise BookError(f"SOURCE_DATE_EPOCH: not a number of seconds since 1970: {epoch!r}") from error


def zip_date(date: datetime) -> tuple[int, int, int, int, int, int]:
    """A date as zipfile wants it, not before 1980 (sphinx#14168) and on an even second."""
    date = max(date, _ZIP_START)
    return date.year, date.month, date.day, date.hour, date.minute, date.second // 2 * 2

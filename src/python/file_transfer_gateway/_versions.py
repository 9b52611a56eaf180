"""Versions of a file, compared so that bytes of two versions are never joined (RFC 9110, 8.8)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Mapping, Optional

_CLOCK_DOUBT = 86_400
"""Seconds by which clocks and time zones of servers may be wrong."""


@dataclass(frozen=True)
class FileVersion:
    """Plain values, so a version can be stored and used by another process."""

    size: int
    """Size of the whole file in bytes."""
    etag: Optional[str] = None
    last_modified: Optional[str] = None

    @property
    def is_strong(self) -> bool:
        return self.etag is not None and self.etag.startswith('"')

    def is_that_of(self, status: int, headers: Mapping[str, str]) -> bool:
        """A node that has only just seen the file sends no weak tag yet. Then size and time are compared, from which it is made."""
        now = _facts(status, headers)
        if now is None or now.size != self.size:
            return False
        if self.is_strong or (self.etag is not None and now.etag is not None):
            return now.etag == self.etag
        return self.last_modified is not None and now.last_modified == self.last_modified


def version_of(status: int, headers: Mapping[str, str]) -> Optional[FileVersion]:
    """The version of the file in an answer; None if a later version could have the same values.

    The gateway sends an ETag only once every later change must alter it, weak or strong. A date alone is sufficient if it
    is far before the date of the answer (8.8.2.2).
    """
    version = _facts(status, headers)
    if version is None or version.etag is not None:
        return version
    try:
        date = parsedate_to_datetime(headers.get("date", ""))
        age = date - parsedate_to_datetime(version.last_modified or "")
    except (TypeError, ValueError, IndexError):
        return None
    return version if age.total_seconds() >= _CLOCK_DOUBT else None


def _facts(status: int, headers: Mapping[str, str]) -> Optional[FileVersion]:
    # Offsets would count encoded bytes.
    if "content-encoding" in headers:
        return None
    total = headers.get("content-range", "").rpartition("/")[2] if status == 206 else headers.get("content-length", "")
    if not re.fullmatch(r"[0-9]+", total):
        return None
    return FileVersion(int(total), headers.get("etag"), headers.get("last-modified"))

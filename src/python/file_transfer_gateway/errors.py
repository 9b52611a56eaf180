"""The errors of calls."""

from __future__ import annotations

import json
import math
import time
from email.utils import parsedate_to_datetime
from typing import List, Mapping, Optional, Union

from ._codes import ClientErrorCode
from .types import ErrorCode

FtgErrorCode = Union[ErrorCode, ClientErrorCode]


class FtgError(Exception):
    """A call that failed."""

    def __init__(
        self,
        message: str,
        *,
        code: FtgErrorCode,
        status: int = 0,
        request_id: Optional[str] = None,
        retry_after: Optional[int] = None,
        skipped: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code: FtgErrorCode = code
        """Stable. Use this in conditions, never the text."""
        self.status = status
        """HTTP status; 0 if no answer came."""
        self.request_id = request_id
        """Identifies the request in the log of the gateway."""
        self.retry_after = retry_after
        """Seconds to wait before a retry; None if the gateway gives none."""
        self.skipped = skipped
        """True if an upload or copy with ``overwrite=False`` found an existing file."""

    def __str__(self) -> str:
        facts: List[str] = [self.code] if self.status == 0 else [str(self.status), self.code]
        if self.request_id is not None:
            facts.append(f"request {self.request_id}")
        return f"{self.message} ({', '.join(facts)})"


def incomplete_list(entries: int) -> FtgError:
    """The error at the end of an incomplete list."""
    text = f"the list is incomplete: the gateway left out {entries} entries that it cannot read or address"
    return FtgError(text, code="protocol_error", status=200)


def answered_error(status: int, headers: Mapping[str, str], body: bytes) -> FtgError:
    """The error of an answer."""
    fields = _object(body)
    message = fields.get("error")
    return FtgError(
        message if isinstance(message, str) else f"the gateway answered {status}",
        # A newer gateway may send codes for which this client has no types.
        code=headers.get("x-error-code", "invalid_answer"),  # type: ignore[arg-type]
        status=status,
        request_id=headers.get("x-request-id"),
        retry_after=_seconds(headers.get("retry-after")),
        skipped=fields.get("skipped") is True,
    )


def _seconds(field: Optional[str]) -> Optional[int]:
    """Retry-After is a number of seconds or a date (RFC 9110, 10.2.3)."""
    if field is None:
        return None
    if field.isascii() and field.isdigit():
        return int(field)
    try:
        return max(0, math.ceil(parsedate_to_datetime(field).timestamp() - time.time()))
    except (TypeError, ValueError):
        return None


def _object(body: bytes) -> Mapping[str, object]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}

"""Calls, and the rules for their retries. No I/O, so both clients share this module."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Callable, Dict, Literal, Mapping, Optional, Sequence, Union
from urllib.parse import quote, urlencode

import httpx

from ._bodies import Body
from ._codes import NOT_BEGUN, PASSING
from .errors import FtgError

Progress = Callable[[int, Optional[int]], None]
"""Called with the bytes moved so far, and with the total or None."""

Time = Union[datetime, str]
"""A ``datetime`` with a time zone, or its text (RFC 3339)."""


@dataclass(frozen=True)
class Retry:
    """The attempts and delays of calls that may succeed later."""

    attempts: int = 4
    """Attempts in all, including the first; 1 = no retry."""
    delay: float = 0.5
    """Seconds before the first retry; each further delay is twice as long."""
    max_delay: float = 60.0
    """Longest delay in seconds. A longer Retry-After ends the retries."""

    def delay_after(self, error: FtgError, attempt: int, repetition: "Repetition") -> Optional[float]:
        """Seconds to wait before the next attempt; None = give up. ``attempt`` counts from 1."""
        if attempt >= self.attempts or not _passes(error, repetition):
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.max_delay else None
        # Jitter keeps clients that failed together from retrying together.
        return min(self.max_delay, self.delay * 2.0 ** (attempt - 1)) * random.uniform(0.5, 1)


Repetition = Literal["repeatable", "once", "never"]
"""repeatable: a second run has the same result, either by its nature or by an Idempotency-Key. once: a second run could do
the work twice, so the call is repeated only if it was certainly not begun. never: the caller handles failures itself."""

_PASSING_STATUSES = (502, 503, 504)
"""The answer of a load balancer without a gateway behind it."""


def _passes(error: FtgError, repetition: Repetition) -> bool:
    if repetition == "never":
        return False
    if repetition == "once":
        return error.code in NOT_BEGUN
    return error.code in PASSING or error.code == "network_error" or (error.code == "invalid_answer" and error.status in _PASSING_STATUSES)


QueryValue = Union[str, int, bool, Sequence[str], None]


CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    query: Mapping[str, QueryValue] = field(default_factory=dict)
    headers: Mapping[str, Optional[str]] = field(default_factory=dict)
    json: Optional[Mapping[str, object]] = None
    body: Optional[Body] = None
    repetition: Repetition = "repeatable"
    takes_long: bool = False
    """The gateway answers after the work is done."""
    timeout: Optional[float] = None
    """Seconds without a byte of the answer; overrides the client's timeout."""
    accept: Sequence[int] = ()
    """Further statuses that are not errors."""

    def target(self) -> str:
        """Path and query."""
        pairs = []
        for name, value in self.query.items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if one is not None:
                    pairs.append((name, str(one).lower() if isinstance(one, bool) else str(one)))
        return self.path + (f"?{urlencode(pairs)}" if pairs else "")


@dataclass(frozen=True)
class Options:
    """The options of all calls of a client."""

    retry: Retry = Retry()
    timeout: float = 60.0
    work_timeout: float = 600.0
    request_id: Optional[str] = None

    def limits(self, call: Call) -> httpx.Timeout:
        read = call.timeout or (max(self.work_timeout, self.timeout) if call.takes_long else self.timeout)
        return httpx.Timeout(self.timeout, connect=min(CONNECT_SECONDS, self.timeout), read=read)


def at(*parts: str) -> str:
    """A path of the API, made from ``/api`` and quoted names and ids."""
    return "/api/" + "/".join(quote(part, safe="") for part in parts)


def reading(path: str, query: Optional[Mapping[str, QueryValue]] = None) -> Call:
    return Call("GET", path, query or {})


def changing(path: str, json: Optional[Mapping[str, object]] = None, key: Optional[str] = None) -> Call:
    """A POST with an Idempotency-Key: the caller's, or a new one for all attempts."""
    return Call("POST", path, json=json, headers={"Idempotency-Key": key or uuid.uuid4().hex}, takes_long=True)


def changing_once(path: str, json: Optional[Mapping[str, object]] = None) -> Call:
    """A POST to an endpoint without Idempotency-Keys. It is repeated only if it was certainly not begun."""
    return Call("POST", path, json=json, repetition="once")


def present(**fields: Any) -> Dict[str, Any]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def time_text(value: Optional[Time]) -> Optional[str]:
    if not isinstance(value, datetime):
        return value
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone; use datetime.now(timezone.utc), or .astimezone()")
    return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")

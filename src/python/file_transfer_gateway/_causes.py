"""Explains why no answer came, in place of the text of the socket."""

from __future__ import annotations

import errno
import socket
import ssl
from typing import Iterator, Optional

import httpx

from .errors import FtgError

NETWORK_ERRORS = (httpx.HTTPError, OSError)
"""The errors of httpx. Older versions also let some errors of sockets and TLS through."""


def network_error(thrown: Exception, url: str, request_id: Optional[str] = None) -> FtgError:
    error = FtgError(
        f"no whole answer came from the gateway: {_reason(thrown, url)}", code="network_error", request_id=request_id
    )
    error.__cause__ = thrown
    return error


def _reason(thrown: Exception, url: str) -> str:
    address = _address(url)
    for cause in _chain(thrown):
        if isinstance(cause, ssl.SSLError):
            if cause.reason == "WRONG_VERSION_NUMBER":
                return f"{address} does not speak TLS; is it http:// in place of https://?"
            return f"{address} offers no TLS that can be trusted: {cause}"
        if isinstance(cause, socket.gaierror):
            return f"the name of {address} cannot be resolved: {cause.strerror}"
        if isinstance(cause, ConnectionRefusedError):
            return f"{address} refused the connection; is the gateway running there?"
        if isinstance(cause, OSError) and cause.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
            return f"{address} cannot be reached from here: {cause.strerror}"
    if isinstance(thrown, httpx.ConnectTimeout):
        return f"{address} did not take the connection in time"
    if isinstance(thrown, httpx.ReadTimeout):
        return f"nothing came from {address} in time"
    if isinstance(thrown, httpx.WriteTimeout):
        return f"{address} took no further bytes in time"
    if isinstance(thrown, httpx.PoolTimeout):
        return "all connections of this client were in use for too long; close downloads that are not read"
    return f"the connection to {address} broke: {str(thrown) or type(thrown).__name__}"


def _address(url: str) -> str:
    parts = httpx.URL(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.host}:{port}"


def _chain(thrown: Optional[BaseException]) -> Iterator[BaseException]:
    """The exception and its causes, including those in groups (asyncio tries several addresses at once)."""
    seen = set()
    waiting = [thrown]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]

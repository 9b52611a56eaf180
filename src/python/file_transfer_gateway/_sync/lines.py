# Made from _async/lines.py by "npm run generate".
"""Lines of an answer, as they come."""

from __future__ import annotations

from typing import Generator

import httpx

from .._causes import NETWORK_ERRORS, network_error
from ..errors import FtgError


def lines_of(response: httpx.Response, base_url: str) -> Generator[str, None, None]:
    """Without their ends. Fails when the answer is cut, and when it ends within a line; closes the answer."""
    request_id = response.headers.get("x-request-id")
    rest = b""
    try:
        for chunk in response.iter_bytes():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line.decode()
    except NETWORK_ERRORS as thrown:
        raise network_error(thrown, base_url, request_id) from thrown
    finally:
        response.close()
    if rest:
        raise FtgError("the answer ended within a line", code="network_error", request_id=request_id)

"""The lines of an answer as they arrive."""

from __future__ import annotations

from typing import AsyncGenerator

import httpx

from .._causes import NETWORK_ERRORS, network_error
from ..errors import FtgError


async def lines_of(response: httpx.Response, base_url: str) -> AsyncGenerator[str, None]:
    """The lines without line ends. It raises an error if the answer is truncated or ends within a line, and closes the answer."""
    request_id = response.headers.get("x-request-id")
    rest = b""
    try:
        async for chunk in response.aiter_bytes():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line.decode()
    except NETWORK_ERRORS as thrown:
        raise network_error(thrown, base_url, request_id) from thrown
    finally:
        await response.aclose()
    if rest:
        raise FtgError("the answer ended within a line", code="network_error", request_id=request_id)

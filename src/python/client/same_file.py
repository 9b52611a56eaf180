"""Reads further bytes of one version of a file."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Optional

import httpx

from .._calls import Call
from .._versions import FileVersion
from ..errors import FtgError
from .transport import AsyncTransport


class AsyncSameFile:
    def __init__(self, transport: AsyncTransport, call: Call, version: FileVersion) -> None:
        """``call`` is a plain GET of the file."""
        self.version = version
        self._transport = transport
        self._call = call

    async def bytes_between(self, start: int, end: int) -> httpx.Response:
        """The bytes from ``start`` to ``end``, both inclusive. Raises ``file_changed`` if the file is another one now."""
        headers = {"Range": f"bytes={start}-{end}"}
        if self.version.is_strong:
            headers["If-Range"] = self.version.etag or ""
        answer = await self._ask("GET", headers)
        expected = f"bytes {start}-{end}/{self.version.size}"
        is_that = answer.status_code == 206 and answer.headers.get("content-range") == expected
        if is_that and self.version.is_that_of(answer.status_code, answer.headers):
            return answer
        await answer.aclose()
        raise changed()

    async def confirm(self) -> None:
        """Checks the version again after the last byte.

        With a weak version, the gateway reads the facts of a file before it opens the file. This check detects a replacement
        between the two.
        """
        if self.version.is_strong:
            return
        answer = await self._ask("HEAD", {})
        await answer.aclose()
        if not self.version.is_that_of(answer.status_code, answer.headers):
            raise changed()

    async def _ask(self, method: str, headers: Mapping[str, Optional[str]]) -> httpx.Response:
        call = replace(self._call, method=method, headers={**self._call.headers, **headers}, accept=())
        try:
            return await self._transport.open(call)
        except FtgError as error:
            raise (changed() if error.code == "bad_range" else error) from error.__cause__


def changed() -> FtgError:
    text = "the file is another one than that which was begun; nothing of the two was put together"
    return FtgError(text, code="file_changed")

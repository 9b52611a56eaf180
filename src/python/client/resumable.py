"""Uploads that resume after interruptions (tus 1.0.0)."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Callable, Mapping, Optional, cast

from .._bodies import Body, SeekableContent, size_of
from .._calls import Call, Progress, at, reading
from ..errors import FtgError
from ..types import TransferItem
from .transport import AsyncTransport

_VERSION = {"Tus-Resumable": "1.0.0"}


@dataclass
class _UploadState:
    offset: int
    url: Optional[str]
    transfer_id: Optional[str]
    """Set once the upload is complete."""


class AsyncResumableUpload:
    """An upload, new or resumed."""

    def __init__(
        self,
        transport: AsyncTransport,
        connection_id: str,
        content: SeekableContent,
        metadata: Mapping[str, object],
        *,
        url: Optional[str],
        on_url: Optional[Callable[[str], None]],
        piece_bytes: Optional[int],
        on_progress: Optional[Progress],
    ) -> None:
        size = size_of(content)
        if size is None:
            raise TypeError("a resumable upload needs bytes, a path, or a file that can seek")
        self._transport = transport
        self._connection_id = connection_id
        self._content = content
        self._size = size
        self._origin = Body(content).first
        self._metadata = metadata
        self._url = url
        self._on_url = on_url
        self._piece_bytes = piece_bytes
        self._on_progress = on_progress

    async def run(self) -> TransferItem:
        """Uploads the rest. After each progress, the count of retries starts again."""
        reached = failures = 0
        while True:
            try:
                at_now = await self._find()
                while at_now.transfer_id is None:
                    if at_now.offset > reached:
                        reached, failures = at_now.offset, 0
                    at_now = await self._send_piece(at_now.offset)
                answer = await self._transport.json(reading(at("transfers", at_now.transfer_id)))
                return cast(TransferItem, answer["transfer"])
            except FtgError as error:
                failures += 1
                await self._transport.pause(error, failures)

    async def _find(self) -> _UploadState:
        if self._url is None:
            return await self._begin()
        try:
            return await self._call(Call("HEAD", self._url, headers=_VERSION))
        except FtgError as error:
            if error.code != "unknown_upload":
                raise
        return await self._begin()

    async def _begin(self) -> _UploadState:
        fields = [f"{name} {b64encode(_text(value)).decode()}" for name, value in self._metadata.items()]
        headers = {**_VERSION, "Upload-Length": str(self._size), "Upload-Metadata": ",".join(fields)}
        state = await self._call(Call("POST", at("uploads", self._connection_id), headers=headers, repetition="once"))
        if state.url is None:
            raise _no_answer()
        self._url = state.url
        if self._on_url is not None:
            self._on_url(state.url)
        return state

    async def _send_piece(self, offset: int) -> _UploadState:
        headers = {**_VERSION, "Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset)}
        left = self._size - offset
        body = Body(self._content, size=min(left, self._piece_bytes or left), start=offset, origin=self._origin)
        if self._on_progress is not None:
            report = self._on_progress
            body.on_progress = lambda count, _: report(offset + count, self._size)
        call = Call("PATCH", self._url or "", headers=headers, body=body, repetition="never", takes_long=True)
        return await self._call(call)

    async def _call(self, call: Call) -> _UploadState:
        headers = (await self._transport.send(call)).headers
        offset = headers.get("upload-offset")
        if offset is None:
            raise _no_answer()
        return _UploadState(int(offset), headers.get("location"), headers.get("x-transfer-id"))


def _text(value: object) -> bytes:
    return (str(value).lower() if isinstance(value, bool) else str(value)).encode()


def _no_answer() -> FtgError:
    return FtgError("the answer is none of resumable uploads", code="invalid_answer")

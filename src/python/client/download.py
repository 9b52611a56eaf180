"""Downloads of files."""

from __future__ import annotations

import os
import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import AsyncGenerator, AsyncIterator, Optional, Type, TypeVar, Union
from urllib.parse import unquote

import httpx

from .._calls import Call, Progress
from .._causes import NETWORK_ERRORS, network_error
from .._names import name_with
from .._versions import FileVersion, version_of
from ..errors import FtgError
from .io import in_thread
from .same_file import AsyncSameFile
from .transport import AsyncTransport

Self = TypeVar("Self", bound="AsyncDownload")


class AsyncDownload:
    """A download, which can be read once: by iteration, by ``read()``, ``text()`` or ``save()``.

    After a broken connection it resumes at the next byte, if the file has a ``version`` that has not changed. It raises
    ``network_error`` if it cannot resume, and ``file_changed`` if the file has changed. A truncated file never appears
    complete.
    """

    status: int
    """206 for a range, 304 if the caller's copy is current (the body is empty)."""
    filename: Optional[str]
    content_type: Optional[str]
    length: Optional[int]
    """Bytes of the body; None if unknown."""
    etag: Optional[str]
    last_modified: Optional[datetime]
    version: Optional[FileVersion]
    """The version of the file; None if a later version could have the same values, so that no download can resume."""
    request_id: Optional[str]

    def __init__(
        self,
        transport: AsyncTransport,
        call: Call,
        *,
        resume: Optional[FileVersion] = None,
        had: int = 0,
        on_progress: Optional[Progress] = None,
        can_resume: bool = True,
    ) -> None:
        self._transport = transport
        self._call = call
        self._file = None if resume is None else AsyncSameFile(transport, call, resume)
        self._had = had
        self._on_progress = on_progress
        self._can_resume = can_resume
        self._response: Optional[httpx.Response] = None
        self._bytes: Optional[AsyncGenerator[bytes, None]] = None

    async def __aenter__(self: Self) -> Self:
        if self._file is not None:
            self._take(await self._file.bytes_between(self._had, self._file.version.size - 1))
            return self
        response = await self._transport.open(self._call)
        version = version_of(response.status_code, response.headers) if self._can_resume else None
        if version is not None and response.status_code != 304:
            plain = Call(self._call.method, self._call.path, self._call.query, {"Accept-Encoding": "identity"})
            self._file = AsyncSameFile(self._transport, plain, version)
        self._take(response)
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends the download at any point."""
        if self._bytes is not None:
            await self._bytes.aclose()
        if self._response is not None:
            await self._response.aclose()

    @property
    def is_not_modified(self) -> bool:
        return self.status == 304

    def __aiter__(self) -> AsyncIterator[bytes]:
        if self._response is None:
            raise RuntimeError("a download is opened by a with statement")
        if self._bytes is not None:
            raise RuntimeError("a download is read once")
        self._bytes = self._chunks(self._response)
        return self._bytes

    async def read(self) -> bytes:
        """The whole content in memory."""
        return b"".join([chunk async for chunk in self])

    async def text(self, encoding: str = "utf-8") -> str:
        return (await self.read()).decode(encoding)

    async def save(self, target: Union[str, "os.PathLike[str]"]) -> Path:
        """Writes to ``target``, which appears once it is complete. If it is a folder, the download keeps its own name."""
        path = self.target_in(target)
        part = path.with_name(name_with(f".{path.name}", f".{os.urandom(6).hex()}.part"))
        try:
            await self.write_to(part, "xb")
            await in_thread(os.replace, part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return path

    def target_in(self, target: Union[str, "os.PathLike[str]"]) -> Path:
        path = Path(target)
        if not path.is_dir():
            return path
        # The name comes from the server, so it must not lead out of the folder.
        name = re.split(r"[/\\]", self.filename or "")[-1]
        if name in ("", ".", ".."):
            raise FtgError(f"the download has no name to be saved by in {path}; name the file", code="invalid_answer")
        return path / name

    async def write_to(self, path: Path, mode: str) -> None:
        file = await in_thread(open, path, mode)
        try:
            async for chunk in self:
                await in_thread(file.write, chunk)
        finally:
            await in_thread(file.close)

    def _take(self, response: httpx.Response) -> None:
        headers = response.headers
        self._response = response
        self.status = response.status_code
        self.filename = _filename_in(headers.get("content-disposition", ""))
        self.content_type = headers.get("content-type")
        length = headers.get("content-length")
        self.length = None if length is None or response.status_code == 304 else int(length)
        self.etag = headers.get("etag")
        changed = headers.get("last-modified")
        self.last_modified = None if changed is None else parsedate_to_datetime(changed)
        self.version = None if self._file is None else self._file.version
        self.request_id = headers.get("x-request-id")

    async def _chunks(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        first = int((re.match(r"bytes (\d+)-", response.headers.get("content-range", "")) or ["0", "0"])[1])
        count = failures = 0
        has_resumed = self._had > 0
        while True:
            error: Optional[FtgError] = None
            try:
                async for chunk in response.aiter_raw():
                    failures = 0
                    count += len(chunk)
                    if self._on_progress is not None:
                        total = None if self.length is None else self._had + self.length
                        self._on_progress(self._had + count, total)
                    yield chunk
            except NETWORK_ERRORS as thrown:
                error = network_error(thrown, self._transport.base_url, self.request_id)
            if error is None:
                if self.length is None or count == self.length:
                    break
                text = f"the body ended after {count} of {self.length} bytes"
                error = FtgError(text, code="network_error", request_id=self.request_id)
            if self._file is None or self.length is None or count >= self.length:
                raise error
            failures += 1
            await self._transport.pause(error, failures)
            await response.aclose()
            response = await self._file.bytes_between(first + count, first + self.length - 1)
            self._response = response
            has_resumed = True
        if has_resumed and self._file is not None:
            await self._file.confirm()


def _filename_in(disposition: str) -> Optional[str]:
    """``filename*`` has precedence over ``filename`` (RFC 6266)."""
    extended = re.search(r"filename\*=UTF-8''([^;]+)", disposition, re.IGNORECASE)
    if extended is not None:
        return unquote(extended[1])
    quoted = re.search(r'filename="((?:[^"\\]|\\.)*)"', disposition, re.IGNORECASE)
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted[1])
    plain = re.search(r"filename=([^;\s]+)", disposition, re.IGNORECASE)
    return None if plain is None else plain[1]

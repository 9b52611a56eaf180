# Made from _async/download.py by "npm run generate".
"""A file on its way from the gateway."""

from __future__ import annotations

import os
import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import Generator, Iterator, Optional, Type, TypeVar, Union
from urllib.parse import unquote

import httpx

from .._calls import Call, Progress
from .._causes import NETWORK_ERRORS, network_error
from .._names import name_with
from .._versions import FileVersion, version_of
from ..errors import FtgError
from .io import in_thread
from .same_file import SameFile
from .transport import Transport

Self = TypeVar("Self", bound="Download")


class Download:
    """A file that streams, once: by iteration, by ``read()``, ``text()`` or ``save()``.

    Where the line breaks it goes on behind the last byte that came, as long as the file has a ``version`` and is still of it. It
    fails with ``network_error`` where it cannot go on, and with ``file_changed`` where the file is another one by then: a cut
    file never looks whole.
    """

    status: int
    """206 for a range, 304 for a file that the caller has already (its body is empty)."""
    filename: Optional[str]
    content_type: Optional[str]
    length: Optional[int]
    """Bytes of the body."""
    etag: Optional[str]
    last_modified: Optional[datetime]
    version: Optional[FileVersion]
    """Of the file; None where a later one might look the same, so that nothing can go on with it."""
    request_id: Optional[str]

    def __init__(
        self,
        transport: Transport,
        call: Call,
        *,
        resume: Optional[FileVersion] = None,
        had: int = 0,
        on_progress: Optional[Progress] = None,
        can_resume: bool = True,
    ) -> None:
        self._transport = transport
        self._call = call
        self._file = None if resume is None else SameFile(transport, call, resume)
        self._had = had
        self._on_progress = on_progress
        self._can_resume = can_resume
        self._response: Optional[httpx.Response] = None
        self._bytes: Optional[Generator[bytes, None, None]] = None

    def __enter__(self: Self) -> Self:
        if self._file is not None:
            self._take(self._file.bytes_between(self._had, self._file.version.size - 1))
            return self
        response = self._transport.open(self._call)
        version = version_of(response.status_code, response.headers) if self._can_resume else None
        if version is not None and response.status_code != 304:
            plain = Call(self._call.method, self._call.path, self._call.query, {"Accept-Encoding": "identity"})
            self._file = SameFile(self._transport, plain, version)
        self._take(response)
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the download, wherever it is."""
        if self._bytes is not None:
            self._bytes.close()
        if self._response is not None:
            self._response.close()

    @property
    def is_not_modified(self) -> bool:
        return self.status == 304

    def __iter__(self) -> Iterator[bytes]:
        if self._response is None:
            raise RuntimeError("a download is opened by a with statement")
        if self._bytes is not None:
            raise RuntimeError("a download is read once")
        self._bytes = self._chunks(self._response)
        return self._bytes

    def read(self) -> bytes:
        """All of it, in memory."""
        return b"".join([chunk for chunk in self])

    def text(self, encoding: str = "utf-8") -> str:
        return (self.read()).decode(encoding)

    def save(self, target: Union[str, "os.PathLike[str]"]) -> Path:
        """Writes it to a file, which appears under its name once it is whole. Of a folder, in it under its own name."""
        path = self.target_in(target)
        part = path.with_name(name_with(f".{path.name}", f".{os.urandom(6).hex()}.part"))
        try:
            self.write_to(part, "xb")
            in_thread(os.replace, part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return path

    def target_in(self, target: Union[str, "os.PathLike[str]"]) -> Path:
        path = Path(target)
        if not path.is_dir():
            return path
        # The name comes from elsewhere: it must not lead out of the folder.
        name = re.split(r"[/\\]", self.filename or "")[-1]
        if name in ("", ".", ".."):
            raise FtgError(f"the download has no name to be saved by in {path}; name the file", code="invalid_answer")
        return path / name

    def write_to(self, path: Path, mode: str) -> None:
        file = in_thread(open, path, mode)
        try:
            for chunk in self:
                in_thread(file.write, chunk)
        finally:
            in_thread(file.close)

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

    def _chunks(self, response: httpx.Response) -> Generator[bytes, None, None]:
        first = int((re.match(r"bytes (\d+)-", response.headers.get("content-range", "")) or ["0", "0"])[1])
        count = failures = 0
        has_resumed = self._had > 0
        while True:
            error: Optional[FtgError] = None
            try:
                for chunk in response.iter_raw():
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
            self._transport.pause(error, failures)
            response.close()
            response = self._file.bytes_between(first + count, first + self.length - 1)
            self._response = response
            has_resumed = True
        if has_resumed and self._file is not None:
            self._file.confirm()


def _filename_in(disposition: str) -> Optional[str]:
    """RFC 6266: ``filename*`` counts before ``filename``."""
    extended = re.search(r"filename\*=UTF-8''([^;]+)", disposition, re.IGNORECASE)
    if extended is not None:
        return unquote(extended[1])
    quoted = re.search(r'filename="((?:[^"\\]|\\.)*)"', disposition, re.IGNORECASE)
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted[1])
    plain = re.search(r"filename=([^;\s]+)", disposition, re.IGNORECASE)
    return None if plain is None else plain[1]

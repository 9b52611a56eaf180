"""The bytes of an upload, counted while they are sent."""

from __future__ import annotations

import os
from typing import IO, AsyncGenerator, Iterable, Optional, cast

from .._bodies import PIECE_BYTES, Body, Content, is_bytes, is_file, is_seekable
from ..errors import FtgError
from .io import each, in_thread


async def sent(body: Body) -> AsyncGenerator[bytes, None]:
    """Exactly ``body.size`` bytes, if that is known. Raises ``invalid_body`` if the caller's body fails."""
    count = 0
    chunks = _chunks(body)
    try:
        chunk = await _next(chunks)
        while chunk is not None and (body.size is None or count < body.size):
            if body.size is not None and count + len(chunk) > body.size:
                # A growing file is sent up to its first size. A stream that is longer than announced is an error.
                if not body.is_seekable:
                    raise _too_long(body.size)
                chunk = chunk[: body.size - count]
            count += len(chunk)
            following = None if body.is_seekable and count == body.size else await _next(chunks)
            # Raised before the last byte is sent, so that nothing is stored.
            if following is not None and count == body.size:
                raise _too_long(count)
            if body.on_progress is not None:
                body.on_progress(count, body.size)
            yield chunk
            chunk = following
    finally:
        await chunks.aclose()
    if body.size is not None and count < body.size:
        raise FtgError(f"the body of the upload ended after {count} of {body.size} bytes", code="invalid_body")


async def _next(chunks: AsyncGenerator[bytes, None]) -> Optional[bytes]:
    """The next chunk; None at the end. Empty chunks are skipped, because an empty one ends an HTTP body."""
    try:
        async for chunk in chunks:
            if len(chunk) > 0:
                return chunk
    except Exception as thrown:
        raise FtgError(f"the body of the upload failed: {thrown}", code="invalid_body") from thrown
    return None


def _too_long(size: int) -> FtgError:
    return FtgError(f"the body of the upload has more than its announced {size} bytes", code="invalid_body")


async def _chunks(body: Body) -> AsyncGenerator[bytes, None]:
    content: Content = body.content() if callable(body.content) else body.content
    if isinstance(content, str):
        content = content.encode()
    if is_bytes(content):
        view = memoryview(cast(bytes, content)).cast("B")
        for start in range(body.start, len(view), PIECE_BYTES):
            yield bytes(view[start : start + PIECE_BYTES])
    elif isinstance(content, os.PathLike):
        opened: IO[bytes] = await in_thread(open, content, "rb")
        try:
            if body.start > 0:
                await in_thread(opened.seek, body.start)
            while chunk := await in_thread(opened.read, PIECE_BYTES):
                yield chunk
        finally:
            await in_thread(opened.close)
    elif is_file(content):
        file = cast("IO[bytes]", content)
        if is_seekable(file):
            await in_thread(file.seek, body.first)
        while chunk := await in_thread(file.read, PIECE_BYTES):
            if not isinstance(chunk, bytes):
                raise TypeError('the file is open as text; open it with mode "rb"')
            yield chunk
    else:
        async for chunk in each(cast("Iterable[bytes]", content)):
            yield chunk

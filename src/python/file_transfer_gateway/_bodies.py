"""Bodies of uploads: the accepted kinds, and their properties before they are read."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import IO, AsyncIterable, Callable, Iterable, Optional, Union, cast

Content = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]", IO[bytes], Iterable[bytes], AsyncIterable[bytes]]
"""A path is opened for each attempt. Text is sent as UTF-8. Only the asynchronous client accepts async iterables."""

UploadContent = Union[Content, Callable[[], Content]]
"""A function is called for each attempt, so that a stream can be sent again."""

SeekableContent = Union[bytes, bytearray, memoryview, "os.PathLike[str]", IO[bytes]]
"""Content that can be read from any offset."""

PIECE_BYTES = 256 * 1024


@dataclass
class Body:
    content: UploadContent
    size: Optional[int] = None
    """The number of bytes to send; None if unknown."""
    start: int = 0
    """Offset of the first byte to send in seekable content."""
    origin: Optional[int] = None
    """Position at which the body of an open file begins; by default its current position."""
    on_progress: Optional[Callable[[int, Optional[int]], None]] = None

    def __post_init__(self) -> None:
        if isinstance(self.content, str):
            self.content = self.content.encode()
        if self.origin is None:
            self.origin = cast("IO[bytes]", self.content).tell() if is_seekable(self.content) else 0
        if self.size is None:
            self.size = size_of(self.content)

    @property
    def is_seekable(self) -> bool:
        content = self.content
        return is_bytes(content) or is_seekable(content) or (isinstance(content, os.PathLike) and is_regular(content))

    @property
    def can_repeat(self) -> bool:
        """Whether a retry can send the same bytes."""
        return self.is_seekable or callable(self.content)

    @property
    def first(self) -> int:
        """Position of the first byte to send in an open file."""
        return (self.origin or 0) + self.start


def is_bytes(content: object) -> bool:
    return isinstance(content, (bytes, bytearray, memoryview))


def is_regular(path: "os.PathLike[str]") -> bool:
    """Only a regular file has a size and can be read again. A pipe or a device cannot."""
    return stat.S_ISREG(os.stat(path).st_mode)


def is_file(content: object) -> bool:
    return callable(getattr(content, "read", None))


def is_seekable(content: object) -> bool:
    seekable = getattr(content, "seekable", None)
    return is_file(content) and callable(seekable) and bool(seekable())


def size_of(content: object) -> Optional[int]:
    """Bytes from the current position; None if only reading would show."""
    if isinstance(content, (bytes, bytearray)):
        return len(content)
    if isinstance(content, memoryview):
        return content.nbytes
    if isinstance(content, os.PathLike):
        return os.stat(content).st_size if is_regular(content) else None
    if not is_seekable(content):
        return None
    file = cast("IO[bytes]", content)
    position = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(position)
    return end - position


def name_of(content: object) -> str:
    """The name of the file behind ``content``."""
    name = content if isinstance(content, os.PathLike) else getattr(content, "name", None)
    if isinstance(name, (str, os.PathLike)) and os.path.basename(os.fspath(name)):
        return str(os.path.basename(os.fspath(name)))
    raise TypeError("filename is missing; only a path or an open file has a name of its own")

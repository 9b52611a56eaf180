"""The differences of the two clients beyond ``async`` and ``await``. This one blocks; ``_async/io.py`` is its counterpart."""

from __future__ import annotations

import time
from typing import AsyncIterable, Callable, Iterable, Iterator, TypeVar, Union

import httpx

T = TypeVar("T")

HttpClient = httpx.Client


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def in_thread(function: Callable[..., T], *args: object) -> T:
    """Runs the function directly, because the caller waits anyway."""
    return function(*args)


def each(chunks: Union[Iterable[bytes], AsyncIterable[bytes]]) -> Iterator[bytes]:
    if not isinstance(chunks, Iterable):
        raise TypeError("an async iterable is for AsyncFileTransferGateway")
    yield from chunks

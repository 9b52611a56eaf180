"""The differences of the two clients beyond ``async`` and ``await``. This one uses asyncio; ``_sync/io.py`` is its counterpart."""

from __future__ import annotations

import asyncio
from typing import AsyncIterable, AsyncIterator, Callable, Iterable, TypeVar, Union

import httpx

T = TypeVar("T")

HttpClient = httpx.AsyncClient


async def sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


async def in_thread(function: Callable[..., T], *args: object) -> T:
    """File I/O would block the event loop, so it runs in a thread."""
    return await asyncio.to_thread(function, *args)


async def each(chunks: Union[Iterable[bytes], AsyncIterable[bytes]]) -> AsyncIterator[bytes]:
    if isinstance(chunks, AsyncIterable):
        async for chunk in chunks:
            yield chunk
    else:
        for chunk in chunks:
            yield chunk

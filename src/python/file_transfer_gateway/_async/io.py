"""Where the two clients differ beyond ``async`` and ``await``: this half waits by asyncio. ``_sync/io.py`` is the other one."""

from __future__ import annotations

import asyncio
from typing import AsyncIterable, AsyncIterator, Callable, Iterable, TypeVar, Union

import httpx

T = TypeVar("T")

HttpClient = httpx.AsyncClient


async def sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


async def in_thread(function: Callable[..., T], *args: object) -> T:
    """Files have no other way not to hold up the event loop."""
    return await asyncio.to_thread(function, *args)


async def each(chunks: Union[Iterable[bytes], AsyncIterable[bytes]]) -> AsyncIterator[bytes]:
    if isinstance(chunks, AsyncIterable):
        async for chunk in chunks:
            yield chunk
    else:
        for chunk in chunks:
            yield chunk

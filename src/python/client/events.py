"""The events of the account, as one sequence without gaps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, AsyncGenerator, Dict, Optional, cast

from .._calls import at, reading
from ..errors import FtgError
from ..types import EventsAnswer, WebhookEvent
from .io import sleep
from .transport import AsyncTransport

_WAIT_SECONDS = 30
_SILENCE_SECONDS = 20.0
"""After this time beyond the wait, the connection counts as dead."""
_AGAIN_SECONDS = 2.0


class AsyncEvents:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def page(
        self,
        *,
        fields: Fields["ListEventsQuery"],
    ) -> EventsAnswer:
        """One page. If it is empty, the gateway waits up to ``wait`` seconds for an event.

        ``nextAfter`` is the ``after`` of the next page.
        """
        return await self._page(fields)

    async def list(
        self,
        *,
        after: Optional[int] = None,
        fields: Fields["ListEventsQuery", "wait", "limit"],
        page_size: PageSize["ListEventsQuery"],
    ) -> AsyncGenerator[WebhookEvent, None]:
        """The events after the ``sequence`` ``after``, or all kept events, in order and each once, up to the newest."""
        while True:
            page = await self._page({**fields, "after": after, "limit": page_size})
            for event in page["events"]:
                yield cast(WebhookEvent, event)
            after = page["nextAfter"]
            if after >= page["last"]:
                return

    async def follow(
        self,
        *,
        after: Optional[int] = None,
        fields: Fields["ListEventsQuery", "wait", "limit"],
        page_size: PageSize["ListEventsQuery"],
    ) -> AsyncGenerator[WebhookEvent, None]:
        """The same without an end: new events are returned as they arrive.

        It survives restarts of the gateway and broken connections. Store the ``sequence`` of the last event that you have
        handled: with it as ``after``, another process can continue.
        """
        while True:
            try:
                page = await self._page({**fields, "after": after, "limit": page_size, "wait": _WAIT_SECONDS})
            except FtgError as error:
                if 0 < error.status < 429:
                    raise
                await sleep(error.retry_after or _AGAIN_SECONDS)
                continue
            for event in page["events"]:
                yield cast(WebhookEvent, event)
            after = page["nextAfter"]

    async def _page(self, query: Dict[str, Any]) -> EventsAnswer:
        timeout = (query.get("wait") or 0) + _SILENCE_SECONDS
        return cast(EventsAnswer, await self._transport.json(replace(reading(at("events"), query), timeout=timeout)))

# Made from _async/events.py by "npm run generate".
"""The events of the account, as one sequence without holes."""

from __future__ import annotations

from dataclasses import replace
from typing import Generator, Optional, cast

from .._calls import at, reading
from ..errors import FtgError
from ..types import EventsAnswer, WebhookEvent
from .io import sleep
from .transport import Transport

_WAIT_SECONDS = 30
_SILENCE_SECONDS = 20.0
"""Beyond the wait: then nobody is there any more, whatever the line looks like."""
_AGAIN_SECONDS = 2.0


class Events:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, *, after: Optional[int] = None, wait: int = 0, limit: int = 100) -> EventsAnswer:
        """One page; ``wait`` seconds at most for the next event where there is none. ``nextAfter`` is the next ``after``."""
        call = reading(at("events"), {"after": after, "wait": wait, "limit": limit})
        return cast(EventsAnswer, self._transport.json(replace(call, timeout=wait + _SILENCE_SECONDS)))

    def list(self, *, after: Optional[int] = None, page_size: int = 100) -> Generator[WebhookEvent, None, None]:
        """Each once, in order, from behind the ``sequence`` ``after``, else from the oldest kept, to the last that there is."""
        while True:
            page = self.page(after=after, limit=page_size)
            for event in page["events"]:
                yield cast(WebhookEvent, event)
            after = page["nextAfter"]
            if after >= page["last"]:
                return

    def follow(self, *, after: Optional[int] = None, page_size: int = 100) -> Generator[WebhookEvent, None, None]:
        """The same without an end: those to come as they come.

        It goes on through whatever passes: gateways that restart, lines that break. Keep the ``sequence`` of the last event
        that you have handled: with it as ``after`` another process goes on behind it.
        """
        while True:
            try:
                page = self.page(after=after, wait=_WAIT_SECONDS, limit=page_size)
            except FtgError as error:
                if 0 < error.status < 429:
                    raise
                sleep(error.retry_after or _AGAIN_SECONDS)
                continue
            for event in page["events"]:
                yield cast(WebhookEvent, event)
            after = page["nextAfter"]

"""The history of transfers."""

from __future__ import annotations

from dataclasses import replace
from typing import AsyncGenerator, Optional, Set, cast

from .._calls import Time, at, changing_once, reading, time_text
from ..types import RepeatedTransferAnswer, TransferDetails, TransferItem, TransfersAnswer
from .transport import AsyncTransport


class AsyncTransfers:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def page(
        self,
        *,
        fields: Fields["ListTransfersQuery"],
        since: Optional[Time] = None,
        limit: int = 20,
        offset: int = 0,
    ) -> TransfersAnswer:
        """One page, newest first, and the number of matches. ``digest``: ``sha-256:…`` of the content. ``link_id``: the link
        that was used.
        """
        query = {**fields, "since": time_text(since), "limit": limit, "offset": offset}
        return cast(TransfersAnswer, await self._transport.json(reading(at("transfers"), query)))

    async def list(
        self,
        *,
        fields: Fields["ListTransfersQuery", "limit", "offset"],
        since: Optional[Time] = None,
        page_size: int = 100,
    ) -> AsyncGenerator[TransferItem, None]:
        """The matching transfers, newest first. Pages are read on demand."""
        # New transfers push older ones onto the next page. Their ids show which ones came already.
        former: Set[str] = set()
        offset = 0
        while True:
            query = {**fields, "since": time_text(since), "limit": page_size, "offset": offset}
            page = cast(TransfersAnswer, await self._transport.json(reading(at("transfers"), query)))
            for item in page["transfers"]:
                if item["id"] not in former:
                    yield item
            offset += len(page["transfers"])
            if len(page["transfers"]) < page["limit"] or offset >= page["total"]:
                return
            former = {item["id"] for item in page["transfers"]}

    async def get(self, transfer_id: str) -> TransferDetails:
        return cast(TransferDetails, (await self._transport.json(reading(at("transfers", transfer_id))))["transfer"])

    async def repeat(self, transfer_id: str) -> RepeatedTransferAnswer:
        """Runs a failed transfer again whose ``repeatable`` is true, and returns when it is done."""
        call = replace(changing_once(at("transfers", transfer_id, "again")), takes_long=True)
        return cast(RepeatedTransferAnswer, await self._transport.json(call))

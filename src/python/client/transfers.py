"""The history of transfers."""

from __future__ import annotations

from dataclasses import replace
from typing import AsyncGenerator, Optional, Set, cast

from .._calls import at, changing_once, reading
from ..types import RepeatedTransferAnswer, TransferDetails, TransferItem, TransfersAnswer
from .transport import AsyncTransport


class AsyncTransfers:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def page(
        self,
        *,
        fields: Fields["ListTransfersQuery"],
    ) -> TransfersAnswer:
        """One page, newest first, and the number of matches. ``digest``: ``sha-256:…`` of the content. ``link_id``: the link
        that was used.
        """
        return cast(TransfersAnswer, await self._transport.json(reading(at("transfers"), fields)))

    async def list(
        self,
        *,
        fields: Fields["ListTransfersQuery", "limit", "offset"],
        page_size: PageSize["ListTransfersQuery"],
    ) -> AsyncGenerator[TransferItem, None]:
        """The matching transfers, newest first. Pages are read on demand."""
        # New transfers push older ones onto the next page. Their ids show which ones came already.
        former: Set[str] = set()
        offset = 0
        while True:
            query = {**fields, "limit": page_size, "offset": offset}
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

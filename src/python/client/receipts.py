"""Receipts: signed records of transfers, each linked to the previous one."""

from __future__ import annotations

import json
from typing import AsyncGenerator, Optional, cast

from .._calls import Call, at, reading
from ..errors import FtgError
from ..receipts import Receipt
from ..types import ReceiptKeys
from .lines import lines_of
from .transport import AsyncTransport


class AsyncReceipts:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(self, transfer_id: str) -> str:
        """The receipt as a JWS in compact form; ``verify_receipt`` checks it."""
        return (await self._transport.send(reading(at("transfers", transfer_id, "receipt")))).text

    async def keys(self) -> ReceiptKeys:
        """The public keys that verify receipts. Store them with the receipts."""
        return cast(ReceiptKeys, await self._transport.json(Call("GET", "/.well-known/jwks.json")))

    async def list(
        self,
        *,
        after: Optional[int] = None,
        limit: Optional[int] = None,
        fields: Fields["ListReceiptsQuery"],
    ) -> AsyncGenerator[Receipt, None]:
        """The receipts after the ``sequence`` ``after`` in order, each once, up to the newest, or ``limit`` of them.

        After a broken connection it continues with the next receipt.
        """
        failures = 0
        while limit is None or limit > 0:
            try:
                # For more, all are asked for.
                asked = None if limit is None or limit > 1_000_000 else limit
                query = {**fields, "after": after, "limit": asked}
                response = await self._transport.open(reading(at("receipts"), query))
                lines = lines_of(response, self._transport.base_url)
                try:
                    async for line in lines:
                        receipt = cast(Receipt, json.loads(line))
                        after = receipt["sequence"]
                        limit = None if limit is None else limit - 1
                        failures = 0
                        yield receipt
                        if limit == 0:
                            return
                finally:
                    await lines.aclose()
                return
            except FtgError as error:
                failures += 1
                await self._transport.pause(error, failures)

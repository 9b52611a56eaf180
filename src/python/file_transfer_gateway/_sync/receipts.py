# Made from _async/receipts.py by "npm run generate".
"""Receipts: what transfers were, signed, each linked to the one before."""

from __future__ import annotations

import json
from typing import Generator, Optional, cast

from .._calls import Call, at, reading
from ..errors import FtgError
from ..receipts import Receipt
from ..types import ReceiptKeys
from .lines import lines_of
from .transport import Transport


class Receipts:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, transfer_id: str) -> str:
        """A JWS in its compact form; ``verify_receipt`` checks it."""
        return (self._transport.send(reading(at("transfers", transfer_id, "receipt")))).text

    def keys(self) -> ReceiptKeys:
        """The public keys that receipts are signed with; keep them with the receipts."""
        return cast(ReceiptKeys, self._transport.json(Call("GET", "/.well-known/jwks.json")))

    def list(self, *, after: Optional[int] = None) -> Generator[Receipt, None, None]:
        """Each once, in order, from behind the ``sequence`` ``after`` to the last that there is.

        Where the line breaks it goes on behind the last one that came.
        """
        failures = 0
        while True:
            try:
                response = self._transport.open(reading(at("receipts"), {"after": after}))
                lines = lines_of(response, self._transport.base_url)
                try:
                    for line in lines:
                        receipt = cast(Receipt, json.loads(line))
                        after = receipt["sequence"]
                        failures = 0
                        yield receipt
                finally:
                    lines.close()
                return
            except FtgError as error:
                failures += 1
                self._transport.pause(error, failures)

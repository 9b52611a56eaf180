"""Verifies receipts without the gateway. Only the keys and the receipts are needed.

The package ``cryptography`` checks signatures: ``pip install 'file-transfer-gateway[receipts]'``.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Dict, Iterable, Mapping, Optional, TypedDict, Union, cast

from .types import ReceiptKeys, TransferDetails

_FORGOTTEN_WITHIN_SECONDS = 86_400
"""The history may delete more items while a chain is read from it."""


class Receipt(TypedDict):
    """A receipt of the chain."""

    sequence: int
    transferId: str
    receipt: str
    """A JWS in compact form."""
    transfer: Optional[TransferDetails]
    """The transfer in the history; None once the history has deleted it."""


class ReceiptPayload(TypedDict):
    """The signed content of a receipt."""

    sequence: int
    previous: Optional[str]
    """``sha-256:…`` of the previous receipt."""
    recordedAt: str
    account: str
    transfer: Dict[str, Any]


class ReceiptError(Exception):
    """The first receipt that is not valid."""

    def __init__(self, sequence: Optional[int], reason: str) -> None:
        super().__init__(reason if sequence is None else f"receipt {sequence}: {reason}")
        self.sequence = sequence
        """None if unknown."""
        self.reason = reason


@dataclass(frozen=True)
class ReceiptSummary:
    receipts: int
    first: ReceiptPayload
    last: ReceiptPayload
    forgotten: int
    """Receipts whose transfer the history has deleted."""


def verify_receipt(receipt: str, keys: ReceiptKeys, *, sequence: Optional[int] = None) -> ReceiptPayload:
    """The payload of the receipt, if its signature is valid. ``keys`` come from ``client.receipts.keys()``."""
    parts = receipt.strip().split(".")
    if len(parts) != 3 or not all(_is_canonical(part) for part in parts):
        raise ReceiptError(sequence, "it is no JWS in compact form")
    head, body, signature = parts
    header = _object(head, sequence, "its header")
    if header.get("alg") != "EdDSA":
        raise ReceiptError(sequence, f"it is signed by {header.get('alg')}, and not by EdDSA")
    key = next((one for one in keys["keys"] if one["kid"] == header.get("kid") and one["crv"] == "Ed25519"), None)
    if key is None:
        raise ReceiptError(sequence, f"its key {header.get('kid')} is not among the keys")
    if not _holds(_decoded(key["x"]), _decoded(signature), f"{head}.{body}".encode()):
        raise ReceiptError(sequence, "its signature does not hold")
    return cast(ReceiptPayload, _object(body, sequence, "its payload"))


def verify_chain(receipts: Iterable[Union[Receipt, str, bytes]], keys: ReceiptKeys) -> ReceiptSummary:
    """Verifies a whole chain, from ``client.receipts.list()`` or from the lines of a file written by ``ftg receipts``."""
    chain = ReceiptChain(keys)
    for receipt in receipts:
        chain.add(receipt)
    return chain.summary()


class ReceiptChain:
    """The same for one receipt at a time, such as those of an async iterator."""

    def __init__(self, keys: ReceiptKeys) -> None:
        self._keys = keys
        self._first: Optional[ReceiptPayload] = None
        self._last: Optional[ReceiptPayload] = None
        self._hash = ""
        self._receipts = 0
        self._forgotten = 0
        # The history deletes its oldest items first. A missing item newer than a kept one was removed by other means.
        self._oldest_kept = float("inf")
        self._newest_gone: Optional[float] = None

    def add(self, receipt: Union[Receipt, str, bytes]) -> None:
        if isinstance(receipt, (str, bytes)) and not receipt.strip():
            return
        expected = None if self._last is None else self._last["sequence"] + 1
        line = _line(receipt, expected)
        payload = verify_receipt(line["receipt"], self._keys, sequence=expected or line["sequence"])
        sequence = expected or payload["sequence"]
        self._require_link(payload, line, sequence)
        transfer = line["transfer"]
        if transfer is None:
            self._forgotten += 1
        else:
            _require_same(payload["transfer"], transfer, sequence)
        self._remember(payload, transfer is not None)
        self._first = self._first or payload
        self._last = payload
        self._hash = f"sha-256:{hashlib.sha256(line['receipt'].encode()).hexdigest()}"
        self._receipts += 1

    def summary(self) -> ReceiptSummary:
        if self._first is None or self._last is None:
            raise ReceiptError(None, "there is no receipt in it")
        return ReceiptSummary(self._receipts, self._first, self._last, self._forgotten)

    def _require_link(self, payload: ReceiptPayload, line: Receipt, sequence: int) -> None:
        if payload["sequence"] != sequence:
            raise ReceiptError(sequence, f"it is missing; {payload['sequence']} is in its place")
        if line["sequence"] != sequence:
            raise ReceiptError(sequence, f"its line says that it is {line['sequence']}")
        if self._last is None:
            if sequence == 1 and payload["previous"] is not None:
                raise ReceiptError(sequence, "it is the first one, and names another before it")
        elif payload["previous"] != self._hash:
            raise ReceiptError(sequence, f"it does not follow receipt {self._last['sequence']} as that is here")
        elif payload["account"] != self._last["account"]:
            raise ReceiptError(sequence, "it is of another account")
        if line["transferId"] != payload["transfer"]["id"]:
            raise ReceiptError(sequence, "its line names another transfer")

    def _remember(self, payload: ReceiptPayload, is_kept: bool) -> None:
        # Python 3.9 cannot parse Z.
        at = datetime.fromisoformat(str(payload["transfer"]["createdAt"]).replace("Z", "+00:00")).timestamp()
        if is_kept:
            self._oldest_kept = min(self._oldest_kept, at)
        else:
            self._newest_gone = max(self._newest_gone or at, at)
        if self._newest_gone is not None and self._newest_gone - self._oldest_kept >= _FORGOTTEN_WITHIN_SECONDS:
            raise ReceiptError(payload["sequence"], "the history has no item of it, and has some that are older")


def _require_same(signed: Mapping[str, object], shown: Mapping[str, object], sequence: int) -> None:
    for name in {**signed, **shown}:
        # As JSON, because True == 1 in Python.
        one, other = (json.dumps(value.get(name, "nothing"), sort_keys=True) for value in (signed, shown))
        if one != other or (name in signed) != (name in shown):
            raise ReceiptError(sequence, f"the history says that {name} is {other}, and the receipt that it was {one}")


def _line(receipt: Union[Receipt, str, bytes], sequence: Optional[int]) -> Receipt:
    if not isinstance(receipt, (str, bytes)):
        return receipt
    try:
        line = json.loads(receipt)
    except ValueError:
        raise ReceiptError(sequence, "its line is no JSON") from None
    if not isinstance(line, dict) or not isinstance(line.get("receipt"), str) or "transfer" not in line:
        raise ReceiptError(sequence, "its line holds no receipt")
    return cast(Receipt, line)


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _is_canonical(part: str) -> bool:
    """Bits after the last byte would be a change that no signature covers."""
    try:
        return part != "" and base64.urlsafe_b64encode(_decoded(part)).decode().rstrip("=") == part
    except ValueError:
        return False


def _object(part: str, sequence: Optional[int], what: str) -> Dict[str, Any]:
    try:
        value = json.loads(_decoded(part))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ReceiptError(sequence, f"{what} is no JSON object")
    return value


def _holds(key: bytes, signature: bytes, signed: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise ImportError(
            "receipts are verified by the package cryptography: pip install 'file-transfer-gateway[receipts]'"
        ) from None
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True

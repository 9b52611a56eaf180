"""Verifies that a webhook came from the gateway, recently and unchanged (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Iterable, Mapping, Optional, Tuple, Union, cast

from .types import WebhookEvent

_RAW = (
    "pass the body as it came, as bytes: request.get_data() in Flask, request.body in Django, "
    "await request.body() in FastAPI and Starlette"
)


class WebhookVerificationError(Exception):
    """The webhook did not come from the gateway, was changed, or is too old."""


def verify_webhook(
    secret: str,
    headers: Union[Mapping[str, str], Iterable[Tuple[str, str]]],
    body: Union[bytes, str],
    *,
    tolerance: float = 300,
    now: Optional[float] = None,
) -> WebhookEvent:
    """The event of a webhook request.

    ``secret`` (``whsec_…``) belongs to the webhook or the watched folder. ``body`` is the received body, not parsed
    and serialised again. ``tolerance`` is the allowed distance of its timestamp from now, in seconds.
    """
    if not isinstance(body, (bytes, bytearray, str)):
        raise WebhookVerificationError(f"the body is a {type(body).__name__}, so it was parsed already; {_RAW}")
    content = body.encode() if isinstance(body, str) else bytes(body)
    fields = {name.lower(): value for name, value in (headers.items() if isinstance(headers, Mapping) else headers)}
    message_id, timestamp, signatures = (_field(fields, name) for name in ("id", "timestamp", "signature"))
    seconds = int(timestamp) if timestamp.isascii() and timestamp.isdigit() else 0
    if abs((time.time() if now is None else now) - seconds) > tolerance:
        raise WebhookVerificationError("webhook-timestamp is too far from now; is the clock of this machine right?")
    key = _key(secret)
    prefix = f"{message_id}.{timestamp}.".encode()
    if _is_signed(key, prefix + content, signatures):
        return cast(WebhookEvent, json.loads(content))
    if _is_signed(key, prefix + _as_sent(content), signatures):
        raise WebhookVerificationError(f"the body was parsed and written again, which its signature is not for; {_RAW}")
    raise WebhookVerificationError(
        f"no signature in webhook-signature is right: the secret is another one, or the body was changed; {_RAW}"
    )


def _is_signed(key: bytes, signed: bytes, signatures: str) -> bool:
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = [signature.encode() for signature in signatures.split(" ")]
    return any([hmac.compare_digest(expected.encode(), one) for one in given])


def _as_sent(content: bytes) -> bytes:
    """JSON in the gateway's form, probably the original of a body that a framework has parsed and serialised again."""
    try:
        return json.dumps(json.loads(content), separators=(",", ":"), ensure_ascii=False).encode()
    except ValueError:
        return b""


def _key(secret: str) -> bytes:
    text = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    try:
        key = base64.b64decode(text, validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise ValueError("the webhook secret must be whsec_ and base64")
    return key


def _field(fields: Mapping[str, str], name: str) -> str:
    value = fields.get(f"webhook-{name}")
    if not value:
        raise WebhookVerificationError(f"the header field webhook-{name} is missing")
    return value

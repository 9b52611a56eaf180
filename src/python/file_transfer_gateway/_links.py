"""Links, as the API has them."""

from __future__ import annotations

from typing import Literal, Optional, TypedDict


class Link(TypedDict):
    id: str
    operation: Literal["upload", "download"]
    connectionId: str
    path: str
    filename: Optional[str]
    overwrite: bool
    digest: Optional[str]
    maxBytes: Optional[int]
    maxUses: Optional[int]
    uses: int
    """Uses that have succeeded."""
    state: Literal["active", "used_up", "expired", "revoked", "key_ended"]
    keyId: Optional[str]
    """The API key that made it, and with which it ends."""
    expiresAt: str
    revokedAt: Optional[str]
    lastUsedAt: Optional[str]
    createdAt: str


class CreatedLink(Link):
    url: str
    """All that its users need; shown this once."""

# Made from _async/links.py by "npm run generate".
"""Links: a URL that needs no key and can do one thing, an upload or a download."""

from __future__ import annotations

from typing import Generator, Literal, Optional, cast

from .._calls import Call, Time, at, changing_once, present, reading, time_text
from ..types import CreatedLink, Link
from .transport import Transport


class Links:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        operation: Literal["upload", "download"],
        connection_id: str,
        path: str,
        *,
        expires_at: Time,
        max_bytes: Optional[int] = None,
        max_uses: Optional[int] = None,
        filename: Optional[str] = None,
        overwrite: Optional[bool] = None,
        digest: Optional[str] = None,
    ) -> CreatedLink:
        """Its ``url`` takes PUT with the bytes (upload), or GET (download); a browser gets a page.

        The answer holds the ``url``, this once. ``digest``, such as ``sha-256:…``, is that which the file must have.
        """
        body = present(
            operation=operation,
            connectionId=connection_id,
            path=path,
            expiresAt=time_text(expires_at),
            maxBytes=max_bytes,
            maxUses=max_uses,
            filename=filename,
            overwrite=overwrite,
            digest=digest,
        )
        return cast(CreatedLink, (self._transport.json(changing_once(at("links"), body)))["link"])

    def list(self, *, page_size: int = 100) -> Generator[Link, None, None]:
        """Newest first, page by page as they are read."""
        cursor: Optional[str] = None
        while True:
            page = self._transport.json(reading(at("links"), {"limit": page_size, "cursor": cursor}))
            for link in page["links"]:
                yield link
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def get(self, link_id: str) -> Link:
        return cast(Link, (self._transport.json(reading(at("links", link_id))))["link"])

    def revoke(self, link_id: str) -> Link:
        """From now on it answers 410."""
        return cast(Link, (self._transport.json(Call("DELETE", at("links", link_id))))["link"])

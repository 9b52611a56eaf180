"""Links: URLs for one upload or download operation that need no key."""

from __future__ import annotations

from typing import AsyncGenerator, Literal, Optional, cast

from .._calls import Call, Time, at, changing_once, present, reading, time_text
from ..types import CreatedLink, Link
from .transport import AsyncTransport


class AsyncLinks:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        operation: Literal["upload", "download"],
        connection_id: str,
        path: str,
        *,
        expires_at: Time,
        max_bytes: Optional[int] = None,
        max_uses: Optional[int] = None,
        filename: Optional[str] = None,
        note: Optional[str] = None,
        overwrite: Optional[bool] = None,
        folders: Optional[bool] = None,
        digest: Optional[str] = None,
    ) -> CreatedLink:
        """Creates a link. Its ``url`` accepts a PUT with the bytes (upload) or a GET (download); browsers get a page.

        Only this answer contains the ``url``. ``digest``, such as ``sha-256:…``, is the required digest of the file. ``note`` is on the page.
        """
        body = present(
            operation=operation,
            connectionId=connection_id,
            path=path,
            expiresAt=time_text(expires_at),
            maxBytes=max_bytes,
            maxUses=max_uses,
            filename=filename,
            note=note,
            overwrite=overwrite,
            folders=folders,
            digest=digest,
        )
        return cast(CreatedLink, (await self._transport.json(changing_once(at("links"), body)))["link"])

    async def list(self, *, page_size: int = 100) -> AsyncGenerator[Link, None]:
        """All links, newest first. Pages are read on demand."""
        cursor: Optional[str] = None
        while True:
            page = await self._transport.json(reading(at("links"), {"limit": page_size, "cursor": cursor}))
            for link in page["links"]:
                yield link
            cursor = page["nextCursor"]
            if cursor is None:
                return

    async def get(self, link_id: str) -> Link:
        return cast(Link, (await self._transport.json(reading(at("links", link_id))))["link"])

    async def revoke(self, link_id: str) -> Link:
        """Revokes the link, which then answers with 410."""
        return cast(Link, (await self._transport.json(Call("DELETE", at("links", link_id))))["link"])

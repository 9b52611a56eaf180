"""Links: URLs for one upload or download operation that need no key."""

from __future__ import annotations

from typing import AsyncGenerator, Optional, cast

from .._calls import Call, at, changing_once, present, reading
from ..types import CreatedLink, Link
from .transport import AsyncTransport


class AsyncLinks:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        operation: FieldOf["NewLink"],
        connection_id: str,
        path: str,
        *,
        fields: Fields["NewLink"],
    ) -> CreatedLink:
        """Creates a link. Its ``url`` accepts a PUT with the bytes (upload) or a GET (download); browsers get a page.

        Only this answer contains the ``url``. ``digest``, such as ``sha-256:…``, is the required digest of the file. ``note`` is on the page.
        """
        body = present(operation=operation, connectionId=connection_id, path=path, **fields)
        return cast(CreatedLink, (await self._transport.json(changing_once(at("links"), body)))["link"])

    async def list(
        self,
        *,
        fields: Fields["ListLinksQuery", "limit", "cursor"],
        page_size: PageSize["ListLinksQuery"],
    ) -> AsyncGenerator[Link, None]:
        """All links, newest first. Pages are read on demand."""
        cursor: Optional[str] = None
        while True:
            query = {**fields, "limit": page_size, "cursor": cursor}
            page = await self._transport.json(reading(at("links"), query))
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

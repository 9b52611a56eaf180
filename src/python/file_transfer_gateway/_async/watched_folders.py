"""Watched folders: the gateway looks for new files, and sends a webhook."""

from __future__ import annotations

from typing import List, cast

from .._calls import Call, at, changing_once, reading
from ..types import CreatedWatchedFolder, NewWatchedFolder, WatchedFolder, WatchedFolderChanges
from .transport import AsyncTransport


class AsyncWatchedFolders:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> List[WatchedFolder]:
        answer = await self._transport.json(reading(at("watched-folders")))
        return cast("List[WatchedFolder]", answer["watchedFolders"])

    async def create(self, folder: NewWatchedFolder) -> CreatedWatchedFolder:
        """The answer holds the secret of its webhooks, this once."""
        call = changing_once(at("watched-folders"), {**folder})
        return cast(CreatedWatchedFolder, await self._transport.json(call))

    async def change(self, folder_id: str, changes: WatchedFolderChanges) -> WatchedFolder:
        """What is absent stays."""
        call = Call("PATCH", at("watched-folders", folder_id), json={**changes})
        return cast(WatchedFolder, await self._transport.json(call))

    async def delete(self, folder_id: str) -> None:
        """Ends its checks, and its undelivered events."""
        await self._transport.json(Call("DELETE", at("watched-folders", folder_id)))

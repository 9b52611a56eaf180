"""Watched folders: the gateway detects new files and sends webhooks."""

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

    async def get(self, folder_id: str) -> WatchedFolder:
        return cast(WatchedFolder, await self._transport.json(reading(at("watched-folders", folder_id))))

    async def create(self, folder: NewWatchedFolder) -> CreatedWatchedFolder:
        """Creates a watched folder. Only this answer contains the secret of its webhooks."""
        call = changing_once(at("watched-folders"), {**folder})
        return cast(CreatedWatchedFolder, await self._transport.json(call))

    async def change(self, folder_id: str, changes: WatchedFolderChanges) -> WatchedFolder:
        """Absent fields keep their values."""
        call = Call("PATCH", at("watched-folders", folder_id), json={**changes})
        return cast(WatchedFolder, await self._transport.json(call))

    async def delete(self, folder_id: str) -> None:
        """Deletes the watched folder with its undelivered events."""
        await self._transport.json(Call("DELETE", at("watched-folders", folder_id)))

# Made from _async/watched_folders.py by "npm run generate".
"""Watched folders: the gateway looks for new files, and sends a webhook."""

from __future__ import annotations

from typing import List, cast

from .._calls import Call, at, changing_once, reading
from ..types import CreatedWatchedFolder, NewWatchedFolder, WatchedFolder, WatchedFolderChanges
from .transport import Transport


class WatchedFolders:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> List[WatchedFolder]:
        answer = self._transport.json(reading(at("watched-folders")))
        return cast("List[WatchedFolder]", answer["watchedFolders"])

    def create(self, folder: NewWatchedFolder) -> CreatedWatchedFolder:
        """The answer holds the secret of its webhooks, this once."""
        call = changing_once(at("watched-folders"), {**folder})
        return cast(CreatedWatchedFolder, self._transport.json(call))

    def change(self, folder_id: str, changes: WatchedFolderChanges) -> WatchedFolder:
        """What is absent stays."""
        call = Call("PATCH", at("watched-folders", folder_id), json={**changes})
        return cast(WatchedFolder, self._transport.json(call))

    def delete(self, folder_id: str) -> None:
        """Ends its checks, and its undelivered events."""
        self._transport.json(Call("DELETE", at("watched-folders", folder_id)))

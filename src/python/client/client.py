"""The API of the gateway, one method per endpoint."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import AsyncGenerator, Callable, Dict, List, Mapping, Optional, Sequence, Type, TypeVar, Union, cast

from .. import types as api
from .._bodies import Body, SeekableContent, UploadContent, name_of
from .._calls import Call, Options, Progress, QueryValue, Retry, at, changing, changing_once, present, reading
from .._versions import FileVersion
from ..errors import incomplete_list
from .download import AsyncDownload
from .events import AsyncEvents
from .io import HttpClient
from .jobs import AsyncJobs
from .lines import lines_of
from .links import AsyncLinks
from .partial import download_to
from .receipts import AsyncReceipts
from .resumable import AsyncResumableUpload
from .schedules import AsyncSchedules
from .transfers import AsyncTransfers
from .transport import AsyncTransport
from .watched_folders import AsyncWatchedFolders
from .webhooks import AsyncWebhooks

Self = TypeVar("Self", bound="AsyncFileTransferGateway")
LocalPath = Union[str, "os.PathLike[str]"]


class AsyncFileTransferGateway:
    """All methods raise ``FtgError``.

    ``retry`` controls retries. ``append``, ``exec`` and calls that create, start or rotate something are repeated only if
    they were certainly not begun.
    """

    def __init__(
        self,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        retry: Retry = Retry(),
        timeout: float = 60.0,
        work_timeout: float = 600.0,
        http_client: Optional[HttpClient] = None,
    ) -> None:
        """``base_url`` and ``api_key`` default to the environment variables FTG_URL and FTG_KEY.

        ``timeout``: seconds without a byte in either direction. ``work_timeout``: the same while the gateway works on a
        copy, upload, move or deletion. ``http_client``: your own client, for proxies or certificates; you close it.
        """
        url = base_url or os.environ.get("FTG_URL") or ""
        key = api_key or os.environ.get("FTG_KEY") or ""
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"base_url must begin with http:// or https://, and is {url!r}")
        if not key:
            raise ValueError("api_key is missing, and so is the environment variable FTG_KEY")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ValueError("api_key has signs that no key has; was it read with the end of its line?")
        self._is_owned = http_client is None
        client = HttpClient() if http_client is None else http_client
        self._use(AsyncTransport(url.rstrip("/"), key, Options(retry, timeout, work_timeout), client))

    def _use(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self.jobs = AsyncJobs(transport)
        self.schedules = AsyncSchedules(transport)
        self.watched_folders = AsyncWatchedFolders(transport)
        self.webhooks = AsyncWebhooks(transport)
        self.events = AsyncEvents(transport)
        self.transfers = AsyncTransfers(transport)
        self.receipts = AsyncReceipts(transport)
        self.links = AsyncLinks(transport)

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        if self._is_owned:
            await self._transport.http_client.aclose()

    def with_options(
        self: Self,
        *,
        retry: Optional[Retry] = None,
        timeout: Optional[float] = None,
        work_timeout: Optional[float] = None,
        request_id: Optional[str] = None,
    ) -> Self:
        """A client with other options that uses the same connections.

        ``request_id`` appears in the answers and in the log of the gateway.
        """
        old = self._transport
        changes = present(retry=retry, timeout=timeout, work_timeout=work_timeout, request_id=request_id)
        options = replace(old.options, **changes)
        other = type(self)(old.base_url, old.api_key, http_client=old.http_client)
        other._use(AsyncTransport(old.base_url, old.api_key, options, old.http_client))
        return other

    async def upload(
        self,
        connection_id: str,
        content: UploadContent,
        *,
        filename: Optional[str] = None,
        fields: Fields["UploadFileQuery"],
        size: Optional[int] = None,
        content_digest: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        on_progress: Optional[Progress] = None,
    ) -> api.Transfer:
        """Streams a file to the connection. A stream that cannot be read twice is not retried.

        ``filename`` defaults to the name of a path or an open file; ``path`` is the remote folder. ``size``: the size of a
        stream in bytes, if known. ``content_digest`` (RFC 9530), such as ``sha-256=:…:``, is checked before the file becomes
        visible.
        """
        query = {**fields, "filename": filename or name_of(content)}
        call = changing(at("upload", connection_id), key=idempotency_key)
        headers = {**call.headers, "Content-Type": "application/octet-stream", "Content-Digest": content_digest}
        body = Body(content, size=size, on_progress=on_progress)
        answer = await self._transport.json(replace(call, query=query, headers=headers, body=body))
        return cast(api.Transfer, answer["transfer"])

    async def upload_resumable(
        self,
        connection_id: str,
        content: SeekableContent,
        *,
        filename: Optional[str] = None,
        fields: Fields["UploadFromUrl", "url"],
        url: Optional[str] = None,
        on_url: Optional[Callable[[str], None]] = None,
        piece_bytes: Optional[int] = None,
        on_progress: Optional[Progress] = None,
    ) -> api.TransferItem:
        """Uploads large files or over bad connections. It resumes after interruptions, with ``url`` also in another process.

        ``on_url`` gets the URL of a new upload before its first byte. Pass that as ``url`` to resume. ``piece_bytes``: bytes
        per request; by default all remaining bytes.
        """
        metadata = present(**fields, filename=filename or name_of(content))
        upload = AsyncResumableUpload(
            self._transport,
            connection_id,
            content,
            metadata,
            url=url,
            on_url=on_url,
            piece_bytes=piece_bytes,
            on_progress=on_progress,
        )
        return await upload.run()

    async def upload_from_url(
        self,
        connection_id: str,
        url: str,
        *,
        fields: Fields["UploadFromUrl"],
        query: Fields["UploadFileQuery"],
        idempotency_key: Optional[str] = None,
    ) -> api.Transfer:
        """Lets the gateway download a URL and store the file."""
        body = present(**fields, url=url)
        call = replace(changing(at("upload", connection_id), body, idempotency_key), query=query)
        answer = await self._transport.json(call)
        return cast(api.Transfer, answer["transfer"])

    async def begin_upload_from_url(
        self,
        connection_id: str,
        url: str,
        *,
        fields: Fields["UploadFromUrl"],
        query: Fields["UploadFileQuery"],
        idempotency_key: Optional[str] = None,
    ) -> api.Job:
        """The same as a job, which does not depend on this call."""
        body = present(**fields, url=url)
        call = replace(changing(at("upload", connection_id), body, idempotency_key), query=query)
        return await self._begun(call)

    def download(
        self,
        connection_id: str,
        path: str,
        *,
        fields: Fields["DownloadFileQuery", "format"],
        start: Optional[int] = None,
        end: Optional[int] = None,
        had: int = 0,
        version: Optional[FileVersion] = None,
        if_none_match: Optional[str] = None,
        on_progress: Optional[Progress] = None,
    ) -> AsyncDownload:
        """Streams a file, in a ``with`` statement.

        ``start`` and ``end`` are the first and last byte, both inclusive. To resume an earlier download, pass its ``version``
        and the number of bytes you ``had``: the gateway sends the rest, or the download raises FtgError ``file_changed``.
        ``if_none_match``: the ETag of your copy.
        """
        if version is not None and not 0 <= had < version.size:
            raise ValueError(f"had is {had}, and the version has {version.size} bytes: nothing is left to be sent")
        headers: Dict[str, Optional[str]] = {"Accept-Encoding": "identity", "If-None-Match": if_none_match}
        if start is not None or end is not None:
            headers["Range"] = f"bytes={start or 0}-{'' if end is None else end}"
        call = replace(_downloading(connection_id, {"path": path, **fields}), headers=headers, accept=(304,))
        return AsyncDownload(self._transport, call, resume=version, had=had, on_progress=on_progress)

    async def download_to(
        self,
        connection_id: str,
        path: str,
        target: LocalPath,
        *,
        fields: Fields["DownloadFileQuery", "format"],
        keep_partial: bool = False,
        on_progress: Optional[Progress] = None,
    ) -> Path:
        """Saves a file as ``target`` or in the folder ``target``. It appears there once it is complete.

        With ``keep_partial``, the bytes before a failure stay in ``NAME.part``. The next call continues after them if the file
        has not changed.
        """
        call = _downloading(connection_id, {"path": path, **fields})
        return await download_to(self._transport, call, target, keep_partial=keep_partial, on_progress=on_progress)

    def download_archive(
        self,
        connection_id: str,
        paths: Union[str, Sequence[str]],
        *,
        fields: Fields["DownloadFileQuery", "path", "rawName", "format"],
        on_progress: Optional[Progress] = None,
    ) -> AsyncDownload:
        """Streams a ZIP archive of folders and files, in a ``with`` statement. Its length is not known in advance."""
        every = [paths] if isinstance(paths, str) else list(paths)
        call = _downloading(connection_id, {"path": every, **fields, "format": "zip"})
        return AsyncDownload(self._transport, call, on_progress=on_progress, can_resume=False)

    async def download_json(
        self,
        connection_id: str,
        path: str,
        *,
        fields: Fields["DownloadFileQuery", "format"],
    ) -> api.DownloadAnswer:
        """A small file as an object with base64 content."""
        query = {"path": path, **fields, "format": "json"}
        return cast(api.DownloadAnswer, await self._transport.json(reading(at("download", connection_id), query)))

    async def copy(
        self,
        source_connection_id: str,
        source_path: str,
        dest_connection_id: str,
        dest_path: Optional[str] = None,
        *,
        fields: Fields["CopyRequest"],
        idempotency_key: Optional[str] = None,
    ) -> api.CopyAnswer:
        body = present(
            source_connection_id=source_connection_id,
            source_path=source_path,
            dest_connection_id=dest_connection_id,
            dest_path=dest_path,
            **fields,
        )
        return cast(api.CopyAnswer, await self._transport.json(changing(at("copy"), body, idempotency_key)))

    async def begin_copy(
        self,
        source_connection_id: str,
        source_path: str,
        dest_connection_id: str,
        dest_path: Optional[str] = None,
        *,
        fields: Fields["CopyRequest", "source_raw_name", "mtime"],
        idempotency_key: Optional[str] = None,
    ) -> api.Job:
        """Copies by a job, which does not depend on this call."""
        body = present(
            source_connection_id=source_connection_id,
            source_path=source_path,
            dest_connection_id=dest_connection_id,
            dest_path=dest_path,
            **fields,
        )
        return await self._begun(changing(at("copy"), body, idempotency_key))

    async def read(
        self,
        connection_id: str,
        path: str,
        *,
        fields: Fields["ReadFileQuery"],
    ) -> api.ReadAnswer:
        """Reads a small file, as text unless ``encoding`` is ``base64``."""
        query = {"path": path, **fields}
        return cast(api.ReadAnswer, await self._transport.json(reading(at("read", connection_id), query)))

    async def write(
        self,
        connection_id: str,
        path: str,
        content: Union[str, bytes],
        *,
        fields: Fields["WriteRequest", "encoding"],
        idempotency_key: Optional[str] = None,
    ) -> api.WriteAnswer:
        """Creates or replaces a file. Bytes are sent as base64."""
        body = present(path=path, **_content_fields(content), **fields)
        call = changing(at("write", connection_id), body, idempotency_key)
        return cast(api.WriteAnswer, await self._transport.json(call))

    async def append(
        self,
        connection_id: str,
        path: str,
        content: Union[str, bytes],
        *,
        fields: Fields["ContentRequest", "encoding"],
        idempotency_key: Optional[str] = None,
    ) -> api.AppendAnswer:
        """Appends to an existing file. Bytes are sent as base64."""
        body = present(path=path, **_content_fields(content), **fields)
        call = changing(at("append", connection_id), body, idempotency_key)
        return cast(api.AppendAnswer, await self._transport.json(replace(call, repetition="once")))

    async def delete(
        self,
        connection_id: str,
        path: str,
        *,
        fields: Fields["DeleteRequest"],
        idempotency_key: Optional[str] = None,
    ) -> api.DeleteAnswer:
        """Deletes a file or an empty folder; with ``recursive``, a folder and everything below it."""
        body = present(path=path, **fields)
        call = changing(at("delete", connection_id), body, idempotency_key)
        return cast(api.DeleteAnswer, await self._transport.json(call))

    async def move(
        self,
        connection_id: str,
        from_path: str,
        to_path: str,
        *,
        fields: Fields["MoveRequest", "from", "to"],
        idempotency_key: Optional[str] = None,
    ) -> api.MoveAnswer:
        body = present(**{"from": from_path, "to": to_path, **fields})
        call = changing(at("move", connection_id), body, idempotency_key)
        return cast(api.MoveAnswer, await self._transport.json(call))

    async def mkdir(
        self,
        connection_id: str,
        path: str,
        *,
        fields: Fields["MkdirRequest"],
        idempotency_key: Optional[str] = None,
    ) -> api.MkdirAnswer:
        call = changing(at("mkdir", connection_id), present(path=path, **fields), idempotency_key)
        return cast(api.MkdirAnswer, await self._transport.json(call))

    async def list(
        self,
        connection_id: str,
        path: Optional[str] = None,
        *,
        fields: Fields["ListFolderQuery"],
    ) -> api.ListAnswer:
        """Lists a folder. ``path`` defaults to the connection's default path."""
        query = {"path": path, **fields}
        return cast(api.ListAnswer, await self._transport.json(reading(at("list", connection_id), query)))

    async def list_all(
        self,
        connection_id: str,
        path: Optional[str] = None,
        *,
        fields: Fields["ListFolderQuery", "limit", "cursor"],
        page_size: PageSize["ListFolderQuery"],
    ) -> AsyncGenerator[api.FileInfo, None]:
        """All entries in order. Pages are read on demand, each with retries."""
        cursor: Optional[str] = None
        while True:
            query = {"path": path, **fields, "limit": page_size, "cursor": cursor}
            page = cast(api.ListAnswer, await self._transport.json(reading(at("list", connection_id), query)))
            for entry in page["files"]:
                yield entry
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    async def list_stream(
        self,
        connection_id: str,
        path: Optional[str] = None,
        *,
        fields: Fields["ListFolderQuery", "limit", "cursor"],
    ) -> AsyncGenerator[api.FileInfo, None]:
        """Entries in the order of the server, streamed in one answer.

        The fastest way for large trees. A failure ends the stream. If the gateway had to omit entries, the stream ends with
        FtgError ``protocol_error``.
        """
        query = {"path": path, **fields}
        call = replace(reading(at("list", connection_id), query), headers={"Accept": "application/x-ndjson"})
        lines = lines_of(await self._transport.open(call), self._transport.base_url)
        try:
            async for line in lines:
                entry = json.loads(line)
                if "incomplete" in entry:
                    raise incomplete_list(entry["incomplete"])
                yield cast(api.FileInfo, entry)
        finally:
            await lines.aclose()

    async def exists(
        self,
        connection_id: str,
        path: str,
        *,
        fields: Fields["FindFileQuery"],
    ) -> api.ExistsAnswer:
        query = {"path": path, **fields}
        return cast(api.ExistsAnswer, await self._transport.json(reading(at("exists", connection_id), query)))

    async def exec(
        self,
        connection_id: str,
        command: str,
        *,
        fields: Fields["ExecRequest"],
        timeout: Optional[float] = None,
    ) -> api.ExecAnswer:
        """Runs a shell command for at most ``timeout`` seconds, or as long as the API says. SFTP connections only."""
        milliseconds = None if timeout is None else round(timeout * 1_000)
        body = present(command=command, timeout=milliseconds, **fields)
        call = replace(changing_once(at("exec", connection_id), body), takes_long=True)
        return cast(api.ExecAnswer, await self._transport.json(call))

    async def connections(self) -> List[api.Connection]:
        return cast("List[api.Connection]", (await self._transport.json(reading(at("connections"))))["connections"])

    async def me(self) -> api.AccountInfo:
        """The account of the key."""
        return cast(api.AccountInfo, await self._transport.json(reading(at("me"))))

    async def _begun(self, call: Call) -> api.Job:
        headers: Dict[str, Optional[str]] = {**call.headers, "Prefer": "respond-async"}
        return cast(api.Job, (await self._transport.json(replace(call, headers=headers)))["job"])


def _downloading(connection_id: str, query: Mapping[str, QueryValue]) -> Call:
    return Call("GET", at("download", connection_id), query, {"Accept-Encoding": "identity"})


def _content_fields(content: Union[str, bytes]) -> Dict[str, str]:
    if isinstance(content, str):
        return {"encoding": "text", "content": content}
    return {"encoding": "base64", "content": b64encode(content).decode()}

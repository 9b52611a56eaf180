# Made from _async/client.py by "npm run generate".
"""The API of the gateway, one method an endpoint."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Generator, Callable, Dict, List, Optional, Sequence, Type, TypeVar, Union, cast

from .. import types as api
from .._bodies import Body, SeekableContent, UploadContent, name_of
from .._calls import Call, Options, Progress, QueryValue, Retry, Time, at, changing, changing_once, present, reading, time_text
from .._versions import FileVersion
from ..errors import incomplete_list
from .download import Download
from .events import Events
from .io import HttpClient
from .jobs import Jobs
from .lines import lines_of
from .links import Links
from .partial import download_to
from .receipts import Receipts
from .resumable import ResumableUpload
from .schedules import Schedules
from .transfers import Transfers
from .transport import Transport
from .watched_folders import WatchedFolders
from .webhooks import Webhooks

Self = TypeVar("Self", bound="FileTransferGateway")
LocalPath = Union[str, "os.PathLike[str]"]


class FileTransferGateway:
    """Every method fails with ``FtgError``.

    Calls are made again as ``retry`` says, where a second run cannot do harm: ``append``, ``exec`` and whatever creates,
    begins or rotates something only when they surely were not begun.
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

        ``timeout``: seconds in which no byte moves, either way. ``work_timeout``: the same for answers that come once the
        work is done: copies, uploads, moves, deletions. ``http_client``: one of your own, for proxies or certificates; you
        close it.
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
        self._use(Transport(url.rstrip("/"), key, Options(retry, timeout, work_timeout), client))

    def _use(self, transport: Transport) -> None:
        self._transport = transport
        self.jobs = Jobs(transport)
        self.schedules = Schedules(transport)
        self.watched_folders = WatchedFolders(transport)
        self.webhooks = Webhooks(transport)
        self.events = Events(transport)
        self.transfers = Transfers(transport)
        self.receipts = Receipts(transport)
        self.links = Links(transport)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._is_owned:
            self._transport.http_client.close()

    def with_options(
        self: Self,
        *,
        retry: Optional[Retry] = None,
        timeout: Optional[float] = None,
        work_timeout: Optional[float] = None,
        request_id: Optional[str] = None,
    ) -> Self:
        """The same client, on the same connections, with other options for the calls made through it.

        ``request_id`` is in the answers, and in the log of the gateway.
        """
        old = self._transport
        changes = present(retry=retry, timeout=timeout, work_timeout=work_timeout, request_id=request_id)
        options = replace(old.options, **changes)
        other = type(self)(old.base_url, old.api_key, http_client=old.http_client)
        other._use(Transport(old.base_url, old.api_key, options, old.http_client))
        return other

    def upload(
        self,
        connection_id: str,
        content: UploadContent,
        *,
        filename: Optional[str] = None,
        path: Optional[str] = None,
        overwrite: Optional[bool] = None,
        filename_template: Optional[str] = None,
        mtime: Optional[Time] = None,
        verify: Optional[api.UploadFileVerify] = None,
        size: Optional[int] = None,
        content_digest: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        on_progress: Optional[Progress] = None,
    ) -> api.Transfer:
        """Streams a file to the connection; a stream that cannot be read twice is sent once.

        ``filename`` defaults to that of a path or an open file; ``path`` is the remote folder. ``size``: bytes, of a stream whose
        size you know. ``content_digest`` (RFC 9530), such as ``sha-256=:…:``, is checked before the file becomes visible.
        """
        query: Dict[str, QueryValue] = {"path": path, "filename": filename or name_of(content), "overwrite": overwrite}
        query.update(filename_template=filename_template, mtime=time_text(mtime), verify=verify)
        call = changing(at("upload", connection_id), key=idempotency_key)
        headers = {**call.headers, "Content-Type": "application/octet-stream", "Content-Digest": content_digest}
        body = Body(content, size=size, on_progress=on_progress)
        answer = self._transport.json(replace(call, query=query, headers=headers, body=body))
        return cast(api.Transfer, answer["transfer"])

    def upload_resumable(
        self,
        connection_id: str,
        content: SeekableContent,
        *,
        filename: Optional[str] = None,
        path: Optional[str] = None,
        overwrite: Optional[bool] = None,
        filename_template: Optional[str] = None,
        mtime: Optional[Time] = None,
        url: Optional[str] = None,
        on_url: Optional[Callable[[str], None]] = None,
        piece_bytes: Optional[int] = None,
        on_progress: Optional[Progress] = None,
    ) -> api.TransferItem:
        """The same for large files and bad lines: goes on where it was interrupted, with ``url`` also in another process.

        ``on_url`` gets the URL of a new upload before its first byte: keep it, and pass it as ``url`` to go on. ``piece_bytes``:
        bytes of one request; by default all that are left.
        """
        metadata = present(
            filename=filename or name_of(content),
            path=path,
            overwrite=overwrite,
            filename_template=filename_template,
            mtime=time_text(mtime),
        )
        upload = ResumableUpload(
            self._transport,
            connection_id,
            content,
            metadata,
            url=url,
            on_url=on_url,
            piece_bytes=piece_bytes,
            on_progress=on_progress,
        )
        return upload.run()

    def upload_from_url(
        self,
        connection_id: str,
        url: str,
        *,
        filename: Optional[str] = None,
        path: Optional[str] = None,
        overwrite: Optional[bool] = None,
        filename_template: Optional[str] = None,
        mtime: Optional[Time] = None,
        idempotency_key: Optional[str] = None,
    ) -> api.Transfer:
        """Has the gateway fetch a URL and store what it gets."""
        body = _source(url, filename, path, overwrite, filename_template, mtime)
        answer = self._transport.json(changing(at("upload", connection_id), body, idempotency_key))
        return cast(api.Transfer, answer["transfer"])

    def begin_upload_from_url(
        self,
        connection_id: str,
        url: str,
        *,
        filename: Optional[str] = None,
        path: Optional[str] = None,
        overwrite: Optional[bool] = None,
        filename_template: Optional[str] = None,
        mtime: Optional[Time] = None,
        idempotency_key: Optional[str] = None,
    ) -> api.Job:
        """Has a job do that, which goes on whatever becomes of this call."""
        body = _source(url, filename, path, overwrite, filename_template, mtime)
        return self._begun(changing(at("upload", connection_id), body, idempotency_key))

    def download(
        self,
        connection_id: str,
        path: str,
        *,
        raw_name: Optional[str] = None,
        start: Optional[int] = None,
        end: Optional[int] = None,
        had: int = 0,
        version: Optional[FileVersion] = None,
        if_none_match: Optional[str] = None,
        on_progress: Optional[Progress] = None,
    ) -> Download:
        """A file that streams, for a ``with`` statement.

        ``start`` and ``end`` are its first and last byte, both inclusive. ``had`` bytes are there already, of this ``version`` of
        a former download: the rest of it is sent, or FtgError ``file_changed``. ``if_none_match``: ETag of what you have.
        """
        if version is not None and not 0 <= had < version.size:
            raise ValueError(f"had is {had}, and the version has {version.size} bytes: nothing is left to be sent")
        headers: Dict[str, Optional[str]] = {"Accept-Encoding": "identity", "If-None-Match": if_none_match}
        if start is not None or end is not None:
            headers["Range"] = f"bytes={start or 0}-{'' if end is None else end}"
        call = replace(self._downloading(connection_id, path, raw_name), headers=headers, accept=(304,))
        return Download(self._transport, call, resume=version, had=had, on_progress=on_progress)

    def download_to(
        self,
        connection_id: str,
        path: str,
        target: LocalPath,
        *,
        raw_name: Optional[str] = None,
        keep_partial: bool = False,
        on_progress: Optional[Progress] = None,
    ) -> Path:
        """Writes a file to ``target``, a file or a folder; it appears there once it is whole.

        With ``keep_partial``, what came before a failure stays as ``NAME.part``, and the next call goes on behind it if the file
        is still the same.
        """
        call = self._downloading(connection_id, path, raw_name)
        return download_to(self._transport, call, target, keep_partial=keep_partial, on_progress=on_progress)

    def download_archive(
        self, connection_id: str, paths: Union[str, Sequence[str]], *, on_progress: Optional[Progress] = None
    ) -> Download:
        """A ZIP archive of folders and files, as it is made: of unknown length, for a ``with`` statement."""
        query = {"path": [paths] if isinstance(paths, str) else list(paths), "format": "zip"}
        call = Call("GET", at("download", connection_id), query, {"Accept-Encoding": "identity"})
        return Download(self._transport, call, on_progress=on_progress, can_resume=False)

    def download_json(self, connection_id: str, path: str, *, raw_name: Optional[str] = None) -> api.DownloadAnswer:
        """A file in an object that holds it as base64; for small ones."""
        query = {"path": path, "rawName": raw_name, "format": "json"}
        return cast(api.DownloadAnswer, self._transport.json(reading(at("download", connection_id), query)))

    def copy(
        self,
        source_connection_id: str,
        source_path: str,
        dest_connection_id: str,
        dest_path: Optional[str] = None,
        *,
        source_raw_name: Optional[str] = None,
        filename_template: Optional[str] = None,
        overwrite: Optional[bool] = None,
        mtime: Optional[Time] = None,
        idempotency_key: Optional[str] = None,
    ) -> api.CopyAnswer:
        body = present(
            source_connection_id=source_connection_id,
            source_path=source_path,
            source_raw_name=source_raw_name,
            dest_connection_id=dest_connection_id,
            dest_path=dest_path,
            filename_template=filename_template,
            overwrite=overwrite,
            mtime=time_text(mtime),
        )
        return cast(api.CopyAnswer, self._transport.json(changing(at("copy"), body, idempotency_key)))

    def begin_copy(
        self,
        source_connection_id: str,
        source_path: str,
        dest_connection_id: str,
        dest_path: Optional[str] = None,
        *,
        filename_template: Optional[str] = None,
        overwrite: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> api.Job:
        """Has a job make the copy, which goes on whatever becomes of this call."""
        body = present(
            source_connection_id=source_connection_id,
            source_path=source_path,
            dest_connection_id=dest_connection_id,
            dest_path=dest_path,
            filename_template=filename_template,
            overwrite=overwrite,
        )
        return self._begun(changing(at("copy"), body, idempotency_key))

    def read(
        self,
        connection_id: str,
        path: str,
        *,
        encoding: Optional[api.ReadFileEncoding] = None,
        raw_name: Optional[str] = None,
    ) -> api.ReadAnswer:
        """A small file, as text unless ``encoding`` is ``base64``."""
        query = {"path": path, "rawName": raw_name, "encoding": encoding}
        return cast(api.ReadAnswer, self._transport.json(reading(at("read", connection_id), query)))

    def write(
        self,
        connection_id: str,
        path: str,
        content: Union[str, bytes],
        *,
        mtime: Optional[Time] = None,
        idempotency_key: Optional[str] = None,
    ) -> api.WriteAnswer:
        """Creates or replaces a file; bytes travel as base64."""
        body = present(path=path, mtime=time_text(mtime), **_content_fields(content))
        call = changing(at("write", connection_id), body, idempotency_key)
        return cast(api.WriteAnswer, self._transport.json(call))

    def append(
        self, connection_id: str, path: str, content: Union[str, bytes], *, idempotency_key: Optional[str] = None
    ) -> api.AppendAnswer:
        """Adds to the end of an existing file; bytes travel as base64."""
        call = changing(at("append", connection_id), {"path": path, **_content_fields(content)}, idempotency_key)
        return cast(api.AppendAnswer, self._transport.json(replace(call, repetition="once")))

    def delete(
        self,
        connection_id: str,
        path: str,
        *,
        recursive: Optional[bool] = None,
        raw_name: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> api.DeleteAnswer:
        """With ``recursive``, a folder goes with all below it."""
        body = present(path=path, rawName=raw_name, recursive=recursive)
        call = changing(at("delete", connection_id), body, idempotency_key)
        return cast(api.DeleteAnswer, self._transport.json(call))

    def move(
        self,
        connection_id: str,
        from_path: str,
        to_path: str,
        *,
        overwrite: Optional[bool] = None,
        raw_name: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> api.MoveAnswer:
        body = present(**{"from": from_path, "to": to_path, "rawName": raw_name, "overwrite": overwrite})
        call = changing(at("move", connection_id), body, idempotency_key)
        return cast(api.MoveAnswer, self._transport.json(call))

    def mkdir(self, connection_id: str, path: str, *, idempotency_key: Optional[str] = None) -> api.MkdirAnswer:
        call = changing(at("mkdir", connection_id), {"path": path}, idempotency_key)
        return cast(api.MkdirAnswer, self._transport.json(call))

    def list(
        self,
        connection_id: str,
        path: Optional[str] = None,
        *,
        recursive: Optional[bool] = None,
        pattern: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> api.ListAnswer:
        """The connection's default path when ``path`` is absent."""
        query = {"path": path, "recursive": recursive, "pattern": pattern, "limit": limit, "cursor": cursor}
        return cast(api.ListAnswer, self._transport.json(reading(at("list", connection_id), query)))

    def list_all(
        self,
        connection_id: str,
        path: Optional[str] = None,
        *,
        recursive: Optional[bool] = None,
        pattern: Optional[str] = None,
        page_size: int = 1_000,
    ) -> Generator[api.FileInfo, None, None]:
        """Entry after entry, in order, page by page as they are read; each page is asked for again where that helps."""
        cursor: Optional[str] = None
        while True:
            page = self.list(
                connection_id, path, recursive=recursive, pattern=pattern, limit=page_size, cursor=cursor
            )
            for entry in page["files"]:
                yield entry
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def list_stream(
        self,
        connection_id: str,
        path: Optional[str] = None,
        *,
        recursive: Optional[bool] = None,
        pattern: Optional[str] = None,
    ) -> Generator[api.FileInfo, None, None]:
        """Entries as the server lists them, in no order and in one answer.

        The quickest for large trees; a failure on the way ends it. Where the gateway had to leave
        entries out, it ends with FtgError ``protocol_error``.
        """
        query = {"path": path, "recursive": recursive, "pattern": pattern}
        call = replace(reading(at("list", connection_id), query), headers={"Accept": "application/x-ndjson"})
        lines = lines_of(self._transport.open(call), self._transport.base_url)
        try:
            for line in lines:
                told = json.loads(line)
                if "incomplete" in told:
                    raise incomplete_list(told["incomplete"])
                yield cast(api.FileInfo, told)
        finally:
            lines.close()

    def exists(self, connection_id: str, path: str, *, raw_name: Optional[str] = None) -> api.ExistsAnswer:
        query = {"path": path, "rawName": raw_name}
        return cast(api.ExistsAnswer, self._transport.json(reading(at("exists", connection_id), query)))

    def exec(self, connection_id: str, command: str, *, timeout: float = 30.0) -> api.ExecAnswer:
        """Runs a shell command for so many seconds at most. SFTP connections only."""
        body = {"command": command, "timeout": round(timeout * 1_000)}
        call = replace(changing_once(at("exec", connection_id), body), takes_long=True)
        return cast(api.ExecAnswer, self._transport.json(call))

    def connections(self) -> List[api.Connection]:
        return cast("List[api.Connection]", (self._transport.json(reading(at("connections"))))["connections"])

    def me(self) -> api.AccountInfo:
        """Whose key it is."""
        return cast(api.AccountInfo, self._transport.json(reading(at("me"))))

    def _downloading(self, connection_id: str, path: str, raw_name: Optional[str]) -> Call:
        query = {"path": path, "rawName": raw_name}
        return Call("GET", at("download", connection_id), query, {"Accept-Encoding": "identity"})

    def _begun(self, call: Call) -> api.Job:
        headers: Dict[str, Optional[str]] = {**call.headers, "Prefer": "respond-async"}
        return cast(api.Job, (self._transport.json(replace(call, headers=headers)))["job"])


def _source(
    url: str,
    filename: Optional[str],
    path: Optional[str],
    overwrite: Optional[bool],
    filename_template: Optional[str],
    mtime: Optional[Time],
) -> Dict[str, object]:
    return present(
        url=url,
        filename=filename,
        path=path,
        overwrite=overwrite,
        filename_template=filename_template,
        mtime=time_text(mtime),
    )


def _content_fields(content: Union[str, bytes]) -> Dict[str, str]:
    if isinstance(content, str):
        return {"encoding": "text", "content": content}
    return {"encoding": "base64", "content": b64encode(content).decode()}

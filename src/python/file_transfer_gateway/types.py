"""What the API takes and answers: dictionaries, with the fields of its documents.

Made from the OpenAPI document by "npm run generate".
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class AccountInfo(TypedDict):
    email: str
    """The account."""
    plan: str
    """Name of the plan."""
    connections: int
    """How many connections the account has."""
    transfers: int
    """How many transfers the history holds."""
    scopes: List[Literal["read", "write", "exec", "watch", "admin"]]
    """What the key may do."""


class AppendAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    transfer: AppendTransfer
    """The transfer, as the history holds it."""


class AppendTransfer(TypedDict):
    id: str
    """Identifier."""
    filename: str
    """Name of the file, without a folder."""
    path: str
    """Path from the root of the connection."""
    appendedBytes: int
    """Bytes that were added."""
    durationMs: int
    """Milliseconds from the start of the operation to its end."""
    connection: ConnectionSummary
    """The connection that the file went to."""


class AttentionClearedEventData(TypedDict):
    kind: Literal["connection_failing", "watched_folder_failing", "schedule_stopped", "schedule_late", "copies_failed", "dead_letters", "quota", "certificate_expiring", "key_expiring", "host_keys_waiting"]
    """What it is about."""
    text: str
    """In words."""
    since: str
    """When it was found first."""
    connectionId: NotRequired[str]
    """The connection, where it is about one."""
    watchedFolderId: NotRequired[str]
    """The watched folder, where it is about one."""
    scheduleId: NotRequired[str]
    """The schedule, where it is about one."""
    apiKeyId: NotRequired[str]
    """The API key, where it is about one."""
    endedAt: str
    """When it was found to be over."""


class AttentionClearedEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["attention.cleared"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: AttentionClearedEventData
    """What needs attention."""


class AttentionRaisedEventData(TypedDict):
    kind: Literal["connection_failing", "watched_folder_failing", "schedule_stopped", "schedule_late", "copies_failed", "dead_letters", "quota", "certificate_expiring", "key_expiring", "host_keys_waiting"]
    """What it is about."""
    text: str
    """In words."""
    since: str
    """When it was found first."""
    connectionId: NotRequired[str]
    """The connection, where it is about one."""
    watchedFolderId: NotRequired[str]
    """The watched folder, where it is about one."""
    scheduleId: NotRequired[str]
    """The schedule, where it is about one."""
    apiKeyId: NotRequired[str]
    """The API key, where it is about one."""


class AttentionRaisedEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["attention.raised"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: AttentionRaisedEventData
    """What needs attention."""


class Connection(TypedDict):
    id: str
    """Identifier."""
    name: str
    """Shown to people."""
    type: Literal["sftp", "ftp", "s3"]
    """Protocol."""
    isActive: bool
    """Whether it is switched on."""


class ConnectionDownEventData(TypedDict):
    connection: ConnectionSummary
    """The connection."""
    since: str
    """When it was found so first."""
    error: str
    """What operations met last."""
    errorCode: str
    """The code of that."""


class ConnectionDownEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["connection.down"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: ConnectionDownEventData
    """What the event is about."""


class ConnectionSummary(TypedDict):
    id: str
    """Identifier."""
    name: str
    """Shown to people."""
    type: Literal["sftp", "ftp", "s3"]
    """Protocol."""


class ConnectionUpEventData(TypedDict):
    connection: ConnectionSummary
    """The connection."""
    since: str
    """Since when it was down."""
    downSeconds: int
    """For how long."""


class ConnectionUpEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["connection.up"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: ConnectionUpEventData
    """What the event is about."""


class ConnectionsAnswer(TypedDict):
    connections: List[Connection]
    """The connections that the API key may use."""


class ContentRequest(TypedDict):
    path: str
    """Path on the remote server, absolute or from the default path of the connection."""
    encoding: NotRequired[Literal["text", "base64"]]
    """How `content` is written."""
    content: str
    """Text, or base64 where `encoding` is `base64`."""


class CopyAnswerSource(TypedDict):
    connectionId: str
    """Connection that the file was read from."""
    path: str
    """Path from the root of the connection."""


class CopyAnswerDestination(TypedDict):
    connectionId: str
    """Connection that holds the copy."""
    path: str
    """Path from the root of the connection."""


class CopyAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    source: CopyAnswerSource
    """Where it was read from."""
    destination: CopyAnswerDestination
    """Where the copy is."""
    fileSize: int
    """Bytes."""
    durationMs: int
    """Milliseconds from the start of the operation to its end."""
    modifiedAt: NotRequired[str]
    """Where `mtime` was asked for: what the file is dated now, which is another time where the server keeps none."""
    noDigest: NotRequired[Literal["server_side_copy"]]
    """A digest was wanted, and none was computed: the store made the copy by itself."""


class CopyRequest(TypedDict):
    source_connection_id: str
    """Connection that the file is read from."""
    source_path: str
    """Path of the file there."""
    source_raw_name: NotRequired[str]
    """The `rawName` of that file, where it has one. Needs `dest_path`."""
    dest_connection_id: str
    """Connection that the file is copied to."""
    dest_path: NotRequired[str]
    """Path of the copy; `source_path` when absent."""
    filename_template: NotRequired[str]
    """Renames the file. Tokens, in UTC: `{filename}` `{name}` `{ext}` `{date}` `{time}` `{datetime}` `{timestamp}` `{year}` `{month}` `{day}` `{uuid}`."""
    overwrite: NotRequired[bool]
    """Whether a file of this name may be replaced. Without, it is 409 with `skipped: true`."""
    mtime: NotRequired[str]
    """Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata. Without, the copy keeps the time of the source."""


class CopyTo(TypedDict):
    connectionId: str
    """Id of the connection that takes the copies."""
    path: str
    """Folder for the copies, absolute or from the default path of the connection; made where it is missing."""
    filename_template: NotRequired[str]
    """Renames the copies; tokens as for uploads. Times are those of the detection, and `{uuid}` stays the same for all tries of a copy."""
    onConflict: NotRequired[Literal["replace", "skip", "newer", "rename", "fail"]]
    """What becomes of a file that stands where a copy is to go; `replace` when absent."""


class CreatedLink(TypedDict):
    id: str
    """Identifier."""
    operation: Literal["upload", "download"]
    """`upload` takes files into one folder, `download` gives one file."""
    connectionId: str
    """Id of a connection, as `GET /api/connections` shows it."""
    path: str
    """Path from the root of the connection."""
    filename: Optional[str]
    """Of an upload: what the file is called, whatever its sender says. Of a download: what it is saved as."""
    overwrite: bool
    """Of an upload: whether a file of this name may be replaced. Without, it is 409."""
    digest: Optional[str]
    """SHA-256 that the file must have: `sha-256:` and 64 hexadecimal digits."""
    maxBytes: Optional[int]
    """The most bytes of one file. Null = as many as any upload."""
    maxUses: Optional[int]
    """How often it may be used; a use that fails does not count. Null = as often as anybody likes."""
    uses: int
    """Uses that have succeeded."""
    state: Literal["active", "used_up", "expired", "revoked", "key_ended"]
    """`active`; `used_up`; `expired`; `revoked`; `key_ended`: the API key that made it was revoked, has expired, or may no longer do what the link does."""
    keyId: Optional[str]
    """The API key that made it, and with which it ends; null = the owner of the account did."""
    expiresAt: str
    """When it ends by itself."""
    revokedAt: Optional[str]
    """When it was revoked."""
    lastUsedAt: Optional[str]
    """The last use that has succeeded."""
    createdAt: str
    """When it was made."""
    url: str
    """What its users need, and all they need; shown this once."""


class CreatedLinkAnswer(TypedDict):
    link: CreatedLink
    """The link."""


class CreatedWatchedFolder(TypedDict):
    id: str
    """Identifier."""
    connectionId: str
    """Id of a connection, as `GET /api/connections` shows it."""
    name: str
    """Shown in the dashboard."""
    path: str
    """Path from the root of the connection."""
    filePattern: Optional[str]
    """A glob on the file name, or on the path below the folder where it holds `/` or `**`."""
    scheduleMinutes: int
    """Minutes between two checks."""
    webhookUrl: Optional[str]
    """URL that receives a POST when files are found."""
    source: str
    """How it was created."""
    detectModified: bool
    """Also report files whose size or date changed."""
    isActive: bool
    """Whether it is switched on."""
    createdAt: str
    """When it was created."""
    excludePattern: NotRequired[str]
    """A glob of files that are not reported."""
    doneFile: NotRequired[str]
    """Name of a marker file: a file is reported only once its marker is there too."""
    initial: NotRequired[Literal["ignore", "report"]]
    """Whether the files of the first check are reported, or are the baseline."""
    recursive: NotRequired[bool]
    """Whether sub-folders are watched too."""
    minAgeSeconds: NotRequired[int]
    """Files younger than this are not reported yet."""
    afterDelivery: NotRequired[Literal["keep", "move", "delete"]]
    """What happens to a file once its event was delivered; `move` and `delete` need the scope `write`."""
    moveTo: NotRequired[Optional[str]]
    """Folder for `afterDelivery: move`."""
    expectEveryMinutes: NotRequired[int]
    """Raise an alarm when no file came for this long."""
    copyTo: NotRequired[CopyTo]
    """Where its files are copied before their event is sent."""
    webhookSecret: str
    """Signs its webhooks (Standard Webhooks); shown this once."""


class CreatedWebhook(TypedDict):
    webhook: Webhook
    """The webhook."""
    secret: str
    """Signs its events (Standard Webhooks); shown this once."""


class DeleteAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    path: str
    """Path from the root of the connection."""
    deleted: NotRequired[int]
    """With `recursive`: files, links and folders that were deleted; on S3 objects."""


class DeleteRequest(TypedDict):
    path: str
    """Path on the remote server, absolute or from the default path of the connection."""
    rawName: NotRequired[str]
    """The exact bytes of a name that is not UTF-8, as base64, and of the names below it, with a slash between them; in a request, beside the path that ends with them. Not on S3."""
    recursive: NotRequired[bool]
    """Whether a folder goes with all below it."""


class DownloadAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    filename: str
    """Name of the file, without a folder."""
    path: str
    """Path from the root of the connection."""
    size: int
    """Bytes."""
    encoding: Literal["base64"]
    """How `content` is written."""
    content: str
    """The file, as base64."""


class ErrorAnswer(TypedDict):
    error: str
    """What went wrong, at which step, field or path, and what would be right."""


ErrorCode = Literal["bad_request", "bad_path", "bad_base64", "digest_mismatch", "unsupported_operation", "unauthenticated", "forbidden", "scope_missing", "plan_required", "connection_inactive", "permission_denied", "address_denied", "unknown_route", "unknown_connection", "unknown_watched_folder", "unknown_item", "unknown_upload", "not_found", "method_not_allowed", "already_exists", "is_a_folder", "not_a_folder", "not_empty", "offset_mismatch", "idempotency_in_progress", "outcome_unknown", "sessions_exhausted", "in_use", "not_running", "cancelled", "gone", "unsupported_version", "too_large", "unsupported_media_type", "bad_range", "idempotency_mismatch", "upload_locked", "rate_limited", "quota_exceeded", "share_exceeded", "checksum_mismatch", "internal", "resume_unsupported", "dns_failed", "unreachable", "login_refused", "host_key_mismatch", "certificate_rejected", "connection_lost", "protocol_error", "remote_failure", "no_space", "size_mismatch", "readback_mismatch", "fetch_failed", "pool_full", "acquire_timeout", "too_slow", "overloaded", "draining", "database_away", "outcome_unrecorded", "connect_timeout", "stall_timeout", "command_timeout"]


class EventsAnswer(TypedDict):
    events: List[FeedEvent]
    """In order, without holes."""
    nextAfter: int
    """The `after` of the next page."""
    last: int
    """`sequence` of the last event that there is; 0 = none."""


class ExecAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    exitCode: int
    """Of the command; 128 plus its number after a signal."""
    stdout: str
    """Output of the command."""
    stderr: str
    """Error output of the command."""
    durationMs: int
    """Milliseconds from the start of the operation to its end."""


class ExecRequest(TypedDict):
    command: str
    """Run by the login shell of the remote server."""
    timeout: NotRequired[int]
    """Milliseconds until the command is killed."""


class ExistsAnswer(TypedDict):
    exists: bool
    """Whether a file or folder is there."""
    file: Optional[FileInfo]
    """What is there; null when nothing is."""


class FailedTransfer(TypedDict):
    id: str
    """Identifier."""
    connectionId: str
    """Id of a connection, as `GET /api/connections` shows it."""
    type: Literal["upload", "download", "read", "write", "append", "delete", "move", "mkdir", "list", "exists", "copy", "exec", "poll"]
    """Kind of transfer."""
    direction: Literal["outbound", "inbound"]
    """`outbound` changes the remote server, `inbound` reads from it."""
    filename: str
    """Name of the file, without a folder."""
    path: str
    """Path from the root of the connection."""
    fileSize: int
    """Bytes."""
    status: Literal["success", "failed", "pending"]
    """State of the transfer."""
    errorMessage: Optional[str]
    """What went wrong, of a failed transfer."""
    durationMs: int
    """Milliseconds from the start of the operation to its end."""
    createdAt: str
    """When it began."""
    errorCode: Optional[str]
    """The code of the error, as `X-Error-Code` carried it."""
    requestId: Optional[str]
    """Of the request that asked for it; of a job its identifier."""
    jobId: Optional[str]
    """The job that it is of."""


class FeedEvent(TypedDict):
    sequence: int
    """Its number among the events of the account, from 1 and without holes."""
    id: str
    """Identifier; the `webhook-id` of its deliveries."""
    previousId: Optional[str]
    """`id` of the event before it; null of the first."""
    type: str
    """Kind of event, as the webhooks of this document have them."""
    timestamp: str
    """When it happened."""
    data: Dict[str, Any]
    """What it is about, as the webhook of this type says."""


class FileInfo(TypedDict):
    name: str
    """Name of the file or folder."""
    path: str
    """Path from the root of the connection."""
    size: int
    """Bytes."""
    isDirectory: bool
    """Whether it is a folder."""
    modifiedAt: str
    """Time of the last change, UTC."""
    rawName: NotRequired[str]
    """The exact bytes of a name that is not UTF-8, as base64, and of the names below it, with a slash between them; in a request, beside the path that ends with them. Not on S3."""


class FilesDetectedEventDataWatchedFolder(TypedDict):
    id: str
    """Id of the watched folder."""
    name: str
    """Name of the watched folder, as the dashboard shows it."""
    path: str
    """Path from the root of the connection."""
    connectionId: str
    """Id of its connection."""


class FilesDetectedEventDataFilesItemCopy(TypedDict):
    connectionId: str
    """Id of the connection of the copy."""
    path: NotRequired[str]
    """Where the copy is; with `skipped`, what stands there instead."""
    size: NotRequired[int]
    """Bytes of the copy."""
    skipped: NotRequired[bool]
    """True where `onConflict` left alone what stands there."""
    error: NotRequired[str]
    """Why there is no copy."""


class FilesDetectedEventDataFilesItem(TypedDict):
    name: str
    """Name of the file."""
    path: str
    """Path from the root of the connection."""
    size: int
    """Bytes."""
    isDirectory: bool
    """Always false."""
    modifiedAt: str
    """Time of the last change, UTC."""
    rawName: NotRequired[str]
    """The exact bytes of a name that is not UTF-8, as base64."""
    event: Literal["new", "modified"]
    """`new`, or `modified` where its size or date changed."""
    copy: NotRequired[FilesDetectedEventDataFilesItemCopy]
    """Of a folder with `copyTo`: where the copy of the file is. A file without one stays where it is, whatever `afterDelivery` says."""


class FilesDetectedEventData(TypedDict):
    watchedFolder: FilesDetectedEventDataWatchedFolder
    """The folder that was checked."""
    connection: ConnectionSummary
    """The connection of the watched folder."""
    files: List[FilesDetectedEventDataFilesItem]
    """The files that were found; none in an event that only tries the webhook out."""


class FilesDetectedEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["watched_folder.files_detected"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: FilesDetectedEventData
    """What the event is about."""


class FilesMissingEventDataWatchedFolder(TypedDict):
    id: str
    """Id of the watched folder."""
    name: str
    """Name of the watched folder, as the dashboard shows it."""
    path: str
    """Path from the root of the connection."""
    connectionId: str
    """Id of its connection."""


class FilesMissingEventData(TypedDict):
    watchedFolder: FilesMissingEventDataWatchedFolder
    """The folder that was checked."""
    connection: ConnectionSummary
    """The connection of the watched folder."""
    expectEveryMinutes: int
    """How often a file is expected."""
    lastDetectionAt: Optional[str]
    """When a file was last reported; null = never."""


class FilesMissingEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["watched_folder.files_missing"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: FilesMissingEventData
    """What the event is about."""


class FolderLateEventDataWatchedFolder(TypedDict):
    id: str
    """Id of the watched folder."""
    name: str
    """Name of the watched folder, as the dashboard shows it."""
    path: str
    """Path from the root of the connection."""
    connectionId: str
    """Id of its connection."""


class FolderLateEventData(TypedDict):
    watchedFolder: FolderLateEventDataWatchedFolder
    """The folder that was checked."""
    connection: ConnectionSummary
    """The connection of the watched folder."""
    expectEveryMinutes: int
    """How often a file is expected."""
    lastDetectionAt: Optional[str]
    """When a file was last reported; null = never."""


class FolderLateEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["watched_folder.late"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: FolderLateEventData
    """What the event is about."""


class JobSource(TypedDict):
    connectionId: str
    """Id of a connection."""
    path: str
    """Path of the folder from the root of the connection."""


class JobDestination(TypedDict):
    connectionId: str
    """Id of a connection."""
    path: str
    """Path of the folder from the root of the connection."""


class JobCounts(TypedDict):
    found: int
    """Files of the source, as far as it has been listed."""
    done: int
    """Files that were copied or moved."""
    skipped: int
    """Files that were left as they are: unchanged, or in the way."""
    failed: int
    """Files that failed."""
    deleted: int
    """Files that were deleted."""
    bytes: int
    """Bytes of the files that are done, and of those under way as far as they are."""
    bytesTotal: int
    """Bytes of the files that are, or were, to be transferred."""


class Job(TypedDict):
    id: str
    """Identifier."""
    type: Literal["copy", "move", "delete", "sync", "upload"]
    """What is done; `upload` is a URL upload with `Prefer: respond-async`."""
    name: Optional[str]
    """As it was given."""
    state: Literal["queued", "running", "paused", "succeeded", "partly_failed", "failed", "cancelled"]
    """`queued` waits for others of the account; the last four have ended."""
    source: Optional[JobSource]
    """null of an upload: its URL is not shown."""
    destination: Optional[JobDestination]
    """null of a deletion."""
    counts: JobCounts
    """Exact at any moment; of a dry run what would be."""
    bytesPerSecond: int
    """While it runs, of the last ten to twenty seconds; else of all the time that it has run."""
    etaSeconds: Optional[int]
    """Until its end at this speed; null where nobody can tell."""
    error: Optional[str]
    """What ended all of it."""
    errorCode: Optional[str]
    """The code of that, as `X-Error-Code` would carry it."""
    createdAt: str
    """When it was asked for."""
    startedAt: Optional[str]
    """When it began."""
    finishedAt: Optional[str]
    """When it ended."""
    scheduleId: Optional[str]
    """The schedule that began it; null once that is deleted."""


class JobAnswer(TypedDict):
    job: Job
    """The job, as it is now."""


class JobFile(TypedDict):
    path: str
    """Below the source folder; below the destination where only that has it."""
    state: Literal["waiting", "planned", "done", "skipped", "failed"]
    """`planned` is what a dry run would do."""
    action: Literal["copy", "move", "delete", "list", "upload"]
    """What is done with it; `list` is a folder that could not be listed."""
    size: int
    """Bytes, as they were listed."""
    error: Optional[str]
    """What went wrong, or why it was left alone."""
    errorCode: Optional[str]
    """The code of what went wrong, as `X-Error-Code` would carry it."""


class JobFilesAnswer(TypedDict):
    files: List[JobFile]
    """In the order in which they were found."""
    nextCursor: Optional[str]
    """Where the next page begins; null at the end."""


class JobFinishedEventData(TypedDict):
    job: Job
    """The job, as it ended."""


class JobFinishedEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["job.finished"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: JobFinishedEventData
    """What the event is about."""


class JobsAnswer(TypedDict):
    jobs: List[Job]
    """Newest first."""
    nextCursor: Optional[str]
    """Where the next page begins; null at the end."""


class Link(TypedDict):
    id: str
    """Identifier."""
    operation: Literal["upload", "download"]
    """`upload` takes files into one folder, `download` gives one file."""
    connectionId: str
    """Id of a connection, as `GET /api/connections` shows it."""
    path: str
    """Path from the root of the connection."""
    filename: Optional[str]
    """Of an upload: what the file is called, whatever its sender says. Of a download: what it is saved as."""
    overwrite: bool
    """Of an upload: whether a file of this name may be replaced. Without, it is 409."""
    digest: Optional[str]
    """SHA-256 that the file must have: `sha-256:` and 64 hexadecimal digits."""
    maxBytes: Optional[int]
    """The most bytes of one file. Null = as many as any upload."""
    maxUses: Optional[int]
    """How often it may be used; a use that fails does not count. Null = as often as anybody likes."""
    uses: int
    """Uses that have succeeded."""
    state: Literal["active", "used_up", "expired", "revoked", "key_ended"]
    """`active`; `used_up`; `expired`; `revoked`; `key_ended`: the API key that made it was revoked, has expired, or may no longer do what the link does."""
    keyId: Optional[str]
    """The API key that made it, and with which it ends; null = the owner of the account did."""
    expiresAt: str
    """When it ends by itself."""
    revokedAt: Optional[str]
    """When it was revoked."""
    lastUsedAt: Optional[str]
    """The last use that has succeeded."""
    createdAt: str
    """When it was made."""


class LinkAnswer(TypedDict):
    link: Link
    """The link, as it is now."""


class LinksAnswer(TypedDict):
    links: List[Link]
    """Newest first."""
    nextCursor: Optional[str]
    """Where the next page begins; null = there is none."""


class ListAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    path: str
    """Path from the root of the connection."""
    files: List[FileInfo]
    """Folders first, then by name; with `recursive` by path."""
    nextCursor: NotRequired[Optional[str]]
    """With `limit` alone: the `cursor` of the next page; null when nothing follows."""
    incomplete: NotRequired[int]
    """Entries that the server lists and `files` lacks: a line that the gateway cannot read, a name that no path can have, or a link that leads nowhere. Absent where the list is complete. With `limit`: those in the folders that were read for this page."""


class MkdirAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    path: str
    """Path from the root of the connection."""
    created: bool
    """False when the folder was there already."""


class MkdirRequest(TypedDict):
    path: str
    """Full path of the folder. Missing parents are created."""


class MoveAnswerTransfer(TypedDict):
    id: str
    """Id of the transfer in the history."""


MoveAnswer = TypedDict(
    "MoveAnswer",
    {
        "success": "Literal[True]",
        "from": "str",
        "to": "str",
        "durationMs": "int",
        "transfer": "MoveAnswerTransfer",
    },
)


MoveRequest = TypedDict(
    "MoveRequest",
    {
        "from": "str",
        "rawName": "NotRequired[str]",
        "to": "str",
        "overwrite": "NotRequired[bool]",
    },
)


class NewJob(TypedDict):
    type: Literal["copy", "move", "delete", "sync"]
    """What is to be done. `sync` brings what is new or changed."""
    source: JobSource
    """The folder, or the one file; the default path of the connection when absent."""
    destination: NotRequired[JobDestination]
    """The folder that takes the files. Not of a `delete`."""
    include: NotRequired[List[str]]
    """Only files that one of these globs takes: of the path below the folder where it holds `/` or `**`, else of the name."""
    exclude: NotRequired[List[str]]
    """Not files and folders that one of these globs takes."""
    maxDepth: NotRequired[int]
    """Not files in folders further down: 1 = only those of the folder itself."""
    minSize: NotRequired[int]
    """Not files of fewer bytes."""
    maxSize: NotRequired[int]
    """Not files of more bytes."""
    minAgeSeconds: NotRequired[int]
    """Not files that were modified less than this before the job began."""
    maxAgeSeconds: NotRequired[int]
    """Not files that were modified more than this before the job began."""
    onConflict: NotRequired[Literal["replace", "skip", "newer", "rename", "fail"]]
    """What a `copy` or `move` does with a file that stands at the destination; a `sync` replaces it."""
    compare: NotRequired[Literal["size-and-time", "size", "digest"]]
    """How a `sync` tells that a file has not changed; `digest` reads both."""
    deleteExtra: NotRequired[bool]
    """A `sync` deletes what the source does not have, after all else."""
    maxDeletes: NotRequired[int]
    """With more to delete than this, nothing is deleted."""
    allowEmptySource: NotRequired[bool]
    """With `deleteExtra`: deletes although the source is empty, or has lost more than half of its files since the last run."""
    bytesPerSecond: NotRequired[int]
    """Of all its files together; 0 = as fast as it goes."""
    dryRun: NotRequired[bool]
    """Tells what would be done, and does nothing."""
    name: NotRequired[Optional[str]]
    """For people."""
    webhookUrl: NotRequired[Optional[str]]
    """URL that receives `job.finished` when it has ended, signed with the secret of the account."""


class NewLink(TypedDict):
    operation: Literal["upload", "download"]
    """`upload` takes files into one folder, `download` gives one file."""
    connectionId: str
    """Id of a connection, as `GET /api/connections` shows it."""
    path: str
    """The file to download, or the folder to upload to; absolute or from the default path of the connection. It is the uploaded file itself if neither the link nor its user names the file, and no slash is at its end."""
    expiresAt: str
    """When it ends, a date-time with its zone, at most `links.maxDays` (90) days from now."""
    maxBytes: NotRequired[int]
    """The most bytes of one file."""
    maxUses: NotRequired[int]
    """How often it may be used; a use that fails does not count."""
    filename: NotRequired[str]
    """Of an upload: what the file is called, whatever its sender says. Of a download: what it is saved as."""
    overwrite: NotRequired[bool]
    """Of an upload: whether a file of this name may be replaced. Without, it is 409."""
    digest: NotRequired[str]
    """SHA-256 that the file must have: `sha-256:` and 64 hexadecimal digits."""


class NewPreview(TypedDict):
    cron: str
    """Five fields: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`."""
    timeZone: NotRequired[str]
    """Name of a time zone (IANA) whose local time the cron means."""


class NewSchedule(TypedDict):
    name: str
    """For people."""
    cron: str
    """Five fields: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`."""
    timeZone: NotRequired[str]
    """Name of a time zone (IANA) whose local time the cron means."""
    isActive: NotRequired[bool]
    """Whether it is switched on."""
    job: NewJob
    """What it begins, as in `POST /api/jobs`."""


class NewWatchedFolder(TypedDict):
    connectionId: str
    """Id of a connection, as `GET /api/connections` shows it."""
    path: str
    """Folder to watch."""
    name: NotRequired[str]
    """Shown in the dashboard; the folder's own name when absent."""
    filePattern: NotRequired[Optional[str]]
    """A glob on the file name, or on the path below the folder where it holds `/` or `**`."""
    scheduleMinutes: NotRequired[int]
    """Minutes between two checks."""
    webhookUrl: NotRequired[Optional[str]]
    """URL that receives a POST when files are found."""
    detectModified: NotRequired[bool]
    """Also report files whose size or date changed."""
    excludePattern: NotRequired[Optional[str]]
    """A glob of files that are not reported."""
    doneFile: NotRequired[Optional[str]]
    """Name of a marker file: a file is reported only once its marker is there too."""
    initial: NotRequired[Literal["ignore", "report"]]
    """Whether the files of the first check are reported, or are the baseline."""
    recursive: NotRequired[bool]
    """Whether sub-folders are watched too."""
    minAgeSeconds: NotRequired[int]
    """Files younger than this are not reported yet."""
    afterDelivery: NotRequired[Literal["keep", "move", "delete"]]
    """What happens to a file once its event was delivered; `move` and `delete` need the scope `write`."""
    moveTo: NotRequired[Optional[str]]
    """Folder for `afterDelivery: move`."""
    expectEveryMinutes: NotRequired[Optional[int]]
    """Raise an alarm when no file came for this long."""
    copyTo: NotRequired[Optional[CopyTo]]
    """Copies each file there, as it lies below the folder, before its event is sent; needs the scopes `read` and `write`. Null = nowhere."""


class NewWebhook(TypedDict):
    url: str
    """The receiver: an http or https URL. A login in it is kept sealed, and sent as basic authentication."""
    events: List[Literal["watched_folder.files_detected", "watched_folder.late", "transfer.failed", "job.finished", "connection.down", "connection.up", "attention.raised", "attention.cleared"]]
    """Types of events that it is told."""
    connections: NotRequired[List[str]]
    """Only events that are about no other connections; empty = all."""
    isActive: NotRequired[bool]
    """Whether it is told of new events."""


class PreviewAnswer(TypedDict):
    nextRuns: List[str]
    """The next five."""


class ReadAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    content: str
    """Text, or base64 where `encoding` is `base64`."""
    encoding: Literal["text", "base64"]
    """How `content` is written."""
    size: int
    """Bytes."""
    path: str
    """Path from the root of the connection."""


class ReceiptKey(TypedDict):
    kty: Literal["OKP"]
    """Kind of key (RFC 8037)."""
    crv: Literal["Ed25519"]
    """Its curve."""
    x: str
    """The public key, base64url."""
    kid: str
    """Its identifier: its thumbprint (RFC 7638)."""
    alg: Literal["EdDSA"]
    """What it signs by."""
    use: Literal["sig"]
    """What it is for."""


class ReceiptKeys(TypedDict):
    keys: List[ReceiptKey]
    """Newest first."""


class SandboxReceiver(TypedDict):
    url: str
    """Give this to a webhook or a watched folder."""
    does: str
    """How it answers."""


class SandboxRequest(TypedDict):
    receivedAt: str
    """When it had come."""
    path: str
    """Which of the receivers it was for."""
    status: Optional[int]
    """Status of the answer; null when there is none, or none yet."""
    headers: Dict[str, str]
    """Header fields, by lower-case name."""
    body: str
    """The first 64 KiB of the body, as text."""
    bodyBytes: int
    """How long the body was."""


class SandboxWebhooksAnswer(TypedDict):
    receivers: List[SandboxReceiver]
    """One for each way to answer."""
    requests: List[SandboxRequest]
    """Newest first."""


class Schedule(TypedDict):
    id: str
    """Identifier."""
    name: str
    """For people."""
    cron: str
    """Five fields: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`."""
    timeZone: str
    """Name of a time zone (IANA) whose local time the cron means."""
    isActive: bool
    """Whether it is switched on."""
    job: ScheduledJob
    """What it begins."""
    nextRuns: List[str]
    """The next five; none while it is switched off."""
    lastRunAt: Optional[str]
    """When it began a job last."""
    lastJobId: Optional[str]
    """That job."""
    lastSkippedAt: Optional[str]
    """When a run was left out last."""
    error: Optional[str]
    """Why the last run was left out, or why the schedule has stopped."""
    createdAt: str
    """When it was created."""


class ScheduleAnswer(TypedDict):
    schedule: Schedule
    """The schedule, as it is now."""


class ScheduleChanges(TypedDict):
    name: NotRequired[str]
    """For people."""
    cron: NotRequired[str]
    """Five fields: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`."""
    timeZone: NotRequired[str]
    """Name of a time zone (IANA) whose local time the cron means."""
    isActive: NotRequired[bool]
    """Whether it is switched on."""
    job: NotRequired[NewJob]
    """What it begins, as in `POST /api/jobs`."""


class ScheduledJobSource(TypedDict):
    connectionId: str
    """Id of a connection."""
    path: str
    """Path of the folder from the root of the connection."""


class ScheduledJobDestination(TypedDict):
    connectionId: str
    """Id of a connection."""
    path: str
    """Path of the folder from the root of the connection."""


class ScheduledJob(TypedDict):
    type: Literal["copy", "move", "delete", "sync"]
    """What is done."""
    source: ScheduledJobSource
    """Where the files are."""
    destination: Optional[ScheduledJobDestination]
    """null of a deletion."""
    include: List[str]
    """Only files that one of these globs takes."""
    exclude: List[str]
    """Not files and folders that one of these globs takes."""
    maxDepth: NotRequired[int]
    """Not files in folders further down: 1 = only those of the folder itself."""
    minSize: NotRequired[int]
    """Not files of fewer bytes."""
    maxSize: NotRequired[int]
    """Not files of more bytes."""
    minAgeSeconds: NotRequired[int]
    """Not files that were modified less than this before the job began."""
    maxAgeSeconds: NotRequired[int]
    """Not files that were modified more than this before the job began."""
    onConflict: Literal["replace", "skip", "newer", "rename", "fail"]
    """What becomes of a file that stands at the destination."""
    compare: Literal["size-and-time", "size", "digest"]
    """How a `sync` tells that a file has not changed."""
    deleteExtra: bool
    """Whether a `sync` deletes what the source does not have."""
    maxDeletes: int
    """With more to delete than this, nothing is deleted."""
    allowEmptySource: NotRequired[bool]
    """With `deleteExtra`: deletes although the source is empty, or has lost more than half of its files since the last run."""
    bytesPerSecond: int
    """Of all its files together; 0 = as fast as it goes."""
    dryRun: bool
    """Tells what would be done, and does nothing."""
    name: Optional[str]
    """Of the jobs; null = that of the schedule."""
    webhookUrl: Optional[str]
    """URL that receives `job.finished`."""


class SchedulesAnswer(TypedDict):
    schedules: List[Schedule]
    """Oldest first."""


class SentAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    filename: str
    """Name of the file, without a folder."""
    size: int
    """Bytes."""


class SkippedAnswer(TypedDict):
    error: str
    """What went wrong, at which step, field or path, and what would be right."""
    skipped: NotRequired[Literal[True]]
    """The file exists and was left as it is."""


class StatusAnswer(TypedDict):
    status: str
    """`ok` or `ready`."""


class SuccessAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""


class TestEventDataWatchedFolder(TypedDict):
    id: str
    """Id of the watched folder."""
    name: str
    """Name of the watched folder, as the dashboard shows it."""
    path: str
    """Path from the root of the connection."""
    connectionId: str
    """Id of its connection."""


class TestEventDataFilesItemCopy(TypedDict):
    connectionId: str
    """Id of the connection of the copy."""
    path: NotRequired[str]
    """Where the copy is; with `skipped`, what stands there instead."""
    size: NotRequired[int]
    """Bytes of the copy."""
    skipped: NotRequired[bool]
    """True where `onConflict` left alone what stands there."""
    error: NotRequired[str]
    """Why there is no copy."""


class TestEventDataFilesItem(TypedDict):
    name: str
    """Name of the file."""
    path: str
    """Path from the root of the connection."""
    size: int
    """Bytes."""
    isDirectory: bool
    """Always false."""
    modifiedAt: str
    """Time of the last change, UTC."""
    rawName: NotRequired[str]
    """The exact bytes of a name that is not UTF-8, as base64."""
    event: Literal["new", "modified"]
    """`new`, or `modified` where its size or date changed."""
    copy: NotRequired[TestEventDataFilesItemCopy]
    """Of a folder with `copyTo`: where the copy of the file is. A file without one stays where it is, whatever `afterDelivery` says."""


class TestEventData(TypedDict):
    watchedFolder: TestEventDataWatchedFolder
    """The folder that was checked."""
    connection: ConnectionSummary
    """The connection of the watched folder."""
    files: List[TestEventDataFilesItem]
    """The files that were found; none in an event that only tries the webhook out."""


class TestEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["watched_folder.test"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: TestEventData
    """What the event is about."""


class TestedWebhook(TypedDict):
    id: str
    """Identifier of the webhook."""
    events: List[str]
    """Types of events that it is told."""


class Transfer(TypedDict):
    id: str
    """Identifier."""
    filename: str
    """Name of the file, without a folder."""
    path: str
    """Path from the root of the connection."""
    size: int
    """Bytes."""
    durationMs: int
    """Milliseconds from the start of the operation to its end."""
    modifiedAt: NotRequired[str]
    """Where `mtime` was asked for: what the file is dated now, which is another time where the server keeps none."""
    connection: ConnectionSummary
    """The connection that the file went to."""


class TransferAnswer(TypedDict):
    transfer: TransferDetails
    """The item."""


class TransferDetails(TypedDict):
    id: str
    """Identifier."""
    connectionId: str
    """Id of a connection, as `GET /api/connections` shows it."""
    type: Literal["upload", "download", "read", "write", "append", "delete", "move", "mkdir", "list", "exists", "copy", "exec", "poll"]
    """Kind of transfer."""
    direction: Literal["outbound", "inbound"]
    """`outbound` changes the remote server, `inbound` reads from it."""
    filename: str
    """Name of the file, without a folder."""
    path: str
    """Path from the root of the connection."""
    fileSize: int
    """Bytes."""
    status: Literal["success", "failed", "pending"]
    """State of the transfer."""
    errorMessage: Optional[str]
    """What went wrong, of a failed transfer."""
    durationMs: int
    """Milliseconds from the start of the operation to its end."""
    createdAt: str
    """When it began."""
    errorCode: Optional[str]
    """The code of the error, as `X-Error-Code` carried it."""
    requestId: Optional[str]
    """Of the request that asked for it; of a job its identifier."""
    jobId: Optional[str]
    """The job that it is of."""
    linkId: Optional[str]
    """The link that it came by, without a key of its own."""
    digest: Optional[str]
    """SHA-256 of the file as its bytes passed, where somebody asked: `sha-256:` and hexadecimal digits."""
    noDigest: Literal["server_side_copy", "server_side_move", "append", "range", "pieces", "not_sent", "earlier_try", None]
    """Why there is no digest although somebody asked: the store made the copy, or the server the move, by itself; an earlier try, whose node died, had made it; an append, which knows its own part alone; a range; a resumable upload whose first bytes came before anybody asked, or of which the state was lost; or no bytes were sent."""
    digestReadBytes: Optional[int]
    """How many of the bytes of the digest were read back from the server, as they had passed a node that died before it kept what it knew of them; the others were taken as they passed. Null without a digest."""
    verified: Optional[bool]
    """Whether what was stored was compared with what was sent. False: the server has acknowledged the file, and it could not be looked at; it counts as stored. Null: nothing was stored, or nothing is to be compared."""
    verifiedReason: Literal["taken_away", "may_not_look", None]
    """Why `verified` is false: the file was gone when it was looked for, as in a drop folder (`taken_away`), or the login may not look at it (`may_not_look`). Else null."""
    stages: Optional[Dict[str, float]]
    """Milliseconds of each stage up to the record of it, as in `Server-Timing`; null while it runs."""


class TransferFailedEventData(TypedDict):
    transfer: FailedTransfer
    """Its item of the history."""


class TransferFailedEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["transfer.failed"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: TransferFailedEventData
    """What the event is about."""


class TransferItem(TypedDict):
    id: str
    """Identifier."""
    connectionId: str
    """Id of a connection, as `GET /api/connections` shows it."""
    type: Literal["upload", "download", "read", "write", "append", "delete", "move", "mkdir", "list", "exists", "copy", "exec", "poll"]
    """Kind of transfer."""
    direction: Literal["outbound", "inbound"]
    """`outbound` changes the remote server, `inbound` reads from it."""
    filename: str
    """Name of the file, without a folder."""
    path: str
    """Path from the root of the connection."""
    fileSize: int
    """Bytes."""
    status: Literal["success", "failed", "pending"]
    """State of the transfer."""
    errorMessage: Optional[str]
    """What went wrong, of a failed transfer."""
    durationMs: int
    """Milliseconds from the start of the operation to its end."""
    createdAt: str
    """When it began."""


class TransfersAnswer(TypedDict):
    transfers: List[TransferItem]
    """Newest first."""
    total: int
    """How many transfers match."""
    limit: int
    """Items a page."""
    offset: int
    """Items to pass over."""


class UploadAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    transfer: Transfer
    """The transfer, as the history holds it."""


class UploadBase64(TypedDict):
    content: str
    """The file, as base64."""
    path: NotRequired[str]
    """Remote folder; the connection's default path when absent. Missing folders are created."""
    filename: str
    """Name of the file, without a folder."""
    overwrite: NotRequired[bool]
    """Whether a file of this name may be replaced. Without, it is 409 with `skipped: true`."""
    filename_template: NotRequired[str]
    """Renames the file. Tokens, in UTC: `{filename}` `{name}` `{ext}` `{date}` `{time}` `{datetime}` `{timestamp}` `{year}` `{month}` `{day}` `{uuid}`."""
    mtime: NotRequired[str]
    """Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata."""


class UploadFromUrl(TypedDict):
    url: str
    """http or https; the gateway fetches it."""
    path: NotRequired[str]
    """Remote folder; the connection's default path when absent. Missing folders are created."""
    filename: NotRequired[str]
    """Name of the file, without a folder."""
    overwrite: NotRequired[bool]
    """Whether a file of this name may be replaced. Without, it is 409 with `skipped: true`."""
    filename_template: NotRequired[str]
    """Renames the file. Tokens, in UTC: `{filename}` `{name}` `{ext}` `{date}` `{time}` `{datetime}` `{timestamp}` `{year}` `{month}` `{day}` `{uuid}`."""
    mtime: NotRequired[str]
    """Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata."""


class UploadMultipart(TypedDict):
    file: str
    """The file."""
    path: NotRequired[str]
    """Remote folder; the connection's default path when absent. Missing folders are created."""
    filename: NotRequired[str]
    """Name of the file, without a folder."""
    overwrite: NotRequired[bool]
    """Whether a file of this name may be replaced. Without, it is 409 with `skipped: true`."""
    filename_template: NotRequired[str]
    """Renames the file. Tokens, in UTC: `{filename}` `{name}` `{ext}` `{date}` `{time}` `{datetime}` `{timestamp}` `{year}` `{month}` `{day}` `{uuid}`."""
    mtime: NotRequired[str]
    """Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata."""


class WatchedFolder(TypedDict):
    id: str
    """Identifier."""
    connectionId: str
    """Id of a connection, as `GET /api/connections` shows it."""
    name: str
    """Shown in the dashboard."""
    path: str
    """Path from the root of the connection."""
    filePattern: Optional[str]
    """A glob on the file name, or on the path below the folder where it holds `/` or `**`."""
    scheduleMinutes: int
    """Minutes between two checks."""
    webhookUrl: Optional[str]
    """URL that receives a POST when files are found."""
    source: str
    """How it was created."""
    detectModified: bool
    """Also report files whose size or date changed."""
    isActive: bool
    """Whether it is switched on."""
    createdAt: str
    """When it was created."""
    excludePattern: NotRequired[str]
    """A glob of files that are not reported."""
    doneFile: NotRequired[str]
    """Name of a marker file: a file is reported only once its marker is there too."""
    initial: NotRequired[Literal["ignore", "report"]]
    """Whether the files of the first check are reported, or are the baseline."""
    recursive: NotRequired[bool]
    """Whether sub-folders are watched too."""
    minAgeSeconds: NotRequired[int]
    """Files younger than this are not reported yet."""
    afterDelivery: NotRequired[Literal["keep", "move", "delete"]]
    """What happens to a file once its event was delivered; `move` and `delete` need the scope `write`."""
    moveTo: NotRequired[Optional[str]]
    """Folder for `afterDelivery: move`."""
    expectEveryMinutes: NotRequired[int]
    """Raise an alarm when no file came for this long."""
    copyTo: NotRequired[CopyTo]
    """Where its files are copied before their event is sent."""


class WatchedFolderChanges(TypedDict):
    path: NotRequired[str]
    """Folder to watch."""
    name: NotRequired[str]
    """Shown in the dashboard; the folder's own name when absent."""
    filePattern: NotRequired[Optional[str]]
    """A glob on the file name, or on the path below the folder where it holds `/` or `**`."""
    scheduleMinutes: NotRequired[int]
    """Minutes between two checks."""
    webhookUrl: NotRequired[Optional[str]]
    """URL that receives a POST when files are found."""
    detectModified: NotRequired[bool]
    """Also report files whose size or date changed."""
    excludePattern: NotRequired[Optional[str]]
    """A glob of files that are not reported."""
    doneFile: NotRequired[Optional[str]]
    """Name of a marker file: a file is reported only once its marker is there too."""
    initial: NotRequired[Literal["ignore", "report"]]
    """Whether the files of the first check are reported, or are the baseline."""
    recursive: NotRequired[bool]
    """Whether sub-folders are watched too."""
    minAgeSeconds: NotRequired[int]
    """Files younger than this are not reported yet."""
    afterDelivery: NotRequired[Literal["keep", "move", "delete"]]
    """What happens to a file once its event was delivered; `move` and `delete` need the scope `write`."""
    moveTo: NotRequired[Optional[str]]
    """Folder for `afterDelivery: move`."""
    expectEveryMinutes: NotRequired[Optional[int]]
    """Raise an alarm when no file came for this long."""
    copyTo: NotRequired[Optional[CopyTo]]
    """Copies each file there, as it lies below the folder, before its event is sent; needs the scopes `read` and `write`. Null = nowhere."""
    isActive: NotRequired[bool]
    """Whether it is switched on."""


class WatchedFoldersAnswer(TypedDict):
    watchedFolders: List[WatchedFolder]
    """The watched folders of the account."""


class Webhook(TypedDict):
    id: str
    """Identifier."""
    url: str
    """The receiver, without a login."""
    events: List[Literal["watched_folder.files_detected", "watched_folder.late", "transfer.failed", "job.finished", "connection.down", "connection.up", "attention.raised", "attention.cleared"]]
    """Types of events that it is told."""
    connections: List[str]
    """Only events that are about no other connections; empty = all."""
    isActive: bool
    """Whether it is told of new events."""
    endedAt: Optional[str]
    """When the receiver answered 410, which switched it off; null = it has not."""
    createdAt: str
    """When it was created."""


class WebhookAnswer(TypedDict):
    webhook: Webhook
    """The webhook, as it is now."""


class WebhookChanges(TypedDict):
    url: NotRequired[str]
    """The receiver: an http or https URL. A login in it is kept sealed, and sent as basic authentication."""
    events: NotRequired[List[Literal["watched_folder.files_detected", "watched_folder.late", "transfer.failed", "job.finished", "connection.down", "connection.up", "attention.raised", "attention.cleared"]]]
    """Types of events that it is told."""
    connections: NotRequired[List[str]]
    """Only events that are about no other connections; empty = all."""
    isActive: NotRequired[bool]
    """Whether it is told of new events."""


class WebhookSecret(TypedDict):
    secret: str
    """The new secret; shown this once."""


class WebhookTest(TypedDict):
    isDelivered: bool
    """Whether the answer was one of 200 to 299."""
    id: str
    """The `webhook-id` of the message."""
    body: str
    """The message: JSON, exactly as it was signed."""
    durationMs: int
    """Milliseconds from the start of the operation to its end."""
    status: Optional[int]
    """HTTP status of the answer; null when there was none."""
    errorCode: Optional[str]
    """The code of the error, as `X-Error-Code` carries it."""
    errorMessage: Optional[str]
    """What went wrong."""
    answer: Optional[str]
    """The first 4 kB of the answer."""
    requestHeaders: Optional[Dict[str, str]]
    """Header fields that were sent, without a login; null where they were not kept."""
    answerHeaders: Optional[Dict[str, str]]
    """The first 4 kB of the header fields of the answer; null where there was none."""


class WebhookTestAnswer(TypedDict):
    test: WebhookTest
    """What was sent, and what came back."""


class WebhookTestEventData(TypedDict):
    webhook: TestedWebhook
    """The webhook that is tried out."""


class WebhookTestEvent(TypedDict):
    sequence: NotRequired[int]
    """Its number among the events of the account, from 1 and without holes."""
    id: NotRequired[str]
    """Identifies the event; the `webhook-id` of its deliveries."""
    previousId: NotRequired[Optional[str]]
    """`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`."""
    type: Literal["webhook.test"]
    """Kind of event."""
    timestamp: str
    """When it happened."""
    data: WebhookTestEventData
    """What the event is about."""


class WebhooksAnswer(TypedDict):
    webhooks: List[Webhook]
    """Oldest first."""


class WriteAnswer(TypedDict):
    success: Literal[True]
    """Always true; a failure is an error answer."""
    path: str
    """Path from the root of the connection."""
    size: int
    """Bytes."""
    modifiedAt: NotRequired[str]
    """Where `mtime` was asked for: what the file is dated now, which is another time where the server keeps none."""


class WriteRequest(TypedDict):
    path: str
    """Path on the remote server, absolute or from the default path of the connection."""
    encoding: NotRequired[Literal["text", "base64"]]
    """How `content` is written."""
    content: str
    """Text, or base64 where `encoding` is `base64`."""
    mtime: NotRequired[str]
    """Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata."""


UploadFileVerify = Literal["size", "readback"]


DownloadFileFormat = Literal["binary", "json", "zip"]


ReadFileEncoding = Literal["text", "base64"]


ListTransfersStatus = Literal["success", "failed", "pending"]


ListTransfersType = Literal["upload", "download", "read", "write", "append", "delete", "move", "mkdir", "list", "exists", "copy", "exec", "poll", "email", "pickup"]


ListJobsState = Literal["queued", "running", "paused", "succeeded", "partly_failed", "failed", "cancelled"]


ListJobsType = Literal["copy", "move", "delete", "sync", "upload"]


ListJobFilesState = Literal["waiting", "planned", "done", "skipped", "failed"]


WebhookEvent = Union[
    AttentionClearedEvent,
    AttentionRaisedEvent,
    ConnectionDownEvent,
    ConnectionUpEvent,
    FilesDetectedEvent,
    FilesMissingEvent,
    FolderLateEvent,
    JobFinishedEvent,
    TestEvent,
    TransferFailedEvent,
    WebhookTestEvent,
]

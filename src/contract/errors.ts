/**
 * Every error code, defined once. The gateway, both OpenAPI documents, the page of errors, the clients, ftg, MCP, the
 * nodes for n8n and the dashboard derive their lists and texts from it. German: de/errors.ts.
 * A code never changes its meaning or its status. A new one is an entry here and its German text.
 */

export interface ErrorTexts {
  /** What happened, as plain text for users of all programs. One or two sentences. */
  readonly meaning: string;
  /** What the reader can do. */
  readonly remedy: string;
}

export interface ErrorDefinition extends ErrorTexts {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Who can change it: the client with its request, key, account or connection; the remote server; the gateway. */
  readonly fault: 'client' | 'remote' | 'gateway';
  /**
   * Whether the same request may succeed. `no`: it fails again. `yes`: send it again. `later`: after a while.
   * `retry_after`: after the seconds in the answer's Retry-After.
   */
  readonly retry: 'no' | 'yes' | 'later' | 'retry_after';
  /** Facts only for the page of errors, in Markdown. Links begin at docs/integrate. */
  readonly details?: string;
  /** An example text of the gateway. Absent: the code is never in an answer, only in history and log. */
  readonly example?: string;
  /**
   * The endpoints that can answer with it, besides those that list it. `keyed`: all with a key or login. `scoped`:
   * those whose key needs a scope. `owner`: those of the management API, with a login. `body`: those with a body.
   * `idempotent`: those with an Idempotency-Key. `remote`: those that use a remote server. `router`: none, because no
   * endpoint was found.
   */
  readonly endpoints?: 'all' | 'keyed' | 'scoped' | 'owner' | 'body' | 'idempotent' | 'remote' | 'router';
  /** The session (SFTP: the channel) of the operation is closed and not used again. */
  readonly endsSession?: true;
  /** The gateway itself may retry the same step, on a new session, if no byte has moved. */
  readonly isTriedAgain?: true;
  /**
   * At any step of an operation: the server was unreachable, or refused the login. Its connection counts as failing.
   */
  readonly isUnreached?: true;
  /**
   * What clients retry automatically. `always`: it was refused before anything began. `idempotent`: only calls whose
   * second run has the same result.
   */
  readonly repeat?: 'always' | 'idempotent';
  /**
   * The reaction of a job to a file that failed with it; absent: the file has failed for good. `retry`: it may be
   * temporary. `stop`: every other file would also fail, and trying might lock the login. `again`: a fault of the
   * gateway; the file is processed again.
   */
  readonly inJobs?: 'retry' | 'stop' | 'again';
  /** The page of the dashboard with the remedy. */
  readonly fixedAt?: 'connection' | 'plan';
}

const catalogue = {
  bad_request: {
    status: 400,
    fault: 'client',
    retry: 'no',
    endpoints: 'all',
    meaning: 'A field, parameter or header is missing, malformed or out of range.',
    remedy: 'The text names it. Correct it.',
    details: '[Numbers](api.md#numbers) have decimal digits.',
    example: 'path is missing',
  },
  bad_path: {
    status: 400,
    fault: 'client',
    retry: 'no',
    endpoints: 'remote',
    meaning: 'A path is empty, holds control characters, leaves the root or is too long.',
    remedy: 'Correct the path in the request.',
    details: 'See [paths](authentication.md#paths).',
    example: 'path leaves the root of the connection',
  },
  bad_base64: {
    status: 400,
    fault: 'client',
    retry: 'no',
    meaning: 'The content is not base64.',
    remedy: 'Encode the bytes again.',
    details: 'RFC 4648, section 4, with padding, without line breaks.',
    example: 'content is not valid base64',
  },
  digest_mismatch: {
    status: 400,
    fault: 'client',
    retry: 'no',
    meaning: 'The body is not the one that Content-Digest describes; nothing was stored.',
    remedy: 'Send it again. If it happens often, check the network in between.',
    example: 'the body does not match the sha-256 of Content-Digest',
  },
  invalid_part: {
    status: 400,
    fault: 'client',
    retry: 'no',
    meaning: 'A multipart upload has no such part, or another version of it than the request names.',
    remedy: 'Send the part again, and complete the upload with the ETag of the answer.',
  },
  invalid_part_order: {
    status: 400,
    fault: 'client',
    retry: 'no',
    meaning: 'The parts of a multipart upload are not listed in ascending order.',
    remedy: 'List each part once, in the order of the numbers.',
  },
  part_too_small: {
    status: 400,
    fault: 'client',
    retry: 'no',
    meaning: 'A part of a multipart upload that is not the last one is too small.',
    remedy: 'Send parts of at least 5 MiB.',
  },
  unsupported_operation: {
    status: 400,
    fault: 'client',
    retry: 'no',
    meaning: 'This type of connection cannot do it: append on S3, exec on FTP and S3.',
    remedy: 'Use another operation.',
    example: 'append is not supported on S3 connections; use write instead',
  },
  unauthenticated: {
    status: 401,
    fault: 'client',
    retry: 'no',
    endpoints: 'keyed',
    meaning: 'The API key is missing, unknown, expired or revoked.',
    remedy: 'Use a valid key.',
    example: 'the API key is not valid',
  },
  totp_required: {
    status: 401,
    fault: 'client',
    retry: 'no',
    meaning: 'The password was right, but the one-time code is missing or wrong.',
    remedy: 'Send it again with the code.',
    example: 'code: the six digits of the authenticator, or a recovery code',
  },
  forbidden: {
    status: 403,
    fault: 'client',
    retry: 'no',
    endpoints: 'keyed',
    meaning: 'The API key is not for this connection or this address.',
    remedy: 'Use a connection that the key may use, or ask the owner of the key.',
    example: 'this API key is not for connection warehouse',
  },
  scope_missing: {
    status: 403,
    fault: 'client',
    retry: 'no',
    endpoints: 'scoped',
    meaning: 'The API key lacks the scope that the endpoint asks for.',
    remedy: 'Use a key with the scope that the text names.',
    example: 'this API key lacks the scope write',
  },
  csrf_rejected: {
    status: 403,
    fault: 'client',
    retry: 'no',
    endpoints: 'owner',
    meaning: 'A request with a login session lacks its CSRF token, or comes from another site.',
    remedy: 'Send the token of GET /manage/session in X-CSRF-Token.',
    details: 'See [the management API](../operate/manage-api.md).',
    example: 'the header X-CSRF-Token must hold the csrfToken of GET /manage/session',
  },
  plan_required: {
    status: 403,
    fault: 'client',
    retry: 'no',
    inJobs: 'stop',
    fixedAt: 'plan',
    meaning: 'The plan of the account does not allow it.',
    remedy: 'Choose another plan, or another operation.',
    example: 'copy needs a plan with more than one connection; this account has free',
  },
  connection_inactive: {
    status: 403,
    fault: 'client',
    retry: 'no',
    endpoints: 'remote',
    inJobs: 'stop',
    fixedAt: 'connection',
    meaning: 'The connection is switched off.',
    remedy: 'Its owner can switch it on under Connections.',
    example: 'connection warehouse is not active',
  },
  permission_denied: {
    status: 403,
    fault: 'remote',
    retry: 'no',
    endpoints: 'remote',
    meaning: 'The remote server refuses this path to its login.',
    remedy: 'Ask its operator for access, or use another login.',
    example: '/etc/passwd may not be opened (remote said: 3 Permission denied)',
  },
  address_denied: {
    status: 403,
    fault: 'client',
    retry: 'no',
    endpoints: 'remote',
    inJobs: 'stop',
    meaning: 'The network rules of the gateway deny the address.',
    remedy: 'Ask the operator of the gateway to allow it.',
    details:
      'It may be the address of a connection, a URL, a redirect or a webhook. The rules are under [`network`](../operate/secure.md#what-the-gateway-may-reach).',
    example: 'the address of 169.254.169.254 is denied by the network rules',
  },
  unknown_route: {
    status: 404,
    fault: 'client',
    retry: 'no',
    endpoints: 'router',
    meaning: 'There is no such endpoint.',
    remedy: 'Check the address. A gateway that is older than its client may lack the endpoint.',
    example: 'there is no such endpoint',
  },
  unknown_connection: {
    status: 404,
    fault: 'client',
    retry: 'no',
    endpoints: 'remote',
    inJobs: 'stop',
    meaning: 'The account has no connection with this id.',
    remedy: 'List the connections, and use one of their ids.',
    example: 'there is no connection warehouse',
  },
  unknown_watched_folder: {
    status: 404,
    fault: 'client',
    retry: 'no',
    meaning: 'The account has no watched folder with this id.',
    remedy: 'List the watched folders, and use one of their ids.',
    example: 'there is no watched folder 0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001',
  },
  unknown_item: {
    status: 404,
    fault: 'client',
    retry: 'no',
    meaning: 'There is no session, API key, key pair, transfer, job, webhook or link with this id.',
    remedy: 'List what there is, and use one of those ids.',
    example: 'there is no API key 0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001',
  },
  unknown_upload: {
    status: 404,
    fault: 'client',
    retry: 'no',
    meaning:
      'There is no such resumable upload at this connection. It has expired or failed, or its bytes were removed on the server.',
    remedy: 'Begin a new one.',
    example: 'there is no upload 0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001',
  },
  not_found: {
    status: 404,
    fault: 'client',
    retry: 'no',
    meaning: 'The file or folder does not exist on the remote server.',
    remedy: 'Check the folder: the file may have been moved or have another name.',
    example: '/upload/report.pdf does not exist (remote said: 2 No such file)',
  },
  method_not_allowed: {
    status: 405,
    fault: 'client',
    retry: 'no',
    endpoints: 'router',
    meaning: 'The endpoint exists, but not with this method.',
    remedy: 'The header Allow lists its methods.',
    example: 'PUT is not allowed here; use POST',
  },
  already_exists: {
    status: 409,
    fault: 'client',
    retry: 'no',
    meaning: 'A file with this name exists, and the request did not allow replacing it.',
    remedy: 'Choose another name, or allow overwriting.',
    example: '/upload/report.pdf exists and overwrite is false',
  },
  is_a_folder: {
    status: 409,
    fault: 'client',
    retry: 'no',
    meaning: 'There is a folder where a file was expected.',
    remedy: 'Choose another name, or move the folder away.',
    details: 'For the whole folder, use `recursive` or `format=zip`.',
    example: '/upload is a folder',
  },
  not_a_folder: {
    status: 409,
    fault: 'client',
    retry: 'no',
    endpoints: 'remote',
    meaning: 'There is a file where a folder was expected.',
    remedy: 'Choose another folder, or move the file away.',
    example: '/upload/report.pdf is a file, not a folder',
  },
  not_empty: {
    status: 409,
    fault: 'client',
    retry: 'later',
    meaning:
      'The folder is not empty, so it was not deleted: it was filled meanwhile, or holds a name that no path can name.',
    remedy: 'Empty it first, or delete it with its contents.',
    example: '/upload is not empty',
  },
  offset_mismatch: {
    status: 409,
    fault: 'client',
    retry: 'no',
    repeat: 'idempotent',
    meaning: 'Upload-Offset is not the number of bytes that the gateway has.',
    remedy: 'Ask for the offset with HEAD, and continue from there.',
    example: 'Upload-Offset is 0, but the gateway has 1048576 bytes',
  },
  idempotency_in_progress: {
    status: 409,
    fault: 'client',
    retry: 'retry_after',
    endpoints: 'idempotent',
    repeat: 'idempotent',
    meaning: 'A request with this Idempotency-Key still runs.',
    remedy: 'Send it again after Retry-After: you get its answer.',
    example: 'a request with this Idempotency-Key still runs',
  },
  outcome_unknown: {
    status: 409,
    fault: 'gateway',
    retry: 'no',
    endpoints: 'idempotent',
    meaning:
      'The first request with this Idempotency-Key had begun when its gateway or its session was lost; it is not known whether it was done. The text names its transfer and what is on the remote server now.',
    remedy: 'It never runs again. Look at the remote server, then use a new key.',
    example:
      'the first request with this Idempotency-Key had begun when it was lost: it is not known whether transfer 0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001 (append) was done; /log.txt is a file of 120 bytes now, changed 2026-11-22T10:00:00.000Z',
  },
  sessions_exhausted: {
    status: 409,
    fault: 'client',
    retry: 'no',
    fixedAt: 'connection',
    meaning: 'The operation needs more sessions of one login at once than the server or maxSessions allows.',
    remedy: 'Raise the maximum sessions of the connection, if the server allows more.',
    example: 'both paths need a session of one login, and its maxSessions is 1',
  },
  in_use: {
    status: 409,
    fault: 'client',
    retry: 'no',
    meaning: 'Others depend on it, or it is switched on already; the text names them.',
    remedy: 'Remove those first, or confirm.',
    example: 'connection warehouse is used by API key "ci"; confirm=true deletes it all the same',
  },
  from_configuration: {
    status: 409,
    fault: 'client',
    retry: 'no',
    meaning: 'The configuration file owns it and would put it back at the next start.',
    remedy: 'Change it in the configuration file.',
    example:
      'connection warehouse comes from the configuration file, whose next start would undo this; change it there',
  },
  not_running: {
    status: 409,
    fault: 'client',
    retry: 'no',
    meaning: 'It has ended, was revoked or is switched off.',
    remedy: 'Look at its state: there is nothing to end or change.',
    example: 'transfer 0199c2f4-6f5e-7c1a-9a51-0d2f64b1c7e2 does not run, or has only just begun',
  },
  not_repeatable: {
    status: 409,
    fault: 'client',
    retry: 'no',
    meaning: 'The history cannot repeat this transfer; the text says why.',
    remedy: 'Send the request itself again, with its file. For the file of a job, repeat the job.',
    example:
      'transfer 0199c2f4-6f5e-7c1a-9a51-0d2f64b1c7e2 is an upload, whose bytes are not kept: send the file again',
  },
  source_suspicious: {
    status: 409,
    fault: 'client',
    retry: 'no',
    meaning:
      'The source of a job with deleteExtra is empty, or has lost more than half of its files since the last run. Nothing was deleted.',
    remedy:
      'Check the source. If it is right, run the job once with “Delete even if the source is empty” (allowEmptySource).',
    details: 'See [mirror](jobs.md#mirror-delete-what-is-gone).',
    example:
      'the source holds 3 files, and at the last run it held 700: nothing was deleted; with allowEmptySource: true it would be',
  },
  cancelled: {
    status: 409,
    fault: 'client',
    retry: 'no',
    endpoints: 'remote',
    endsSession: true,
    meaning: 'The owner of the account ended the operation while it ran; nothing was stored.',
    remedy: 'Start it again if you still need it.',
    example: 'the transfer was cancelled by the owner of the account',
  },
  gone: {
    status: 410,
    fault: 'client',
    retry: 'no',
    meaning: 'It is no longer kept, and the text says where to continue; or it is a link that has ended.',
    remedy: 'Begin where the text says, or ask for a new link.',
    details:
      'Events are kept for `events.retentionDays`. A [link](links.md) ends when it expires, is used up or is revoked.',
    example: 'events up to 41 are no longer kept; the oldest is 42: continue with after=41',
  },
  unsupported_version: {
    status: 412,
    fault: 'client',
    retry: 'no',
    meaning: 'Tus-Resumable is missing, or names a version that is not in Tus-Version.',
    remedy: 'Send Tus-Resumable: 1.0.0.',
    example: 'Tus-Resumable must be 1.0.0',
  },
  too_large: {
    status: 413,
    fault: 'client',
    retry: 'no',
    endpoints: 'body',
    meaning: 'The body, the file, the output of a command or the entries of a list are above their limit.',
    remedy: 'Send the file as a resumable upload, ask for less, or ask the operator to raise the limit.',
    details: 'To read a large file, download it. List a large folder line by line.',
    example: 'the body is larger than 1048576 bytes',
  },
  unsupported_media_type: {
    status: 415,
    fault: 'client',
    retry: 'no',
    endpoints: 'body',
    meaning: 'The endpoint does not take this Content-Type, or the body has a Content-Encoding.',
    remedy: 'Send a type that the endpoint takes, without a content coding.',
    details: 'The page of the operation lists the types.',
    example: 'this endpoint takes application/json',
  },
  bad_range: {
    status: 416,
    fault: 'client',
    retry: 'no',
    meaning: 'The range lies outside the file.',
    remedy: 'Check the size of the file first: Content-Range holds it.',
    example: 'Range bytes=100-200 lies outside the file of 42 bytes',
  },
  idempotency_mismatch: {
    status: 422,
    fault: 'client',
    retry: 'no',
    endpoints: 'idempotent',
    meaning: 'This Idempotency-Key was used with another request.',
    remedy: 'Use a new key. A retry must send the same path and content as the first try.',
    example: 'this Idempotency-Key was used with another request',
  },
  upload_locked: {
    status: 423,
    fault: 'client',
    retry: 'retry_after',
    repeat: 'idempotent',
    meaning: 'Another request is writing to this upload.',
    remedy: 'Try again after Retry-After.',
    example: 'another request is writing to this upload',
  },
  rate_limited: {
    status: 429,
    fault: 'client',
    retry: 'retry_after',
    endpoints: 'keyed',
    repeat: 'always',
    meaning: 'Too many requests a second with this API key, or another limit that the text names.',
    remedy: 'Wait for Retry-After, and send fewer requests at once.',
    details: 'Too many bad keys from one address count as well.',
    example: 'more than 20 requests a second with this API key',
  },
  quota_exceeded: {
    status: 429,
    fault: 'client',
    retry: 'retry_after',
    inJobs: 'stop',
    fixedAt: 'plan',
    meaning: 'The actions of this month are used up.',
    remedy: 'Wait for the next month (UTC), or choose another plan.',
    example: 'the 1000 actions of this month are used up',
  },
  share_exceeded: {
    status: 429,
    fault: 'client',
    retry: 'retry_after',
    endpoints: 'keyed',
    inJobs: 'retry',
    meaning: 'The account has its fair share of what all accounts use together.',
    remedy: 'Send fewer requests at once, or try again after Retry-After.',
    details:
      'It is a share of the memory, requests, sessions or look-ups of the gateway ([`budgets`](../operate/tune.md#fair-shares)).',
    example: "this account has its share of the gateway's 2048 requests (budgets.requests)",
  },
  /** tus has its own status for it. */
  checksum_mismatch: {
    status: 460,
    fault: 'client',
    retry: 'yes',
    repeat: 'idempotent',
    meaning: 'The body does not match its Upload-Checksum; none of it was kept.',
    remedy: 'Send it again.',
    example: 'the body does not match its Upload-Checksum (sha1)',
  },
  /** nginx also logs this status; the client is gone, so it gets no answer. */
  client_gone: {
    status: 499,
    fault: 'client',
    retry: 'yes',
    endsSession: true,
    meaning: 'The client disconnected before the end.',
    remedy: 'Check the timeout of the client, then send the request again.',
    details: 'Only the log and the history show it.',
  },
  internal: {
    status: 500,
    fault: 'gateway',
    retry: 'later',
    endpoints: 'all',
    endsSession: true,
    meaning: 'The gateway hit a bug, or stopped during this operation.',
    remedy: 'Try again. The log has the details under the request id.',
    example: 'internal error; the request id in X-Request-Id finds it in the log',
  },
  resume_unsupported: {
    status: 501,
    fault: 'remote',
    retry: 'no',
    meaning: 'The remote server cannot continue a file that was begun, or the connection writes in place.',
    remedy: 'Use a plain upload.',
    example: 'this connection takes no resumable uploads: the FTP server refuses REST and APPE',
  },
  dns_failed: {
    status: 502,
    fault: 'remote',
    retry: 'later',
    endpoints: 'remote',
    endsSession: true,
    isUnreached: true,
    inJobs: 'retry',
    fixedAt: 'connection',
    meaning: 'The host name of the remote server cannot be resolved.',
    remedy: 'Check the host of the connection.',
    example: 'sftp.example.com cannot be resolved',
  },
  unreachable: {
    status: 502,
    fault: 'remote',
    retry: 'later',
    endpoints: 'remote',
    endsSession: true,
    isUnreached: true,
    repeat: 'idempotent',
    inJobs: 'retry',
    fixedAt: 'connection',
    meaning: 'The remote server refuses the connection, or there is no route to it.',
    remedy: 'Check host and port, and whether a firewall is in the way. Test the connection.',
    example: 'sftp.example.com:22 refused',
  },
  login_refused: {
    status: 502,
    fault: 'remote',
    retry: 'no',
    endpoints: 'remote',
    endsSession: true,
    isUnreached: true,
    inJobs: 'stop',
    fixedAt: 'connection',
    meaning: 'The remote server refuses the user, the password or the key of the connection.',
    remedy: 'Correct the login of the connection, then test it.',
    example: 'the server refused the login (remote said: 530 Login incorrect)',
  },
  host_key_mismatch: {
    status: 502,
    fault: 'remote',
    retry: 'no',
    endpoints: 'remote',
    endsSession: true,
    isUnreached: true,
    inJobs: 'stop',
    fixedAt: 'connection',
    meaning: 'The SFTP server has a different host key than the pinned one.',
    remedy: 'Find out why, then pin the new key at the connection.',
    details: 'The text says if the server had announced and proven the new key before.',
    example: 'the server of connection warehouse shows host key SHA256:new, but SHA256:old is pinned (hostKey)',
  },
  certificate_rejected: {
    status: 502,
    fault: 'remote',
    retry: 'no',
    endpoints: 'remote',
    endsSession: true,
    isUnreached: true,
    inJobs: 'stop',
    fixedAt: 'connection',
    meaning: 'The TLS certificate of the remote server is not trusted, has expired or is for another name.',
    remedy: 'Have it renewed, or give the connection its certificate authority (tlsCa).',
    example: 'the certificate of ftp.example.com:21 is not trusted',
  },
  connection_lost: {
    status: 502,
    fault: 'remote',
    retry: 'yes',
    endpoints: 'remote',
    endsSession: true,
    isTriedAgain: true,
    repeat: 'idempotent',
    inJobs: 'retry',
    meaning: 'The remote server cut the connection. Nothing of an upload is visible.',
    remedy: 'Try again.',
    example: 'the remote server cut the connection',
  },
  protocol_error: {
    status: 502,
    fault: 'remote',
    retry: 'later',
    endpoints: 'remote',
    endsSession: true,
    isTriedAgain: true,
    inJobs: 'retry',
    fixedAt: 'connection',
    meaning: 'The remote server sent an answer that its protocol does not allow.',
    remedy: 'Test the connection. The text of the error helps the operator of the server.',
    example: 'the server broke the protocol',
  },
  remote_failure: {
    status: 502,
    fault: 'remote',
    retry: 'later',
    endpoints: 'remote',
    inJobs: 'retry',
    meaning: 'The remote server refused for a reason of its own, which the text quotes.',
    remedy: 'Try again later, or ask the operator of the server.',
    example: 'the server could not do it (remote said: 4 Failure)',
  },
  no_space: {
    status: 502,
    fault: 'remote',
    retry: 'later',
    meaning: 'The remote server has no space left, or its quota is used up.',
    remedy: 'Make room there, then try again.',
    example: 'no space is left on the server',
  },
  size_mismatch: {
    status: 502,
    fault: 'remote',
    retry: 'yes',
    inJobs: 'retry',
    meaning:
      'The remote server stored another number of bytes than were sent, or sent another number than the file is long; nothing was replaced.',
    remedy: 'Try again.',
    details: 'Some files have [another size](download.md#files-with-a-wrong-size) than their server reports.',
    example: 'the server holds 41 bytes, but 42 were sent',
  },
  readback_mismatch: {
    status: 502,
    fault: 'remote',
    retry: 'yes',
    inJobs: 'retry',
    meaning:
      'The stored file, read back, differs from what was sent; nothing was replaced, unless the connection writes in place.',
    remedy: 'Try again. If it happens again, have the disk of the server checked.',
    details: 'With `atomicUploads: false` the damaged file was removed. A resumable upload is over.',
    example: 'what the server has stored is not what it was sent',
  },
  copy_unverified: {
    status: 502,
    fault: 'remote',
    retry: 'no',
    meaning:
      'A file was copied to be removed, but its copy could not be checked. It was probably delivered. The original was kept.',
    remedy:
      'Look for the copy at its receiver. If it arrived, delete the original yourself; another try delivers it once more.',
    example: 'the copy of /out/a.csv was delivered, but was gone when it was looked for; /out/a.csv was kept',
  },
  fetch_failed: {
    status: 502,
    fault: 'remote',
    retry: 'later',
    meaning: 'The URL of an upload answered anything but 2xx, or its answer was cut.',
    remedy: 'Open the URL yourself. It may have expired.',
    example: 'the url answered 404',
  },
  /** The pool learns from it: 421, 530 "too many", SSH open failure. Clients get `pool_full`. */
  too_many_sessions: {
    status: 503,
    fault: 'remote',
    retry: 'retry_after',
    endsSession: true,
    inJobs: 'retry',
    fixedAt: 'connection',
    meaning: 'The remote server accepts no more sessions.',
    remedy: 'Try again later, or lower the maximum sessions of the connection.',
  },
  pool_full: {
    status: 503,
    fault: 'gateway',
    retry: 'retry_after',
    endpoints: 'remote',
    repeat: 'always',
    inJobs: 'retry',
    fixedAt: 'connection',
    meaning: 'Too many requests are waiting for a session on this server.',
    remedy: 'Send fewer at once, raise the maximum sessions of the connection, or try again after Retry-After.',
    details: 'The limit is `maxWaiting`.',
    example: 'too many requests wait for a session to sftp.example.com:22',
  },
  acquire_timeout: {
    status: 503,
    fault: 'gateway',
    retry: 'retry_after',
    endpoints: 'remote',
    repeat: 'always',
    inJobs: 'retry',
    fixedAt: 'connection',
    meaning: 'No session on this server became free in time.',
    remedy: 'Send fewer at once, raise the maximum sessions of the connection, or try again after Retry-After.',
    details: 'The time is `acquireTimeoutMs`.',
    example: 'no session to sftp.example.com:22 became free within 15000 ms',
  },
  outside_hours: {
    status: 503,
    fault: 'gateway',
    retry: 'retry_after',
    endpoints: 'remote',
    inJobs: 'again',
    fixedAt: 'connection',
    meaning: 'The connection has hours, and it is outside of them. Nothing was begun.',
    remedy: 'Try again after Retry-After, when its hours begin, or begin a job: it waits for them.',
    details: 'See [`hours`](../operate/limits-and-hours.md#hours).',
    example: 'connection warehouse may be used Mo-Fr 20:00-06:00 Europe/Berlin, next from 2027-01-04T19:00:00.000Z on',
  },
  too_slow: {
    status: 503,
    fault: 'client',
    retry: 'retry_after',
    endpoints: 'remote',
    endsSession: true,
    repeat: 'idempotent',
    inJobs: 'retry',
    meaning:
      'The client moved too few bytes while others waited for a session of this server, or too few for a link; nothing of an upload is visible, and a resumable one keeps its bytes.',
    remedy: 'Try again after Retry-After, on a faster line or with a resumable upload.',
    details: 'The bounds are [`pools.giveWay`](../operate/tune.md#slow-clients) and `links.minBytesPerSecond`.',
    example:
      'others wait for a session on sftp.example.com:22, and this transfer moved fewer than 16384 bytes a second for 10000 ms (pools.giveWay)',
  },
  overloaded: {
    status: 503,
    fault: 'gateway',
    retry: 'retry_after',
    endpoints: 'keyed',
    repeat: 'always',
    inJobs: 'retry',
    meaning: 'The gateway is at its limits.',
    remedy: 'Try again after Retry-After.',
    details:
      'All accounts together use up its memory, requests, sessions or look-ups (`budgets`), or it has no file descriptor left.',
    example: 'all 2048 requests of this gateway are in use (budgets.requests)',
  },
  draining: {
    status: 503,
    fault: 'gateway',
    retry: 'retry_after',
    endpoints: 'remote',
    repeat: 'idempotent',
    inJobs: 'again',
    meaning: 'The gateway is stopping.',
    remedy: 'Try again after Retry-After: another node answers, or this one when it is back.',
    example: 'the gateway is stopping',
  },
  database_away: {
    status: 503,
    fault: 'gateway',
    retry: 'retry_after',
    endpoints: 'keyed',
    repeat: 'idempotent',
    inJobs: 'again',
    meaning: 'The gateway cannot reach its database, or the database takes no writes. Nothing was begun.',
    remedy: 'Try again after Retry-After. If it lasts, inform the operator of the gateway.',
    example: 'the database cannot be reached',
  },
  /** A retry could do it twice. */
  outcome_unrecorded: {
    status: 503,
    fault: 'gateway',
    retry: 'no',
    endpoints: 'remote',
    inJobs: 'again',
    meaning:
      'The operation was performed on the remote server, but its history item could not be written: the database takes no writes.',
    remedy:
      'Check the remote server before you repeat it; there is no Retry-After. Inform the operator of the gateway.',
    details: 'A repeated append would be there twice.',
    example:
      'the operation was performed, but could not be recorded: the database of the gateway is not reachable or takes no writes; look at the remote before you repeat it',
  },
  connect_timeout: {
    status: 504,
    fault: 'remote',
    retry: 'later',
    endpoints: 'remote',
    endsSession: true,
    isUnreached: true,
    repeat: 'idempotent',
    inJobs: 'retry',
    fixedAt: 'connection',
    meaning: 'The remote server did not answer in time.',
    remedy: 'Check host and port, and whether a firewall is in the way. Test the connection.',
    details: 'The time is `connectTimeoutMs`.',
    example: 'sftp.example.com:22 did not answer within 10000 ms',
  },
  stall_timeout: {
    status: 504,
    fault: 'remote',
    retry: 'later',
    endpoints: 'remote',
    endsSession: true,
    repeat: 'idempotent',
    inJobs: 'retry',
    meaning: 'No byte moved for too long.',
    remedy: 'Try again. If it happens often, check the network and the server.',
    details: 'The time is `stallTimeoutMs`.',
    example: 'no byte moved for 30000 ms',
  },
  command_timeout: {
    status: 504,
    fault: 'remote',
    retry: 'no',
    endsSession: true,
    inJobs: 'retry',
    fixedAt: 'connection',
    meaning: 'The command, or the check of a watched folder, ran too long and was ended.',
    remedy: 'Give it a longer time limit. If it happens often, ask the operator of the server.',
    details: 'The limits are `timeout` of exec and `watcher.checkTimeoutMs`.',
    example: 'the command ran over 30000 ms',
  },
} as const satisfies Readonly<Record<string, ErrorDefinition>>;

export type ErrorCode = keyof typeof catalogue;

/** The codes of answers. */
export type AnsweredErrorCode = {
  [C in ErrorCode]: (typeof catalogue)[C] extends { readonly example: string } ? C : never;
}[ErrorCode];

/** In the order of every list. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorDefinition>> = catalogue;

export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

/** The codes whose definitions match, in the order of the catalogue. */
export function errorCodes(fits: (definition: ErrorDefinition) => boolean): readonly ErrorCode[] {
  return ERROR_CODES.filter((code) => fits(ERRORS[code]));
}

/** The definition of a received or stored code: a newer gateway may have codes that this program does not know. */
export function definitionOfError(code: string): ErrorDefinition | undefined {
  return Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : undefined;
}

/** Codes of the clients themselves: no answer of a gateway has them. */
export const CLIENT_ERRORS = {
  network_error: {
    meaning: 'No whole answer came from the gateway.',
    remedy: 'Check that it runs, and its address. Then try again.',
  },
  invalid_answer: { meaning: 'The answer is not from a gateway.', remedy: 'Check the address of the gateway.' },
  invalid_body: { meaning: 'The content could not be read.', remedy: 'Check what you send.' },
  file_changed: { meaning: 'The file changed meanwhile.', remedy: 'Read it again from the beginning.' },
} as const satisfies Readonly<Record<string, ErrorTexts>>;

/** The texts of a code of the gateway or of a client. */
export function textsOfError(code: string): ErrorTexts | undefined {
  return definitionOfError(code) ?? Object.entries<ErrorTexts>(CLIENT_ERRORS).find(([own]) => own === code)?.[1];
}

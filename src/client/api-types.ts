/* Made from the OpenAPI document by "npm run generate". */
export interface components {
  schemas: {
    readonly AccountInfo: {
      /** @description The account. */
      readonly email: string;
      /** @description Name of the plan. */
      readonly plan: string;
      /** @description How many connections the account has. */
      readonly connections: number;
      /** @description How many transfers the history holds. */
      readonly transfers: number;
      /** @description What the key may do. */
      readonly scopes: readonly ('read' | 'write' | 'exec' | 'watch' | 'admin')[];
    };
    readonly AppendAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description The transfer, as the history holds it. */
      readonly transfer: components['schemas']['AppendTransfer'];
    };
    readonly AppendTransfer: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Name of the file, without a folder. */
      readonly filename: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Bytes that were added. */
      readonly appendedBytes: number;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
      /** @description The connection that the file went to. */
      readonly connection: components['schemas']['ConnectionSummary'];
    };
    readonly AttentionClearedEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'attention.cleared';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What needs attention. */
      readonly data: {
        /**
         * @description What it is about.
         * @enum {string}
         */
        readonly kind:
          | 'connection_failing'
          | 'watched_folder_failing'
          | 'schedule_stopped'
          | 'schedule_late'
          | 'copies_failed'
          | 'dead_letters'
          | 'quota'
          | 'certificate_expiring'
          | 'key_expiring'
          | 'host_keys_waiting';
        /** @description In words. */
        readonly text: string;
        /**
         * Format: date-time
         * @description When it was found first.
         */
        readonly since: string;
        /** @description The connection, where it is about one. */
        readonly connectionId?: string;
        /** @description The watched folder, where it is about one. */
        readonly watchedFolderId?: string;
        /** @description The schedule, where it is about one. */
        readonly scheduleId?: string;
        /** @description The API key, where it is about one. */
        readonly apiKeyId?: string;
        /**
         * Format: date-time
         * @description When it was found to be over.
         */
        readonly endedAt: string;
      };
    };
    readonly AttentionRaisedEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'attention.raised';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What needs attention. */
      readonly data: {
        /**
         * @description What it is about.
         * @enum {string}
         */
        readonly kind:
          | 'connection_failing'
          | 'watched_folder_failing'
          | 'schedule_stopped'
          | 'schedule_late'
          | 'copies_failed'
          | 'dead_letters'
          | 'quota'
          | 'certificate_expiring'
          | 'key_expiring'
          | 'host_keys_waiting';
        /** @description In words. */
        readonly text: string;
        /**
         * Format: date-time
         * @description When it was found first.
         */
        readonly since: string;
        /** @description The connection, where it is about one. */
        readonly connectionId?: string;
        /** @description The watched folder, where it is about one. */
        readonly watchedFolderId?: string;
        /** @description The schedule, where it is about one. */
        readonly scheduleId?: string;
        /** @description The API key, where it is about one. */
        readonly apiKeyId?: string;
      };
    };
    readonly Connection: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Shown to people. */
      readonly name: string;
      /**
       * @description Protocol.
       * @enum {string}
       */
      readonly type: 'sftp' | 'ftp' | 's3';
      /** @description Whether it is switched on. */
      readonly isActive: boolean;
    };
    readonly ConnectionDownEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'connection.down';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What the event is about. */
      readonly data: {
        /** @description The connection. */
        readonly connection: components['schemas']['ConnectionSummary'];
        /**
         * Format: date-time
         * @description When it was found so first.
         */
        readonly since: string;
        /** @description What operations met last. */
        readonly error: string;
        /** @description The code of that. */
        readonly errorCode: string;
      };
    };
    readonly ConnectionSummary: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Shown to people. */
      readonly name: string;
      /**
       * @description Protocol.
       * @enum {string}
       */
      readonly type: 'sftp' | 'ftp' | 's3';
    };
    readonly ConnectionUpEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'connection.up';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What the event is about. */
      readonly data: {
        /** @description The connection. */
        readonly connection: components['schemas']['ConnectionSummary'];
        /**
         * Format: date-time
         * @description Since when it was down.
         */
        readonly since: string;
        /** @description For how long. */
        readonly downSeconds: number;
      };
    };
    readonly ConnectionsAnswer: {
      /** @description The connections that the API key may use. */
      readonly connections: readonly components['schemas']['Connection'][];
    };
    readonly ContentRequest: {
      /** @description Path on the remote server, absolute or from the default path of the connection. */
      readonly path: string;
      /**
       * @description How `content` is written.
       * @default text
       * @enum {string}
       */
      readonly encoding?: 'text' | 'base64';
      /** @description Text, or base64 where `encoding` is `base64`. */
      readonly content: string;
    };
    readonly CopyAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Where it was read from. */
      readonly source: {
        /** @description Connection that the file was read from. */
        readonly connectionId: string;
        /** @description Path from the root of the connection. */
        readonly path: string;
      };
      /** @description Where the copy is. */
      readonly destination: {
        /** @description Connection that holds the copy. */
        readonly connectionId: string;
        /** @description Path from the root of the connection. */
        readonly path: string;
      };
      /** @description Bytes. */
      readonly fileSize: number;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
      /**
       * Format: date-time
       * @description Where `mtime` was asked for: what the file is dated now, which is another time where the server keeps none.
       */
      readonly modifiedAt?: string;
      /**
       * @description A digest was wanted, and none was computed: the store made the copy by itself.
       * @enum {string}
       */
      readonly noDigest?: 'server_side_copy';
    };
    readonly CopyRequest: {
      /** @description Connection that the file is read from. */
      readonly source_connection_id: string;
      /** @description Path of the file there. */
      readonly source_path: string;
      /** @description The `rawName` of that file, where it has one. Needs `dest_path`. */
      readonly source_raw_name?: string;
      /** @description Connection that the file is copied to. */
      readonly dest_connection_id: string;
      /** @description Path of the copy; `source_path` when absent. */
      readonly dest_path?: string;
      /** @description Renames the file. Tokens, in UTC: `{filename}` `{name}` `{ext}` `{date}` `{time}` `{datetime}` `{timestamp}` `{year}` `{month}` `{day}` `{uuid}`. */
      readonly filename_template?: string;
      /**
       * @description Whether a file of this name may be replaced. Without, it is 409 with `skipped: true`.
       * @default true
       */
      readonly overwrite?: boolean;
      /** @description Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata. Without, the copy keeps the time of the source. */
      readonly mtime?: string;
    };
    readonly CopyTo: {
      /** @description Id of the connection that takes the copies. */
      readonly connectionId: string;
      /** @description Folder for the copies, absolute or from the default path of the connection; made where it is missing. */
      readonly path: string;
      /** @description Renames the copies; tokens as for uploads. Times are those of the detection, and `{uuid}` stays the same for all tries of a copy. */
      readonly filename_template?: string;
      /**
       * @description What becomes of a file that stands where a copy is to go; `replace` when absent.
       * @enum {string}
       */
      readonly onConflict?: 'replace' | 'skip' | 'newer' | 'rename' | 'fail';
    };
    readonly CreatedLink: {
      /** @description Identifier. */
      readonly id: string;
      /**
       * @description `upload` takes files into one folder, `download` gives one file.
       * @enum {string}
       */
      readonly operation: 'upload' | 'download';
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Of an upload: what the file is called, whatever its sender says. Of a download: what it is saved as. */
      readonly filename: string | null;
      /** @description Of an upload: whether a file of this name may be replaced. Without, it is 409. */
      readonly overwrite: boolean;
      /** @description SHA-256 that the file must have: `sha-256:` and 64 hexadecimal digits. */
      readonly digest: string | null;
      /** @description The most bytes of one file. Null = as many as any upload. */
      readonly maxBytes: number | null;
      /** @description How often it may be used; a use that fails does not count. Null = as often as anybody likes. */
      readonly maxUses: number | null;
      /** @description Uses that have succeeded. */
      readonly uses: number;
      /**
       * @description `active`; `used_up`; `expired`; `revoked`; `key_ended`: the API key that made it was revoked, has expired, or may no longer do what the link does.
       * @enum {string}
       */
      readonly state: 'active' | 'used_up' | 'expired' | 'revoked' | 'key_ended';
      /** @description The API key that made it, and with which it ends; null = the owner of the account did. */
      readonly keyId: string | null;
      /**
       * Format: date-time
       * @description When it ends by itself.
       */
      readonly expiresAt: string;
      /**
       * Format: date-time
       * @description When it was revoked.
       */
      readonly revokedAt: string | null;
      /**
       * Format: date-time
       * @description The last use that has succeeded.
       */
      readonly lastUsedAt: string | null;
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
      /** @description What its users need, and all they need; shown this once. */
      readonly url: string;
    };
    readonly CreatedLinkAnswer: {
      /** @description The link. */
      readonly link: components['schemas']['CreatedLink'];
    };
    readonly CreatedWatchedFolder: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /** @description Shown in the dashboard. */
      readonly name: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description A glob on the file name, or on the path below the folder where it holds `/` or `**`. */
      readonly filePattern: string | null;
      /** @description Minutes between two checks. */
      readonly scheduleMinutes: number;
      /** @description URL that receives a POST when files are found. */
      readonly webhookUrl: string | null;
      /** @description How it was created. */
      readonly source: string;
      /** @description Also report files whose size or date changed. */
      readonly detectModified: boolean;
      /** @description Whether it is switched on. */
      readonly isActive: boolean;
      /**
       * Format: date-time
       * @description When it was created.
       */
      readonly createdAt: string;
      /** @description A glob of files that are not reported. */
      readonly excludePattern?: string;
      /** @description Name of a marker file: a file is reported only once its marker is there too. */
      readonly doneFile?: string;
      /**
       * @description Whether the files of the first check are reported, or are the baseline.
       * @enum {string}
       */
      readonly initial?: 'ignore' | 'report';
      /** @description Whether sub-folders are watched too. */
      readonly recursive?: boolean;
      /** @description Files younger than this are not reported yet. */
      readonly minAgeSeconds?: number;
      /**
       * @description What happens to a file once its event was delivered; `move` and `delete` need the scope `write`.
       * @enum {string}
       */
      readonly afterDelivery?: 'keep' | 'move' | 'delete';
      /** @description Folder for `afterDelivery: move`. */
      readonly moveTo?: string | null;
      /** @description Raise an alarm when no file came for this long. */
      readonly expectEveryMinutes?: number;
      /** @description Where its files are copied before their event is sent. */
      readonly copyTo?: components['schemas']['CopyTo'];
      /** @description Signs its webhooks (Standard Webhooks); shown this once. */
      readonly webhookSecret: string;
    };
    readonly CreatedWebhook: {
      /** @description The webhook. */
      readonly webhook: components['schemas']['Webhook'];
      /** @description Signs its events (Standard Webhooks); shown this once. */
      readonly secret: string;
    };
    readonly DeleteAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description With `recursive`: files, links and folders that were deleted; on S3 objects. */
      readonly deleted?: number;
    };
    readonly DeleteRequest: {
      /** @description Path on the remote server, absolute or from the default path of the connection. */
      readonly path: string;
      /** @description The exact bytes of a name that is not UTF-8, as base64, and of the names below it, with a slash between them; in a request, beside the path that ends with them. Not on S3. */
      readonly rawName?: string;
      /**
       * @description Whether a folder goes with all below it.
       * @default false
       */
      readonly recursive?: boolean;
    };
    readonly DownloadAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Name of the file, without a folder. */
      readonly filename: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Bytes. */
      readonly size: number;
      /**
       * @description How `content` is written.
       * @constant
       */
      readonly encoding: 'base64';
      /** @description The file, as base64. */
      readonly content: string;
    };
    readonly ErrorAnswer: {
      /** @description What went wrong, at which step, field or path, and what would be right. */
      readonly error: string;
    };
    readonly ErrorCode:
      | 'bad_request'
      | 'bad_path'
      | 'bad_base64'
      | 'digest_mismatch'
      | 'unsupported_operation'
      | 'unauthenticated'
      | 'forbidden'
      | 'scope_missing'
      | 'plan_required'
      | 'connection_inactive'
      | 'permission_denied'
      | 'address_denied'
      | 'unknown_route'
      | 'unknown_connection'
      | 'unknown_watched_folder'
      | 'unknown_item'
      | 'unknown_upload'
      | 'not_found'
      | 'method_not_allowed'
      | 'already_exists'
      | 'is_a_folder'
      | 'not_a_folder'
      | 'not_empty'
      | 'offset_mismatch'
      | 'idempotency_in_progress'
      | 'outcome_unknown'
      | 'sessions_exhausted'
      | 'in_use'
      | 'not_running'
      | 'cancelled'
      | 'gone'
      | 'unsupported_version'
      | 'too_large'
      | 'unsupported_media_type'
      | 'bad_range'
      | 'idempotency_mismatch'
      | 'upload_locked'
      | 'rate_limited'
      | 'quota_exceeded'
      | 'share_exceeded'
      | 'checksum_mismatch'
      | 'internal'
      | 'resume_unsupported'
      | 'dns_failed'
      | 'unreachable'
      | 'login_refused'
      | 'host_key_mismatch'
      | 'certificate_rejected'
      | 'connection_lost'
      | 'protocol_error'
      | 'remote_failure'
      | 'no_space'
      | 'size_mismatch'
      | 'readback_mismatch'
      | 'fetch_failed'
      | 'pool_full'
      | 'acquire_timeout'
      | 'too_slow'
      | 'overloaded'
      | 'draining'
      | 'database_away'
      | 'outcome_unrecorded'
      | 'connect_timeout'
      | 'stall_timeout'
      | 'command_timeout';
    readonly EventsAnswer: {
      /** @description In order, without holes. */
      readonly events: readonly components['schemas']['FeedEvent'][];
      /** @description The `after` of the next page. */
      readonly nextAfter: number;
      /** @description `sequence` of the last event that there is; 0 = none. */
      readonly last: number;
    };
    readonly ExecAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Of the command; 128 plus its number after a signal. */
      readonly exitCode: number;
      /** @description Output of the command. */
      readonly stdout: string;
      /** @description Error output of the command. */
      readonly stderr: string;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
    };
    readonly ExecRequest: {
      /** @description Run by the login shell of the remote server. */
      readonly command: string;
      /**
       * @description Milliseconds until the command is killed.
       * @default 30000
       */
      readonly timeout?: number;
    };
    readonly ExistsAnswer: {
      /** @description Whether a file or folder is there. */
      readonly exists: boolean;
      /** @description What is there; null when nothing is. */
      readonly file: components['schemas']['FileInfo'] | null;
    };
    readonly FailedTransfer: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /**
       * @description Kind of transfer.
       * @enum {string}
       */
      readonly type:
        | 'upload'
        | 'download'
        | 'read'
        | 'write'
        | 'append'
        | 'delete'
        | 'move'
        | 'mkdir'
        | 'list'
        | 'exists'
        | 'copy'
        | 'exec'
        | 'poll';
      /**
       * @description `outbound` changes the remote server, `inbound` reads from it.
       * @enum {string}
       */
      readonly direction: 'outbound' | 'inbound';
      /** @description Name of the file, without a folder. */
      readonly filename: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Bytes. */
      readonly fileSize: number;
      /**
       * @description State of the transfer.
       * @enum {string}
       */
      readonly status: 'success' | 'failed' | 'pending';
      /** @description What went wrong, of a failed transfer. */
      readonly errorMessage: string | null;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
      /**
       * Format: date-time
       * @description When it began.
       */
      readonly createdAt: string;
      /** @description The code of the error, as `X-Error-Code` carried it. */
      readonly errorCode: string | null;
      /** @description Of the request that asked for it; of a job its identifier. */
      readonly requestId: string | null;
      /** @description The job that it is of. */
      readonly jobId: string | null;
    };
    readonly FeedEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence: number;
      /** @description Identifier; the `webhook-id` of its deliveries. */
      readonly id: string;
      /** @description `id` of the event before it; null of the first. */
      readonly previousId: string | null;
      /** @description Kind of event, as the webhooks of this document have them. */
      readonly type: string;
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What it is about, as the webhook of this type says. */
      readonly data: {
        readonly [key: string]: unknown;
      };
    };
    readonly FileInfo: {
      /** @description Name of the file or folder. */
      readonly name: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Bytes. */
      readonly size: number;
      /** @description Whether it is a folder. */
      readonly isDirectory: boolean;
      /**
       * Format: date-time
       * @description Time of the last change, UTC.
       */
      readonly modifiedAt: string;
      /** @description The exact bytes of a name that is not UTF-8, as base64, and of the names below it, with a slash between them; in a request, beside the path that ends with them. Not on S3. */
      readonly rawName?: string;
    };
    readonly FilesDetectedEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'watched_folder.files_detected';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What the event is about. */
      readonly data: {
        /** @description The folder that was checked. */
        readonly watchedFolder: {
          /** @description Id of the watched folder. */
          readonly id: string;
          /** @description Name of the watched folder, as the dashboard shows it. */
          readonly name: string;
          /** @description Path from the root of the connection. */
          readonly path: string;
          /** @description Id of its connection. */
          readonly connectionId: string;
        };
        /** @description The connection of the watched folder. */
        readonly connection: components['schemas']['ConnectionSummary'];
        /** @description The files that were found; none in an event that only tries the webhook out. */
        readonly files: readonly {
          /** @description Name of the file. */
          readonly name: string;
          /** @description Path from the root of the connection. */
          readonly path: string;
          /** @description Bytes. */
          readonly size: number;
          /** @description Always false. */
          readonly isDirectory: boolean;
          /**
           * Format: date-time
           * @description Time of the last change, UTC.
           */
          readonly modifiedAt: string;
          /** @description The exact bytes of a name that is not UTF-8, as base64. */
          readonly rawName?: string;
          /**
           * @description `new`, or `modified` where its size or date changed.
           * @enum {string}
           */
          readonly event: 'new' | 'modified';
          /** @description Of a folder with `copyTo`: where the copy of the file is. A file without one stays where it is, whatever `afterDelivery` says. */
          readonly copy?: {
            /** @description Id of the connection of the copy. */
            readonly connectionId: string;
            /** @description Where the copy is; with `skipped`, what stands there instead. */
            readonly path?: string;
            /** @description Bytes of the copy. */
            readonly size?: number;
            /** @description True where `onConflict` left alone what stands there. */
            readonly skipped?: boolean;
            /** @description Why there is no copy. */
            readonly error?: string;
          };
        }[];
      };
    };
    readonly FilesMissingEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'watched_folder.files_missing';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What the event is about. */
      readonly data: {
        /** @description The folder that was checked. */
        readonly watchedFolder: {
          /** @description Id of the watched folder. */
          readonly id: string;
          /** @description Name of the watched folder, as the dashboard shows it. */
          readonly name: string;
          /** @description Path from the root of the connection. */
          readonly path: string;
          /** @description Id of its connection. */
          readonly connectionId: string;
        };
        /** @description The connection of the watched folder. */
        readonly connection: components['schemas']['ConnectionSummary'];
        /** @description How often a file is expected. */
        readonly expectEveryMinutes: number;
        /**
         * Format: date-time
         * @description When a file was last reported; null = never.
         */
        readonly lastDetectionAt: string | null;
      };
    };
    readonly FolderLateEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'watched_folder.late';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What the event is about. */
      readonly data: {
        /** @description The folder that was checked. */
        readonly watchedFolder: {
          /** @description Id of the watched folder. */
          readonly id: string;
          /** @description Name of the watched folder, as the dashboard shows it. */
          readonly name: string;
          /** @description Path from the root of the connection. */
          readonly path: string;
          /** @description Id of its connection. */
          readonly connectionId: string;
        };
        /** @description The connection of the watched folder. */
        readonly connection: components['schemas']['ConnectionSummary'];
        /** @description How often a file is expected. */
        readonly expectEveryMinutes: number;
        /**
         * Format: date-time
         * @description When a file was last reported; null = never.
         */
        readonly lastDetectionAt: string | null;
      };
    };
    readonly Job: {
      /** @description Identifier. */
      readonly id: string;
      /**
       * @description What is done; `upload` is a URL upload with `Prefer: respond-async`.
       * @enum {string}
       */
      readonly type: 'copy' | 'move' | 'delete' | 'sync' | 'upload';
      /** @description As it was given. */
      readonly name: string | null;
      /**
       * @description `queued` waits for others of the account; the last four have ended.
       * @enum {string}
       */
      readonly state: 'queued' | 'running' | 'paused' | 'succeeded' | 'partly_failed' | 'failed' | 'cancelled';
      /** @description null of an upload: its URL is not shown. */
      readonly source: {
        /** @description Id of a connection. */
        readonly connectionId: string;
        /** @description Path of the folder from the root of the connection. */
        readonly path: string;
      } | null;
      /** @description null of a deletion. */
      readonly destination: {
        /** @description Id of a connection. */
        readonly connectionId: string;
        /** @description Path of the folder from the root of the connection. */
        readonly path: string;
      } | null;
      /** @description Exact at any moment; of a dry run what would be. */
      readonly counts: {
        /** @description Files of the source, as far as it has been listed. */
        readonly found: number;
        /** @description Files that were copied or moved. */
        readonly done: number;
        /** @description Files that were left as they are: unchanged, or in the way. */
        readonly skipped: number;
        /** @description Files that failed. */
        readonly failed: number;
        /** @description Files that were deleted. */
        readonly deleted: number;
        /** @description Bytes of the files that are done, and of those under way as far as they are. */
        readonly bytes: number;
        /** @description Bytes of the files that are, or were, to be transferred. */
        readonly bytesTotal: number;
      };
      /** @description While it runs, of the last ten to twenty seconds; else of all the time that it has run. */
      readonly bytesPerSecond: number;
      /** @description Until its end at this speed; null where nobody can tell. */
      readonly etaSeconds: number | null;
      /** @description What ended all of it. */
      readonly error: string | null;
      /** @description The code of that, as `X-Error-Code` would carry it. */
      readonly errorCode: string | null;
      /**
       * Format: date-time
       * @description When it was asked for.
       */
      readonly createdAt: string;
      /**
       * Format: date-time
       * @description When it began.
       */
      readonly startedAt: string | null;
      /**
       * Format: date-time
       * @description When it ended.
       */
      readonly finishedAt: string | null;
      /** @description The schedule that began it; null once that is deleted. */
      readonly scheduleId: string | null;
    };
    readonly JobAnswer: {
      /** @description The job, as it is now. */
      readonly job: components['schemas']['Job'];
    };
    /** @description The folder that takes the files. Not of a `delete`. */
    readonly JobDestination: {
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /** @description Path on the remote server, absolute or from the default path of the connection. */
      readonly path?: string;
    };
    readonly JobFile: {
      /** @description Below the source folder; below the destination where only that has it. */
      readonly path: string;
      /**
       * @description `planned` is what a dry run would do.
       * @enum {string}
       */
      readonly state: 'waiting' | 'planned' | 'done' | 'skipped' | 'failed';
      /**
       * @description What is done with it; `list` is a folder that could not be listed.
       * @enum {string}
       */
      readonly action: 'copy' | 'move' | 'delete' | 'list' | 'upload';
      /** @description Bytes, as they were listed. */
      readonly size: number;
      /** @description What went wrong, or why it was left alone. */
      readonly error: string | null;
      /** @description The code of what went wrong, as `X-Error-Code` would carry it. */
      readonly errorCode: string | null;
    };
    readonly JobFilesAnswer: {
      /** @description In the order in which they were found. */
      readonly files: readonly components['schemas']['JobFile'][];
      /** @description Where the next page begins; null at the end. */
      readonly nextCursor: string | null;
    };
    readonly JobFinishedEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'job.finished';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What the event is about. */
      readonly data: {
        /** @description The job, as it ended. */
        readonly job: components['schemas']['Job'];
      };
    };
    /** @description The folder, or the one file; the default path of the connection when absent. */
    readonly JobSource: {
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /** @description Path on the remote server, absolute or from the default path of the connection. */
      readonly path?: string;
    };
    readonly JobsAnswer: {
      /** @description Newest first. */
      readonly jobs: readonly components['schemas']['Job'][];
      /** @description Where the next page begins; null at the end. */
      readonly nextCursor: string | null;
    };
    readonly Link: {
      /** @description Identifier. */
      readonly id: string;
      /**
       * @description `upload` takes files into one folder, `download` gives one file.
       * @enum {string}
       */
      readonly operation: 'upload' | 'download';
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Of an upload: what the file is called, whatever its sender says. Of a download: what it is saved as. */
      readonly filename: string | null;
      /** @description Of an upload: whether a file of this name may be replaced. Without, it is 409. */
      readonly overwrite: boolean;
      /** @description SHA-256 that the file must have: `sha-256:` and 64 hexadecimal digits. */
      readonly digest: string | null;
      /** @description The most bytes of one file. Null = as many as any upload. */
      readonly maxBytes: number | null;
      /** @description How often it may be used; a use that fails does not count. Null = as often as anybody likes. */
      readonly maxUses: number | null;
      /** @description Uses that have succeeded. */
      readonly uses: number;
      /**
       * @description `active`; `used_up`; `expired`; `revoked`; `key_ended`: the API key that made it was revoked, has expired, or may no longer do what the link does.
       * @enum {string}
       */
      readonly state: 'active' | 'used_up' | 'expired' | 'revoked' | 'key_ended';
      /** @description The API key that made it, and with which it ends; null = the owner of the account did. */
      readonly keyId: string | null;
      /**
       * Format: date-time
       * @description When it ends by itself.
       */
      readonly expiresAt: string;
      /**
       * Format: date-time
       * @description When it was revoked.
       */
      readonly revokedAt: string | null;
      /**
       * Format: date-time
       * @description The last use that has succeeded.
       */
      readonly lastUsedAt: string | null;
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
    };
    readonly LinkAnswer: {
      /** @description The link, as it is now. */
      readonly link: components['schemas']['Link'];
    };
    readonly LinksAnswer: {
      /** @description Newest first. */
      readonly links: readonly components['schemas']['Link'][];
      /** @description Where the next page begins; null = there is none. */
      readonly nextCursor: string | null;
    };
    readonly ListAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Folders first, then by name; with `recursive` by path. */
      readonly files: readonly components['schemas']['FileInfo'][];
      /** @description With `limit` alone: the `cursor` of the next page; null when nothing follows. */
      readonly nextCursor?: string | null;
      /**
       * @description Entries that the server lists and `files` lacks: a line that the gateway cannot read, a name that no path can have, or a link that leads nowhere. Absent where the list is complete. With `limit`: those in the folders that were read for this page.
       * @example 2
       */
      readonly incomplete?: number;
    };
    readonly MkdirAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description False when the folder was there already. */
      readonly created: boolean;
    };
    readonly MkdirRequest: {
      /** @description Full path of the folder. Missing parents are created. */
      readonly path: string;
    };
    readonly MoveAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Former path. */
      readonly from: string;
      /** @description New path. */
      readonly to: string;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
      /** @description The transfer, as the history holds it. */
      readonly transfer: {
        /** @description Id of the transfer in the history. */
        readonly id: string;
      };
    };
    readonly MoveRequest: {
      /** @description Present path. */
      readonly from: string;
      /** @description The exact bytes of a name that is not UTF-8, as base64, and of the names below it, with a slash between them; in a request, beside the path that ends with them. Not on S3. */
      readonly rawName?: string;
      /** @description New path. Missing folders are created. */
      readonly to: string;
      /**
       * @description Whether a file at `to` may be replaced.
       * @default false
       */
      readonly overwrite?: boolean;
    };
    readonly NewJob: {
      /**
       * @description What is to be done. `sync` brings what is new or changed.
       * @enum {string}
       */
      readonly type: 'copy' | 'move' | 'delete' | 'sync';
      /** @description The folder, or the one file; the default path of the connection when absent. */
      readonly source: components['schemas']['JobSource'];
      /** @description The folder that takes the files. Not of a `delete`. */
      readonly destination?: components['schemas']['JobDestination'];
      /**
       * @description Only files that one of these globs takes: of the path below the folder where it holds `/` or `**`, else of the name.
       * @default []
       */
      readonly include?: readonly string[];
      /**
       * @description Not files and folders that one of these globs takes.
       * @default []
       */
      readonly exclude?: readonly string[];
      /** @description Not files in folders further down: 1 = only those of the folder itself. */
      readonly maxDepth?: number;
      /** @description Not files of fewer bytes. */
      readonly minSize?: number;
      /** @description Not files of more bytes. */
      readonly maxSize?: number;
      /** @description Not files that were modified less than this before the job began. */
      readonly minAgeSeconds?: number;
      /** @description Not files that were modified more than this before the job began. */
      readonly maxAgeSeconds?: number;
      /**
       * @description What a `copy` or `move` does with a file that stands at the destination; a `sync` replaces it.
       * @default replace
       * @enum {string}
       */
      readonly onConflict?: 'replace' | 'skip' | 'newer' | 'rename' | 'fail';
      /**
       * @description How a `sync` tells that a file has not changed; `digest` reads both.
       * @default size-and-time
       * @enum {string}
       */
      readonly compare?: 'size-and-time' | 'size' | 'digest';
      /**
       * @description A `sync` deletes what the source does not have, after all else.
       * @default false
       */
      readonly deleteExtra?: boolean;
      /**
       * @description With more to delete than this, nothing is deleted.
       * @default 1000
       */
      readonly maxDeletes?: number;
      /** @description With `deleteExtra`: deletes although the source is empty, or has lost more than half of its files since the last run. */
      readonly allowEmptySource?: boolean;
      /**
       * @description Of all its files together; 0 = as fast as it goes.
       * @default 0
       */
      readonly bytesPerSecond?: number;
      /**
       * @description Tells what would be done, and does nothing.
       * @default false
       */
      readonly dryRun?: boolean;
      /** @description For people. */
      readonly name?: string | null;
      /** @description URL that receives `job.finished` when it has ended, signed with the secret of the account. */
      readonly webhookUrl?: string | null;
    };
    readonly NewLink: {
      /**
       * @description `upload` takes files into one folder, `download` gives one file.
       * @enum {string}
       */
      readonly operation: 'upload' | 'download';
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /** @description The file to download, or the folder to upload to; absolute or from the default path of the connection. It is the uploaded file itself if neither the link nor its user names the file, and no slash is at its end. */
      readonly path: string;
      /** @description When it ends, a date-time with its zone, at most `links.maxDays` (90) days from now. */
      readonly expiresAt: string;
      /** @description The most bytes of one file. */
      readonly maxBytes?: number;
      /** @description How often it may be used; a use that fails does not count. */
      readonly maxUses?: number;
      /** @description Of an upload: what the file is called, whatever its sender says. Of a download: what it is saved as. */
      readonly filename?: string;
      /**
       * @description Of an upload: whether a file of this name may be replaced. Without, it is 409.
       * @default false
       */
      readonly overwrite?: boolean;
      /** @description SHA-256 that the file must have: `sha-256:` and 64 hexadecimal digits. */
      readonly digest?: string;
    };
    readonly NewPreview: {
      /** @description Five fields: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
      readonly cron: string;
      /**
       * @description Name of a time zone (IANA) whose local time the cron means.
       * @default UTC
       */
      readonly timeZone?: string;
    };
    readonly NewSchedule: {
      /** @description For people. */
      readonly name: string;
      /** @description Five fields: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
      readonly cron: string;
      /**
       * @description Name of a time zone (IANA) whose local time the cron means.
       * @default UTC
       */
      readonly timeZone?: string;
      /**
       * @description Whether it is switched on.
       * @default true
       */
      readonly isActive?: boolean;
      /** @description What it begins, as in `POST /api/jobs`. */
      readonly job: components['schemas']['NewJob'];
    };
    readonly NewWatchedFolder: {
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /** @description Folder to watch. */
      readonly path: string;
      /** @description Shown in the dashboard; the folder's own name when absent. */
      readonly name?: string;
      /** @description A glob on the file name, or on the path below the folder where it holds `/` or `**`. */
      readonly filePattern?: string | null;
      /**
       * @description Minutes between two checks.
       * @default 5
       */
      readonly scheduleMinutes?: number;
      /** @description URL that receives a POST when files are found. */
      readonly webhookUrl?: string | null;
      /**
       * @description Also report files whose size or date changed.
       * @default false
       */
      readonly detectModified?: boolean;
      /** @description A glob of files that are not reported. */
      readonly excludePattern?: string | null;
      /** @description Name of a marker file: a file is reported only once its marker is there too. */
      readonly doneFile?: string | null;
      /**
       * @description Whether the files of the first check are reported, or are the baseline.
       * @default ignore
       * @enum {string}
       */
      readonly initial?: 'ignore' | 'report';
      /**
       * @description Whether sub-folders are watched too.
       * @default false
       */
      readonly recursive?: boolean;
      /**
       * @description Files younger than this are not reported yet.
       * @default 0
       */
      readonly minAgeSeconds?: number;
      /**
       * @description What happens to a file once its event was delivered; `move` and `delete` need the scope `write`.
       * @default keep
       * @enum {string}
       */
      readonly afterDelivery?: 'keep' | 'move' | 'delete';
      /** @description Folder for `afterDelivery: move`. */
      readonly moveTo?: string | null;
      /** @description Raise an alarm when no file came for this long. */
      readonly expectEveryMinutes?: number | null;
      /** @description Copies each file there, as it lies below the folder, before its event is sent; needs the scopes `read` and `write`. Null = nowhere. */
      readonly copyTo?: components['schemas']['CopyTo'] | null;
    };
    readonly NewWebhook: {
      /** @description The receiver: an http or https URL. A login in it is kept sealed, and sent as basic authentication. */
      readonly url: string;
      /** @description Types of events that it is told. */
      readonly events: readonly (
        | 'watched_folder.files_detected'
        | 'watched_folder.late'
        | 'transfer.failed'
        | 'job.finished'
        | 'connection.down'
        | 'connection.up'
        | 'attention.raised'
        | 'attention.cleared'
      )[];
      /**
       * @description Only events that are about no other connections; empty = all.
       * @default []
       */
      readonly connections?: readonly string[];
      /**
       * @description Whether it is told of new events.
       * @default true
       */
      readonly isActive?: boolean;
    };
    readonly PreviewAnswer: {
      /** @description The next five. */
      readonly nextRuns: readonly string[];
    };
    readonly ReadAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Text, or base64 where `encoding` is `base64`. */
      readonly content: string;
      /**
       * @description How `content` is written.
       * @enum {string}
       */
      readonly encoding: 'text' | 'base64';
      /** @description Bytes. */
      readonly size: number;
      /** @description Path from the root of the connection. */
      readonly path: string;
    };
    readonly ReceiptKey: {
      /**
       * @description Kind of key (RFC 8037).
       * @enum {string}
       */
      readonly kty: 'OKP';
      /**
       * @description Its curve.
       * @enum {string}
       */
      readonly crv: 'Ed25519';
      /** @description The public key, base64url. */
      readonly x: string;
      /** @description Its identifier: its thumbprint (RFC 7638). */
      readonly kid: string;
      /**
       * @description What it signs by.
       * @enum {string}
       */
      readonly alg: 'EdDSA';
      /**
       * @description What it is for.
       * @enum {string}
       */
      readonly use: 'sig';
    };
    readonly ReceiptKeys: {
      /** @description Newest first. */
      readonly keys: readonly components['schemas']['ReceiptKey'][];
    };
    readonly SandboxReceiver: {
      /** @description Give this to a webhook or a watched folder. */
      readonly url: string;
      /** @description How it answers. */
      readonly does: string;
    };
    readonly SandboxRequest: {
      /**
       * Format: date-time
       * @description When it had come.
       */
      readonly receivedAt: string;
      /** @description Which of the receivers it was for. */
      readonly path: string;
      /** @description Status of the answer; null when there is none, or none yet. */
      readonly status: number | null;
      /** @description Header fields, by lower-case name. */
      readonly headers: {
        readonly [key: string]: string;
      };
      /** @description The first 64 KiB of the body, as text. */
      readonly body: string;
      /** @description How long the body was. */
      readonly bodyBytes: number;
    };
    readonly SandboxWebhooksAnswer: {
      /** @description One for each way to answer. */
      readonly receivers: readonly components['schemas']['SandboxReceiver'][];
      /** @description Newest first. */
      readonly requests: readonly components['schemas']['SandboxRequest'][];
    };
    readonly Schedule: {
      /** @description Identifier. */
      readonly id: string;
      /** @description For people. */
      readonly name: string;
      /** @description Five fields: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
      readonly cron: string;
      /** @description Name of a time zone (IANA) whose local time the cron means. */
      readonly timeZone: string;
      /** @description Whether it is switched on. */
      readonly isActive: boolean;
      /** @description What it begins. */
      readonly job: components['schemas']['ScheduledJob'];
      /** @description The next five; none while it is switched off. */
      readonly nextRuns: readonly string[];
      /**
       * Format: date-time
       * @description When it began a job last.
       */
      readonly lastRunAt: string | null;
      /** @description That job. */
      readonly lastJobId: string | null;
      /**
       * Format: date-time
       * @description When a run was left out last.
       */
      readonly lastSkippedAt: string | null;
      /** @description Why the last run was left out, or why the schedule has stopped. */
      readonly error: string | null;
      /**
       * Format: date-time
       * @description When it was created.
       */
      readonly createdAt: string;
    };
    readonly ScheduleAnswer: {
      /** @description The schedule, as it is now. */
      readonly schedule: components['schemas']['Schedule'];
    };
    readonly ScheduleChanges: {
      /** @description For people. */
      readonly name?: string;
      /** @description Five fields: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
      readonly cron?: string;
      /** @description Name of a time zone (IANA) whose local time the cron means. */
      readonly timeZone?: string;
      /** @description Whether it is switched on. */
      readonly isActive?: boolean;
      /** @description What it begins, as in `POST /api/jobs`. */
      readonly job?: components['schemas']['NewJob'];
    };
    readonly ScheduledJob: {
      /**
       * @description What is done.
       * @enum {string}
       */
      readonly type: 'copy' | 'move' | 'delete' | 'sync';
      /** @description Where the files are. */
      readonly source: {
        /** @description Id of a connection. */
        readonly connectionId: string;
        /** @description Path of the folder from the root of the connection. */
        readonly path: string;
      };
      /** @description null of a deletion. */
      readonly destination: {
        /** @description Id of a connection. */
        readonly connectionId: string;
        /** @description Path of the folder from the root of the connection. */
        readonly path: string;
      } | null;
      /** @description Only files that one of these globs takes. */
      readonly include: readonly string[];
      /** @description Not files and folders that one of these globs takes. */
      readonly exclude: readonly string[];
      /** @description Not files in folders further down: 1 = only those of the folder itself. */
      readonly maxDepth?: number;
      /** @description Not files of fewer bytes. */
      readonly minSize?: number;
      /** @description Not files of more bytes. */
      readonly maxSize?: number;
      /** @description Not files that were modified less than this before the job began. */
      readonly minAgeSeconds?: number;
      /** @description Not files that were modified more than this before the job began. */
      readonly maxAgeSeconds?: number;
      /**
       * @description What becomes of a file that stands at the destination.
       * @enum {string}
       */
      readonly onConflict: 'replace' | 'skip' | 'newer' | 'rename' | 'fail';
      /**
       * @description How a `sync` tells that a file has not changed.
       * @enum {string}
       */
      readonly compare: 'size-and-time' | 'size' | 'digest';
      /** @description Whether a `sync` deletes what the source does not have. */
      readonly deleteExtra: boolean;
      /** @description With more to delete than this, nothing is deleted. */
      readonly maxDeletes: number;
      /** @description With `deleteExtra`: deletes although the source is empty, or has lost more than half of its files since the last run. */
      readonly allowEmptySource?: boolean;
      /** @description Of all its files together; 0 = as fast as it goes. */
      readonly bytesPerSecond: number;
      /** @description Tells what would be done, and does nothing. */
      readonly dryRun: boolean;
      /** @description Of the jobs; null = that of the schedule. */
      readonly name: string | null;
      /** @description URL that receives `job.finished`. */
      readonly webhookUrl: string | null;
    };
    readonly SchedulesAnswer: {
      /** @description Oldest first. */
      readonly schedules: readonly components['schemas']['Schedule'][];
    };
    readonly SentAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Name of the file, without a folder. */
      readonly filename: string;
      /** @description Bytes. */
      readonly size: number;
    };
    readonly SkippedAnswer: {
      /** @description What went wrong, at which step, field or path, and what would be right. */
      readonly error: string;
      /**
       * @description The file exists and was left as it is.
       * @constant
       */
      readonly skipped?: true;
    };
    readonly StatusAnswer: {
      /** @description `ok` or `ready`. */
      readonly status: string;
    };
    readonly SuccessAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
    };
    readonly TestEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'watched_folder.test';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What the event is about. */
      readonly data: {
        /** @description The folder that was checked. */
        readonly watchedFolder: {
          /** @description Id of the watched folder. */
          readonly id: string;
          /** @description Name of the watched folder, as the dashboard shows it. */
          readonly name: string;
          /** @description Path from the root of the connection. */
          readonly path: string;
          /** @description Id of its connection. */
          readonly connectionId: string;
        };
        /** @description The connection of the watched folder. */
        readonly connection: components['schemas']['ConnectionSummary'];
        /** @description The files that were found; none in an event that only tries the webhook out. */
        readonly files: readonly {
          /** @description Name of the file. */
          readonly name: string;
          /** @description Path from the root of the connection. */
          readonly path: string;
          /** @description Bytes. */
          readonly size: number;
          /** @description Always false. */
          readonly isDirectory: boolean;
          /**
           * Format: date-time
           * @description Time of the last change, UTC.
           */
          readonly modifiedAt: string;
          /** @description The exact bytes of a name that is not UTF-8, as base64. */
          readonly rawName?: string;
          /**
           * @description `new`, or `modified` where its size or date changed.
           * @enum {string}
           */
          readonly event: 'new' | 'modified';
          /** @description Of a folder with `copyTo`: where the copy of the file is. A file without one stays where it is, whatever `afterDelivery` says. */
          readonly copy?: {
            /** @description Id of the connection of the copy. */
            readonly connectionId: string;
            /** @description Where the copy is; with `skipped`, what stands there instead. */
            readonly path?: string;
            /** @description Bytes of the copy. */
            readonly size?: number;
            /** @description True where `onConflict` left alone what stands there. */
            readonly skipped?: boolean;
            /** @description Why there is no copy. */
            readonly error?: string;
          };
        }[];
      };
    };
    readonly TestedWebhook: {
      /** @description Identifier of the webhook. */
      readonly id: string;
      /** @description Types of events that it is told. */
      readonly events: readonly string[];
    };
    readonly Transfer: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Name of the file, without a folder. */
      readonly filename: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Bytes. */
      readonly size: number;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
      /**
       * Format: date-time
       * @description Where `mtime` was asked for: what the file is dated now, which is another time where the server keeps none.
       */
      readonly modifiedAt?: string;
      /** @description The connection that the file went to. */
      readonly connection: components['schemas']['ConnectionSummary'];
    };
    readonly TransferAnswer: {
      /** @description The item. */
      readonly transfer: components['schemas']['TransferDetails'];
    };
    readonly TransferDetails: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /**
       * @description Kind of transfer.
       * @enum {string}
       */
      readonly type:
        | 'upload'
        | 'download'
        | 'read'
        | 'write'
        | 'append'
        | 'delete'
        | 'move'
        | 'mkdir'
        | 'list'
        | 'exists'
        | 'copy'
        | 'exec'
        | 'poll';
      /**
       * @description `outbound` changes the remote server, `inbound` reads from it.
       * @enum {string}
       */
      readonly direction: 'outbound' | 'inbound';
      /** @description Name of the file, without a folder. */
      readonly filename: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Bytes. */
      readonly fileSize: number;
      /**
       * @description State of the transfer.
       * @enum {string}
       */
      readonly status: 'success' | 'failed' | 'pending';
      /** @description What went wrong, of a failed transfer. */
      readonly errorMessage: string | null;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
      /**
       * Format: date-time
       * @description When it began.
       */
      readonly createdAt: string;
      /** @description The code of the error, as `X-Error-Code` carried it. */
      readonly errorCode: string | null;
      /** @description Of the request that asked for it; of a job its identifier. */
      readonly requestId: string | null;
      /** @description The job that it is of. */
      readonly jobId: string | null;
      /** @description The link that it came by, without a key of its own. */
      readonly linkId: string | null;
      /** @description SHA-256 of the file as its bytes passed, where somebody asked: `sha-256:` and hexadecimal digits. */
      readonly digest: string | null;
      /**
       * @description Why there is no digest although somebody asked: the store made the copy, or the server the move, by itself; an earlier try, whose node died, had made it; an append, which knows its own part alone; a range; a resumable upload whose first bytes came before anybody asked, or of which the state was lost; or no bytes were sent.
       * @enum {string|null}
       */
      readonly noDigest:
        'server_side_copy' | 'server_side_move' | 'append' | 'range' | 'pieces' | 'not_sent' | 'earlier_try' | null;
      /** @description How many of the bytes of the digest were read back from the server, as they had passed a node that died before it kept what it knew of them; the others were taken as they passed. Null without a digest. */
      readonly digestReadBytes: number | null;
      /** @description Whether what was stored was compared with what was sent. False: the server has acknowledged the file, and it could not be looked at; it counts as stored. Null: nothing was stored, or nothing is to be compared. */
      readonly verified: boolean | null;
      /**
       * @description Why `verified` is false: the file was gone when it was looked for, as in a drop folder (`taken_away`), or the login may not look at it (`may_not_look`). Else null.
       * @enum {string|null}
       */
      readonly verifiedReason: 'taken_away' | 'may_not_look' | null;
      /** @description Milliseconds of each stage up to the record of it, as in `Server-Timing`; null while it runs. */
      readonly stages: {
        readonly [key: string]: number;
      } | null;
    };
    readonly TransferFailedEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'transfer.failed';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What the event is about. */
      readonly data: {
        /** @description Its item of the history. */
        readonly transfer: components['schemas']['FailedTransfer'];
      };
    };
    readonly TransferItem: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /**
       * @description Kind of transfer.
       * @enum {string}
       */
      readonly type:
        | 'upload'
        | 'download'
        | 'read'
        | 'write'
        | 'append'
        | 'delete'
        | 'move'
        | 'mkdir'
        | 'list'
        | 'exists'
        | 'copy'
        | 'exec'
        | 'poll';
      /**
       * @description `outbound` changes the remote server, `inbound` reads from it.
       * @enum {string}
       */
      readonly direction: 'outbound' | 'inbound';
      /** @description Name of the file, without a folder. */
      readonly filename: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Bytes. */
      readonly fileSize: number;
      /**
       * @description State of the transfer.
       * @enum {string}
       */
      readonly status: 'success' | 'failed' | 'pending';
      /** @description What went wrong, of a failed transfer. */
      readonly errorMessage: string | null;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
      /**
       * Format: date-time
       * @description When it began.
       */
      readonly createdAt: string;
    };
    readonly TransfersAnswer: {
      /** @description Newest first. */
      readonly transfers: readonly components['schemas']['TransferItem'][];
      /** @description How many transfers match. */
      readonly total: number;
      /** @description Items a page. */
      readonly limit: number;
      /** @description Items to pass over. */
      readonly offset: number;
    };
    readonly UploadAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description The transfer, as the history holds it. */
      readonly transfer: components['schemas']['Transfer'];
    };
    readonly UploadBase64: {
      /** @description The file, as base64. */
      readonly content: string;
      /**
       * @description Remote folder; the connection's default path when absent. Missing folders are created.
       * @example /upload
       */
      readonly path?: string;
      /**
       * @description Name of the file, without a folder.
       * @example report.pdf
       */
      readonly filename: string;
      /**
       * @description Whether a file of this name may be replaced. Without, it is 409 with `skipped: true`.
       * @default true
       * @example false
       */
      readonly overwrite?: boolean;
      /**
       * @description Renames the file. Tokens, in UTC: `{filename}` `{name}` `{ext}` `{date}` `{time}` `{datetime}` `{timestamp}` `{year}` `{month}` `{day}` `{uuid}`.
       * @example {date}-{filename}
       */
      readonly filename_template?: string;
      /**
       * @description Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata.
       * @example 2026-01-31T12:00:00Z
       */
      readonly mtime?: string;
    };
    readonly UploadFromUrl: {
      /** @description http or https; the gateway fetches it. */
      readonly url: string;
      /**
       * @description Remote folder; the connection's default path when absent. Missing folders are created.
       * @example /upload
       */
      readonly path?: string;
      /**
       * @description Name of the file, without a folder.
       * @example report.pdf
       */
      readonly filename?: string;
      /**
       * @description Whether a file of this name may be replaced. Without, it is 409 with `skipped: true`.
       * @default true
       * @example false
       */
      readonly overwrite?: boolean;
      /**
       * @description Renames the file. Tokens, in UTC: `{filename}` `{name}` `{ext}` `{date}` `{time}` `{datetime}` `{timestamp}` `{year}` `{month}` `{day}` `{uuid}`.
       * @example {date}-{filename}
       */
      readonly filename_template?: string;
      /**
       * @description Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata.
       * @example 2026-01-31T12:00:00Z
       */
      readonly mtime?: string;
    };
    readonly UploadMultipart: {
      /**
       * Format: binary
       * @description The file.
       */
      readonly file: string;
      /**
       * @description Remote folder; the connection's default path when absent. Missing folders are created.
       * @example /upload
       */
      readonly path?: string;
      /**
       * @description Name of the file, without a folder.
       * @example report.pdf
       */
      readonly filename?: string;
      /**
       * @description Whether a file of this name may be replaced. Without, it is 409 with `skipped: true`.
       * @default true
       * @example false
       */
      readonly overwrite?: boolean;
      /**
       * @description Renames the file. Tokens, in UTC: `{filename}` `{name}` `{ext}` `{date}` `{time}` `{datetime}` `{timestamp}` `{year}` `{month}` `{day}` `{uuid}`.
       * @example {date}-{filename}
       */
      readonly filename_template?: string;
      /**
       * @description Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata.
       * @example 2026-01-31T12:00:00Z
       */
      readonly mtime?: string;
    };
    readonly WatchedFolder: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Id of a connection, as `GET /api/connections` shows it. */
      readonly connectionId: string;
      /** @description Shown in the dashboard. */
      readonly name: string;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description A glob on the file name, or on the path below the folder where it holds `/` or `**`. */
      readonly filePattern: string | null;
      /** @description Minutes between two checks. */
      readonly scheduleMinutes: number;
      /** @description URL that receives a POST when files are found. */
      readonly webhookUrl: string | null;
      /** @description How it was created. */
      readonly source: string;
      /** @description Also report files whose size or date changed. */
      readonly detectModified: boolean;
      /** @description Whether it is switched on. */
      readonly isActive: boolean;
      /**
       * Format: date-time
       * @description When it was created.
       */
      readonly createdAt: string;
      /** @description A glob of files that are not reported. */
      readonly excludePattern?: string;
      /** @description Name of a marker file: a file is reported only once its marker is there too. */
      readonly doneFile?: string;
      /**
       * @description Whether the files of the first check are reported, or are the baseline.
       * @enum {string}
       */
      readonly initial?: 'ignore' | 'report';
      /** @description Whether sub-folders are watched too. */
      readonly recursive?: boolean;
      /** @description Files younger than this are not reported yet. */
      readonly minAgeSeconds?: number;
      /**
       * @description What happens to a file once its event was delivered; `move` and `delete` need the scope `write`.
       * @enum {string}
       */
      readonly afterDelivery?: 'keep' | 'move' | 'delete';
      /** @description Folder for `afterDelivery: move`. */
      readonly moveTo?: string | null;
      /** @description Raise an alarm when no file came for this long. */
      readonly expectEveryMinutes?: number;
      /** @description Where its files are copied before their event is sent. */
      readonly copyTo?: components['schemas']['CopyTo'];
    };
    readonly WatchedFolderChanges: {
      /** @description Folder to watch. */
      readonly path?: string;
      /** @description Shown in the dashboard; the folder's own name when absent. */
      readonly name?: string;
      /** @description A glob on the file name, or on the path below the folder where it holds `/` or `**`. */
      readonly filePattern?: string | null;
      /** @description Minutes between two checks. */
      readonly scheduleMinutes?: number;
      /** @description URL that receives a POST when files are found. */
      readonly webhookUrl?: string | null;
      /** @description Also report files whose size or date changed. */
      readonly detectModified?: boolean;
      /** @description A glob of files that are not reported. */
      readonly excludePattern?: string | null;
      /** @description Name of a marker file: a file is reported only once its marker is there too. */
      readonly doneFile?: string | null;
      /**
       * @description Whether the files of the first check are reported, or are the baseline.
       * @enum {string}
       */
      readonly initial?: 'ignore' | 'report';
      /** @description Whether sub-folders are watched too. */
      readonly recursive?: boolean;
      /** @description Files younger than this are not reported yet. */
      readonly minAgeSeconds?: number;
      /**
       * @description What happens to a file once its event was delivered; `move` and `delete` need the scope `write`.
       * @enum {string}
       */
      readonly afterDelivery?: 'keep' | 'move' | 'delete';
      /** @description Folder for `afterDelivery: move`. */
      readonly moveTo?: string | null;
      /** @description Raise an alarm when no file came for this long. */
      readonly expectEveryMinutes?: number | null;
      /** @description Copies each file there, as it lies below the folder, before its event is sent; needs the scopes `read` and `write`. Null = nowhere. */
      readonly copyTo?: components['schemas']['CopyTo'] | null;
      /** @description Whether it is switched on. */
      readonly isActive?: boolean;
    };
    readonly WatchedFoldersAnswer: {
      /** @description The watched folders of the account. */
      readonly watchedFolders: readonly components['schemas']['WatchedFolder'][];
    };
    readonly Webhook: {
      /** @description Identifier. */
      readonly id: string;
      /** @description The receiver, without a login. */
      readonly url: string;
      /** @description Types of events that it is told. */
      readonly events: readonly (
        | 'watched_folder.files_detected'
        | 'watched_folder.late'
        | 'transfer.failed'
        | 'job.finished'
        | 'connection.down'
        | 'connection.up'
        | 'attention.raised'
        | 'attention.cleared'
      )[];
      /** @description Only events that are about no other connections; empty = all. */
      readonly connections: readonly string[];
      /** @description Whether it is told of new events. */
      readonly isActive: boolean;
      /**
       * Format: date-time
       * @description When the receiver answered 410, which switched it off; null = it has not.
       */
      readonly endedAt: string | null;
      /**
       * Format: date-time
       * @description When it was created.
       */
      readonly createdAt: string;
    };
    readonly WebhookAnswer: {
      /** @description The webhook, as it is now. */
      readonly webhook: components['schemas']['Webhook'];
    };
    readonly WebhookChanges: {
      /** @description The receiver: an http or https URL. A login in it is kept sealed, and sent as basic authentication. */
      readonly url?: string;
      /** @description Types of events that it is told. */
      readonly events?: readonly (
        | 'watched_folder.files_detected'
        | 'watched_folder.late'
        | 'transfer.failed'
        | 'job.finished'
        | 'connection.down'
        | 'connection.up'
        | 'attention.raised'
        | 'attention.cleared'
      )[];
      /** @description Only events that are about no other connections; empty = all. */
      readonly connections?: readonly string[];
      /** @description Whether it is told of new events. */
      readonly isActive?: boolean;
    };
    readonly WebhookSecret: {
      /** @description The new secret; shown this once. */
      readonly secret: string;
    };
    readonly WebhookTest: {
      /** @description Whether the answer was one of 200 to 299. */
      readonly isDelivered: boolean;
      /** @description The `webhook-id` of the message. */
      readonly id: string;
      /** @description The message: JSON, exactly as it was signed. */
      readonly body: string;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
      /** @description HTTP status of the answer; null when there was none. */
      readonly status: number | null;
      /** @description The code of the error, as `X-Error-Code` carries it. */
      readonly errorCode: string | null;
      /** @description What went wrong. */
      readonly errorMessage: string | null;
      /** @description The first 4 kB of the answer. */
      readonly answer: string | null;
      /** @description Header fields that were sent, without a login; null where they were not kept. */
      readonly requestHeaders: {
        readonly [key: string]: string;
      } | null;
      /** @description The first 4 kB of the header fields of the answer; null where there was none. */
      readonly answerHeaders: {
        readonly [key: string]: string;
      } | null;
    };
    readonly WebhookTestAnswer: {
      /** @description What was sent, and what came back. */
      readonly test: components['schemas']['WebhookTest'];
    };
    readonly WebhookTestEvent: {
      /** @description Its number among the events of the account, from 1 and without holes. */
      readonly sequence?: number;
      /** @description Identifies the event; the `webhook-id` of its deliveries. */
      readonly id?: string;
      /** @description `id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`. */
      readonly previousId?: string | null;
      /**
       * @description Kind of event.
       * @constant
       */
      readonly type: 'webhook.test';
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly timestamp: string;
      /** @description What the event is about. */
      readonly data: {
        /** @description The webhook that is tried out. */
        readonly webhook: components['schemas']['TestedWebhook'];
      };
    };
    readonly WebhooksAnswer: {
      /** @description Oldest first. */
      readonly webhooks: readonly components['schemas']['Webhook'][];
    };
    readonly WriteAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Path from the root of the connection. */
      readonly path: string;
      /** @description Bytes. */
      readonly size: number;
      /**
       * Format: date-time
       * @description Where `mtime` was asked for: what the file is dated now, which is another time where the server keeps none.
       */
      readonly modifiedAt?: string;
    };
    readonly WriteRequest: {
      /** @description Path on the remote server, absolute or from the default path of the connection. */
      readonly path: string;
      /**
       * @description How `content` is written.
       * @default text
       * @enum {string}
       */
      readonly encoding?: 'text' | 'base64';
      /** @description Text, or base64 where `encoding` is `base64`. */
      readonly content: string;
      /** @description Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata. */
      readonly mtime?: string;
    };
    readonly UploadFileQuery: {
      /** @description Remote folder; the connection's default path when absent. Missing folders are created. */
      readonly path?: string;
      /** @description Name of the file, without a folder. */
      readonly filename?: string;
      /**
       * @description Whether a file of this name may be replaced. Without, it is 409 with `skipped: true`.
       * @default true
       */
      readonly overwrite?: boolean;
      /** @description Renames the file. Tokens, in UTC: `{filename}` `{name}` `{ext}` `{date}` `{time}` `{datetime}` `{timestamp}` `{year}` `{month}` `{day}` `{uuid}`. */
      readonly filename_template?: string;
      /** @description Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata. */
      readonly mtime?: string;
      /**
       * @description Whether the length of what was stored is compared, or all of it is read again before it takes its place; as the connection says when absent.
       * @enum {string}
       */
      readonly verify?: 'size' | 'readback';
    };
    readonly DownloadFileQuery: {
      /** @description Path on the remote server, absolute or from the default path of the connection. May stand several times with `format=zip`. */
      readonly path: string | readonly string[];
      /** @description The exact bytes of a name that is not UTF-8, as base64, and of the names below it, with a slash between them; in a request, beside the path that ends with them. Not on S3. */
      readonly rawName?: string;
      /**
       * @description `binary` is the file itself, `json` an object that holds it as base64, `zip` an archive: each path is one entry at its top, with its own name, a folder with all below it.
       * @default binary
       * @enum {string}
       */
      readonly format?: 'binary' | 'json' | 'zip';
    };
    readonly ReadFileQuery: {
      /** @description Path on the remote server, absolute or from the default path of the connection. */
      readonly path: string;
      /** @description The exact bytes of a name that is not UTF-8, as base64, and of the names below it, with a slash between them; in a request, beside the path that ends with them. Not on S3. */
      readonly rawName?: string;
      /**
       * @description How `content` is written.
       * @default text
       * @enum {string}
       */
      readonly encoding?: 'text' | 'base64';
    };
    readonly ListFolderQuery: {
      /** @description Remote folder; the connection's default path when absent. */
      readonly path?: string;
      /** @description The exact bytes of a name that is not UTF-8, as base64, and of the names below it, with a slash between them; in a request, beside the path that ends with them. Not on S3. */
      readonly rawName?: string;
      /**
       * @description Also what lies in sub-folders, at most 100 levels deep.
       * @default false
       */
      readonly recursive?: boolean;
      /** @description A glob on the path below the folder: `*.csv` for those in the folder itself, `**\/*.csv` at any depth. A star stands for a leading dot too. Folders that cannot hold a match are not read. */
      readonly pattern?: string;
      /** @description Entries of one page. */
      readonly limit?: number;
      /** @description The `nextCursor` of the page before; all else of the request stays as it was. */
      readonly cursor?: string;
    };
    readonly FindFileQuery: {
      /** @description Path on the remote server, absolute or from the default path of the connection. */
      readonly path: string;
      /** @description The exact bytes of a name that is not UTF-8, as base64, and of the names below it, with a slash between them; in a request, beside the path that ends with them. Not on S3. */
      readonly rawName?: string;
    };
    readonly ListTransfersQuery: {
      /** @description Only transfers of this connection. */
      readonly connection_id?: string;
      /**
       * @description State of the transfer.
       * @enum {string}
       */
      readonly status?: 'success' | 'failed' | 'pending';
      /**
       * @description Kind of transfer.
       * @enum {string}
       */
      readonly type?:
        | 'upload'
        | 'download'
        | 'read'
        | 'write'
        | 'append'
        | 'delete'
        | 'move'
        | 'mkdir'
        | 'list'
        | 'exists'
        | 'copy'
        | 'exec'
        | 'poll'
        | 'email'
        | 'pickup';
      /** @description Only transfers of a file with this SHA-256: `sha-256:` and 64 hexadecimal digits. */
      readonly digest?: string;
      /** @description Only transfers that came by this link. */
      readonly link_id?: string;
      /** @description Only newer transfers: an ISO 8601 date-time, or Unix seconds. */
      readonly since?: string;
      /**
       * @description Items a page.
       * @default 20
       */
      readonly limit?: number;
      /**
       * @description Items to pass over.
       * @default 0
       */
      readonly offset?: number;
    };
    readonly ListReceiptsQuery: {
      /** @description Only later ones. */
      readonly after?: number;
      /** @description How many; all when absent. */
      readonly limit?: number;
    };
    readonly ListJobsQuery: {
      /**
       * @description Only those in this state.
       * @enum {string}
       */
      readonly state?: 'queued' | 'running' | 'paused' | 'succeeded' | 'partly_failed' | 'failed' | 'cancelled';
      /**
       * @description Only those of this type.
       * @enum {string}
       */
      readonly type?: 'copy' | 'move' | 'delete' | 'sync' | 'upload';
      /**
       * @description Items a page.
       * @default 20
       */
      readonly limit?: number;
      /** @description `nextCursor` of the page before. */
      readonly cursor?: string;
    };
    readonly ListJobFilesQuery: {
      /**
       * @description Only those in this state.
       * @enum {string}
       */
      readonly state?: 'waiting' | 'planned' | 'done' | 'skipped' | 'failed';
      /**
       * @description Items a page.
       * @default 100
       */
      readonly limit?: number;
      /** @description `nextCursor` of the page before. */
      readonly cursor?: string;
    };
    readonly ListEventsQuery: {
      /** @description Only events with a higher `sequence`; absent = from the oldest that is kept. */
      readonly after?: number;
      /**
       * @description Where there is none yet: seconds to wait for one.
       * @default 0
       */
      readonly wait?: number;
      /**
       * @description Items a page.
       * @default 100
       */
      readonly limit?: number;
    };
    readonly ListLinksQuery: {
      /**
       * @description Links a page.
       * @default 100
       */
      readonly limit?: number;
      /** @description The `nextCursor` of the page before. */
      readonly cursor?: string;
    };
    readonly OpenLinkQuery: {
      /** @description The file itself, whatever `Accept` says. */
      readonly download?: string;
    };
    readonly SendToLinkQuery: {
      /** @description Name of the file, without a folder. */
      readonly filename?: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}

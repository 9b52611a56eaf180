/* Made from the OpenAPI document by "npm run generate". */
export interface components {
  schemas: {
    readonly Account: {
      /** @description Identifier. */
      readonly id: string;
      /** @description E-mail address of the account. */
      readonly email: string;
      /** @description Name of the plan. */
      readonly plan: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
      /** @description What the plan has room for; 0 = unlimited. */
      readonly limits: {
        /** @description Connections. */
        readonly connections: number;
        /** @description Actions a month. */
        readonly monthlyActions: number;
      };
      /** @description How many connections the account has. */
      readonly connections: number;
      /** @description How many transfers the history holds. */
      readonly transfers: number;
      /** @description Whether it can log in. */
      readonly hasPassword: boolean;
      /** @description One-time passwords. */
      readonly totp: {
        /** @description Whether a login asks for one. */
        readonly isEnabled: boolean;
        /** @description Recovery codes that were not used yet. */
        readonly recoveryCodesLeft: number;
      };
    };
    readonly AccountName: {
      /** @description Identifier. */
      readonly id: string;
      /** @description E-mail address of the account. */
      readonly email: string;
      /** @description Name of the plan. */
      readonly plan: string;
    };
    readonly AlarmCodeRequest: {
      /** @description E-mail address of a recipient. */
      readonly address: string;
    };
    readonly AlarmConfirmation: {
      /** @description E-mail address of a recipient. */
      readonly address: string;
      /** @description As it was mailed. */
      readonly code: string;
    };
    readonly AlarmTestAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description Whom it was sent to. */
      readonly recipients: readonly string[];
    };
    readonly Alarms: {
      /** @description Whether mails are sent. */
      readonly isOn: boolean;
      /** @description Of which kinds. */
      readonly kinds: readonly (
        | 'connection_failing'
        | 'watched_folder_failing'
        | 'schedule_stopped'
        | 'schedule_late'
        | 'copies_failed'
        | 'dead_letters'
        | 'quota'
        | 'certificate_expiring'
        | 'key_expiring'
        | 'host_keys_waiting'
      )[];
      /**
       * @description Of the mails.
       * @enum {string}
       */
      readonly language: 'en' | 'de';
      /** @description No mail is sent in these hours; what is new then comes when they end. null = there are none. */
      readonly quiet: {
        /** @description `HH:MM`. */
        readonly from: string;
        /** @description `HH:MM`; earlier than `from` = on the next day. */
        readonly to: string;
        /** @description A name of the IANA database. */
        readonly timeZone: string;
      } | null;
      /** @description Whether a connection or watched folder that fails, a schedule that has stopped, and a month that is used up are told of in quiet hours too. */
      readonly urgentBreaksQuiet: boolean;
      /** @description Whom. */
      readonly recipients: readonly {
        /** @description E-mail address. */
        readonly address: string;
        /** @description Whether mails are sent to it; the account’s own address needs no code. */
        readonly isConfirmed: boolean;
        /**
         * Format: date-time
         * @description When the mail server took the last alarm for it.
         */
        readonly sentAt: string | null;
        /**
         * Format: date-time
         * @description Since when alarms to it fail.
         */
        readonly failingSince: string | null;
        /** @description What the last alarm to it failed with. */
        readonly error: string | null;
      }[];
      /** @description Whether the operator of this gateway has set a mail server; without one no mail is sent. */
      readonly isMailConfigured: boolean;
    };
    readonly AlarmsRequest: {
      /** @description Whether mails are sent. */
      readonly isOn: boolean;
      /** @description Of which kinds. */
      readonly kinds: readonly (
        | 'connection_failing'
        | 'watched_folder_failing'
        | 'schedule_stopped'
        | 'schedule_late'
        | 'copies_failed'
        | 'dead_letters'
        | 'quota'
        | 'certificate_expiring'
        | 'key_expiring'
        | 'host_keys_waiting'
      )[];
      /**
       * @description Of the mails.
       * @enum {string}
       */
      readonly language: 'en' | 'de';
      /** @description No mail is sent in these hours; what is new then comes when they end. null = there are none. */
      readonly quiet: {
        /** @description `HH:MM`. */
        readonly from: string;
        /** @description `HH:MM`; earlier than `from` = on the next day. */
        readonly to: string;
        /** @description A name of the IANA database. */
        readonly timeZone: string;
      } | null;
      /**
       * @description Whether a connection or watched folder that fails, a schedule that has stopped, and a month that is used up are told of in quiet hours too.
       * @default false
       */
      readonly urgentBreaksQuiet?: boolean;
      /** @description Whom: e-mail addresses. */
      readonly recipients: readonly string[];
    };
    readonly AnnouncedHostKey: {
      /** @description SHA-256 fingerprint, as OpenSSH shows it. */
      readonly fingerprint: string;
      /** @description Such as `ssh-ed25519`. */
      readonly algorithm: string;
      /**
       * @description `pending` waits to be accepted; `rejected` was not wanted.
       * @enum {string}
       */
      readonly state: 'trusted' | 'pending' | 'rejected';
      /** @description Of the first announcement: it came with the trusted key, needs no decision, and may still be accepted. */
      readonly isFirst: boolean;
      /**
       * Format: date-time
       * @description When the server announced it first.
       */
      readonly firstSeenAt: string;
      /**
       * Format: date-time
       * @description When it did so last, to within an hour.
       */
      readonly lastSeenAt: string;
    };
    readonly AnnouncedHostKeyRequest: {
      /** @description SHA-256 fingerprint, as OpenSSH shows it. */
      readonly fingerprint: string;
    };
    readonly ApiKey: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Shown to people. */
      readonly name: string;
      /** @description The last four characters of the key; null for those of the configuration file. */
      readonly hint: string | null;
      /** @description What the key may do. */
      readonly scopes: readonly ('read' | 'write' | 'exec' | 'watch' | 'admin')[];
      /** @description Connections that the key is for; empty = all. */
      readonly connections: readonly string[];
      /** @description Addresses and CIDR blocks that the key may be used from; empty = all. */
      readonly allowedIps: readonly string[];
      /**
       * Format: date-time
       * @description When it ends; null = never.
       */
      readonly expiresAt: string | null;
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
      /**
       * Format: date-time
       * @description The last request, exact to a minute.
       */
      readonly lastUsedAt: string | null;
      /**
       * Format: date-time
       * @description When it was revoked.
       */
      readonly revokedAt: string | null;
      /**
       * @description State.
       * @enum {string}
       */
      readonly state: 'active' | 'expired' | 'revoked';
      /**
       * @description `configuration` for those that the configuration file lists: they can be changed only there.
       * @enum {string}
       */
      readonly source: 'configuration' | 'dashboard';
    };
    readonly ApiKeyChanges: {
      /** @description Shown to people. */
      readonly name?: string;
      /** @description What the key may do. */
      readonly scopes?: readonly ('read' | 'write' | 'exec' | 'watch' | 'admin')[];
      /** @description Connections that the key is for; empty = all. */
      readonly connections?: readonly string[];
      /** @description Addresses and CIDR blocks that the key may be used from; empty = all. */
      readonly allowedIps?: readonly string[];
      /** @description When it ends; null = never. */
      readonly expiresAt?: string | null;
    };
    readonly ApiKeysAnswer: {
      /** @description API keys. */
      readonly apiKeys: readonly components['schemas']['ApiKey'][];
    };
    readonly Attempt: {
      /** @description Identifier. */
      readonly id: string;
      /**
       * Format: date-time
       * @description When it began.
       */
      readonly startedAt: string;
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
      /** @description Where it went, without a login; null of tries before version 1.1. */
      readonly url: string | null;
    };
    readonly AttemptsAnswer: {
      /** @description The tries, oldest first. */
      readonly attempts: readonly components['schemas']['Attempt'][];
    };
    readonly AuditAnswer: {
      /** @description Newest first. */
      readonly entries: readonly components['schemas']['AuditEntry'][];
      /** @description Where the next page begins; null = there is none. */
      readonly nextCursor: string | null;
    };
    readonly AuditEntry: {
      /** @description Identifier. */
      readonly id: string;
      /**
       * Format: date-time
       * @description When it happened.
       */
      readonly at: string;
      /** @description Who did it. */
      readonly actor: {
        /**
         * @description A login session, an API key or the gateway itself.
         * @enum {string}
         */
        readonly kind: 'session' | 'key' | 'anonymous';
        /** @description Id of the session or key. */
        readonly id: string | null;
        /** @description E-mail address of the account, or name of the key. */
        readonly name: string;
      };
      /** @description `area.verb`, such as `connection.update`. */
      readonly action: string;
      /** @description What was changed. */
      readonly target: {
        /** @description What it is. */
        readonly kind: string;
        /** @description Its id. */
        readonly id: string;
        /** @description Its name. */
        readonly name: string;
      } | null;
      /** @description Where the request came from. */
      readonly address: string;
      /** @description Finds the request in the log. */
      readonly requestId: string;
      /** @description What was changed; no secrets. */
      readonly details: {
        readonly [key: string]: unknown;
      };
    };
    readonly ChangePasswordRequest: {
      /** @description The password until now. */
      readonly currentPassword: string;
      /** @description 12 to 200 characters. */
      readonly newPassword: string;
    };
    readonly Check: {
      /** @description Identifier. */
      readonly id: string;
      /**
       * @description Why it ran.
       * @enum {string}
       */
      readonly kind: 'regular' | 'follow_up' | 'manual';
      /**
       * @description How it ended.
       * @enum {string}
       */
      readonly outcome: 'succeeded' | 'failed' | 'skipped';
      /**
       * Format: date-time
       * @description When it began.
       */
      readonly startedAt: string;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
      /** @description The code of the error, as `X-Error-Code` carries it. */
      readonly errorCode: string | null;
      /** @description What went wrong. */
      readonly errorMessage: string | null;
      /** @description Entries of the folder, by reason. */
      readonly counts: {
        readonly [key: string]: number;
      };
    };
    readonly CheckEntriesAnswer: {
      /** @description Every entry with its reason. */
      readonly entries: readonly {
        /** @description Path below the watched folder. */
        readonly path: string;
        /** @description Why it is reported, or not. */
        readonly reason: string;
        /** @description Bytes. */
        readonly size?: number;
        /** @description Bytes when it was last seen. */
        readonly sizeBefore?: number;
      }[];
    };
    readonly ChecksAnswer: {
      /** @description The last checks, newest first. */
      readonly checks: readonly components['schemas']['Check'][];
    };
    readonly CodeRequest: {
      /** @description Six digits of the authenticator, or a recovery code. */
      readonly code: string;
    };
    readonly ConnectionChanges: {
      /** @description Shown to people. */
      readonly name?: string;
      /** @description Host name or address, without protocol and port. */
      readonly host?: string;
      /** @description TCP port. */
      readonly port?: number;
      /** @description Login name. */
      readonly username?: string;
      /** @description Nothing outside of it is reachable. */
      readonly rootPath?: string;
      /** @description Of the login. Written, never shown; null takes it away. */
      readonly password?: string | null;
      /** @description In PEM, OpenSSH or PuTTY form. Written, never shown; null takes it away. */
      readonly privateKey?: string | null;
      /** @description Of the private key. Written, never shown; null takes it away. */
      readonly passphrase?: string | null;
      /** @description A key pair of the gateway, in place of a private key. */
      readonly keyPairId?: string | null;
      /** @description Pinned fingerprints; with none, the first one shown is trusted and pinned. */
      readonly hostKeys?: readonly string[];
      /** @description Whether it is switched on; if not, every operation on it is refused. */
      readonly isActive?: boolean;
      /** @description Taken where a request names no path; null = the login folder. */
      readonly defaultPath?: string | null;
      /** @description Limits of its own, over those of the configuration, but not above pools.hosts; of connections with one login the smallest counts. */
      readonly pool?: {
        /** @description Open sessions to the server. */
        readonly maxSessions?: number;
        /** @description SFTP channels that share one SSH connection. */
        readonly maxChannelsPerSession?: number;
        /** @description Milliseconds until an idle session is closed. */
        readonly idleTimeoutMs?: number;
        /** @description Requests that may wait for a session. */
        readonly maxWaiting?: number;
        /** @description Milliseconds that a request waits for a session. */
        readonly acquireTimeoutMs?: number;
        /** @description Milliseconds that a login may take. */
        readonly connectTimeoutMs?: number;
        /** @description Milliseconds without a byte until a transfer fails. */
        readonly stallTimeoutMs?: number;
      };
      /**
       * @description `always` = of every file that passes; `asked` = where a request asks, or the account says `always`.
       * @enum {string}
       */
      readonly digests?: 'asked' | 'always';
      /**
       * @description `readback` = what was stored is read again and compared before it takes its place; `size` = its length is.
       * @enum {string}
       */
      readonly verify?: 'size' | 'readback';
      /** @description Uploads go to a temporary name and are renamed. */
      readonly atomicUploads?: boolean;
      /**
       * @description `legacy` also allows algorithms that old servers need: SHA-1 and CBC.
       * @enum {string}
       */
      readonly algorithms?: 'default' | 'legacy';
      /**
       * @description Keys that the server announces and proves on a session of a trusted one: `ask` = they wait to be accepted; `accept` = they are trusted at once, and those that it has not announced for a week no longer.
       * @enum {string}
       */
      readonly hostKeyRotation?: 'ask' | 'accept';
      /**
       * @description How the control connection is encrypted.
       * @enum {string}
       */
      readonly tls?: 'none' | 'explicit' | 'implicit';
      /** @description Whether the certificate of the server must be trusted. If not, anybody in between can read everything. */
      readonly tlsVerify?: boolean;
      /** @description Certificates in PEM form that are trusted beside the usual ones. */
      readonly tlsCa?: string | null;
      /** @description URL of the store; null = AWS. */
      readonly endpoint?: string | null;
      /** @description Region of the store. */
      readonly region?: string;
      /** @description Name of the bucket, which must exist. */
      readonly bucket?: string;
      /** @description Of every key; the root of the connection. */
      readonly prefix?: string;
      /** @description Id of the access key. */
      readonly accessKeyId?: string;
      /** @description The bucket is in the path, not in the host name. */
      readonly forcePathStyle?: boolean;
      /** @description Of the access key. Written, never shown. */
      readonly secretAccessKey?: string | null;
      /** @description Of temporary credentials. Written, never shown; null takes it away. */
      readonly sessionToken?: string | null;
      /**
       * @description `sdk` = the uploader of AWS, which gathers parts in memory, for a store that does not take streamed ones.
       * @enum {string}
       */
      readonly uploader?: 'streamed' | 'sdk';
    };
    readonly ConnectionDraft: {
      /**
       * @description Protocol.
       * @enum {string}
       */
      readonly type: 'sftp' | 'ftp' | 's3';
      /** @description Shown to people. */
      readonly name: string;
    } & (
      | components['schemas']['SftpConnectionInput']
      | components['schemas']['FtpConnectionInput']
      | {
          /** @description Shown to people. */
          readonly name?: string;
          /**
           * @description URL of the store; null = AWS.
           * @default null
           */
          readonly endpoint?: string | null;
          /**
           * @description Region of the store.
           * @default us-east-1
           */
          readonly region?: string;
          /** @description Name of the bucket, which must exist. */
          readonly bucket: string;
          /**
           * @description Of every key; the root of the connection.
           * @default
           */
          readonly prefix?: string;
          /** @description Id of the access key. */
          readonly accessKeyId: string;
          /**
           * @description The bucket is in the path, not in the host name.
           * @default true
           */
          readonly forcePathStyle?: boolean;
          /**
           * @description Whether the certificate of the server must be trusted. If not, anybody in between can read everything.
           * @default true
           */
          readonly tlsVerify?: boolean;
          /** @description Of the access key. Written, never shown. */
          readonly secretAccessKey?: string | null;
          /** @description Of temporary credentials. Written, never shown; null takes it away. */
          readonly sessionToken?: string | null;
          /**
           * @description Whether it is switched on; if not, every operation on it is refused.
           * @default true
           */
          readonly isActive?: boolean;
          /**
           * @description Taken where a request names no path; null = the login folder.
           * @default null
           */
          readonly defaultPath?: string | null;
          /**
           * @description Limits of its own, over those of the configuration, but not above pools.hosts; of connections with one login the smallest counts.
           * @default {}
           */
          readonly pool?: {
            /** @description Open sessions to the server. */
            readonly maxSessions?: number;
            /** @description SFTP channels that share one SSH connection. */
            readonly maxChannelsPerSession?: number;
            /** @description Milliseconds until an idle session is closed. */
            readonly idleTimeoutMs?: number;
            /** @description Requests that may wait for a session. */
            readonly maxWaiting?: number;
            /** @description Milliseconds that a request waits for a session. */
            readonly acquireTimeoutMs?: number;
            /** @description Milliseconds that a login may take. */
            readonly connectTimeoutMs?: number;
            /** @description Milliseconds without a byte until a transfer fails. */
            readonly stallTimeoutMs?: number;
          };
          /**
           * @description `always` = of every file that passes; `asked` = where a request asks, or the account says `always`.
           * @default asked
           * @enum {string}
           */
          readonly digests?: 'asked' | 'always';
          /**
           * @description `readback` = what was stored is read again and compared before it takes its place; `size` = its length is.
           * @default size
           * @enum {string}
           */
          readonly verify?: 'size' | 'readback';
          /**
           * @description `sdk` = the uploader of AWS, which gathers parts in memory, for a store that does not take streamed ones.
           * @default streamed
           * @enum {string}
           */
          readonly uploader?: 'streamed' | 'sdk';
          /**
           * @description Certificates in PEM form that are trusted beside the usual ones.
           * @default null
           */
          readonly tlsCa?: string | null;
          /** @description Identifier. */
          readonly id?: string;
          /**
           * @description Protocol.
           * @constant
           */
          readonly type?: 's3';
        }
    );
    readonly ConnectionHealth: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Shown to people. */
      readonly name: string;
      /** @description Protocol. */
      readonly type: string;
      /** @description Whether it is switched on; others are not looked at. */
      readonly isActive: boolean;
      /**
       * @description `unknown` = nobody has looked yet, or it is switched off.
       * @enum {string}
       */
      readonly state: 'up' | 'down' | 'unknown';
      /**
       * Format: date-time
       * @description When it went down; null = it is not.
       */
      readonly downSince: string | null;
      /**
       * Format: date-time
       * @description Since when it is looked at; null = it is not (`health.everySeconds`).
       */
      readonly watchedSince: string | null;
      /**
       * Format: date-time
       * @description The last look.
       */
      readonly checkedAt: string | null;
      /**
       * Format: date-time
       * @description The last look that found it.
       */
      readonly reachedAt: string | null;
      /** @description Why the last look failed. */
      readonly error: string | null;
      /** @description Its slug, as in `X-Error-Code`. */
      readonly errorCode: string | null;
      /** @description The TLS certificate that the server showed last; null where there is none. */
      readonly certificate: {
        /** @description Whose it is. */
        readonly subject: string;
        /** @description Who signed it. */
        readonly issuer: string;
        /**
         * Format: date-time
         * @description When it expires.
         */
        readonly validTo: string | null;
        /** @description SHA-256 in hexadecimal. */
        readonly fingerprint: string;
      } | null;
      /** @description The host key that the server showed last; null where there is none. */
      readonly hostKey: {
        /** @description SHA-256 fingerprint, as OpenSSH shows it. */
        readonly fingerprint: string;
        /** @description What kind of key it is. */
        readonly algorithm: string;
        /**
         * Format: date-time
         * @description When a look met it first.
         */
        readonly since: string;
      } | null;
      /** @description The last 24 hours. */
      readonly last24Hours: {
        /** @description Part of the time in which it was not down, 0 to 1; null = nobody has looked. */
        readonly availability: number | null;
        /** @description Looks that found something out. */
        readonly checks: number;
        /** @description Those that could not reach it, or were not let in. */
        readonly failedChecks: number;
        /** @description Time to a session that is ready for work: 95 of 100 took no longer. null = none was opened. */
        readonly connectMs: number | null;
        /** @description Time to the answer to one small request: 95 of 100 took no longer. */
        readonly firstByteMs: number | null;
      };
      /** @description The last seven days. */
      readonly last7Days: {
        /** @description Part of the time in which it was not down, 0 to 1; null = nobody has looked. */
        readonly availability: number | null;
        /** @description Looks that found something out. */
        readonly checks: number;
        /** @description Those that could not reach it, or were not let in. */
        readonly failedChecks: number;
        /** @description Time to a session that is ready for work: 95 of 100 took no longer. null = none was opened. */
        readonly connectMs: number | null;
        /** @description Time to the answer to one small request: 95 of 100 took no longer. */
        readonly firstByteMs: number | null;
      };
      /** @description The last 90 days. */
      readonly last90Days: {
        /** @description Part of the time in which it was not down, 0 to 1; null = nobody has looked. */
        readonly availability: number | null;
        /** @description Looks that found something out. */
        readonly checks: number;
        /** @description Those that could not reach it, or were not let in. */
        readonly failedChecks: number;
        /** @description Time to a session that is ready for work: 95 of 100 took no longer. null = none was opened. */
        readonly connectMs: number | null;
        /** @description Time to the answer to one small request: 95 of 100 took no longer. */
        readonly firstByteMs: number | null;
      };
      /** @description Of the last 90 days, newest first, 200 at most. */
      readonly outages: readonly {
        /**
         * Format: date-time
         * @description When it went down.
         */
        readonly from: string;
        /**
         * Format: date-time
         * @description When it was there again; null = it is still down.
         */
        readonly to: string | null;
        /** @description What was met first. */
        readonly error: string | null;
        /** @description Its slug. */
        readonly errorCode: string | null;
      }[];
      /** @description API keys that may use it and end within 30 days. */
      readonly expiringKeys: readonly {
        /** @description Identifier. */
        readonly id: string;
        /** @description Shown to people. */
        readonly name: string;
        /**
         * Format: date-time
         * @description When it ends.
         */
        readonly expiresAt: string;
      }[];
    };
    readonly ConnectionHealthList: {
      /** @description In the order in which they were made. */
      readonly connections: readonly components['schemas']['ConnectionHealthSummary'][];
    };
    readonly ConnectionHealthSummary: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Shown to people. */
      readonly name: string;
      /** @description Protocol. */
      readonly type: string;
      /** @description Whether it is switched on; others are not looked at. */
      readonly isActive: boolean;
      /**
       * @description `unknown` = nobody has looked yet, or it is switched off.
       * @enum {string}
       */
      readonly state: 'up' | 'down' | 'unknown';
      /**
       * Format: date-time
       * @description When it went down; null = it is not.
       */
      readonly downSince: string | null;
      /**
       * Format: date-time
       * @description Since when it is looked at; null = it is not (`health.everySeconds`).
       */
      readonly watchedSince: string | null;
      /**
       * Format: date-time
       * @description The last look.
       */
      readonly checkedAt: string | null;
      /**
       * Format: date-time
       * @description The last look that found it.
       */
      readonly reachedAt: string | null;
      /** @description Why the last look failed. */
      readonly error: string | null;
      /** @description Its slug, as in `X-Error-Code`. */
      readonly errorCode: string | null;
      /** @description The TLS certificate that the server showed last; null where there is none. */
      readonly certificate: {
        /** @description Whose it is. */
        readonly subject: string;
        /** @description Who signed it. */
        readonly issuer: string;
        /**
         * Format: date-time
         * @description When it expires.
         */
        readonly validTo: string | null;
        /** @description SHA-256 in hexadecimal. */
        readonly fingerprint: string;
      } | null;
      /** @description The host key that the server showed last; null where there is none. */
      readonly hostKey: {
        /** @description SHA-256 fingerprint, as OpenSSH shows it. */
        readonly fingerprint: string;
        /** @description What kind of key it is. */
        readonly algorithm: string;
        /**
         * Format: date-time
         * @description When a look met it first.
         */
        readonly since: string;
      } | null;
      /** @description Of the last 24 hours, seven days and 90 days. */
      readonly availability: {
        /** @description Part of the time in which it was not down, 0 to 1; null = nobody has looked. */
        readonly last24Hours: number | null;
        /** @description Part of the time in which it was not down, 0 to 1; null = nobody has looked. */
        readonly last7Days: number | null;
        /** @description Part of the time in which it was not down, 0 to 1; null = nobody has looked. */
        readonly last90Days: number | null;
      };
      /** @description As many as were asked for, oldest first; today is the last. */
      readonly days: readonly {
        /**
         * Format: date-time
         * @description When the day began.
         */
        readonly from: string;
        /** @description Part of the time in which it was not down, 0 to 1; null = nobody has looked. */
        readonly availability: number | null;
        /** @description For how long it was down. */
        readonly downSeconds: number;
      }[];
    };
    readonly ConnectionInput: {
      /**
       * @description Protocol.
       * @enum {string}
       */
      readonly type: 'sftp' | 'ftp' | 's3';
      /** @description Shown to people. */
      readonly name: string;
    } & (
      | components['schemas']['SftpConnectionInput']
      | components['schemas']['FtpConnectionInput']
      | components['schemas']['S3ConnectionInput']
    );
    readonly ConnectionType: {
      /** @description `type` of its connections. */
      readonly type: string;
      /** @description What people call it. */
      readonly title: string;
      /** @description JSON Schema of what `POST /manage/connections` takes, its properties in the order of a form: `title` is the label, `description` the hint, `writeOnly` marks secrets, a choice is a `oneOf` of constants with titles. */
      readonly schema: {
        readonly [key: string]: unknown;
      };
      /** @description Fields that few change. */
      readonly advanced: readonly string[];
      /** @description Fields whose text has several lines. */
      readonly multiline: readonly string[];
      /** @description Fields that name the server. */
      readonly address: readonly string[];
      /** @description Secrets that must be given again when one of `address` changes. */
      readonly sent: readonly string[];
    };
    readonly ConnectionTypesAnswer: {
      /** @description In the order of a form. */
      readonly connectionTypes: readonly components['schemas']['ConnectionType'][];
    };
    readonly CopiesAnswer: {
      /** @description In the order of the event. */
      readonly copies: readonly components['schemas']['Copy'][];
    };
    readonly Copy: {
      /** @description Path of the file in the watched folder. */
      readonly path: string;
      /**
       * @description `skipped`: `onConflict` left alone what stands there.
       * @enum {string}
       */
      readonly state: 'waiting' | 'done' | 'skipped' | 'failed';
      /** @description Tries that failed, and were not the last. */
      readonly tries: number;
      /** @description Connection of the copy. */
      readonly connectionId: string;
      /** @description Where the copy is. */
      readonly target: string | null;
      /** @description Bytes of the copy. */
      readonly size: number | null;
      /** @description The code of the error, as `X-Error-Code` carries it. */
      readonly errorCode: string | null;
      /** @description What went wrong. */
      readonly errorMessage: string | null;
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
    readonly CreatedManagedWatchedFolder: {
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
      readonly excludePattern: string | null;
      /** @description Name of a marker file: a file is reported only once its marker is there too. */
      readonly doneFile: string | null;
      /**
       * @description Whether the files of the first check are reported, or are the baseline.
       * @enum {string}
       */
      readonly initial: 'ignore' | 'report';
      /** @description Whether sub-folders are watched too. */
      readonly recursive: boolean;
      /** @description Files younger than this are not reported yet. */
      readonly minAgeSeconds: number;
      /**
       * @description What happens to a file once its event was delivered; `move` and `delete` need the scope `write`.
       * @enum {string}
       */
      readonly afterDelivery: 'keep' | 'move' | 'delete';
      /** @description Folder for `afterDelivery: move`. */
      readonly moveTo: string | null;
      /** @description Raise an alarm when no file came for this long. */
      readonly expectEveryMinutes: number | null;
      /** @description Where its files are copied before their event is sent. */
      readonly copyTo: components['schemas']['CopyTo'] | null;
      /**
       * Format: date-time
       * @description When it is checked next.
       */
      readonly nextCheckAt: string;
      /**
       * Format: date-time
       * @description When the first check went through.
       */
      readonly baselineAt: string | null;
      /**
       * Format: date-time
       * @description When a check last went through.
       */
      readonly lastSuccessAt: string | null;
      /**
       * Format: date-time
       * @description When a file was last reported.
       */
      readonly lastDetectionAt: string | null;
      /**
       * Format: date-time
       * @description When it was last told that no file came.
       */
      readonly alarmedAt: string | null;
      /**
       * Format: date-time
       * @description Since when every check has failed.
       */
      readonly failingSince: string | null;
      /** @description Checks that have failed in a row. */
      readonly failures: number;
      /** @description The code of the error, as `X-Error-Code` carries it. */
      readonly errorCode: string | null;
      /** @description What went wrong. */
      readonly errorMessage: string | null;
      /**
       * Format: date-time
       * @description When the receiver answered 410: nothing is sent any more.
       */
      readonly deliveriesEndedAt: string | null;
      /** @description Signs its webhooks (Standard Webhooks); shown this once. */
      readonly webhookSecret: string;
    };
    readonly CurrentSession: {
      /** @description The account. */
      readonly account: components['schemas']['AccountName'];
      /** @description The session of this request; null with an admin key. */
      readonly session: components['schemas']['LoginSession'] | null;
      /** @description To be sent as `X-CSRF-Token` with every request but GET and HEAD. */
      readonly csrfToken: string | null;
    };
    readonly DeliveriesAnswer: {
      /** @description Newest first. */
      readonly deliveries: readonly components['schemas']['Delivery'][];
      /** @description Items a page. */
      readonly limit: number;
      /** @description Items to pass over. */
      readonly offset: number;
    };
    readonly Delivery: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Id of a watched folder; null of a job’s event. */
      readonly watchedFolderId: string | null;
      /** @description Id of a job; null of a watched folder’s event. */
      readonly jobId: string | null;
      /** @description Id of the webhook that it goes to; null of the receiver of a watched folder or job. */
      readonly webhookId: string | null;
      /** @description Where it goes, without a login; null where there is no receiver any more. */
      readonly url: string | null;
      /** @description The connections that the event is about. */
      readonly connectionIds: readonly string[];
      /** @description The `webhook-id`: the same for all receivers of an event. */
      readonly eventId: string;
      /** @description Kind of event. */
      readonly type: string;
      /** @description Files in the event. */
      readonly fileCount: number;
      /**
       * @description State.
       * @enum {string}
       */
      readonly state: 'pending' | 'delivered' | 'dead' | 'cancelled';
      /** @description How many tries there were. */
      readonly attempts: number;
      /**
       * Format: date-time
       * @description When it is tried next; while files are copied, when those are.
       */
      readonly nextAttemptAt: string | null;
      /**
       * @description Of a folder with `copyTo`: nothing is sent while its files are being copied.
       * @enum {string}
       */
      readonly copyState: 'none' | 'pending' | 'done';
      /** @description Files that could not be copied. */
      readonly copiesFailed: number;
      /**
       * @description What is done with the files after the delivery.
       * @enum {string}
       */
      readonly afterAction: 'none' | 'pending' | 'done';
      /**
       * Format: date-time
       * @description When the receiver took it.
       */
      readonly deliveredAt: string | null;
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
    };
    readonly DeliveryDetail: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Id of a watched folder; null of a job’s event. */
      readonly watchedFolderId: string | null;
      /** @description Id of a job; null of a watched folder’s event. */
      readonly jobId: string | null;
      /** @description Id of the webhook that it goes to; null of the receiver of a watched folder or job. */
      readonly webhookId: string | null;
      /** @description Where it goes, without a login; null where there is no receiver any more. */
      readonly url: string | null;
      /** @description The connections that the event is about. */
      readonly connectionIds: readonly string[];
      /** @description The `webhook-id`: the same for all receivers of an event. */
      readonly eventId: string;
      /** @description Kind of event. */
      readonly type: string;
      /** @description Files in the event. */
      readonly fileCount: number;
      /**
       * @description State.
       * @enum {string}
       */
      readonly state: 'pending' | 'delivered' | 'dead' | 'cancelled';
      /** @description How many tries there were. */
      readonly attempts: number;
      /**
       * Format: date-time
       * @description When it is tried next; while files are copied, when those are.
       */
      readonly nextAttemptAt: string | null;
      /**
       * @description Of a folder with `copyTo`: nothing is sent while its files are being copied.
       * @enum {string}
       */
      readonly copyState: 'none' | 'pending' | 'done';
      /** @description Files that could not be copied. */
      readonly copiesFailed: number;
      /**
       * @description What is done with the files after the delivery.
       * @enum {string}
       */
      readonly afterAction: 'none' | 'pending' | 'done';
      /**
       * Format: date-time
       * @description When the receiver took it.
       */
      readonly deliveredAt: string | null;
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
      /** @description The event: JSON, exactly as it is signed. */
      readonly body: string;
    };
    readonly Dependents: {
      /** @description API keys. */
      readonly apiKeys: readonly {
        /** @description Id of the API key. */
        readonly id: string;
        /** @description Its name. */
        readonly name: string;
        /** @description Whether it is for this connection alone and ends with it. */
        readonly willBeRevoked: boolean;
      }[];
      /** @description The watched folders, those that copy to it included. */
      readonly watchedFolders: readonly {
        /** @description Id of the watched folder. */
        readonly id: string;
        /** @description Its name. */
        readonly name: string;
      }[];
      /** @description How many operations run on it now. */
      readonly runningTransfers: number;
    };
    readonly DryRunAnswer: {
      /** @description Entries of the folder, by reason. */
      readonly counts: {
        readonly [key: string]: number;
      };
      /** @description The files. */
      readonly files: readonly {
        /** @description Name of the file. */
        readonly name: string;
        /** @description Path from the root of the connection. */
        readonly path: string;
        /** @description Bytes. */
        readonly size: number;
        /**
         * Format: date-time
         * @description Time of the last change, UTC.
         */
        readonly modifiedAt: string;
        /**
         * @description `new`, or `modified` where its size or date changed.
         * @enum {string}
         */
        readonly event: 'new' | 'modified';
        /** @description The exact bytes of a name that is not UTF-8, as base64. */
        readonly rawName?: string;
      }[];
    };
    readonly DuplicateRequest: {
      /** @description Identifier. */
      readonly id?: string;
      /** @description Shown to people. */
      readonly name?: string;
      /** @description Of the login. Written, never shown; null takes it away. */
      readonly password?: string | null;
      /** @description In PEM, OpenSSH or PuTTY form. Written, never shown; null takes it away. */
      readonly privateKey?: string | null;
      /** @description Of the private key. Written, never shown; null takes it away. */
      readonly passphrase?: string | null;
      /** @description Of the access key. Written, never shown. */
      readonly secretAccessKey?: string | null;
      /** @description Of temporary credentials. Written, never shown; null takes it away. */
      readonly sessionToken?: string | null;
    };
    readonly ErrorAnswer: {
      /** @description What went wrong, at which step, field or path, and what would be right. */
      readonly error: string;
    };
    readonly ErrorCode:
      | 'bad_request'
      | 'bad_path'
      | 'unsupported_operation'
      | 'unauthenticated'
      | 'totp_required'
      | 'forbidden'
      | 'scope_missing'
      | 'csrf_rejected'
      | 'plan_required'
      | 'connection_inactive'
      | 'permission_denied'
      | 'address_denied'
      | 'unknown_route'
      | 'unknown_connection'
      | 'unknown_watched_folder'
      | 'unknown_item'
      | 'not_found'
      | 'method_not_allowed'
      | 'already_exists'
      | 'not_a_folder'
      | 'in_use'
      | 'from_configuration'
      | 'not_running'
      | 'cancelled'
      | 'too_large'
      | 'unsupported_media_type'
      | 'rate_limited'
      | 'share_exceeded'
      | 'internal'
      | 'dns_failed'
      | 'unreachable'
      | 'login_refused'
      | 'host_key_mismatch'
      | 'certificate_rejected'
      | 'connection_lost'
      | 'protocol_error'
      | 'remote_failure'
      | 'pool_full'
      | 'acquire_timeout'
      | 'too_slow'
      | 'overloaded'
      | 'draining'
      | 'database_away'
      | 'outcome_unrecorded'
      | 'connect_timeout'
      | 'stall_timeout';
    readonly EventAnswer: {
      /** @description Its `webhook-id`. */
      readonly eventId: string;
    };
    readonly FeedAnswer: {
      /** @description Newest first. */
      readonly events: readonly {
        /** @description Its number among the events of the account. */
        readonly sequence: number;
        /** @description Kind of event. */
        readonly type: string;
        /** @description The event: JSON, exactly as it was signed. */
        readonly body: string;
      }[];
      /** @description `sequence` of the last event that there is; 0 = none. */
      readonly last: number;
      /** @description Where the next page begins; null = there is none. */
      readonly nextCursor: string | null;
    };
    readonly Figures: {
      /**
       * @description As asked.
       * @enum {string}
       */
      readonly range: '24h' | '7d' | '30d' | '90d';
      /** @description As asked. */
      readonly timeZone: string;
      /** @description Oldest first. */
      readonly points: readonly {
        /**
         * Format: date-time
         * @description Begin of the hour or the day.
         */
        readonly from: string;
        /**
         * Format: date-time
         * @description Its end, or now.
         */
        readonly until: string;
        /** @description Operations that have ended; they count where they began. */
        readonly transfers: number;
        /** @description Those that failed. */
        readonly failed: number;
        /** @description Of the operations: lists, look-ups and polls. */
        readonly lookups: number;
        /** @description Those of them that failed. */
        readonly failedLookups: number;
        /** @description Bytes read from remote servers. */
        readonly bytesIn: number;
        /** @description Bytes sent to remote servers. */
        readonly bytesOut: number;
        /** @description Webhook events that were delivered. */
        readonly delivered: number;
        /** @description Webhook events that nobody took. */
        readonly undelivered: number;
        /** @description Half of the operations that succeeded took no longer, lists, look-ups and polls left out. */
        readonly p50Ms: number | null;
        /** @description 95 of 100 took no longer. */
        readonly p95Ms: number | null;
      }[];
    };
    readonly ForgetRequest: {
      /** @description Path below the folder. */
      readonly path?: string;
    };
    readonly ForgottenAnswer: {
      /** @description How many files were forgotten. */
      readonly forgotten: number;
    };
    readonly FtpConnection: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Shown to people. */
      readonly name: string;
      /** @description Whether it is switched on. */
      readonly isActive: boolean;
      /**
       * @description `configuration` for those that the configuration file lists: they can be changed only there.
       * @enum {string}
       */
      readonly source: 'configuration' | 'dashboard';
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      readonly updatedAt: string;
      /** @description The last test; null before it. */
      readonly lastTest: {
        /**
         * Format: date-time
         * @description When it was tested.
         */
        readonly testedAt: string;
        /** @description Whether every step went through. */
        readonly isOk: boolean;
        /** @description The first step that failed. */
        readonly failedStep: string | null;
        /** @description What went wrong. */
        readonly error: string | null;
      } | null;
      /** @description What was learned of the server; null before that. */
      readonly card?: components['schemas']['ServerCard'] | null;
      /**
       * @description Protocol.
       * @constant
       */
      readonly type: 'ftp';
      /** @description Taken where a request names no path; null = the login folder. */
      readonly defaultPath: string | null;
      /** @description Limits of its own, over those of the configuration, but not above pools.hosts; of connections with one login the smallest counts. */
      readonly pool: components['schemas']['PoolLimits'];
      /**
       * @description `always` = of every file that passes; `asked` = where a request asks, or the account says `always`.
       * @enum {string}
       */
      readonly digests: 'asked' | 'always';
      /**
       * @description `readback` = what was stored is read again and compared before it takes its place; `size` = its length is.
       * @enum {string}
       */
      readonly verify: 'size' | 'readback';
      /** @description Host name or address, without protocol and port. */
      readonly host: string;
      /** @description TCP port. */
      readonly port: number;
      /** @description Login name. */
      readonly username: string;
      /**
       * @description How the control connection is encrypted.
       * @enum {string}
       */
      readonly tls: 'none' | 'explicit' | 'implicit';
      /** @description Whether the certificate of the server must be trusted. If not, anybody in between can read everything. */
      readonly tlsVerify: boolean;
      /** @description Certificates in PEM form that are trusted beside the usual ones. */
      readonly tlsCa: string | null;
      /** @description Nothing outside of it is reachable. */
      readonly rootPath: string;
      /** @description Uploads go to a temporary name and are renamed. */
      readonly atomicUploads: boolean;
      /** @description Which of them are set. */
      readonly secrets: {
        /** @description Whether there is one. */
        readonly password: boolean;
      };
    };
    readonly FtpConnectionInput: {
      /** @description Shown to people. */
      readonly name?: string;
      /** @description Host name or address, without protocol and port. */
      readonly host: string;
      /**
       * @description TCP port.
       * @default 21
       */
      readonly port?: number;
      /** @description Login name. */
      readonly username: string;
      /**
       * @description How the control connection is encrypted.
       * @default none
       * @enum {string}
       */
      readonly tls?: 'none' | 'explicit' | 'implicit';
      /**
       * @description Whether the certificate of the server must be trusted. If not, anybody in between can read everything.
       * @default true
       */
      readonly tlsVerify?: boolean;
      /**
       * @description Nothing outside of it is reachable.
       * @default /
       */
      readonly rootPath?: string;
      /** @description Of the login. Written, never shown; null takes it away. */
      readonly password?: string | null;
      /**
       * @description Whether it is switched on; if not, every operation on it is refused.
       * @default true
       */
      readonly isActive?: boolean;
      /**
       * @description Taken where a request names no path; null = the login folder.
       * @default null
       */
      readonly defaultPath?: string | null;
      /**
       * @description Limits of its own, over those of the configuration, but not above pools.hosts; of connections with one login the smallest counts.
       * @default {}
       */
      readonly pool?: {
        /** @description Open sessions to the server. */
        readonly maxSessions?: number;
        /** @description SFTP channels that share one SSH connection. */
        readonly maxChannelsPerSession?: number;
        /** @description Milliseconds until an idle session is closed. */
        readonly idleTimeoutMs?: number;
        /** @description Requests that may wait for a session. */
        readonly maxWaiting?: number;
        /** @description Milliseconds that a request waits for a session. */
        readonly acquireTimeoutMs?: number;
        /** @description Milliseconds that a login may take. */
        readonly connectTimeoutMs?: number;
        /** @description Milliseconds without a byte until a transfer fails. */
        readonly stallTimeoutMs?: number;
      };
      /**
       * @description `always` = of every file that passes; `asked` = where a request asks, or the account says `always`.
       * @default asked
       * @enum {string}
       */
      readonly digests?: 'asked' | 'always';
      /**
       * @description `readback` = what was stored is read again and compared before it takes its place; `size` = its length is.
       * @default size
       * @enum {string}
       */
      readonly verify?: 'size' | 'readback';
      /**
       * @description Certificates in PEM form that are trusted beside the usual ones.
       * @default null
       */
      readonly tlsCa?: string | null;
      /**
       * @description Uploads go to a temporary name and are renamed.
       * @default true
       */
      readonly atomicUploads?: boolean;
      /** @description Identifier. */
      readonly id?: string;
      /**
       * @description Protocol.
       * @constant
       */
      readonly type?: 'ftp';
    };
    readonly HostKeyRequest: {
      /** @description SHA-256 fingerprint, as OpenSSH shows it. */
      readonly fingerprint: string;
      /**
       * @description In place of the others.
       * @default false
       */
      readonly replace?: boolean;
    };
    readonly HostKeysAnswer: {
      /** @description Pinned fingerprints; with none, the first one shown is trusted and pinned. */
      readonly hostKeys: readonly string[];
      /** @description They were learned from the first login. */
      readonly learned: boolean;
      /** @description What the server announces on sessions of a trusted key, and has proven to be its own. */
      readonly announced: readonly components['schemas']['AnnouncedHostKey'][];
    };
    readonly KeyPair: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Shown to people. */
      readonly name: string;
      /**
       * @description Algorithm.
       * @constant
       */
      readonly type: 'ed25519';
      /** @description What the server is given. */
      readonly publicKey: string;
      /** @description SHA-256 fingerprint, as OpenSSH shows it. */
      readonly fingerprint: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
      /** @description Connections that use it. */
      readonly usedBy: readonly string[];
    };
    readonly KeyPairsAnswer: {
      /** @description The key pairs. */
      readonly keyPairs: readonly components['schemas']['KeyPair'][];
    };
    readonly KnownFilesAnswer: {
      /** @description The files. */
      readonly files: readonly {
        /** @description Path below the watched folder. */
        readonly path: string;
        /** @description The exact bytes of a name that is not UTF-8, as base64. */
        readonly rawName?: string;
        /**
         * @description `known`, `waiting` until it has settled, or `changing`.
         * @enum {string}
         */
        readonly state: 'known' | 'waiting' | 'changing';
        /** @description Bytes. */
        readonly size: number;
        /**
         * Format: date-time
         * @description Time of the last change, UTC.
         */
        readonly modifiedAt: string;
      }[];
      /** @description How many there are. */
      readonly total: number;
    };
    readonly LiveTransfersAnswer: {
      /** @description Newest first. */
      readonly transfers: readonly components['schemas']['ManagedTransfer'][];
    };
    readonly LoginAnswer: {
      /** @description The account. */
      readonly account: components['schemas']['AccountName'];
      /** @description The session that has begun. */
      readonly session: components['schemas']['LoginSession'];
      /** @description To be sent as `X-CSRF-Token` with every request but GET and HEAD. */
      readonly csrfToken: string;
    };
    readonly LoginRequest: {
      /** @description E-mail address of the account. */
      readonly email: string;
      /** @description The password of the account. */
      readonly password: string;
      /** @description Six digits of the authenticator, or a recovery code. */
      readonly code?: string;
    };
    readonly LoginSession: {
      /** @description Identifier. */
      readonly id: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
      /**
       * Format: date-time
       * @description The last request.
       */
      readonly lastSeenAt: string;
      /**
       * Format: date-time
       * @description When it ends.
       */
      readonly expiresAt: string;
      /** @description Where the request came from. */
      readonly address: string;
      /** @description The browser. */
      readonly userAgent: string;
      /** @description Whether it is the session of this request. */
      readonly isCurrent: boolean;
    };
    readonly ManagedConnection:
      | components['schemas']['SftpConnection']
      | components['schemas']['FtpConnection']
      | components['schemas']['S3Connection'];
    readonly ManagedConnectionsAnswer: {
      /** @description All connections of the account. */
      readonly connections: readonly components['schemas']['ManagedConnection'][];
      /** @description How many connections the plan has room for; 0 = unlimited. */
      readonly limit: number;
    };
    readonly ManagedJob: {
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
      /** @description What it was told beside where the files are and go. */
      readonly settings: {
        /**
         * @description Only files that one of these globs takes: of the path below the folder where it holds `/` or `**`, else of the name.
         * @default []
         */
        readonly include: readonly string[];
        /**
         * @description Not files and folders that one of these globs takes.
         * @default []
         */
        readonly exclude: readonly string[];
        /**
         * @description What a `copy` or `move` does with a file that stands at the destination; a `sync` replaces it.
         * @default replace
         * @enum {string}
         */
        readonly onConflict: 'replace' | 'skip' | 'newer' | 'rename' | 'fail';
        /**
         * @description How a `sync` tells that a file has not changed; `digest` reads both.
         * @default size-and-time
         * @enum {string}
         */
        readonly compare: 'size-and-time' | 'size' | 'digest';
        /**
         * @description A `sync` deletes what the source does not have, after all else.
         * @default false
         */
        readonly deleteExtra: boolean;
        /**
         * @description With more to delete than this, nothing is deleted.
         * @default 1000
         */
        readonly maxDeletes: number;
        /**
         * @description Of all its files together; 0 = as fast as it goes.
         * @default 0
         */
        readonly bytesPerSecond: number;
        /**
         * @description Tells what would be done, and does nothing.
         * @default false
         */
        readonly dryRun: boolean;
        /** @description URL that receives `job.finished` when it has ended, signed with the secret of the account. */
        readonly webhookUrl: string | null;
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
        /** @description With `deleteExtra`: deletes although the source is empty, or has lost more than half of its files since the last run. */
        readonly allowEmptySource?: boolean;
      };
      /** @description Of the time that it has run. */
      readonly filesPerSecond: number;
      /** @description Whether all its folders have been listed: `counts` grow no further then. */
      readonly isListed: boolean;
      /** @description The API key that began it; null = the dashboard, or a schedule. */
      readonly key: {
        /** @description Its id. */
        readonly id: string;
        /** @description Its name. */
        readonly name: string;
      } | null;
    };
    readonly ManagedJobsAnswer: {
      /** @description Newest first. */
      readonly jobs: readonly components['schemas']['ManagedJob'][];
      /** @description Where the next page begins; null = there is none. */
      readonly nextCursor: string | null;
    };
    readonly ManagedSchedule: {
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
      /**
       * Format: date-time
       * @description When that run was due; null = it began out of turn.
       */
      readonly lastDueAt: string | null;
      /** @description The job that it began last; null = none, or no longer kept. */
      readonly lastJob: {
        /** @description Its id. */
        readonly id: string;
        /**
         * @description As it is now.
         * @enum {string}
         */
        readonly state: 'queued' | 'running' | 'paused' | 'succeeded' | 'partly_failed' | 'failed' | 'cancelled';
        /** @description Files that failed. */
        readonly failed: number;
        /** @description What ended all of it. */
        readonly error: string | null;
      } | null;
      /** @description The API key whose rights its jobs have; null = those of the owner. */
      readonly key: {
        /** @description Its id. */
        readonly id: string;
        /** @description Its name. */
        readonly name: string;
      } | null;
    };
    readonly ManagedSchedulesAnswer: {
      /** @description Oldest first. */
      readonly schedules: readonly components['schemas']['ManagedSchedule'][];
    };
    readonly ManagedTransfer: {
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
      /** @description The job that it is of. */
      readonly jobId: string | null;
      /** @description The link that it came by, without a key of its own. */
      readonly linkId: string | null;
      /** @description The code of the error, as `X-Error-Code` carries it. */
      readonly errorCode: string | null;
      /** @description How far it is; there while it runs. */
      readonly live?: {
        /** @description Bytes moved so far. */
        readonly bytes: number;
        /** @description Bytes in all; null where nobody knows. */
        readonly totalBytes: number | null;
        /** @description Of the last seconds. */
        readonly bytesPerSecond: number;
        /** @description What it does now. */
        readonly step: string;
        /**
         * Format: date-time
         * @description When it began.
         */
        readonly startedAt: string;
      };
    };
    readonly ManagedTransfersAnswer: {
      /** @description In the order asked for. */
      readonly transfers: readonly components['schemas']['ManagedTransfer'][];
      /** @description Where the next page begins; null = there is none. */
      readonly nextCursor: string | null;
    };
    readonly ManagedWatchedFolder: {
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
      readonly excludePattern: string | null;
      /** @description Name of a marker file: a file is reported only once its marker is there too. */
      readonly doneFile: string | null;
      /**
       * @description Whether the files of the first check are reported, or are the baseline.
       * @enum {string}
       */
      readonly initial: 'ignore' | 'report';
      /** @description Whether sub-folders are watched too. */
      readonly recursive: boolean;
      /** @description Files younger than this are not reported yet. */
      readonly minAgeSeconds: number;
      /**
       * @description What happens to a file once its event was delivered; `move` and `delete` need the scope `write`.
       * @enum {string}
       */
      readonly afterDelivery: 'keep' | 'move' | 'delete';
      /** @description Folder for `afterDelivery: move`. */
      readonly moveTo: string | null;
      /** @description Raise an alarm when no file came for this long. */
      readonly expectEveryMinutes: number | null;
      /** @description Where its files are copied before their event is sent. */
      readonly copyTo: components['schemas']['CopyTo'] | null;
      /**
       * Format: date-time
       * @description When it is checked next.
       */
      readonly nextCheckAt: string;
      /**
       * Format: date-time
       * @description When the first check went through.
       */
      readonly baselineAt: string | null;
      /**
       * Format: date-time
       * @description When a check last went through.
       */
      readonly lastSuccessAt: string | null;
      /**
       * Format: date-time
       * @description When a file was last reported.
       */
      readonly lastDetectionAt: string | null;
      /**
       * Format: date-time
       * @description When it was last told that no file came.
       */
      readonly alarmedAt: string | null;
      /**
       * Format: date-time
       * @description Since when every check has failed.
       */
      readonly failingSince: string | null;
      /** @description Checks that have failed in a row. */
      readonly failures: number;
      /** @description The code of the error, as `X-Error-Code` carries it. */
      readonly errorCode: string | null;
      /** @description What went wrong. */
      readonly errorMessage: string | null;
      /**
       * Format: date-time
       * @description When the receiver answered 410: nothing is sent any more.
       */
      readonly deliveriesEndedAt: string | null;
    };
    readonly ManagedWatchedFoldersAnswer: {
      /** @description The watched folders. */
      readonly watchedFolders: readonly components['schemas']['ManagedWatchedFolder'][];
    };
    readonly NewApiKey: {
      /** @description Shown to people. */
      readonly name: string;
      /** @description What the key may do. */
      readonly scopes?: readonly ('read' | 'write' | 'exec' | 'watch' | 'admin')[];
      /** @description Connections that the key is for; empty = all. */
      readonly connections?: readonly string[];
      /** @description Addresses and CIDR blocks that the key may be used from; empty = all. */
      readonly allowedIps?: readonly string[];
      /** @description When it ends; null = never. */
      readonly expiresAt?: string | null;
    };
    readonly NewKeyAnswer: {
      /** @description The API key, without the key itself. */
      readonly apiKey: components['schemas']['ApiKey'];
      /** @description The API key; shown this once. */
      readonly key: string;
    };
    readonly NewKeyPair: {
      /** @description Shown to people. */
      readonly name: string;
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
    readonly Overview: {
      /** @description Sums of today, by the clocks of the zone. */
      readonly today: {
        /** @description Operations, those that run included. */
        readonly transfers: number;
        /** @description Those that failed. */
        readonly failed: number;
        /** @description Those that run now. */
        readonly pending: number;
        /** @description Of the operations: lists, look-ups and polls. */
        readonly lookups: number;
        /** @description Those of them that failed. */
        readonly failedLookups: number;
        /** @description Bytes read from remote servers. */
        readonly bytesIn: number;
        /** @description Bytes sent to remote servers. */
        readonly bytesOut: number;
        /**
         * Format: date-time
         * @description When the day began.
         */
        readonly from: string;
      };
      /** @description The last 24 hours, oldest first. */
      readonly hours: readonly {
        /**
         * Format: date-time
         * @description Begin of the hour.
         */
        readonly from: string;
        /** @description Operations that have ended. */
        readonly transfers: number;
        /** @description Those that failed. */
        readonly failed: number;
        /** @description Bytes moved. */
        readonly bytes: number;
      }[];
      /** @description What needs attention, worst first. */
      readonly attention: readonly {
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
        /**
         * @description `bad` = something does not work now; `warn` = it soon will not.
         * @enum {string}
         */
        readonly severity: 'bad' | 'warn';
        /** @description In words. */
        readonly text: string;
        /** @description Name of what it is about; null where it is about none. */
        readonly name: string | null;
        /** @description The error that was met. */
        readonly error: string | null;
        /** @description How many there are, or actions that are used; null where nothing is counted. */
        readonly count: number | null;
        /** @description Actions of the plan a month; null where it is about something else. */
        readonly limit: number | null;
        /**
         * Format: date-time
         * @description When it was due, or when it ends; null where it has no time.
         */
        readonly at: string | null;
        /** @description The connection, where it is about one. */
        readonly connectionId?: string;
        /** @description The watched folder, where it is about one. */
        readonly watchedFolderId?: string;
        /** @description The schedule, where it is about one. */
        readonly scheduleId?: string;
        /** @description The API key, where it is about one. */
        readonly apiKeyId?: string;
      }[];
    };
    readonly PasswordAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
      /** @description How many sessions were ended. */
      readonly revokedSessions: number;
    };
    readonly PasswordRequest: {
      /** @description The password of the account. */
      readonly password: string;
    };
    readonly PoolLimits: {
      /** @description Open sessions to the server. */
      readonly maxSessions?: number;
      /** @description SFTP channels that share one SSH connection. */
      readonly maxChannelsPerSession?: number;
      /** @description Milliseconds until an idle session is closed. */
      readonly idleTimeoutMs?: number;
      /** @description Requests that may wait for a session. */
      readonly maxWaiting?: number;
      /** @description Milliseconds that a request waits for a session. */
      readonly acquireTimeoutMs?: number;
      /** @description Milliseconds that a login may take. */
      readonly connectTimeoutMs?: number;
      /** @description Milliseconds without a byte until a transfer fails. */
      readonly stallTimeoutMs?: number;
    };
    readonly PoolsAnswer: {
      /** @description One for each server and login that has sessions. */
      readonly pools: readonly {
        /** @description Host and port. */
        readonly host: string;
        /** @description Connections that use it. */
        readonly connectionIds: readonly string[];
        /** @description Open sessions. */
        readonly open: number;
        /** @description Sessions and SFTP channels in use. */
        readonly leased: number;
        /** @description Operations that wait for a session. */
        readonly waiting: number;
        /** @description How many sessions there may be. */
        readonly maxSessions: number;
      }[];
      /** @description One for each of what all accounts share. */
      readonly shares: readonly {
        /**
         * @description As under `budgets` in the configuration.
         * @enum {string}
         */
        readonly name: 'memoryBytes' | 'requests' | 'waiting' | 'sessions' | 'lookups';
        /** @description What the account holds now. */
        readonly used: number;
        /** @description For all accounts together. */
        readonly capacity: number;
        /** @description How often the account was refused more, lately. */
        readonly refused: number;
      }[];
    };
    readonly QueuedAnswer: {
      /** @description False when it waits or runs already. */
      readonly queued: boolean;
    };
    readonly Receiver: {
      /** @description Id of the watched folder; null of a webhook. */
      readonly watchedFolderId: string | null;
      /** @description Id of the webhook; null of the receiver of a watched folder. */
      readonly webhookId: string | null;
      /** @description Deliveries that were given up. */
      readonly dead: number;
      /** @description Deliveries that have failed and are tried again. */
      readonly retrying: number;
      /**
       * Format: date-time
       * @description When the receiver last took one.
       */
      readonly lastDeliveredAt: string | null;
      /**
       * Format: date-time
       * @description Since when nothing of what was tried has arrived; null = the last try did.
       */
      readonly failingSince: string | null;
      /** @description What the receiver answered to the last failed delivery that was not taken since. */
      readonly lastStatus: number | null;
      /** @description What went wrong with that. */
      readonly lastErrorMessage: string | null;
    };
    readonly ReceiversAnswer: {
      /** @description One for each. */
      readonly receivers: readonly components['schemas']['Receiver'][];
    };
    readonly RecoveryCodesAnswer: {
      /** @description Each stands in once for a code; shown this once. */
      readonly recoveryCodes: readonly string[];
    };
    readonly ReplayAnswer: {
      /** @description How many are sent, or would be. */
      readonly count: number;
      /** @description Whether more match than one request sends; ask again for those. */
      readonly isMore: boolean;
    };
    readonly ReplayRequest: {
      /**
       * @description Id of a watched folder.
       * @example 0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001
       */
      readonly watchedFolderId?: string;
      /**
       * @description Id of a webhook.
       * @example 0199c2f4-6f5e-7c1a-9a51-0d2f64b1f001
       */
      readonly webhookId?: string;
      /**
       * @description Id of a job.
       * @example 0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001
       */
      readonly jobId?: string;
      /**
       * @description Id of a connection that the event is about.
       * @example warehouse
       */
      readonly connectionId?: string;
      /**
       * @description Kind of event.
       * @example watched_folder.files_detected
       */
      readonly type?: string;
      /**
       * @description A part of the URL of the receiver.
       * @example example.com
       */
      readonly url?: string;
      /**
       * @description Made then or later: an ISO 8601 date-time, or Unix seconds.
       * @example 2026-01-31T12:00:00.000Z
       */
      readonly since?: string;
      /**
       * @description Made before: an ISO 8601 date-time, or Unix seconds.
       * @example 2026-01-31T14:00:00.000Z
       */
      readonly until?: string;
      /**
       * @description Those that ended so.
       * @enum {string}
       */
      readonly state: 'dead' | 'delivered' | 'cancelled';
      /**
       * @description Only count them.
       * @default false
       */
      readonly dryRun?: boolean;
    };
    readonly RevokedAnswer: {
      /** @description How many sessions were ended. */
      readonly revoked: number;
    };
    readonly RevokedKeyAnswer: {
      /** @description The API key, without the key itself. */
      readonly apiKey: components['schemas']['ApiKey'];
      /** @description Whether the configuration file gives it back at the next start. */
      readonly comesBack: boolean;
    };
    readonly RotateRequest: {
      /**
       * @description How long the former key still works.
       * @default 60
       */
      readonly overlapMinutes?: number;
    };
    readonly RotatedKeyAnswer: {
      /** @description The API key, without the key itself. */
      readonly apiKey: components['schemas']['ApiKey'];
      /** @description The API key; shown this once. */
      readonly key: string;
      /** @description The former key, as it is now. */
      readonly previous: components['schemas']['ApiKey'];
    };
    readonly S3Connection: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Shown to people. */
      readonly name: string;
      /** @description Whether it is switched on. */
      readonly isActive: boolean;
      /**
       * @description `configuration` for those that the configuration file lists: they can be changed only there.
       * @enum {string}
       */
      readonly source: 'configuration' | 'dashboard';
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      readonly updatedAt: string;
      /** @description The last test; null before it. */
      readonly lastTest: {
        /**
         * Format: date-time
         * @description When it was tested.
         */
        readonly testedAt: string;
        /** @description Whether every step went through. */
        readonly isOk: boolean;
        /** @description The first step that failed. */
        readonly failedStep: string | null;
        /** @description What went wrong. */
        readonly error: string | null;
      } | null;
      /** @description What was learned of the server; null before that. */
      readonly card?: components['schemas']['ServerCard'] | null;
      /**
       * @description Protocol.
       * @constant
       */
      readonly type: 's3';
      /** @description Taken where a request names no path; null = the login folder. */
      readonly defaultPath: string | null;
      /** @description Limits of its own, over those of the configuration, but not above pools.hosts; of connections with one login the smallest counts. */
      readonly pool: components['schemas']['PoolLimits'];
      /**
       * @description `always` = of every file that passes; `asked` = where a request asks, or the account says `always`.
       * @enum {string}
       */
      readonly digests: 'asked' | 'always';
      /**
       * @description `readback` = what was stored is read again and compared before it takes its place; `size` = its length is.
       * @enum {string}
       */
      readonly verify: 'size' | 'readback';
      /** @description URL of the store; null = AWS. */
      readonly endpoint: string | null;
      /** @description Region of the store. */
      readonly region: string;
      /** @description Name of the bucket, which must exist. */
      readonly bucket: string;
      /** @description Of every key; the root of the connection. */
      readonly prefix: string;
      /** @description Id of the access key. */
      readonly accessKeyId: string;
      /** @description The bucket is in the path, not in the host name. */
      readonly forcePathStyle: boolean;
      /**
       * @description `sdk` = the uploader of AWS, which gathers parts in memory, for a store that does not take streamed ones.
       * @enum {string}
       */
      readonly uploader: 'streamed' | 'sdk';
      /** @description Whether the certificate of the server must be trusted. If not, anybody in between can read everything. */
      readonly tlsVerify: boolean;
      /** @description Certificates in PEM form that are trusted beside the usual ones. */
      readonly tlsCa: string | null;
      /** @description Always /: `prefix` does that work. */
      readonly rootPath: string;
      /** @description Always: an object appears whole or not at all. */
      readonly atomicUploads: boolean;
      /** @description Which of them are set. */
      readonly secrets: {
        /** @description Whether there is one. */
        readonly secretAccessKey: boolean;
        /** @description Whether there is one. */
        readonly sessionToken: boolean;
      };
    };
    readonly S3ConnectionInput: {
      /** @description Shown to people. */
      readonly name?: string;
      /**
       * @description URL of the store; null = AWS.
       * @default null
       */
      readonly endpoint?: string | null;
      /**
       * @description Region of the store.
       * @default us-east-1
       */
      readonly region?: string;
      /** @description Name of the bucket, which must exist. */
      readonly bucket: string;
      /**
       * @description Of every key; the root of the connection.
       * @default
       */
      readonly prefix?: string;
      /** @description Id of the access key. */
      readonly accessKeyId: string;
      /**
       * @description The bucket is in the path, not in the host name.
       * @default true
       */
      readonly forcePathStyle?: boolean;
      /**
       * @description Whether the certificate of the server must be trusted. If not, anybody in between can read everything.
       * @default true
       */
      readonly tlsVerify?: boolean;
      /** @description Of the access key. Written, never shown. */
      readonly secretAccessKey: string | null;
      /** @description Of temporary credentials. Written, never shown; null takes it away. */
      readonly sessionToken?: string | null;
      /**
       * @description Whether it is switched on; if not, every operation on it is refused.
       * @default true
       */
      readonly isActive?: boolean;
      /**
       * @description Taken where a request names no path; null = the login folder.
       * @default null
       */
      readonly defaultPath?: string | null;
      /**
       * @description Limits of its own, over those of the configuration, but not above pools.hosts; of connections with one login the smallest counts.
       * @default {}
       */
      readonly pool?: {
        /** @description Open sessions to the server. */
        readonly maxSessions?: number;
        /** @description SFTP channels that share one SSH connection. */
        readonly maxChannelsPerSession?: number;
        /** @description Milliseconds until an idle session is closed. */
        readonly idleTimeoutMs?: number;
        /** @description Requests that may wait for a session. */
        readonly maxWaiting?: number;
        /** @description Milliseconds that a request waits for a session. */
        readonly acquireTimeoutMs?: number;
        /** @description Milliseconds that a login may take. */
        readonly connectTimeoutMs?: number;
        /** @description Milliseconds without a byte until a transfer fails. */
        readonly stallTimeoutMs?: number;
      };
      /**
       * @description `always` = of every file that passes; `asked` = where a request asks, or the account says `always`.
       * @default asked
       * @enum {string}
       */
      readonly digests?: 'asked' | 'always';
      /**
       * @description `readback` = what was stored is read again and compared before it takes its place; `size` = its length is.
       * @default size
       * @enum {string}
       */
      readonly verify?: 'size' | 'readback';
      /**
       * @description `sdk` = the uploader of AWS, which gathers parts in memory, for a store that does not take streamed ones.
       * @default streamed
       * @enum {string}
       */
      readonly uploader?: 'streamed' | 'sdk';
      /**
       * @description Certificates in PEM form that are trusted beside the usual ones.
       * @default null
       */
      readonly tlsCa?: string | null;
      /** @description Identifier. */
      readonly id?: string;
      /**
       * @description Protocol.
       * @constant
       */
      readonly type?: 's3';
    };
    readonly ScannedKeysAnswer: {
      /** @description What the server shows now. */
      readonly shown: readonly {
        /** @description SHA-256 fingerprint, as OpenSSH shows it. */
        readonly fingerprint: string;
        /** @description Whether it is pinned. */
        readonly isPinned: boolean;
      }[];
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
    readonly SecretAnswer: {
      /** @description The secret. */
      readonly secret: string;
    };
    readonly ServerCard: {
      /**
       * Format: date-time
       * @description When it was tested.
       */
      readonly testedAt?: string;
    } & {
      readonly [key: string]: unknown;
    };
    readonly SessionsAnswer: {
      /** @description Newest first. */
      readonly sessions: readonly components['schemas']['LoginSession'][];
    };
    readonly SftpConnection: {
      /** @description Identifier. */
      readonly id: string;
      /** @description Shown to people. */
      readonly name: string;
      /** @description Whether it is switched on. */
      readonly isActive: boolean;
      /**
       * @description `configuration` for those that the configuration file lists: they can be changed only there.
       * @enum {string}
       */
      readonly source: 'configuration' | 'dashboard';
      /**
       * Format: date-time
       * @description When it was made.
       */
      readonly createdAt: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      readonly updatedAt: string;
      /** @description The last test; null before it. */
      readonly lastTest: {
        /**
         * Format: date-time
         * @description When it was tested.
         */
        readonly testedAt: string;
        /** @description Whether every step went through. */
        readonly isOk: boolean;
        /** @description The first step that failed. */
        readonly failedStep: string | null;
        /** @description What went wrong. */
        readonly error: string | null;
      } | null;
      /** @description What was learned of the server; null before that. */
      readonly card?: components['schemas']['ServerCard'] | null;
      /**
       * @description Protocol.
       * @constant
       */
      readonly type: 'sftp';
      /** @description Taken where a request names no path; null = the login folder. */
      readonly defaultPath: string | null;
      /** @description Limits of its own, over those of the configuration, but not above pools.hosts; of connections with one login the smallest counts. */
      readonly pool: components['schemas']['PoolLimits'];
      /**
       * @description `always` = of every file that passes; `asked` = where a request asks, or the account says `always`.
       * @enum {string}
       */
      readonly digests: 'asked' | 'always';
      /**
       * @description `readback` = what was stored is read again and compared before it takes its place; `size` = its length is.
       * @enum {string}
       */
      readonly verify: 'size' | 'readback';
      /** @description Host name or address, without protocol and port. */
      readonly host: string;
      /** @description TCP port. */
      readonly port: number;
      /** @description Login name. */
      readonly username: string;
      /** @description Nothing outside of it is reachable. */
      readonly rootPath: string;
      /** @description Uploads go to a temporary name and are renamed. */
      readonly atomicUploads: boolean;
      /**
       * @description `legacy` also allows algorithms that old servers need: SHA-1 and CBC.
       * @enum {string}
       */
      readonly algorithms: 'default' | 'legacy';
      /**
       * @description Keys that the server announces and proves on a session of a trusted one: `ask` = they wait to be accepted; `accept` = they are trusted at once, and those that it has not announced for a week no longer.
       * @enum {string}
       */
      readonly hostKeyRotation: 'ask' | 'accept';
      /** @description A key pair of the gateway, in place of a private key. */
      readonly keyPairId: string | null;
      /** @description Pinned fingerprints; with none, the first one shown is trusted and pinned. */
      readonly hostKeys: readonly string[];
      /** @description They were learned from the first login. */
      readonly hostKeysLearned: boolean;
      /** @description Which of them are set. */
      readonly secrets: {
        /** @description Whether there is one. */
        readonly password: boolean;
        /** @description Whether there is one. */
        readonly privateKey: boolean;
        /** @description Whether there is one. */
        readonly passphrase: boolean;
      };
    };
    readonly SftpConnectionInput: {
      /** @description Shown to people. */
      readonly name?: string;
      /** @description Host name or address, without protocol and port. */
      readonly host: string;
      /**
       * @description TCP port.
       * @default 22
       */
      readonly port?: number;
      /** @description Login name. */
      readonly username: string;
      /**
       * @description Nothing outside of it is reachable.
       * @default /
       */
      readonly rootPath?: string;
      /** @description Of the login. Written, never shown; null takes it away. */
      readonly password?: string | null;
      /** @description In PEM, OpenSSH or PuTTY form. Written, never shown; null takes it away. */
      readonly privateKey?: string | null;
      /** @description Of the private key. Written, never shown; null takes it away. */
      readonly passphrase?: string | null;
      /**
       * @description A key pair of the gateway, in place of a private key.
       * @default null
       */
      readonly keyPairId?: string | null;
      /** @description Pinned fingerprints; with none, the first one shown is trusted and pinned. */
      readonly hostKeys?: readonly string[];
      /**
       * @description Whether it is switched on; if not, every operation on it is refused.
       * @default true
       */
      readonly isActive?: boolean;
      /**
       * @description Taken where a request names no path; null = the login folder.
       * @default null
       */
      readonly defaultPath?: string | null;
      /**
       * @description Limits of its own, over those of the configuration, but not above pools.hosts; of connections with one login the smallest counts.
       * @default {}
       */
      readonly pool?: {
        /** @description Open sessions to the server. */
        readonly maxSessions?: number;
        /** @description SFTP channels that share one SSH connection. */
        readonly maxChannelsPerSession?: number;
        /** @description Milliseconds until an idle session is closed. */
        readonly idleTimeoutMs?: number;
        /** @description Requests that may wait for a session. */
        readonly maxWaiting?: number;
        /** @description Milliseconds that a request waits for a session. */
        readonly acquireTimeoutMs?: number;
        /** @description Milliseconds that a login may take. */
        readonly connectTimeoutMs?: number;
        /** @description Milliseconds without a byte until a transfer fails. */
        readonly stallTimeoutMs?: number;
      };
      /**
       * @description `always` = of every file that passes; `asked` = where a request asks, or the account says `always`.
       * @default asked
       * @enum {string}
       */
      readonly digests?: 'asked' | 'always';
      /**
       * @description `readback` = what was stored is read again and compared before it takes its place; `size` = its length is.
       * @default size
       * @enum {string}
       */
      readonly verify?: 'size' | 'readback';
      /**
       * @description Uploads go to a temporary name and are renamed.
       * @default true
       */
      readonly atomicUploads?: boolean;
      /**
       * @description `legacy` also allows algorithms that old servers need: SHA-1 and CBC.
       * @default default
       * @enum {string}
       */
      readonly algorithms?: 'default' | 'legacy';
      /**
       * @description Keys that the server announces and proves on a session of a trusted one: `ask` = they wait to be accepted; `accept` = they are trusted at once, and those that it has not announced for a week no longer.
       * @default ask
       * @enum {string}
       */
      readonly hostKeyRotation?: 'ask' | 'accept';
      /** @description Identifier. */
      readonly id?: string;
      /**
       * @description Protocol.
       * @constant
       */
      readonly type?: 'sftp';
    };
    readonly SuccessAnswer: {
      /**
       * @description Always true; a failure is an error answer.
       * @constant
       */
      readonly success: true;
    };
    readonly TestDraftRequest: {
      /** @description The connection as it would be saved. */
      readonly connection: components['schemas']['ConnectionDraft'];
      /** @description Connection that absent secrets come from. */
      readonly basedOn?: string;
      /**
       * @description Also write, rename and delete a small file in the default path.
       * @default false
       */
      readonly probe?: boolean;
    };
    readonly TestReport: {
      /** @description Whether every step went through. */
      readonly isOk: boolean;
      /**
       * Format: date-time
       * @description When it was tested.
       */
      readonly testedAt: string;
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs: number;
      /** @description In their order; after a failing one the others are skipped. */
      readonly steps: readonly components['schemas']['TestStep'][];
      /** @description The host key that the server showed; null where it did not come so far. */
      readonly hostKey: {
        /** @description SHA-256 fingerprint, as OpenSSH shows it. */
        readonly fingerprint: string;
        /**
         * @description How it compares with the pinned ones.
         * @enum {string}
         */
        readonly state: 'pinned' | 'new' | 'mismatch';
      } | null;
      /** @description The TLS certificate of the server; null where there is none. */
      readonly certificate: {
        /** @description Whose it is. */
        readonly subject: string;
        /** @description Who signed it. */
        readonly issuer: string;
        /**
         * Format: date-time
         * @description When it expires.
         */
        readonly validTo: string;
        /** @description SHA-256 fingerprint. */
        readonly fingerprint: string;
        /** @description Version of TLS. */
        readonly protocol: string;
      } | null;
      /** @description What was learned of the server; null before that. */
      readonly card: components['schemas']['ServerCard'] | null;
    };
    readonly TestRequest: {
      /**
       * @description Also write, rename and delete a small file in the default path.
       * @default false
       */
      readonly probe?: boolean;
    };
    readonly TestStep: {
      /**
       * @description The step.
       * @enum {string}
       */
      readonly name:
        'resolve' | 'connect' | 'host_key' | 'certificate' | 'login' | 'list' | 'write' | 'rename' | 'delete';
      /**
       * @description State.
       * @enum {string}
       */
      readonly status: 'ok' | 'failed' | 'skipped';
      /** @description Milliseconds from the start of the operation to its end. */
      readonly durationMs?: number;
      /** @description What was found. */
      readonly detail?: string;
      /** @description What went wrong, at which step, field or path, and what would be right. */
      readonly error?: string;
      /** @description The code of the error. */
      readonly code?: string;
      /** @description What to do about it. */
      readonly advice?: string;
    };
    readonly TotpAnswer: {
      /** @description The secret. */
      readonly secret: string;
      /** @description `otpauth://`, for a QR code. */
      readonly uri: string;
    };
    readonly TransferDetail: {
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
      /** @description The code of the error, as `X-Error-Code` carries it. */
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
      /** @description How far it is; there while it runs. */
      readonly live?: {
        /** @description Bytes moved so far. */
        readonly bytes: number;
        /** @description Bytes in all; null where nobody knows. */
        readonly totalBytes: number | null;
        /** @description Of the last seconds. */
        readonly bytesPerSecond: number;
        /** @description What it does now. */
        readonly step: string;
        /**
         * Format: date-time
         * @description When it began.
         */
        readonly startedAt: string;
      };
      /** @description The API key that asked; null = the dashboard, or the gateway itself. */
      readonly key: {
        /** @description Its id. */
        readonly id: string;
        /** @description Its name. */
        readonly name: string;
      } | null;
      /** @description Its receipt, which `GET /api/transfers/{id}/receipt` has; null = it has none. */
      readonly receipt: {
        /** @description Its number in the chain of the account. */
        readonly sequence: number;
        /** @description The `kid` of the key that signed it, which `/.well-known/jwks.json` has. */
        readonly keyId: string;
      } | null;
    };
    readonly Usage: {
      /** @description Name of the plan. */
      readonly plan: string;
      /** @description YYYY-MM, UTC. */
      readonly month: string;
      /** @description Actions of this month. */
      readonly used: number;
      /** @description Actions of the plan a month; 0 = unlimited. */
      readonly limit: number;
      /** @description What the month comes to when it goes on like the last seven days. */
      readonly forecast: number;
      /**
       * Format: date-time
       * @description When the actions will be used up; null = not this month.
       */
      readonly runsOutAt: string | null;
      /** @description Days of the month that have any, in order. */
      readonly days: readonly {
        /**
         * Format: date
         * @description YYYY-MM-DD, UTC.
         */
        readonly day: string;
        /** @description Actions of the day. */
        readonly actions: number;
        /** @description Operations that failed. */
        readonly failed: number;
      }[];
      /** @description Connections against the plan. */
      readonly connections: {
        /** @description Connections of the account. */
        readonly used: number;
        /** @description Connections of the plan; 0 = unlimited. */
        readonly limit: number;
      };
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
    readonly WebhookSecretAnswer: {
      /** @description The secret, `whsec_…`. */
      readonly secret: string;
    };
    readonly ShowOverviewQuery: {
      /**
       * @description Of the days: a name of the IANA database.
       * @default UTC
       */
      readonly timeZone?: string;
    };
    readonly ShowFiguresQuery: {
      /**
       * @description How far back.
       * @default 24h
       * @enum {string}
       */
      readonly range?: '24h' | '7d' | '30d' | '90d';
      /**
       * @description Of the days: a name of the IANA database.
       * @default UTC
       */
      readonly timeZone?: string;
    };
    readonly ListAuditQuery: {
      /**
       * @description Items a page.
       * @default 50
       */
      readonly limit?: number;
      /** @description `nextCursor` of the page before. */
      readonly cursor?: string;
      /** @description Only this area (`connection`) or action (`connection.update`). */
      readonly action?: string;
    };
    readonly DeleteConnectionQuery: {
      /**
       * @description Delete it although others depend on it.
       * @default false
       */
      readonly confirm?: boolean;
    };
    readonly ListConnectionHealthQuery: {
      /**
       * @description How many of the last days.
       * @default 0
       */
      readonly days?: number;
      /**
       * @description Of the days: a name of the IANA database.
       * @default UTC
       */
      readonly timeZone?: string;
    };
    readonly ListManagedTransfersQuery: {
      /** @description Id of a connection. */
      readonly connectionId?: string;
      /**
       * @description State.
       * @enum {string}
       */
      readonly status?: 'success' | 'failed' | 'pending';
      /** @description Kind of transfer. */
      readonly type?: string;
      /**
       * @description `outbound` changes the remote server, `inbound` reads from it.
       * @enum {string}
       */
      readonly direction?: 'inbound' | 'outbound';
      /** @description Only newer ones: an ISO 8601 date-time, or Unix seconds. */
      readonly since?: string;
      /** @description Only older ones: an ISO 8601 date-time, or Unix seconds. */
      readonly until?: string;
      /** @description Part of the path or the name, in any case. */
      readonly search?: string;
      /** @description Only transfers of a file with this SHA-256: `sha-256:` and 64 hexadecimal digits. */
      readonly digest?: string;
      /** @description Id of the API key that asked. */
      readonly keyId?: string;
      /** @description Code of the error, as `X-Error-Code` carries it. */
      readonly errorCode?: string;
      /** @description `X-Request-Id` of the request. */
      readonly requestId?: string;
      /** @description Only those of at least so many bytes. */
      readonly minBytes?: number;
      /** @description false = without lists, look-ups and polls, unless `type` is one of them. */
      readonly lookups?: boolean;
      /**
       * @description `largest` begins with files of 1 MiB and more, `longest` with operations of a second and more; the others follow, newest first.
       * @default newest
       * @enum {string}
       */
      readonly order?: 'newest' | 'oldest' | 'largest' | 'longest';
      /**
       * @description Items a page.
       * @default 50
       */
      readonly limit?: number;
      /** @description `nextCursor` of the page before. */
      readonly cursor?: string;
    };
    readonly ExportTransfersQuery: {
      /** @description Id of a connection. */
      readonly connectionId?: string;
      /**
       * @description State.
       * @enum {string}
       */
      readonly status?: 'success' | 'failed' | 'pending';
      /** @description Kind of transfer. */
      readonly type?: string;
      /**
       * @description `outbound` changes the remote server, `inbound` reads from it.
       * @enum {string}
       */
      readonly direction?: 'inbound' | 'outbound';
      /** @description Only newer ones: an ISO 8601 date-time, or Unix seconds. */
      readonly since?: string;
      /** @description Only older ones: an ISO 8601 date-time, or Unix seconds. */
      readonly until?: string;
      /** @description Part of the path or the name, in any case. */
      readonly search?: string;
      /** @description Only transfers of a file with this SHA-256: `sha-256:` and 64 hexadecimal digits. */
      readonly digest?: string;
      /** @description Id of the API key that asked. */
      readonly keyId?: string;
      /** @description Code of the error, as `X-Error-Code` carries it. */
      readonly errorCode?: string;
      /** @description `X-Request-Id` of the request. */
      readonly requestId?: string;
      /** @description Only those of at least so many bytes. */
      readonly minBytes?: number;
      /** @description false = without lists, look-ups and polls, unless `type` is one of them. */
      readonly lookups?: boolean;
      /**
       * @description Of the file.
       * @default csv
       * @enum {string}
       */
      readonly format?: 'csv' | 'ndjson';
    };
    readonly WatchTransfersQuery: {
      /** @description true = `ended` events in place of `finished`. */
      readonly batch?: boolean;
    };
    readonly ListManagedJobsQuery: {
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
      /** @description Only those that this schedule began. */
      readonly scheduleId?: string;
      /**
       * @description Items a page.
       * @default 20
       */
      readonly limit?: number;
      /** @description `nextCursor` of the page before. */
      readonly cursor?: string;
    };
    readonly ListFeedQuery: {
      /** @description Only events of this type. */
      readonly type?: string;
      /**
       * @description Items a page.
       * @default 50
       */
      readonly limit?: number;
      /** @description `nextCursor` of the page before. */
      readonly cursor?: string;
    };
    readonly ListKnownFilesQuery: {
      /** @description The last path of the page before. */
      readonly after?: string;
      /**
       * @description Items a page.
       * @default 100
       */
      readonly limit?: number;
    };
    readonly ListDeliveriesQuery: {
      /** @description Id of a watched folder. */
      readonly watchedFolderId?: string;
      /** @description Id of a webhook. */
      readonly webhookId?: string;
      /** @description Id of a job. */
      readonly jobId?: string;
      /** @description Id of a connection that the event is about. */
      readonly connectionId?: string;
      /** @description Kind of event. */
      readonly type?: string;
      /** @description A part of the URL of the receiver. */
      readonly url?: string;
      /** @description Made then or later: an ISO 8601 date-time, or Unix seconds. */
      readonly since?: string;
      /** @description Made before: an ISO 8601 date-time, or Unix seconds. */
      readonly until?: string;
      /**
       * @description State.
       * @enum {string}
       */
      readonly state?: 'pending' | 'delivered' | 'dead' | 'cancelled';
      /**
       * @description Items a page.
       * @default 50
       */
      readonly limit?: number;
      /**
       * @description Items to pass over.
       * @default 0
       */
      readonly offset?: number;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}

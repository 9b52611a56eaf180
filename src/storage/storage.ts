/** Everything the program keeps, as its other parts see it. SQL lives behind these interfaces, in this folder alone. */
import type { Caller, Scope } from '../base/caller.js';
import type { Connection } from '../connections/connection.js';
import type { AccountConfig } from '../config/config.js';

export const TRANSFER_TYPES = [
  'upload',
  'download',
  'read',
  'write',
  'append',
  'delete',
  'move',
  'mkdir',
  'list',
  'exists',
  'copy',
  'exec',
  'poll',
] as const;
export const TRANSFER_STATUSES = ['success', 'failed', 'pending'] as const;
export type TransferType = (typeof TRANSFER_TYPES)[number];
export type TransferStatus = (typeof TRANSFER_STATUSES)[number];
export type Direction = 'outbound' | 'inbound';

/** A history item as the API shows it (interface 2.2). */
export interface TransferItem {
  readonly id: string;
  readonly connectionId: string;
  readonly type: TransferType;
  readonly direction: Direction;
  readonly filename: string;
  readonly path: string;
  readonly fileSize: number;
  readonly status: TransferStatus;
  readonly errorMessage: string | null;
  readonly durationMs: number;
  readonly createdAt: Date;
}

export interface NewTransfer {
  readonly accountId: string;
  readonly connectionId: string;
  readonly keyId: string | undefined;
  readonly requestId: string | undefined;
  readonly type: TransferType;
  readonly direction: Direction;
  readonly filename: string;
  readonly path: string;
  /** Whether it counts one toward the month. */
  readonly countsAction: boolean;
}

export interface TransferOutcome {
  readonly status: 'success' | 'failed';
  readonly fileSize: number;
  readonly errorMessage: string | null;
  readonly errorCode: string | null;
  /** The final ones, when the operation learned them later (a template, a URL's name). */
  readonly filename?: string;
  readonly path?: string;
}

export interface OpenTransfer {
  /** UUIDv7, made in the process: known before the row exists. */
  readonly id: string;
  readonly startedAt: Date;
  /** Where the file is now known to stand; a pending row shows it. */
  locate(path: string, filename: string): void;
  /** Resolves when the pending row is durable; rejects with database_away. */
  stand(): Promise<void>;
  /** Resolves when the final row is durable; rejects with database_away. Called exactly once. */
  finish(outcome: TransferOutcome): Promise<{ readonly durationMs: number }>;
}

export interface TransferFilter {
  readonly connectionId?: string;
  /** Connections the key may see; undefined = all. */
  readonly connectionIds?: readonly string[];
  readonly status?: TransferStatus;
  /** Also the values nobody writes: email, pickup. */
  readonly type?: string;
  /** Exclusive. */
  readonly since?: Date;
  readonly limit: number;
  readonly offset: number;
}

export interface History {
  /**
   * Starts an item without waiting. The pending row is written when the transfer is still running after a moment, so
   * that a short operation costs one row in one shared commit.
   */
  begin(item: NewTransfer): OpenTransfer;
  list(
    accountId: string,
    filter: TransferFilter,
  ): Promise<{ readonly transfers: readonly TransferItem[]; readonly total: number }>;
  /** undefined when unknown or another account's. */
  find(accountId: string, id: string): Promise<TransferItem | undefined>;
  /** All items of the account; fast at millions of rows. */
  count(accountId: string): Promise<number>;
  /** Rows on their way to the database and not yet durable, those of the commit under way included. */
  readonly queuedRows: number;
}

export interface Quota {
  /**
   * Takes one action of the account's month (UTC). limit 0 = unlimited, answered without a round trip (the history row
   * counts it). quota_exceeded with retryAfterMs until the next month.
   */
  take(accountId: string, limit: number): Promise<void>;
  used(accountId: string): Promise<number>;
}

export interface ApiKeyRecord extends Caller {
  readonly allowedIps: readonly string[];
  readonly expiresAt: Date | null;
}

export interface Accounts {
  /** The key's record, or undefined when unknown, expired or revoked. Cached for at most a second. */
  findKey(key: string): Promise<ApiKeyRecord | undefined>;
  /**
   * Applies the configured accounts; idempotent; removes nothing. `sandboxId`: the connection to the gateway's own
   * sandbox, whose login opens nothing else, so that a copy may have it.
   */
  provision(accounts: readonly AccountConfig[], sandboxId?: string): Promise<void>;
  /** Makes a key, stores its hash, returns it once. */
  createKey(
    accountId: string,
    key: {
      name: string;
      scopes: readonly Scope[];
      connections: readonly string[];
      allowedIps: readonly string[];
      expiresAt: Date | null;
    },
  ): Promise<string>;
  count(): Promise<number>;
  /** Whether there is an account with this address. */
  has(email: string): Promise<boolean>;
}

export interface Connections {
  /** With secrets; undefined when unknown or another account's. Cached for at most a second. */
  find(accountId: string, connectionId: string): Promise<Connection | undefined>;
  /** Without secrets, in order of creation. */
  list(accountId: string): Promise<
    readonly {
      readonly id: string;
      readonly name: string;
      readonly type: Connection['type'];
      readonly isActive: boolean;
    }[]
  >;
  count(accountId: string): Promise<number>;
  /** What the configuration says of the account's connections; null = nothing of its own. */
  allowsPrivate(accountId: string): Promise<boolean | null>;
  /** Pins the first key seen unless another was pinned meanwhile; resolves to the pinned ones. */
  pinHostKey(connectionId: string, fingerprint: string): Promise<readonly string[]>;
}

/** Answers stored under an Idempotency-Key for 24 hours, on any node. */
export interface IdempotencyStore {
  /**
   * Claims the key for this request. `fingerprint` is a hash of method, path, query and what is known of the body.
   * running: another one still works on it; mismatch: stored under another fingerprint; unknown: whoever worked on it
   * had begun, and nobody can tell how it ended. The claim of a dead node that had not begun lapses.
   */
  claim(accountId: string, key: string, fingerprint: string): Promise<IdempotencyClaim>;
}

/**
 * `begin` notes the transfer before anything is done for it; it rejects when the claim was lost meanwhile. `complete`
 * rejects when the answer could not be stored; it is stored once the database is back, and the answer then given to
 * whoever repeats the request. `abandon`: nobody knows how the transfer ended. Neither it nor `release` ever rejects.
 */
export type IdempotencyClaim =
  | {
      readonly state: 'mine';
      begin(transferId: string): Promise<void>;
      complete(answer: StoredAnswer): Promise<void>;
      release(): Promise<void>;
      abandon(): Promise<void>;
    }
  | { readonly state: 'running' }
  | { readonly state: 'unknown'; readonly transferId: string }
  | { readonly state: 'mismatch' }
  | { readonly state: 'done'; readonly answer: StoredAnswer };

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** SHA-256 of the request's body, hex, where it was hashed. */
  readonly requestDigest?: string;
}

/** Places on remotes where a dead process may have left something. */
export interface LeftoverStore {
  /** This process's tag in temporary names: 8 lower-case hex digits, unique among live nodes. */
  readonly tag: string;
  /** Durable; remembers in memory what it has already noted. */
  expectFolder(connectionId: string, folder: string): Promise<void>;
  /** Durable; returns the note's id. */
  expectMultipart(connectionId: string, path: string, uploadId: string): Promise<string>;
  forgetMultipart(note: string): Promise<void>;
  /** Notes whose process is dead (its heartbeat stopped), claimed for this one. */
  claimDead(): Promise<readonly Leftover[]>;
  /** The place is clean. */
  settle(leftover: Leftover): Promise<void>;
}

export type Leftover =
  | {
      readonly kind: 'folder';
      readonly id: string;
      readonly accountId: string;
      readonly connectionId: string;
      readonly folder: string;
      readonly tag: string;
    }
  | {
      readonly kind: 'multipart';
      readonly id: string;
      readonly accountId: string;
      readonly connectionId: string;
      readonly path: string;
      readonly uploadId: string;
    };

/** Mutual exclusion over all nodes, by name; held only for the moments of a check and a rename. */
export interface Locks {
  /**
   * Waits for the lock until `signal`, runs `work` under it, gives its result. `lost` is aborted with database_away when
   * the lock is gone before the work is done: another node may hold it from then on.
   */
  withLock<T>(name: string, signal: AbortSignal, work: (lost: AbortSignal) => Promise<T>): Promise<T>;
}

/** Requests of API keys, counted over all nodes. */
export interface RequestRates {
  /** That live, this one included, as of the last heartbeat. */
  readonly processes: number;
  /** Takes a portion of the key's running second, or of a new one: `wanted` at least, where so many are left. */
  take(keyId: string, wanted: number, limit: number): Promise<GrantedRequests>;
}

export interface GrantedRequests {
  readonly granted: number;
  /** For all nodes together. */
  readonly left: number;
  readonly endsInMs: number;
}

/** What one process holds of the sessions of a login, and what it could do with them (pools/share-messages.ts). */
export interface SessionClaim {
  readonly held: number;
  readonly waiting: number;
  readonly sessions: number;
  readonly atOnce: number;
  /** In ms since 1970, by the clock of whoever claims; as seen, by the database's. */
  readonly since: number;
  readonly isRequest: boolean;
  readonly isFresh: boolean;
}

export interface SeenSessionClaim extends SessionClaim {
  readonly isMine: boolean;
}

/** Sessions on remote servers, counted over all nodes; the claims of a node end with it. */
export interface SessionClaims {
  /** As in RequestRates. */
  readonly processes: number;
  /**
   * Shows the claims of all living nodes, this one's too and in one order for all, to `decide`, which says how many
   * sessions this one holds from now on; nobody else decides on this login meanwhile. `decide` is not called where
   * nothing is held or waited for, and nothing stays of such a claim.
   */
  claim(login: string, claim: SessionClaim, decide: (claims: readonly SeenSessionClaim[]) => number): Promise<void>;
  /** Those of `logins` of which other nodes wait for sessions. */
  wantedByOthers(logins: readonly string[]): Promise<readonly string[]>;
}

export interface Storage {
  readonly accounts: Accounts;
  readonly connections: Connections;
  readonly history: History;
  readonly quota: Quota;
  readonly idempotency: IdempotencyStore;
  readonly leftovers: LeftoverStore;
  readonly locks: Locks;
  /** Resolves when the database answers, is migrated and takes writes; rejects with the reason. For /readyz. */
  ready(): Promise<void>;
  /** Waits for open batches, marks this node dead, ends the embedded server. */
  close(): Promise<void>;
}

export interface StorageOptions {
  readonly dataDir: string;
  readonly url: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  /** See Config.masterKey. */
  readonly masterKey: string;
  /** Days that history items are kept; 0 = for ever. */
  readonly retentionDays: number;
  /** Told how many history rows each commit held. */
  readonly onHistoryCommit?: (rows: number) => void;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, facts?: Record<string, unknown>): void;
}

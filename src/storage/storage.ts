/**
 * Everything that the program stores, as its other parts see it: the shapes, and the operations of each group of
 * tables. Other parts import only this file and take from it what they need; it hides the SQL.
 */
import type { AccountConfig } from '../config/schema.js';
import type { Queue } from './queue/queue.js';
import type { Agenda as AgendaOfAll } from './queue/agenda.js';
import type { AdvisoryLocks } from './cluster/locks.js';
import type { SharedRates, SharedSessions } from './cluster/shared-limits.js';
import type { FolderSecrets as FolderSecretStore } from './secrets/sealed-rows.js';
import type { WebhookSecret as WebhookSecretStore } from './secrets/webhook-secret.js';
import type { Signatures as Signer } from './secrets/signatures.js';
import type { Accounts as AccountStore } from './tables/accounts.js';
import type { AlarmRecipients as AlarmRecipientStore } from './tables/alarm-recipients.js';
import type { Alarms as AlarmStore } from './tables/alarms.js';
import type { ApiKeys as ApiKeyStore } from './tables/api-keys.js';
import type { AuditLog as AuditStore } from './tables/audit-log.js';
import type { ConnectionChecks as ConnectionCheckStore } from './tables/connection-checks.js';
import type { ConnectionFigures as ConnectionFigureStore } from './tables/connection-figures.js';
import type { ConnectionOutages as OutageStore } from './tables/connection-outages.js';
import type { ConnectionEditor as ConnectionOwnerStore, Connections as ConnectionStore } from './tables/connections.js';
import type { Figures as FigureStore } from './tables/figures.js';
import type { EventFeeds as FeedStore } from './tables/event-feeds.js';
import type { Outbox as OutboxStore } from './tables/outbox.js';
import type { EventNumbers as NumberStore } from './tables/event-numbers.js';
import type { TransferHistory } from './tables/history.js';
import type { HostKeys as HostKeyStore } from './tables/host-keys.js';
import type { IdempotencyKeys } from './tables/idempotency.js';
import type { JobTree as JobTreeStore } from './tables/job-tree.js';
import type { Jobs as JobStore } from './tables/jobs.js';
import type { KeyPairs as KeyPairStore } from './tables/key-pairs.js';
import type { LeftoverNotes } from './tables/leftovers.js';
import type { Links as LinkStore } from './tables/links.js';
import type { LoginSessions as SessionStore } from './tables/login-sessions.js';
import type { MonthlyQuota } from './tables/quota.js';
import type { Receipts as ReceiptStore } from './tables/receipts.js';
import type { RouteCopies as CopyStore } from './tables/route-copies.js';
import type { RunningTransfers as RunningStore } from './tables/running-transfers.js';
import type { S3AccessKeys as S3AccessKeyStore } from './tables/s3-access-keys.js';
import type { Schedules as ScheduleStore } from './tables/schedules.js';
import type { TransferPages as PageStore } from './tables/transfer-pages.js';
import type { WatchChecks as CheckStore } from './tables/watch-checks.js';
import type { WatchedFiles as FileStore } from './tables/watched-files.js';
import type { WatchedFolders as FolderStore } from './tables/watched-folders.js';
import type { MultipartParts as MultipartStore } from './tables/multipart.js';
import type { Uploads as UploadStore } from './tables/uploads.js';
import type { Deliveries as DeliveryStore } from './tables/deliveries.js';
import type { WebhookEvents as EventStore } from './tables/webhook-events.js';
import type { Webhooks as WebhookStore } from './tables/webhooks.js';

/** The public members of a class. */
type Face<T> = { readonly [K in keyof T]: T[K] };

type Accounts = Face<AccountStore>;
/** Notifies workers of due work. */
export type Agenda = Pick<AgendaOfAll, 'on' | 'onClock'>;
export type AlarmRecipients = Face<AlarmRecipientStore>;
export type Alarms = Face<AlarmStore>;
export type ApiKeys = Face<ApiKeyStore>;
type HostKeys = Face<HostKeyStore>;
type AuditLog = Face<AuditStore>;
export type ConnectionChecks = Face<ConnectionCheckStore>;
type ConnectionEditor = Face<ConnectionOwnerStore>;
type ConnectionFigures = Face<ConnectionFigureStore>;
export type ConnectionOutages = Face<OutageStore>;
export type Connections = Face<ConnectionStore>;
export type EventFeeds = Face<FeedStore>;
export type EventNumbers = Face<NumberStore>;
export type Figures = Face<FigureStore>;
export type FolderSecrets = Face<FolderSecretStore>;
type History = Pick<
  TransferHistory,
  'admit' | 'begin' | 'list' | 'find' | 'repetition' | 'repeat' | 'count' | 'queuedRows'
>;
export type IdempotencyStore = Face<IdempotencyKeys>;
export type Jobs = Face<JobStore>;
export type JobTree = Face<JobTreeStore>;
type KeyPairs = Face<KeyPairStore>;
export type LeftoverStore = Face<LeftoverNotes>;
export type Links = Face<LinkStore>;
export type Locks = Pick<AdvisoryLocks, 'withLock'>;
type LoginSessions = Face<SessionStore>;
export type Quota = Face<MonthlyQuota>;
export type RequestRates = Face<SharedRates>;
export type RouteCopies = Face<CopyStore>;
type RunningTransfers = Face<RunningStore>;
type S3AccessKeys = Face<S3AccessKeyStore>;
export type Schedules = Face<ScheduleStore>;
type SessionClaims = Face<SharedSessions>;
type Receipts = Face<ReceiptStore>;
export type Signatures = Face<Signer>;
type TransferPages = Face<PageStore>;
export type MultipartParts = Face<MultipartStore>;
export type Uploads = Face<UploadStore>;
type WatchChecks = Face<CheckStore>;
export type WatchedFiles = Face<FileStore>;
export type WatchedFolders = Face<FolderStore>;
type WebhookSecret = Face<WebhookSecretStore>;
type Deliveries = Face<DeliveryStore>;
type Outbox = Face<OutboxStore>;
export type WebhookEvents = Face<EventStore>;
export type Webhooks = Face<WebhookStore>;

/** What the owners of accounts see and change. */
export interface Management {
  readonly audit: AuditLog;
  readonly connections: ConnectionEditor;
  readonly health: ConnectionFigures;
  readonly figures: Figures;
  readonly keyPairs: KeyPairs;
  readonly sessions: LoginSessions;
  readonly running: RunningTransfers;
  readonly transfers: TransferPages;
}

/** Events: their numbers, the feeds, the webhooks, and the deliveries to them and to the receivers of folders and jobs. */
export interface EventStorage {
  readonly feeds: EventFeeds;
  readonly numbers: EventNumbers;
  readonly webhooks: Webhooks;
  /** Signs the events of jobs. */
  readonly accountSecret: WebhookSecret;
  /** Deliveries on their way. */
  readonly outgoing: WebhookEvents;
  /** Deliveries as the owner of an account sees them. */
  readonly deliveries: Deliveries;
  readonly queue: Queue;
  readonly agenda: Agenda;
}

/** Watched folders, their known files, and the watching tasks that all nodes share. */
export interface WatchStorage {
  readonly folders: WatchedFolders;
  readonly checks: WatchChecks;
  readonly files: WatchedFiles;
  readonly secrets: FolderSecrets;
  readonly outbox: Outbox;
  /** Events whose files are copied first, or moved or deleted afterwards. */
  readonly events: Pick<WebhookEvents, 'find' | 'keepForLater' | 'finishAfter' | 'postponeCopies' | 'settleCopies'>;
  readonly copies: RouteCopies;
  readonly queue: Queue;
  readonly agenda: Agenda;
}

/** Jobs, their folders and files, and their tasks that all nodes share. */
export interface JobStorage {
  readonly rows: Jobs;
  readonly tree: JobTree;
  readonly schedules: Schedules;
  readonly queue: Queue;
  readonly agenda: Agenda;
}

export interface Storage {
  readonly accounts: Accounts;
  readonly agenda: Agenda;
  readonly alarms: Alarms;
  readonly alarmRecipients: AlarmRecipients;
  readonly keys: ApiKeys;
  readonly s3AccessKeys: S3AccessKeys;
  readonly connections: Connections;
  readonly hostKeys: HostKeys;
  readonly outages: ConnectionOutages;
  readonly checks: ConnectionChecks;
  readonly history: History;
  readonly quota: Quota;
  readonly idempotency: IdempotencyStore;
  readonly leftovers: LeftoverStore;
  readonly links: Links;
  readonly locks: Locks;
  readonly receipts: Receipts;
  readonly signatures: Signatures;
  readonly multipart: MultipartParts;
  readonly uploads: Uploads;
  readonly management: Management;
  readonly watching: WatchStorage;
  readonly events: EventStorage;
  readonly jobs: JobStorage;
  /** The limits that this process shares with others; undefined if the database belongs to this process only. */
  readonly shared: { readonly rates: RequestRates; readonly sessions: SessionClaims } | undefined;
  /**
   * For other threads of this process, which open the same database with it: `url` as given, or that of the embedded
   * server. Contains a password.
   */
  readonly databaseUrl: string;
  /**
   * Applies the configured accounts; idempotent; removes nothing. `sandboxId`: the connection to the gateway's own
   * sandbox.
   */
  provision(accounts: readonly AccountConfig[], sandboxId?: string): Promise<void>;
  /** Resolves when the database answers, is migrated and accepts writes; rejects with the reason. For /readyz. */
  ready(): Promise<void>;
  /** Waits for open batches, marks this node dead, ends the embedded server. */
  close(): Promise<void>;
}

export { POLL_MS } from './queue/agenda.js';
export { type TaskOutcome, QueueWorker } from './queue/worker.js';
export type { ClaimedTask, Queue } from './queue/queue.js';
export { type Clock, clockAt, idsAt } from './postgres/clock.js';
export { generateApiKey } from './secrets/hashes.js';
export { type Log, StartupError, type StorageOptions } from './startup.js';
export type { AlarmRecipient, DueMail, MailOutcome } from './tables/alarm-recipients.js';
export type { Alarm, AlarmEvent, ClaimedAccount } from './tables/alarms.js';
export type { ApiKeyRecord } from './tables/key-records.js';
export type { Actor } from './tables/audit-log.js';
export type { CheckBefore, CheckFound, SeenServer, ShownByServer } from './tables/connection-checks.js';
export type { ConnectionState, WindowFigures } from './tables/connection-figures.js';
export { joinConnection, settingsOf } from './tables/connection-rows.js';
export { type ConnectionDraft, draftRow, type ManagedConnection, type SecretChanges } from './tables/connections.js';
export { type FeedPage, type FeedQuery } from './tables/event-feeds.js';
export type { DayFigures } from './tables/figures.js';
export type { Repetition } from './tables/transfer-repetitions.js';
export type { StoredTransfer } from './tables/history-queries.js';
export type { IdempotencyClaim, StoredAnswer } from './tables/idempotency.js';
export { type ListingFindings, FoundFiles } from './tables/found-files.js';
export * from './tables/job.js';
export type { WorkerSlot, WorkerSlotKind } from './tables/job-slots.js';
export type { JobEnding, JobFilter, JobLimits, JobNow, StoredRows } from './tables/jobs.js';
export type { MadeKeyPair } from './tables/key-pairs.js';
export type { Leftover } from './tables/leftovers.js';
export type { OpenedLink } from './tables/links.js';
export type { LoginSession } from './tables/login-sessions.js';
export { type CopyingEvent, isOtherCopyTo } from './tables/route-copies.js';
export type { ReceiptLine } from './tables/receipts.js';
export type { RunningRow } from './tables/running-transfers.js';
export type { DueSchedule, Fired } from './tables/schedules.js';
export type { Period } from './postgres/period.js';
export { TRANSFER_ORDERS, type TransferSearch } from './tables/transfer-pages.js';
export * from './tables/transfer.js';
export type { Lapse, ListedUpload, PartPlace } from './tables/multipart.js';
export type { UploadAddress, UploadLimits, WriterProgress } from './tables/uploads.js';
export {
  CheckSuperseded,
  EntryChanges,
  type EntryChange,
  type FileState,
  type SeenState,
  type StoredEntry,
  UNKNOWN_SIZE,
} from './tables/watched-files.js';
export type { CheckResult, WatchRoute } from './tables/watched-folders.js';
export { type DeliveryPage, MOST_REPLAYED, type ReplayFilter } from './tables/deliveries.js';
export * from './tables/webhook-event.js';
export { targetGroup, withLogin, withoutLogin } from './tables/webhook-targets.js';

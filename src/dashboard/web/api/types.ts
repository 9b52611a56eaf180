/** The shapes of the management API and of the file operations: those of their OpenAPI documents, by the names used here. */
import type { components as FileApi } from '../../../client/api-types.ts';
import type { components as ManagementApi } from '../../../client/management-types.ts';

type Schemas = ManagementApi['schemas'];

export type Session = Schemas['LoginSession'];
export type SignedIn = Schemas['CurrentSession'];
export type Account = Schemas['Account'];
export type Alarms = Schemas['Alarms'];

type Sftp = Schemas['SftpConnection'];
type Ftp = Schemas['FtpConnection'];
type S3 = Schemas['S3Connection'];
type Protocol = Schemas['ManagedConnection']['type'];
type Common = Pick<Sftp, keyof Sftp & keyof Ftp & keyof S3>;
/** Answers have the fields of the connection's type alone; requests send those that change. */
export type Connection = Omit<Common, 'type' | 'secrets'> &
  Partial<Omit<Sftp & Ftp & S3, keyof Common>> & {
    readonly type: Protocol;
    readonly secrets: Readonly<Record<string, boolean>>;
  };
/** The fields of a type, as a form draws them. */
export type ConnectionType = Schemas['ConnectionType'];
/** What a test learned of the server; only what it could find out. */
export type Card = Schemas['ServerCard'];
export type TestStep = Schemas['TestStep'];
export type TestResult = Schemas['TestReport'];
export type ConnectionHealth = Schemas['ConnectionHealth'];
export type Outage = ConnectionHealth['outages'][number];
export type Dependents = Schemas['Dependents'];
export type AnnouncedHostKey = Schemas['AnnouncedHostKey'];
export type HostKeysAnswer = Schemas['HostKeysAnswer'];
export type KeyPair = Schemas['KeyPair'];

export const SCOPES = ['read', 'write', 'watch', 'exec', 'admin'] as const satisfies ApiKey['scopes'];
export type ApiKey = Schemas['ApiKey'];

export type Transfer = Schemas['ManagedTransfer'];
export type Live = NonNullable<Transfer['live']>;
export type TransferDetail = Schemas['TransferDetail'];
export type Job = Schemas['ManagedJob'];
/** One that a request can ask for once more: a URL that was uploaded is not shown. */
export type RepeatableJob = Job & Pick<NewJob, 'type'> & { readonly source: NonNullable<Job['source']> };
export type JobFile = FileApi['schemas']['JobFile'];
export type NewJob = FileApi['schemas']['NewJob'];

export type Schedule = Schemas['ManagedSchedule'];

export type Webhook = FileApi['schemas']['Webhook'];
/** What was sent to try it out, and what came back. */
export type WebhookTest = FileApi['schemas']['WebhookTest'];
/** A type of events that a webhook can be told of. */
export type EventType = Webhook['events'][number];

/** A URL that needs no key. */
export type FileLink = FileApi['schemas']['Link'];
export type CreatedLink = FileApi['schemas']['CreatedLink'];

export type StoredEvent = Schemas['FeedAnswer']['events'][number];
/** What the body of one says. */
export type { FeedEvent } from '../../../client/types.ts';

export type Overview = Schemas['Overview'];
export type Trouble = Overview['attention'][number];
export type Figures = Schemas['Figures'];
export type HealthOfConnection = Schemas['ConnectionHealthList']['connections'][number];
export type Usage = Schemas['Usage'];
export type PoolState = Schemas['PoolsAnswer']['pools'][number];
export type PoolsAnswer = Schemas['PoolsAnswer'];
export type ShareState = Schemas['PoolsAnswer']['shares'][number];
export type AuditEntry = Schemas['AuditEntry'];

export type FileInfo = FileApi['schemas']['FileInfo'];
export type Listing = FileApi['schemas']['ListAnswer'];

export type WatchedFolder = Schemas['ManagedWatchedFolder'];
export type Check = Schemas['Check'];
export type CheckedEntry = Schemas['CheckEntriesAnswer']['entries'][number];
export type KnownFile = Schemas['KnownFilesAnswer']['files'][number];
export type DryRun = Schemas['DryRunAnswer'];
export type Copy = Schemas['Copy'];
export type Delivery = Schemas['Delivery'];
export type DeliveryDetail = Schemas['DeliveryDetail'];
/** How the deliveries to a watched folder's receiver, or to a webhook, go. */
export type ReceiverState = Schemas['Receiver'];
export type Attempt = Schemas['Attempt'];

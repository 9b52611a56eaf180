/** The shapes of the management API and the file API under short names. They come from the OpenAPI documents. */
import type { components as FileApi } from '../../../client/api-types.ts';
import type { components as ManagementApi } from '../../../client/management-types.ts';

type Schemas = ManagementApi['schemas'];

/** Why something failed: a code of the catalogue of errors, and the words of the server. */
export interface Cause {
  readonly code?: string | null | undefined;
  readonly text: string | null | undefined;
}

export type Session = Schemas['LoginSession'];
export type SignedIn = Schemas['CurrentSession'];
export type Account = Schemas['Account'];
export type Alarms = Schemas['Alarms'];
export type Brand = Schemas['Brand'];

type Sftp = Schemas['SftpConnection'];
type Ftp = Schemas['FtpConnection'];
type S3 = Schemas['S3Connection'];
type Protocol = Schemas['ManagedConnection']['type'];
type Common = Pick<Sftp, keyof Sftp & keyof Ftp & keyof S3>;
/** An answer has only the fields of the connection's type. A request contains only changed fields. */
export type Connection = Omit<Common, 'type' | 'secrets'> &
  Partial<Omit<Sftp & Ftp & S3, keyof Common>> & {
    readonly type: Protocol;
    readonly secrets: Readonly<Record<string, boolean>>;
  };
/** The fields of a type, as a form draws them. */
export type ConnectionType = Schemas['ConnectionType'];
/** What a test learned about the server. Fields that it could not find out are absent. */
export type Card = Schemas['ServerCard'];
export type TestStep = Schemas['TestStep'];
export type TestResult = Schemas['TestReport'];
export type ConnectionHealth = Schemas['ConnectionHealth'];
export type Outage = ConnectionHealth['outages'][number];
export type AnnouncedHostKey = Schemas['AnnouncedHostKey'];

export type ApiKey = Schemas['ApiKey'];
export type NewS3AccessKey = Schemas['NewS3AccessKey'];

export type Transfer = Schemas['ManagedTransfer'];
export type Live = NonNullable<Transfer['live']>;
export type TransferDetail = Schemas['TransferDetail'];
export type Job = Schemas['ManagedJob'];
/** A job that can be requested again. A job from an uploaded URL cannot, since the URL is never shown. */
export type RepeatableJob = Job & Pick<NewJob, 'type'> & { readonly source: NonNullable<Job['source']> };
export type JobFile = FileApi['schemas']['JobFile'];
export type NewJob = FileApi['schemas']['NewJob'];

export type Schedule = Schemas['ManagedSchedule'];

export type Webhook = FileApi['schemas']['Webhook'];
/** The test message, and the receiver's answer. */
export type WebhookTest = FileApi['schemas']['WebhookTest'];
/** A type of events that a webhook can receive. */
export type EventType = Webhook['events'][number];

/** A URL that needs no key. */
export type FileLink = FileApi['schemas']['Link'];
export type CreatedLink = FileApi['schemas']['CreatedLink'];

export type StoredEvent = Schemas['FeedAnswer']['events'][number];
/** The body of an event. */
export type { FeedEvent } from '../../../client/types.ts';

export type Overview = Schemas['Overview'];
export type Trouble = Overview['attention'][number];
export type Figures = Schemas['Figures'];
export type HealthOfConnection = Schemas['ConnectionHealthList']['connections'][number];
export type Usage = Schemas['Usage'];
export type PoolState = Schemas['PoolsAnswer']['pools'][number];
export type ShareState = Schemas['PoolsAnswer']['shares'][number];
export type AuditEntry = Schemas['AuditEntry'];

export type FileInfo = FileApi['schemas']['FileInfo'];
export type Listing = FileApi['schemas']['ListAnswer'];

export type WatchedFolder = Schemas['ManagedWatchedFolder'];
export type Check = Schemas['Check'];
export type KnownFile = Schemas['KnownFilesAnswer']['files'][number];
export type DryRun = Schemas['DryRunAnswer'];
export type Copy = Schemas['Copy'];
export type Delivery = Schemas['Delivery'];
export type DeliveryDetail = Schemas['DeliveryDetail'];
/** The state of the deliveries to the receiver of a watched folder or a webhook. */
export type ReceiverState = Schemas['Receiver'];
export type Attempt = Schemas['Attempt'];

/** Names for the types of the OpenAPI document. */
import type { components } from './api-types.js';

type Schemas = components['schemas'];

/** Optional fields may also be undefined, with any compiler options of the caller. */
type Given<T> = { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };

export type { ClientErrorCode } from './api-types.js';
export type ErrorCode = Schemas['ErrorCode'];
export type AccountInfo = Schemas['AccountInfo'];
export type AppendAnswer = Schemas['AppendAnswer'];
export type Connection = Schemas['Connection'];
export type CopyAnswer = Schemas['CopyAnswer'];
export type CopyRequest = Given<Schemas['CopyRequest']>;
export type ContentRequest = Given<Schemas['ContentRequest']>;
export type DeleteAnswer = Schemas['DeleteAnswer'];
export type DeleteRequest = Given<Schemas['DeleteRequest']>;
export type DownloadAnswer = Schemas['DownloadAnswer'];
export type DownloadQuery = Given<Schemas['DownloadFileQuery']>;
export type ExecAnswer = Schemas['ExecAnswer'];
export type ExecRequest = Given<Schemas['ExecRequest']>;
export type ExistsAnswer = Schemas['ExistsAnswer'];
export type ExistsQuery = Given<Schemas['FindFileQuery']>;
export type FileInfo = Schemas['FileInfo'];
export type FilesDetectedEvent = Schemas['FilesDetectedEvent'];
export type FilesMissingEvent = Schemas['FilesMissingEvent'];
export type Job = Schemas['Job'];
export type JobFile = Schemas['JobFile'];
export type JobFilesAnswer = Schemas['JobFilesAnswer'];
export type JobFilesQuery = Given<Schemas['ListJobFilesQuery']>;
export type JobsAnswer = Schemas['JobsAnswer'];
export type JobsQuery = Given<Schemas['ListJobsQuery']>;
export type LinksQuery = Given<Schemas['ListLinksQuery']>;
export type ListAnswer = Schemas['ListAnswer'];
export type ListQuery = Given<Schemas['ListFolderQuery']>;
export type MkdirAnswer = Schemas['MkdirAnswer'];
export type MkdirRequest = Given<Schemas['MkdirRequest']>;
export type MoveAnswer = Schemas['MoveAnswer'];
export type MoveRequest = Given<Schemas['MoveRequest']>;
export type NewJob = Given<Schemas['NewJob']>;
export type NewPreview = Given<Schemas['NewPreview']>;
export type NewSchedule = Given<Schemas['NewSchedule']>;
export type NewWatchedFolder = Given<Schemas['NewWatchedFolder']>;
export type WatchedFolderChanges = Given<Schemas['WatchedFolderChanges']>;
export type ReceiptKeys = Schemas['ReceiptKeys'];
export type ReceiptsQuery = Given<Schemas['ListReceiptsQuery']>;
export type ReadAnswer = Schemas['ReadAnswer'];
export type ReadQuery = Given<Schemas['ReadFileQuery']>;
export type PreviewAnswer = Schemas['PreviewAnswer'];
export type Schedule = Schemas['Schedule'];
export type ScheduleChanges = Given<Schemas['ScheduleChanges']>;
export type TestEvent = Schemas['TestEvent'];
export type Transfer = Schemas['Transfer'];
export type TransferDetails = Schemas['TransferDetails'];
export type RepeatedTransferAnswer = Schemas['RepeatedTransferAnswer'];
export type TransferItem = Schemas['TransferItem'];
export type TransfersAnswer = Schemas['TransfersAnswer'];
export type TransfersQuery = Given<Schemas['ListTransfersQuery']>;
/** The body of a webhook; `type` distinguishes the events. */
export type WebhookEvent = Schemas[Exclude<Extract<keyof Schemas, `${string}Event`>, 'FeedEvent'>];
/** The same, as the feed returns it. */
export type FeedEvent = Exclude<WebhookEvent, Schemas['WebhookTestEvent']> & {
  readonly sequence: number;
  readonly id: string;
  readonly previousId: string | null;
};
export type EventsAnswer = Schemas['EventsAnswer'];
export type EventsQuery = Given<Schemas['ListEventsQuery']>;
export type Webhook = Schemas['Webhook'];
export type NewWebhook = Given<Schemas['NewWebhook']>;
export type CreatedWebhook = Schemas['CreatedWebhook'];
export type WebhookChanges = Given<Schemas['WebhookChanges']>;
export type WebhookTest = Schemas['WebhookTest'];
export type UploadFromUrl = Given<Schemas['UploadFromUrl']>;
export type UploadQuery = Given<Schemas['UploadFileQuery']>;
/** The name and place of an upload: the fields of each of its forms. */
export type UploadNaming = Omit<UploadFromUrl, 'url'>;
export type WatchedFolder = Schemas['WatchedFolder'];
export type CreatedWatchedFolder = Schemas['CreatedWatchedFolder'];
export type WriteAnswer = Schemas['WriteAnswer'];
export type WriteRequest = Given<Schemas['WriteRequest']>;

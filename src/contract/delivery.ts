/** A delivery: an event for one receiver. The receiver belongs to its folder or job, or is a webhook. */
import { ID, LATER, TIME } from './examples.js';
import { Type } from 'typebox';
import {
  count,
  countOrNull,
  dateTime,
  dateTimeOrNull,
  oneOf,
  text,
  textOrNull,
  texts,
  type TSchemaOf,
} from './schema.js';
import { derived, type ExampleOf, hidden, kept, type RowOf } from './thing.js';
import { DURATION_MS, ERROR_CODE } from './words.js';

export const DELIVERY_STATES = ['pending', 'delivered', 'dead', 'cancelled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
/** The receiver has not got it, and may still get it. */
export const UNDELIVERED = ['pending', 'dead'] as const satisfies readonly DeliveryState[];
/** The state of the work on an event's files, before or after it is sent. */
const FILE_STATES = ['none', 'pending', 'done'] as const;

/** The fields of a delivery in lists. */
export const deliveryFields = {
  /** A delivery to the receiver of a folder or job has the id of its event. */
  id: kept(text('Identifier.')),
  watchedFolderId: kept(textOrNull('Id of a watched folder; null of a job’s event.'), { column: 'folderId' }),
  jobId: kept(textOrNull('Id of a job; null of a watched folder’s event.')),
  webhookId: kept(textOrNull('Id of the webhook that it goes to; null of the receiver of a watched folder or job.')),
  /** Computed by the reading statement. */
  url: kept(textOrNull('Where it goes, without a login; null when the receiver no longer exists.')),
  connectionIds: kept(texts('The connections that the event is about.')),
  eventId: kept(text('The `webhook-id`: the same for all receivers of an event.')),
  type: kept(text('Kind of event.')),
  fileCount: kept(count('Files in the event.')),
  state: kept(oneOf(DELIVERY_STATES, 'State.'), {
    texts: {
      label: 'State',
      choices: { pending: 'Waiting', delivered: 'Delivered', dead: 'Dead letter', cancelled: 'Cancelled' },
    },
  }),
  attempts: kept(count('How many tries there were.')),
  nextAttemptAt: kept(dateTimeOrNull('When it is tried next; while files are copied, when those are.'), {
    texts: { label: 'Next attempt' },
  }),
  copyState: kept(
    oneOf(FILE_STATES, 'The copies of the files, if the folder has `copyTo`: nothing is sent while it is `pending`.'),
  ),
  copiesFailed: kept(count('Files that could not be copied.')),
  afterAction: kept(oneOf(FILE_STATES, 'What is done with the files after the delivery.'), {
    texts: {
      label: 'Afterwards',
      choices: {
        pending: 'The files are being moved or deleted',
        done: 'The files were moved or deleted',
      },
    },
  }),
  deliveredAt: kept(dateTimeOrNull('When the receiver took it.'), { texts: { label: 'Delivered' } }),
  createdAt: kept(dateTime('When it was made.')),
};

/** Kept with the event, once for all of its deliveries. */
const body = kept(text('The event: JSON, exactly as it is signed.'));

/** A single delivery. */
export const deliveryDetailFields = { ...deliveryFields, body };

/** A file at the time of its report. */
export interface DeliveredFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
  /** The store's own tag, if it has one. */
  readonly etag?: string;
  /** Whether a replaced file would be noticed; absent in events of version 1.0. */
  readonly isExact?: boolean;
  /** The error of the last try to move or delete it. */
  readonly errorCode?: string;
}

const { url: _url, connectionIds: _ids, ...ofRow } = deliveryFields;
const outgoing = {
  ...ofRow,
  accountId: hidden<string>(),
  /** The URL of a job's event; other receivers have a row with theirs. */
  webhookUrl: hidden<string | null>(),
  /** The files that are moved or deleted after the delivery. */
  files: hidden<readonly DeliveredFile[]>(),
};

/** A delivery that is being sent. */
export const outgoingFields = {
  ...outgoing,
  body,
  /** The database's time when the row was read. */
  readAt: hidden<Date>(),
};

/** Every column that a new delivery may have. */
export const newDeliveryFields = { ...outgoing, connectionIds: deliveryFields.connectionIds };

/** An attempt in answers: the request, and the receiver's answer. */
export const exchangeFields = {
  durationMs: kept(count(DURATION_MS)),
  status: kept(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'HTTP status of the answer; null when there was none.',
    }),
  ),
  errorCode: kept(textOrNull(ERROR_CODE)),
  errorMessage: kept(textOrNull('What went wrong.')),
  answer: kept(textOrNull('The first 4 KiB of the answer.')),
  requestHeaders: kept(headers('Header fields that were sent, without a login; null where they were not kept.')),
  answerHeaders: kept(headers('The first 4 KiB of the header fields of the answer; null where there was none.')),
};

export const attemptFields = {
  id: kept(text('Identifier.')),
  startedAt: kept(dateTime('When it began.')),
  ...exchangeFields,
  url: kept(textOrNull('Where it went, without a login; null of tries before version 1.1.')),
};

function headers(description: string): TSchemaOf<Readonly<Record<string, string>> | null> {
  return Type.Unsafe({ type: ['object', 'null'], additionalProperties: { type: 'string' }, description });
}

const COPY_STATES = ['waiting', 'done', 'skipped', 'failed'] as const;

/** The copy of an event's file, which is made before the event is sent. */
export const copyFields = {
  /** UUIDv7; also the `{uuid}` of a template, so that every attempt makes the same name. */
  id: hidden<string>(),
  number: hidden<number>(),
  path: kept(text('Path of the file in the watched folder.')),
  rawName: hidden<string | null>(),
  state: kept(oneOf(COPY_STATES, '`skipped`: `onConflict` kept the existing file.'), {
    texts: {
      label: 'State',
      choices: { waiting: 'Waiting', done: 'Copied', skipped: 'Skipped', failed: 'Not copied' },
    },
  }),
  tries: kept(count('Tries that failed, and were not the last.')),
  /** The connection of the folder's copyTo; after a change of copyTo, that of the copy. */
  connectionId: kept(text('Connection of the copy.'), { column: 'targetConnection' }),
  /** The target of the copy, until the copy is made. */
  targetPath: hidden<string | null>(),
  target: derived(textOrNull('Where the copy is.')),
  size: kept(countOrNull('Bytes of the copy.')),
  errorCode: kept(textOrNull(ERROR_CODE)),
  errorMessage: kept(textOrNull('What went wrong.')),
};

/**
 * The receiver of a watched folder, or a webhook, with the state of its deliveries. Computed by the reading statement.
 */
export const receiverFields = {
  watchedFolderId: kept(textOrNull('Id of the watched folder; null of a webhook.')),
  webhookId: kept(textOrNull('Id of the webhook; null of the receiver of a watched folder.')),
  dead: kept(count('Deliveries that were given up.')),
  retrying: kept(count('Deliveries that have failed and are tried again.')),
  lastDeliveredAt: kept(dateTimeOrNull('When the receiver last took one.')),
  failingSince: kept(dateTimeOrNull('Since when nothing of what was tried has arrived; null = the last try did.')),
  lastStatus: kept(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'What the receiver answered to the last failed delivery that was not taken since.',
    }),
  ),
  lastErrorMessage: kept(textOrNull('What went wrong with that.')),
  lastErrorCode: kept(textOrNull(ERROR_CODE)),
};

export type Delivery = RowOf<typeof deliveryFields>;
export type DeliveryDetail = RowOf<typeof deliveryDetailFields>;
export type OutgoingDelivery = RowOf<typeof outgoingFields>;
export type DeliveryAttempt = RowOf<typeof attemptFields>;
export type NewAttempt = Omit<DeliveryAttempt, 'id'>;
export type RouteCopy = RowOf<typeof copyFields>;
export type NewCopy = Pick<RouteCopy, 'id' | 'path' | 'rawName' | 'connectionId'>;
export type Receiver = RowOf<typeof receiverFields>;

const URL = 'https://example.com/hooks/files';

export const deliveryExample = {
  id: ID,
  watchedFolderId: ID,
  jobId: null,
  webhookId: null,
  url: URL,
  connectionIds: ['warehouse'],
  eventId: ID,
  type: 'watched_folder.files_detected',
  fileCount: 1,
  state: 'delivered',
  attempts: 1,
  nextAttemptAt: null,
  copyState: 'none',
  copiesFailed: 0,
  afterAction: 'none',
  deliveredAt: LATER,
  createdAt: TIME,
} as const satisfies ExampleOf<typeof deliveryFields>;

export const exchangeExample = {
  durationMs: 120,
  status: 500,
  errorCode: null,
  errorMessage: null,
  answer: 'Internal Server Error',
  requestHeaders: { 'content-type': 'application/json', 'webhook-id': ID },
  answerHeaders: { 'content-type': 'text/plain' },
} as const satisfies ExampleOf<typeof exchangeFields>;

export const attemptExample = {
  id: ID,
  startedAt: TIME,
  ...exchangeExample,
  url: URL,
} as const satisfies ExampleOf<typeof attemptFields>;

export const copyExample = {
  path: '/outgoing/orders.csv',
  state: 'done',
  tries: 0,
  connectionId: 'lake',
  target: '/from-warehouse/orders.csv',
  size: 1024,
  errorCode: null,
  errorMessage: null,
} as const satisfies ExampleOf<typeof copyFields>;

export const receiverExample = {
  watchedFolderId: ID,
  webhookId: null,
  dead: 2,
  retrying: 1,
  lastDeliveredAt: TIME,
  failingSince: LATER,
  lastStatus: 503,
  lastErrorMessage: null,
  lastErrorCode: null,
} as const satisfies ExampleOf<typeof receiverFields>;

/**
 * Events: each type and the fields of its body. A new type is an entry here and its German text (de/events.ts). If a
 * webhook can subscribe to it, it is also in the forms, the options of ftg, the nodes for n8n and the tables of the
 * documentation.
 */
import { CONNECTION_EXAMPLE as connectionExample, LINK_ID, TIME, WEBHOOK_ID } from './examples.js';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { ATTENTION_KINDS } from './attention.js';
import { connectionSummary } from './connection/schemas.js';
import { jobExample, jobFields, jobSchema } from './job.js';
import {
  base64,
  component,
  count,
  dateTime,
  described,
  flag,
  group,
  listOf,
  object,
  oneOf,
  text,
  textOrNull,
  texts,
} from './schema.js';
import { exampleOf, shownFields } from './thing.js';
import { failedTransferFields, succeededTransferFields, transferExample } from './transfer.js';
import { ROOT_PATH } from './words.js';

interface EventDefinition<D extends TProperties = TProperties> {
  /** The name of its schema in the OpenAPI document. */
  readonly schemaName: string;
  readonly operationId: string;
  readonly summary: string;
  /** The thing whose own `webhookUrl` receives it, in addition to webhooks. */
  readonly of?: 'folder' | 'job';
  /** The fields of `data`. */
  readonly data: D;
  readonly about?: string;
  /** An example of `data`. */
  readonly example: Static<TObject<D>>;
  /** The time of the example. */
  readonly at?: string;
}

/** The texts of a type that a webhook can subscribe to. */
interface EventTexts {
  /** Its name in the nodes for n8n. */
  readonly name: string;
  /** The condition, for the dashboard. */
  readonly text: string;
}

const event = <D extends TProperties>(definition: EventDefinition<D>) => definition;
const subscribed = <D extends TProperties>(definition: EventDefinition<D> & EventTexts) => definition;

const copied = Type.Object(
  {
    connectionId: text('Id of the connection of the copy.'),
    path: Type.Optional(text('Where the copy is; with `skipped`, the existing file that was kept.')),
    size: Type.Optional(count('Bytes of the copy.')),
    skipped: Type.Optional(flag('True where `onConflict` kept the existing file.')),
    error: Type.Optional(text('Why there is no copy.')),
  },
  {
    description:
      'Where the copy of the file is, if the folder has `copyTo`. A file without a copy stays where it is, for any `afterDelivery`.',
  },
);
export type CopiedFile = Static<typeof copied>;

const named = { name: text('Name of the file.'), path: text(ROOT_PATH) };
const rawName = Type.Optional(base64('The exact bytes of a name that is not UTF-8, as base64.'));

const deletedFile = Type.Object({ ...named, rawName });
export type DeletedFile = Static<typeof deletedFile>;

const eventFile = Type.Object({
  ...named,
  size: count('Bytes.'),
  isDirectory: flag('Always false.'),
  modifiedAt: dateTime('Time of the last change, UTC.'),
  rawName,
  event: oneOf(['new', 'modified'], '`new`, or `modified` where its size or date changed.'),
  copy: Type.Optional(copied),
});
export type EventFile = Static<typeof eventFile>;

const FILES = 'The files that were found; none in an event that only tries the webhook out.';

const ofFolder = {
  watchedFolder: group(
    {
      id: text('Id of the watched folder.'),
      name: text('Name of the watched folder, as the dashboard shows it.'),
      path: text(ROOT_PATH),
      connectionId: text('Id of its connection.'),
    },
    'The folder that was checked.',
  ),
  connection: described(connectionSummary, 'The connection of the watched folder.'),
};
const folderExample = {
  watchedFolder: {
    id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001',
    name: 'incoming',
    path: '/incoming',
    connectionId: 'warehouse',
  },
  connection: connectionExample,
};

const late = {
  ...ofFolder,
  expectEveryMinutes: count('How often a file is expected.'),
  lastDetectionAt: textOrNull('When a file was last reported; null = never.', { format: 'date-time' }),
};
const lateExample = { ...folderExample, expectEveryMinutes: 60, lastDetectionAt: '2026-01-31T10:30:00.000Z' };

const serverChange = Type.Object({
  what: oneOf(['banner', 'algorithms', 'extensions', 'host_key'], 'What differs from the check before.'),
  before: texts('What the server showed.'),
  after: texts('What it shows now.'),
});
export type ServerChange = Static<typeof serverChange>;

const connection = described(connectionSummary, 'The connection.');

/** The thing that needs attention. */
export const attentionIds = {
  connectionId: Type.Optional(text('The connection, where it is about one.')),
  watchedFolderId: Type.Optional(text('The watched folder, where it is about one.')),
  scheduleId: Type.Optional(text('The schedule, where it is about one.')),
  apiKeyId: Type.Optional(text('The API key, where it is about one.')),
};
const attention = {
  kind: oneOf(ATTENTION_KINDS, 'What it is about.'),
  text: text('In words.'),
  since: dateTime('When it was found first.'),
  ...attentionIds,
};
const attentionExample = {
  kind: 'connection_failing',
  text: 'Connection "Warehouse" fails: login refused',
  since: TIME,
  connectionId: 'warehouse',
} as const;
const NEEDS_ATTENTION = 'What needs attention.';

const succeeded = described(
  object('SucceededTransfer', shownFields(succeededTransferFields, 'key')),
  'Its item of the history.',
);
const succeededExample = exampleOf(succeededTransferFields, transferExample, 'key');

/** Types that a webhook can subscribe to. */
const subscribedTypes = {
  'watched_folder.files_detected': subscribed({
    schemaName: 'FilesDetectedEvent',
    operationId: 'filesDetected',
    summary: 'Files were found in a watched folder',
    name: 'Watched Folder: New or Changed Files',
    text: 'Files in a watched folder are new or have changed.',
    of: 'folder',
    data: { ...ofFolder, files: listOf(eventFile, FILES) },
    example: {
      ...folderExample,
      files: [
        {
          name: 'orders.csv',
          path: '/incoming/orders.csv',
          size: 1024,
          isDirectory: false,
          modifiedAt: '2026-01-31T11:59:00.000Z',
          event: 'new',
        },
      ],
    },
  }),
  'watched_folder.files_deleted': subscribed({
    schemaName: 'FilesDeletedEvent',
    operationId: 'filesDeleted',
    summary: 'Files of a watched folder with detectDeleted are gone',
    name: 'Watched Folder: Deleted Files',
    text: 'Files of a watched folder are gone.',
    of: 'folder',
    data: { ...ofFolder, files: listOf(deletedFile, 'The files that are gone.') },
    example: { ...folderExample, files: [{ name: 'orders.csv', path: '/incoming/orders.csv' }] },
  }),
  /** The folder's own webhook gets the older `watched_folder.files_missing` instead. */
  'watched_folder.late': subscribed({
    schemaName: 'FolderLateEvent',
    operationId: 'folderLate',
    summary: 'No file came for longer than expectEveryMinutes',
    name: 'Watched Folder: Files Are Late',
    text: 'No file arrived in a watched folder for longer than expected.',
    data: late,
    example: lateExample,
  }),
  'transfer.failed': subscribed({
    schemaName: 'TransferFailedEvent',
    operationId: 'transferFailed',
    summary: 'An operation has failed',
    name: 'Transfer Failed',
    text: 'A transfer failed.',
    data: {
      transfer: described(
        object('FailedTransfer', shownFields(failedTransferFields, 'key')),
        'Its item of the history.',
      ),
    },
    example: {
      transfer: {
        ...exampleOf(failedTransferFields, transferExample, 'key'),
        fileSize: 0,
        status: 'failed',
        errorMessage: 'no space left on the server',
        errorCode: 'no_space',
      },
    },
  }),
  'transfer.succeeded': subscribed({
    schemaName: 'TransferSucceededEvent',
    operationId: 'transferSucceeded',
    summary: 'An operation has succeeded; only made while a webhook subscribes to it',
    name: 'Transfer Succeeded',
    text: 'A transfer succeeded.',
    data: { transfer: succeeded },
    example: { transfer: succeededExample },
  }),
  'link.used': subscribed({
    schemaName: 'LinkUsedEvent',
    operationId: 'linkUsed',
    summary: 'A file came or went by a link',
    name: 'Link Used',
    text: 'A file was sent or fetched by a link.',
    data: { linkId: text('Id of the link.'), transfer: succeeded },
    example: { linkId: LINK_ID, transfer: { ...succeededExample, linkId: LINK_ID } },
  }),
  'job.finished': subscribed({
    schemaName: 'JobFinishedEvent',
    operationId: 'jobFinished',
    summary: 'A job has ended',
    name: 'Job Finished',
    text: 'A job ended, with or without errors.',
    of: 'job',
    data: { job: described(jobSchema, 'The job, as it ended.') },
    example: {
      job: {
        ...exampleOf(jobFields, jobExample, 'key'),
        state: 'succeeded',
        etaSeconds: null,
        finishedAt: '2026-01-31T12:05:00.000Z',
      },
    },
    at: '2026-01-31T12:05:00.000Z',
  }),
  'connection.down': subscribed({
    schemaName: 'ConnectionDownEvent',
    operationId: 'connectionDown',
    summary: 'A server cannot be reached, or refuses every login',
    name: 'Connection Down',
    text: 'A server cannot be reached, or refuses the login.',
    data: {
      connection,
      since: dateTime('When it was found so first.'),
      error: text('What operations met last.'),
      errorCode: text('The code of that.'),
    },
    example: {
      connection: connectionExample,
      since: '2026-01-31T11:59:45.000Z',
      error: 'sftp.example.com:22 refuses connections',
      errorCode: 'unreachable',
    },
  }),
  'connection.up': subscribed({
    schemaName: 'ConnectionUpEvent',
    operationId: 'connectionUp',
    summary: 'A server that was down is there again',
    name: 'Connection Up',
    text: 'A server works again.',
    data: { connection, since: dateTime('Since when it was down.'), downSeconds: count('For how long.') },
    example: { connection: connectionExample, since: '2026-01-31T11:31:00.000Z', downSeconds: 1740 },
  }),
  'connection.changed': subscribed({
    schemaName: 'ConnectionChangedEvent',
    operationId: 'connectionChanged',
    summary: 'A server shows something else than before',
    name: 'Connection Changed',
    text: 'A server has another banner, other algorithms or extensions, or another host key.',
    data: { connection, changes: listOf(serverChange, 'What differs.') },
    example: {
      connection: connectionExample,
      changes: [{ what: 'banner', before: ['OpenSSH_9.2p1'], after: ['OpenSSH_9.8p1'] }],
    },
  }),
  'attention.raised': subscribed({
    schemaName: 'AttentionRaisedEvent',
    operationId: 'attentionRaised',
    summary: 'Something needs attention',
    name: 'Attention Needed',
    text: 'Something needs attention.',
    data: attention,
    about: NEEDS_ATTENTION,
    example: attentionExample,
  }),
  'attention.cleared': subscribed({
    schemaName: 'AttentionClearedEvent',
    operationId: 'attentionCleared',
    summary: 'It no longer needs attention',
    name: 'Attention No Longer Needed',
    text: 'It no longer needs attention.',
    data: { ...attention, endedAt: dateTime('When it was found to be over.') },
    about: NEEDS_ATTENTION,
    example: { ...attentionExample, endedAt: '2026-01-31T12:31:00.000Z' },
    at: '2026-01-31T12:31:00.000Z',
  }),
};

const otherTypes = {
  'watched_folder.files_missing': event({
    schemaName: 'FilesMissingEvent',
    operationId: 'filesMissing',
    summary: 'No file came for longer than expectEveryMinutes',
    of: 'folder',
    data: late,
    example: lateExample,
  }),
  'watched_folder.test': event({
    schemaName: 'TestEvent',
    operationId: 'webhookTest',
    summary: 'Somebody tries the webhook out',
    of: 'folder',
    data: { ...ofFolder, files: Type.Array(eventFile, { description: FILES, maxItems: 0 }) },
    example: { ...folderExample, files: [] },
  }),
};

/** Not in the feed, without a number. */
const testTypes = {
  'webhook.test': event({
    schemaName: 'WebhookTestEvent',
    operationId: 'webhookTested',
    summary: 'Somebody tries the webhook out; it is no event of the feed and has no sequence',
    data: {
      webhook: described(
        object('TestedWebhook', {
          id: text('Identifier of the webhook.'),
          events: texts('Types of events that it receives.'),
        }),
        'The webhook that is tried out.',
      ),
    },
    example: { webhook: { id: WEBHOOK_ID, events: ['transfer.failed'] } },
  }),
};

const feedTypes = { ...subscribedTypes, ...otherTypes };
const types = { ...feedTypes, ...testTypes };
type Types = typeof types;
export type EventType = keyof Types;
export type SubscribedType = keyof typeof subscribedTypes;
type EventData<T extends EventType> = Static<TObject<Types[T]['data']>>;

export const EVENT_TYPES = Object.keys(subscribedTypes) as readonly SubscribedType[];
export const FEED_TYPES = Object.keys(feedTypes) as readonly (keyof typeof feedTypes)[];
export const EVENT_TEXTS: Readonly<Record<SubscribedType, EventTexts>> = subscribedTypes;
export const EVENTS: Readonly<Record<EventType, EventDefinition>> = types;

/**
 * The stored form of an event: number and id are inserted at the front when they are assigned. `id`: for an event that
 * gets no number.
 */
export function eventBody<T extends EventType>(type: T, at: Date, data: EventData<T>, id?: string): string {
  return JSON.stringify({ id, type, timestamp: at.toISOString(), data });
}

/** The bytes that the number adds to an event. */
export const NUMBERED_BYTES =
  '{"sequence":,"id":"","previousId":"",'.length +
  2 * crypto.randomUUID().length +
  String(Number.MAX_SAFE_INTEGER).length;

const NUMBERED = {
  sequence: 42,
  id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d00d',
  previousId: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d00c',
};

/** The schema of a type's body. */
export function eventSchema(type: EventType): TSchema {
  const { schemaName, data, about = 'What the event is about.' } = EVENTS[type];
  const whole = Type.Object({
    sequence: Type.Optional(count('Its number among the events of the account, from 1 and without holes.')),
    id: Type.Optional(text('Identifies the event; the `webhook-id` of its deliveries.')),
    previousId: Type.Optional(
      textOrNull('`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`.'),
    ),
    type: Type.Literal(type, { description: 'Kind of event.' }),
    timestamp: dateTime('When it happened.'),
    data: group(data, about),
  });
  return component(schemaName, whole);
}

export function eventExample(type: EventType) {
  const { example, at = TIME } = EVENTS[type];
  return { ...NUMBERED, type, timestamp: at, data: example };
}

/** Every event that there is, for the documents: those of watched folders and jobs, and those that webhooks alone receive. */
import { ATTENTION_EVENTS } from '../../alarms/events.js';
import { type EventDefinition, eventDefinition } from '../../base/events.js';
import { count, dateTime, described, group, object, text } from '../../contract/schema.js';
import { exampleOf, shownFields } from '../../contract/thing.js';
import { failedTransferFields, transferExample } from '../../contract/transfer.js';
import { connectionSummary } from '../../contract/connection/schemas.js';
import { jobFinished } from '../../jobs/view.js';
import { EVENTS as FOLDER_EVENTS } from '../../watch/event-bodies.js';
import { webhookTest } from '../../webhooks/test-event.js';
import { CONNECTION_EXAMPLE } from '../fields.js';

const ABOUT = 'What the event is about.';

/** What the history tells of it at once; `GET /api/transfers/{id}` may know more. */
const failedTransfer = object('FailedTransfer', shownFields(failedTransferFields, 'key'));

const transferFailed = eventDefinition(
  'transfer.failed',
  'TransferFailedEvent',
  { operationId: 'transferFailed', summary: 'An operation has failed' },
  group({ transfer: described(failedTransfer, 'Its item of the history.') }, ABOUT),
  {
    transfer: {
      ...exampleOf(failedTransferFields, transferExample, 'key'),
      ...{ fileSize: 0, status: 'failed', errorMessage: 'no space left on the server', errorCode: 'no_space' },
    },
  },
);

const connection = described(connectionSummary, 'The connection.');

const connectionDown = eventDefinition(
  'connection.down',
  'ConnectionDownEvent',
  { operationId: 'connectionDown', summary: 'A server cannot be reached, or lets nobody in' },
  group(
    {
      connection,
      since: dateTime('When it was found so first.'),
      error: text('What operations met last.'),
      errorCode: text('The code of that.'),
    },
    ABOUT,
  ),
  {
    connection: CONNECTION_EXAMPLE,
    since: '2026-01-31T11:59:45.000Z',
    error: 'sftp.example.com:22 refuses connections',
    errorCode: 'unreachable',
  },
);

const connectionUp = eventDefinition(
  'connection.up',
  'ConnectionUpEvent',
  { operationId: 'connectionUp', summary: 'A server that was down is there again' },
  group(
    {
      connection,
      since: dateTime('Since when it was down.'),
      downSeconds: count('For how long.'),
    },
    ABOUT,
  ),
  { connection: CONNECTION_EXAMPLE, since: '2026-01-31T11:31:00.000Z', downSeconds: 1740 },
);

/** `of`: beside webhooks, whose `webhookUrl` it goes to. */
export interface DescribedEvent extends EventDefinition {
  readonly of: 'folder' | 'job' | undefined;
}

const IN_FEED_ALONE = new Set(['watched_folder.late']);

export const ALL_EVENTS: readonly DescribedEvent[] = [
  ...FOLDER_EVENTS.map((event) => ({ ...event, of: IN_FEED_ALONE.has(event.name) ? undefined : ('folder' as const) })),
  { ...jobFinished, of: 'job' },
  ...[transferFailed, connectionDown, connectionUp, ...ATTENTION_EVENTS, webhookTest].map((event) => ({
    ...event,
    of: undefined,
  })),
];

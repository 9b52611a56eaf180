/** Every event that there is, for the documents: those of watched folders and jobs, and those that webhooks alone receive. */
import { ATTENTION_EVENTS } from '../../alarms/events.js';
import { type EventDefinition, eventDefinition } from '../../base/events.js';
import { count, dateTime, described, group, object, text, textOrNull } from '../../contract/schema.js';
import { connectionSummary } from '../../connections/schemas.js';
import { jobFinished } from '../../jobs/view.js';
import { EVENTS as FOLDER_EVENTS } from '../../watch/event-bodies.js';
import { webhookTest } from '../../webhooks/test-event.js';
import { transferItem } from '../transfers/transfer.js';
import { CONNECTION_EXAMPLE, TRANSFER_ID } from '../fields.js';

const ABOUT = 'What the event is about.';

/** What the history tells of it at once; `GET /api/transfers/{id}` may know more. */
const failedTransfer = object('FailedTransfer', {
  ...transferItem.properties,
  errorCode: textOrNull('The code of the error, as `X-Error-Code` carried it.'),
  requestId: textOrNull('Of the request that asked for it; of a job its identifier.'),
  jobId: textOrNull('The job that it is of.'),
});

const transferFailed = eventDefinition(
  'transfer.failed',
  'TransferFailedEvent',
  { operationId: 'transferFailed', summary: 'An operation has failed' },
  group({ transfer: described(failedTransfer, 'Its item of the history.') }, ABOUT),
  {
    transfer: {
      ...{ id: TRANSFER_ID, connectionId: 'warehouse', type: 'upload', direction: 'outbound' },
      ...{ filename: 'report.pdf', path: '/upload/report.pdf', fileSize: 0, status: 'failed' },
      ...{ errorMessage: 'no space left on the server', errorCode: 'no_space', durationMs: 84 },
      ...{ createdAt: '2026-01-31T12:00:00.000Z', requestId: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001', jobId: null },
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

/** The events that the gateway sends (Standard Webhooks; contract, "Webhook"). */
import { filesDetectedEvent, filesMissingEvent, testEvent } from '../answer-schemas.js';
import type { Operation, Parameter, PathItem, Schema } from './types.js';

const HEADERS: readonly Omit<Parameter, 'in' | 'required'>[] = [
  {
    name: 'webhook-id',
    description: 'Identifies the event and never changes: a receiver that has seen it has handled it.',
    schema: { type: 'string' },
    example: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d00d',
  },
  {
    name: 'webhook-timestamp',
    description: 'Unix seconds of this delivery; refuse what is older than a few minutes.',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1769860800',
  },
  {
    name: 'webhook-signature',
    description:
      '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body` with the secret of the watched folder; several stand side by side, parted by a space, while a secret is replaced.',
    schema: { type: 'string', pattern: '^v1,' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
];

interface Event {
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly schema: object;
  /** Of `data`, beside the folder and its connection. */
  readonly sample: object;
}

const EVENTS: readonly Event[] = [
  {
    name: 'watched_folder.files_detected',
    operationId: 'filesDetected',
    summary: 'Files were found in a watched folder',
    schema: filesDetectedEvent,
    sample: {
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
  },
  {
    name: 'watched_folder.files_missing',
    operationId: 'filesMissing',
    summary: 'No file came for longer than expectEveryMinutes',
    schema: filesMissingEvent,
    sample: { expectEveryMinutes: 60, lastDetectionAt: '2026-01-31T10:30:00.000Z' },
  },
  {
    name: 'watched_folder.test',
    operationId: 'webhookTest',
    summary: 'Somebody tries the webhook out',
    schema: testEvent,
    sample: { files: [] },
  },
];

const FOLDER = {
  watchedFolder: {
    id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001',
    name: 'incoming',
    path: '/incoming',
    connectionId: 'warehouse',
  },
  connection: { id: 'warehouse', name: 'Warehouse', type: 'sftp' },
};

export function webhooks(shown: (schema: object) => Schema): Readonly<Record<string, PathItem>> {
  return Object.fromEntries(EVENTS.map((event) => [event.name, { post: operationOf(event, shown(event.schema)) }]));
}

function operationOf({ name, operationId, summary, sample }: Event, schema: Schema): Operation {
  const value = { type: name, timestamp: '2026-01-31T12:00:00.000Z', data: { ...FOLDER, ...sample } };
  return {
    operationId,
    tags: ['Watched folders'],
    summary,
    description:
      'Sent to the `webhookUrl` of the watched folder, at least once. Anything but 2xx is tried again later, with the same `webhook-id`; redirects are not followed.',
    security: [],
    parameters: HEADERS.map((header) => ({ ...header, in: 'header', required: true })),
    requestBody: { required: true, content: { 'application/json': { schema, examples: { event: { value } } } } },
    responses: {
      '2XX': { description: 'Delivered.' },
      '410': { description: 'The receiver is gone for good: no further deliveries of this folder.' },
      default: { description: 'Not delivered: tried again later; Retry-After is honoured.' },
    },
  };
}

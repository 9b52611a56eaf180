/** The events that the gateway sends (Standard Webhooks). */
import { EVENTS, type EventDefinition } from '../../watch/event-bodies.js';
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

export function webhooks(shown: (schema: object) => Schema): Readonly<Record<string, PathItem>> {
  return Object.fromEntries(EVENTS.map((event) => [event.name, { post: operationOf(event, shown(event.schema)) }]));
}

function operationOf({ operationId, summary, example }: EventDefinition, schema: Schema): Operation {
  return {
    operationId,
    tags: ['Watched folders'],
    summary,
    description:
      'Sent to the `webhookUrl` of the watched folder, at least once. Anything but 2xx is tried again later, with the same `webhook-id`; redirects are not followed.',
    security: [],
    parameters: HEADERS.map((header) => ({ ...header, in: 'header', required: true })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema, examples: { event: { value: example } } } },
    },
    responses: {
      '2XX': { description: 'Delivered.' },
      '410': { description: 'The receiver is gone for good: no further deliveries of this folder.' },
      default: { description: 'Not delivered: tried again later; Retry-After is honoured.' },
    },
  };
}

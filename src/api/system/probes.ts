import { GatewayError } from '../../base/errors.js';
import { object, text } from '../../base/schema.js';
import type { Storage } from '../../storage/storage.js';
import { endpoint } from '../endpoint.js';

export interface ReadyServices {
  readonly storage: Pick<Storage, 'ready'>;
  readonly isDraining: () => boolean;
  /** Somebody decides by the answer where requests go. */
  readonly onReadyAsked: () => void;
}

const status = object('StatusAnswer', { status: text('`ok` or `ready`.') });

export const health = endpoint({
  method: 'GET',
  path: '/healthz',
  access: 'public',
  head: true,
  operationId: 'health',
  tag: 'System',
  summary: 'Is it alive?',
  description: 'Answers as soon as the process serves.',
  answer: { description: 'It is.', schema: status, example: { status: 'ok' } },
}).handle(async () => ({ status: 'ok' }));

export const readiness = endpoint({
  method: 'GET',
  path: '/readyz',
  access: 'public',
  head: true,
  operationId: 'readiness',
  tag: 'System',
  summary: 'Is it ready?',
  description: 'Whether the database can be reached and takes writes, and requests should be sent here.',
  answer: { description: 'It is.', schema: status, example: { status: 'ready' } },
  errors: ['draining', 'database_away'],
}).handle(async (_, { storage, isDraining, onReadyAsked }: ReadyServices) => {
  onReadyAsked();
  if (isDraining()) throw new GatewayError('draining', 'the gateway is stopping', { retryAfterMs: 1_000 });
  try {
    await storage.ready();
  } catch (error) {
    throw error instanceof GatewayError
      ? error
      : new GatewayError('database_away', 'the database cannot be reached', { retryAfterMs: 1_000, cause: error });
  }
  return { status: 'ready' };
});

/** `ftg events` and `ftg webhooks`: the events of the account and their receivers. */
import type { FeedEvent, NewWebhook, Webhook } from '../../client/index.js';
import { webhookFields } from '../../contract/webhook.js';
import { type Arguments, deletes, type Session, shows } from '../command.js';
import { EXIT, Exit, UsageError } from '../exit-codes.js';
import { givenFieldsOf } from '../field-options.js';
import { fields, listed, oneLine, timeText } from '../output.js';

interface EventsOptions {
  readonly after?: number;
  readonly follow?: boolean;
}

/** One event per line. With only --follow: only new events. */
export async function showEvents(
  { gateway, out, signal }: Session,
  _: Arguments,
  { after, follow = false }: EventsOptions,
): Promise<void> {
  const { files } = gateway;
  const from = after ?? (follow ? (await files.eventsPage({ limit: 1 }, { signal })).last : undefined);
  for await (const event of files.events({ ...(from !== undefined && { after: from }), follow, signal })) {
    out.show(event, () => eventLine(event));
  }
}

export function eventLine({ sequence, timestamp, type, data }: FeedEvent): string {
  return oneLine(`${sequence}  ${timeText(timestamp)}  ${type}  ${about(data)}`);
}

/** The most useful facts; --json has everything. */
function about(data: FeedEvent['data']): string {
  if ('transfer' in data) {
    const { type, connectionId, path, errorMessage } = data.transfer;
    return `${type} ${connectionId}:${path}: ${errorMessage ?? 'failed'}`;
  }
  if ('job' in data) return `${data.job.type} ${data.job.state} ${data.job.id}`;
  if ('watchedFolder' in data) {
    const { connectionId, path } = data.watchedFolder;
    const files = 'files' in data ? `: ${data.files.map(({ name }) => name).join(', ')}` : '';
    return `${connectionId}:${path}${files}`;
  }
  if ('text' in data) return data.text;
  const { id } = data.connection;
  if ('error' in data) return `${id}: ${data.error}`;
  return 'downSeconds' in data ? `${id} after ${data.downSeconds} s` : id;
}

export const listWebhooks = shows(
  async ({ gateway, signal }) => ({ webhooks: await gateway.files.webhooks.list({ signal }) }),
  ({ webhooks }) =>
    listed(
      webhooks,
      {
        ID: 'id',
        URL: 'url',
        EVENTS: 'events',
        CONNECTIONS: ({ connections }) => (connections.length === 0 ? 'all' : connections.join(' ')),
        STATE: stateOf,
      },
      'no webhooks',
    ),
);

function stateOf({ isActive, endedAt }: Webhook): string {
  return endedAt !== null ? 'ended by 410' : isActive ? 'active' : 'paused';
}

export const addWebhook = shows(
  async ({ gateway, signal }, [url = ''], options: object) => {
    const { events, ...given } = givenFieldsOf(webhookFields, options) as Partial<NewWebhook>;
    if (events === undefined) throw new UsageError('name the types of its events by --event');
    return gateway.files.webhooks.create({ ...given, url, events }, { signal });
  },
  ({ webhook, secret }) => fields({ ...webhook, secret }),
);

/** Omitted options change nothing. */
export const editWebhook = shows(
  async ({ gateway, signal }, [id = ''], options: object) => ({
    webhook: await gateway.files.webhooks.change(id, givenFieldsOf(webhookFields, options), { signal }),
  }),
  ({ webhook }) => fields(webhook),
);

export const switchWebhook = (isActive: boolean) =>
  shows(
    async ({ gateway, signal }, [id = '']) => ({
      webhook: await gateway.files.webhooks.change(id, { isActive }, { signal }),
    }),
    ({ webhook }) => `${webhook.id} is ${stateOf(webhook)}`,
  );

export const removeWebhook = deletes(({ gateway, signal }, id) => gateway.files.webhooks.delete(id, { signal }));

export const rotateSecret = shows(
  async ({ gateway, signal }, [id = '']) => ({ secret: await gateway.files.webhooks.rotateSecret(id, { signal }) }),
  ({ secret }) => secret,
);

/** Shows the receiver's answer; a refusal is an error. */
export async function testWebhook({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> {
  const { body: _body, ...test } = await gateway.files.webhooks.test(id, { signal });
  const { isDelivered, status, durationMs, errorMessage, answer } = test;
  const said = status === null ? (errorMessage ?? 'no answer') : `${status} ${answer ?? ''}`.trimEnd();
  out.show(test, () => `${isDelivered ? 'taken' : 'not taken'} after ${durationMs} ms: ${said}`);
  if (!isDelivered) throw new Exit(EXIT.failure);
}

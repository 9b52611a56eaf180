/** `ftg events` and `ftg webhooks`: what has happened, and who is told of it. */
import type { FeedEvent, NewWebhook, Webhook } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import { EXIT, Exit, UsageError } from '../exit-codes.js';
import { fields, oneLine, table, timeText } from '../output.js';

interface EventsOptions {
  readonly after?: number;
  readonly follow?: boolean;
}

/** One a line. With --follow alone: those that come from now on. */
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

/** What people look for first; --json has all of it. */
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
  if (!('connection' in data)) return data.text;
  return `${data.connection.id}${'error' in data ? `: ${data.error}` : ` after ${data.downSeconds} s`}`;
}

export async function listWebhooks({ gateway, out, signal }: Session): Promise<void> {
  const webhooks = await gateway.files.webhooks.list({ signal });
  out.show({ webhooks }, () => {
    const rows = webhooks.map((webhook) => {
      const { id, url, events, connections } = webhook;
      return [id, url, events.join(' '), connections.length === 0 ? 'all' : connections.join(' '), stateOf(webhook)];
    });
    return table(['ID', 'URL', 'EVENTS', 'CONNECTIONS', 'STATE'], rows, 'no webhooks');
  });
}

function stateOf({ isActive, endedAt }: Webhook): string {
  return endedAt !== null ? 'ended by 410' : isActive ? 'active' : 'paused';
}

interface WebhookOptions {
  readonly event?: readonly Webhook['events'][number][];
  readonly connection?: readonly string[];
  readonly url?: string;
}

export async function addWebhook(
  { gateway, out, signal }: Session,
  [url = '']: Arguments,
  { event = [], connection = [] }: WebhookOptions,
): Promise<void> {
  if (event.length === 0) throw new UsageError('name the types of its events by --event');
  const wanted: NewWebhook = { url, events: event, connections: connection };
  const made = await gateway.files.webhooks.create(wanted, { signal });
  out.show(made, () => fields({ ...made.webhook, secret: made.secret }));
}

/** What is not said stays. */
export async function editWebhook(
  { gateway, out, signal }: Session,
  [id = '']: Arguments,
  { event, connection, url }: WebhookOptions,
): Promise<void> {
  const said = Object.entries({ url, events: event, connections: connection }).filter(
    ([, value]) => value !== undefined,
  );
  const webhook = await gateway.files.webhooks.change(id, Object.fromEntries(said), { signal });
  out.show({ webhook }, () => fields(webhook));
}

export function switchWebhook(isActive: boolean) {
  return async ({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> => {
    const webhook = await gateway.files.webhooks.change(id, { isActive }, { signal });
    out.show({ webhook }, () => `${webhook.id} is ${stateOf(webhook)}`);
  };
}

export async function removeWebhook({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> {
  await gateway.files.webhooks.delete(id, { signal });
  out.show({ success: true }, () => `${id} is gone`);
}

export async function rotateSecret({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> {
  const secret = await gateway.files.webhooks.rotateSecret(id, { signal });
  out.show({ secret }, () => secret);
}

/** Tells what the receiver answered; one that did not take it is an error. */
export async function testWebhook({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> {
  const { body: _body, ...test } = await gateway.files.webhooks.test(id, { signal });
  const { isDelivered, status, durationMs, errorMessage, answer } = test;
  const said = status === null ? (errorMessage ?? 'no answer') : `${status} ${answer ?? ''}`.trimEnd();
  out.show(test, () => `${isDelivered ? 'taken' : 'not taken'} after ${durationMs} ms: ${said}`);
  if (!isDelivered) throw new Exit(EXIT.failure);
}

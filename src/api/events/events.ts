/** The feed of an account's events: page by page, waiting for the next one, or as a stream. */
import { Readable } from 'node:stream';
import { connectionsFor } from '../../base/caller.js';
import { Type } from 'typebox';
import { pause } from '../../base/deadline.js';
import { Ending } from '../../base/ending.js';
import { hasCode, refusal } from '../../base/errors.js';
import { EVENT_ID } from '../../base/events.js';
import { count, dateTime, listOf, object, text, textOrNull, withDefault } from '../../contract/schema.js';
import type { Caller } from '../../http/types.js';
import type { FeedEvent, FeedPage } from '../../storage/storage.js';
import type { FeedReaders } from '../../webhooks/feed-readers.js';
import { type Input, jsonContent, type NoFields, endpoints, eventStream } from '../endpoint.js';
import { limit } from '../fields.js';

const MAX_SEQUENCE = Number.MAX_SAFE_INTEGER;
const MAX_WAIT_SECONDS = 60;
const STREAM_PAGE = 100;
const PING_MS = 15_000;
const AGAIN_MS = 1000;

const feedEvent = object('FeedEvent', {
  sequence: count('Its number among the events of the account, from 1 and without holes.'),
  id: text('Identifier; the `webhook-id` of its deliveries.'),
  previousId: textOrNull('`id` of the event before it; null of the first.'),
  type: text('Kind of event, as the webhooks of this document have them.'),
  timestamp: dateTime('When it happened.'),
  data: Type.Object(
    {},
    { description: 'What it is about, as the webhook of this type says.', additionalProperties: true },
  ),
});

const EXAMPLE = {
  events: [
    {
      sequence: 42,
      id: EVENT_ID,
      previousId: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d00c',
      type: 'connection.up',
      timestamp: '2026-01-31T12:00:00.000Z',
      data: {
        connection: { id: 'warehouse', name: 'Warehouse', type: 'sftp' },
        since: '2026-01-31T11:31:00.000Z',
        downSeconds: 1740,
      },
    },
  ],
  nextAfter: 42,
  last: 42,
};

const query = Type.Object({
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_SEQUENCE,
      description: 'Only events with a higher `sequence`; absent = from the oldest that is kept.',
      examples: [41],
    }),
  ),
  wait: withDefault(
    Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT_SECONDS,
      description: 'Where there is none yet: seconds to wait for one.',
      examples: [30],
    }),
    0,
  ),
  limit: limit(1000, 100),
});

const endpoint = endpoints('Events');
export const eventEndpoints = endpoint.all;

endpoint('GET /api/events', {
  access: 'any',
  operationId: 'listEvents',
  summary: 'Read the events',
  description:
    'Every event of the account in the order of its `sequence`, each as the bytes that webhooks are sent. A page ends at `limit` or 1 MiB; go on with `nextAfter`. With `wait`, the answer comes with the first event, or empty when the time is over. `Accept: text/event-stream` gives all that follow as they come, each with its `sequence` as `id`; `Last-Event-ID` goes before `after`. An API key for some connections is shown only events that are about no others, and passes over the numbers of these.',
  headers: ['Last-Event-ID'],
  query,
  answers: {
    200: {
      description: 'One page, or the stream.',
      headers: ['X-Accel-Buffering?'],
      content: {
        ...jsonContent(
          object('EventsAnswer', {
            events: listOf(feedEvent, 'In order, without holes.'),
            nextAfter: count('The `after` of the next page.'),
            last: count('`sequence` of the last event that there is; 0 = none.'),
          }),
          { page: EXAMPLE },
        ),
        'text/event-stream': {
          schema: { type: 'string' },
          examples: {
            event: { value: `id: 42\nevent: connection.up\ndata: ${JSON.stringify(EXAMPLE.events[0])}\n\n` },
          },
        },
      },
    },
  },
  errors: ['gone', 'rate_limited'],
}).handle(async (input, { feedReaders }) => {
  const { request, query: asked } = input;
  if (!(request.headers.get('accept') ?? '').includes('text/event-stream')) return paged(input, feedReaders);
  const after = lastEventId(request.headers.get('last-event-id')) ?? asked.after;
  const release = feedReaders.take(input.caller.accountId);
  try {
    const first = await pageOf(feedReaders, input.caller, after, STREAM_PAGE);
    return eventStream(streamOf(input, feedReaders, first, release));
  } catch (error) {
    release();
    throw error;
  }
});

type Asked = Pick<Input<'/api/events', typeof query, NoFields>, 'caller' | 'query' | 'request' | 'stillOpens'>;

async function paged({ caller, query: { after, wait, limit }, request, stillOpens }: Asked, readers: FeedReaders) {
  const { accountId } = caller;
  let page = await pageOf(readers, caller, after, limit);
  if (page.events.length === 0 && wait > 0) {
    const release = readers.take(accountId);
    try {
      const until = performance.now() + wait * 1000;
      for (let left = wait * 1000; left > 0 && page.events.length === 0; left = until - performance.now()) {
        if (readers.isClosed || request.ending.aborted) break;
        await readers.wait(accountId, page.lookedAt, left, request.ending);
        page = await pageOf(readers, caller, page.lookedAt, limit);
      }
    } finally {
      release();
    }
    if (!(await stillOpens())) throw refusal('unauthenticated', 'the API key is valid no longer');
  }
  const { events, lookedAt, last } = page;
  const body = `{"events":[${events.map((event) => event.body).join(',')}],"nextAfter":${lookedAt},"last":${last}}`;
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
}

function pageOf(readers: FeedReaders, caller: Caller, after: number | undefined, limit: number): Promise<FeedPage> {
  return readers.read(caller.accountId, { after, limit, connections: connectionsFor(caller) });
}

/** Ends with the client, with the gateway, or once the key is valid no longer. */
function streamOf({ caller, stillOpens }: Asked, readers: FeedReaders, first: FeedPage, release: () => void): Readable {
  const ending = new Ending();
  async function* chunks(): AsyncGenerator<string, void> {
    yield 'retry: 2000\n\n';
    let page: FeedPage | undefined = first;
    for (let after = first.lookedAt; !ending.aborted && !readers.isClosed;) {
      if (page !== undefined) {
        after = page.lookedAt;
        if (page.events.length > 0) yield page.events.map(framed).join('');
        // The reader is to go on from there, though nothing of it was shown.
        if (after > (page.events.at(-1)?.sequence ?? first.lookedAt)) yield `id: ${after}\n\n`;
      }
      if (page === undefined || after >= page.last) {
        const before = performance.now();
        await readers.wait(caller.accountId, after, PING_MS, ending);
        if (performance.now() - before >= PING_MS) yield ': ping\n\n';
      }
      if (!(await stillOpens().catch(() => true))) return;
      page = await pageOf(readers, caller, after, STREAM_PAGE).catch((error: unknown) => passing(error, ending));
    }
  }
  return new Chunks(chunks(), () => {
    ending.abort(new Error('the stream is closed'));
    release();
  });
}

/** Readable.from would not be closed before the chunk that it waits for is there. */
class Chunks extends Readable {
  constructor(
    private readonly chunks: AsyncGenerator<string, void>,
    private readonly onDestroy: () => void,
  ) {
    super({ highWaterMark: 65_536 });
  }

  override _read(): void {
    this.chunks.next().then(
      ({ done, value }) => this.destroyed || this.push(done === true ? null : value),
      (error: unknown) => this.destroy(error as Error),
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.onDestroy();
    done(error);
  }
}

/** While the database is away the stream stays open. */
async function passing(error: unknown, ending: Ending): Promise<undefined> {
  if (!hasCode(error, 'database_away')) throw error;
  await pause(AGAIN_MS, ending).catch(() => undefined);
  return undefined;
}

function framed({ sequence, type, body }: FeedEvent): string {
  return `id: ${sequence}\nevent: ${type}\ndata: ${body}\n\n`;
}

/** @throws GatewayError bad_request */
function lastEventId(field: string | undefined): number | undefined {
  if (field === undefined || field.trim() === '') return undefined;
  const after = /^\d{1,16}$/.test(field.trim()) ? Number(field) : NaN;
  if (Number.isSafeInteger(after)) return after;
  throw refusal('bad_request', 'Last-Event-ID must be the sequence of an event');
}

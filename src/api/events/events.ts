/** The feed of an account's events: page by page, waiting for the next one, or as a stream. */
import { connectionsFor } from '../../base/caller.js';
import { Type } from 'typebox';
import { pause } from '../../base/deadline.js';
import type { EndSignal } from '../../base/ending.js';
import { hasCode, refusal } from '../../base/errors.js';
import { eventExample } from '../../contract/event.js';
import { eventFilters, queryOf } from '../../contract/filters.js';
import { limit } from '../../contract/paging.js';
import { count, dateTime, listOf, object, text, textOrNull, withDefault } from '../../contract/schema.js';
import { type EventHub, type EventStream, frameOf } from '../../http/event-hub.js';
import type { Caller } from '../../http/types.js';
import type { FeedPage } from '../../storage/storage.js';
import type { FeedReaders } from '../../events/feed-readers.js';
import { type EndpointInput, jsonContent, type NoFields, endpoints, eventStream } from '../endpoint.js';

const MAX_WAIT_SECONDS = 60;
const STREAM_PAGE = 100;
/** An ended key is noticed after this time at the latest. */
const CHECK_EVERY_MS = 15_000;
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

const EXAMPLE = { events: [eventExample('connection.up')], nextAfter: 42, last: 42 };

const query = Type.Object({
  ...queryOf(eventFilters),
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
    'Every event of the account in the order of its `sequence`, each as the bytes that webhooks are sent. A page ends at `limit` or 1 MiB; continue with `nextAfter`. With `wait`, the answer comes with the first event, or empty when the time is over. `Accept: text/event-stream` streams all later events, each with its `sequence` as `id`; `Last-Event-ID` takes precedence over `after`. An API key for some connections is shown only events that are about no others, and passes over the numbers of these.',
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
}).handle(async (input, { events: { readers }, eventHub }) => {
  const { caller, request, query: asked, stillOpens } = input;
  if (!(request.headers.get('accept') ?? '').includes('text/event-stream')) return paged(input, readers, eventHub);
  const after = lastEventId(request.headers.get('last-event-id')) ?? asked.after;
  const next = (from: number | undefined): Promise<FeedPage> => pageOf(readers, caller, from, STREAM_PAGE);
  const stream = eventHub.open('feed', caller.accountId, stillOpens);
  try {
    const first = await next(after);
    follow(caller, next, readers, stream, first).catch((error: unknown) => stream.destroy(error as Error));
    return eventStream(stream);
  } catch (error) {
    stream.destroy();
    throw error;
  }
});

type Asked = Pick<EndpointInput<'/api/events', typeof query, NoFields>, 'caller' | 'query' | 'request' | 'stillOpens'>;

async function paged(
  { caller, query: { after, wait, limit }, request, stillOpens }: Asked,
  readers: FeedReaders,
  hub: EventHub,
) {
  const { accountId } = caller;
  let page = await pageOf(readers, caller, after, limit);
  if (page.events.length === 0 && wait > 0) {
    const release = hub.take('feed', accountId);
    try {
      const until = performance.now() + wait * 1000;
      for (let left = wait * 1000; left > 0 && page.events.length === 0; left = until - performance.now()) {
        if (readers.isClosed || request.ending.aborted) break;
        await readers.wait(accountId, page.nextAfter, left, request.ending);
        page = await pageOf(readers, caller, page.nextAfter, limit);
      }
    } finally {
      release();
    }
    if (!(await stillOpens())) throw refusal('unauthenticated', 'the API key is valid no longer');
  }
  const { events, nextAfter, last } = page;
  const body = `{"events":[${events.map((event) => event.body).join(',')}],"nextAfter":${nextAfter},"last":${last}}`;
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
}

function pageOf(readers: FeedReaders, caller: Caller, after: number | undefined, limit: number): Promise<FeedPage> {
  return readers.read(caller.accountId, { after, limit, connections: connectionsFor(caller) });
}

/** Sends the feed from `first` on, until the stream ends. */
async function follow(
  { accountId }: Caller,
  next: NextPage,
  readers: FeedReaders,
  stream: EventStream,
  first: FeedPage,
) {
  let page: FeedPage | undefined = first;
  for (let after = first.nextAfter; !stream.ending.aborted;) {
    if (page !== undefined) {
      after = page.nextAfter;
      const events = page.events.map(({ sequence, type, body }) => frameOf(type, body, sequence)).join('');
      // The client must continue from there, although no event of it was sent.
      const isPassed = after > (page.events.at(-1)?.sequence ?? first.nextAfter);
      if (events !== '' || isPassed) stream.say(`${events}${isPassed ? `id: ${after}\n\n` : ''}`);
      await stream.room();
    }
    if (page === undefined || after >= page.last) await readers.wait(accountId, after, CHECK_EVERY_MS, stream.ending);
    if (!(await stream.goesOn())) return;
    page = await next(after).catch((error: unknown) => passing(error, stream.ending));
  }
}

type NextPage = (after: number) => Promise<FeedPage>;

/** While the database is away the stream stays open. */
async function passing(error: unknown, ending: EndSignal): Promise<undefined> {
  if (!hasCode(error, 'database_away')) throw error;
  await pause(AGAIN_MS, ending).catch(() => undefined);
  return undefined;
}

/** @throws GatewayError bad_request */
function lastEventId(field: string | undefined): number | undefined {
  if (field === undefined || field.trim() === '') return undefined;
  const after = /^\d{1,16}$/.test(field.trim()) ? Number(field) : NaN;
  if (Number.isSafeInteger(after)) return after;
  throw refusal('bad_request', 'Last-Event-ID must be the sequence of an event');
}

/** The events of the account: the feed, as one sequence. */
import { fieldsOf, reading } from './calls.js';
import { FtgError } from './errors.js';
import type { CallOptions, Transport } from './transport.js';
import type * as api from './types.js';
import { wait } from './wait.js';

export interface EventsOptions extends CallOptions, Omit<api.EventsQuery, 'wait'> {
  /** The `sequence` to start after; absent = the oldest stored one. */
  readonly after?: number | undefined;
  /** Whether to wait for new events. Default true. */
  readonly follow?: boolean | undefined;
  /** Events of a page. Default 100. */
  readonly limit?: number | undefined;
}

const WAIT_SECONDS = 30;
/** The longest silence after the wait; beyond it, the connection is considered dead. */
const SILENCE_MS = 20_000;
const AGAIN_MS = 2_000;

type Page = Omit<api.EventsAnswer, 'events'> & { readonly events: readonly api.FeedEvent[] };

/** One page. The limit for silence begins at the end of the wait. */
export function eventsPage(transport: Transport, query: api.EventsQuery, options: CallOptions): Promise<Page> {
  const silenceMs = transport.timeoutOf(options);
  const timeoutMs = silenceMs === 0 ? 0 : silenceMs + (query.wait ?? 0) * 1_000;
  return transport.json<Page>(reading('/api/events', { ...options, timeoutMs }, { ...query }));
}

/**
 * Each event once, in order. A reader that follows survives restarts of the gateway and broken lines. The sequence ends
 * after the last event if it does not follow; it fails with the reason of the signal, or with a permanent error.
 */
export async function* eventsOf(
  transport: Transport,
  { after, follow = true, limit, signal, ...options }: EventsOptions,
): AsyncGenerator<api.FeedEvent, void> {
  for (let at = after; ;) {
    const query: api.EventsQuery = { ...fieldsOf(options), after: at, limit, wait: follow ? WAIT_SECONDS : 0 };
    const page = await asked(transport, query, { ...options, signal }, follow);
    if (page === undefined) continue;
    yield* page.events;
    at = page.nextAfter;
    if (!follow && at >= page.last) return;
  }
}

/** undefined = the request must be repeated. */
async function asked(
  transport: Transport,
  query: api.EventsQuery,
  options: CallOptions,
  follow: boolean,
): Promise<Page | undefined> {
  try {
    return await eventsPage(transport, query, { timeoutMs: SILENCE_MS, ...options });
  } catch (thrown) {
    options.signal?.throwIfAborted();
    const passes = thrown instanceof FtgError && (thrown.status === 0 || thrown.status >= 429);
    if (!follow || !passes) throw thrown;
    await wait(AGAIN_MS, options.signal);
    return undefined;
  }
}

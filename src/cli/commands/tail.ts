/** `ftg tail`: the last transfers or events, and new ones, one per line. */
import { setTimeout as delay } from 'node:timers/promises';
import { type FeedEvent, FtgError, type TransferItem, type TransfersQuery } from '../../client/index.js';
import type { ENDED_STATUSES } from '../../contract/transfer.js';
import type { Arguments, Session } from '../command.js';
import { bytesText, oneLine, timeText } from '../output.js';
import { eventLine } from './events.js';

interface TailOptions {
  readonly lines: number;
  readonly follow?: boolean;
  readonly connection?: readonly string[];
}

interface TransferTailOptions extends TailOptions {
  readonly status?: (typeof ENDED_STATUSES)[number];
  readonly type?: readonly string[];
}

const ASK_EVERY_MS = 2_000;
/** Rows of lists and look-ups may appear later than those of operations that began after them. */
const LATE_MS = 5_000;
/** How far back the feed is searched for events that match a filter. */
const MOST_EVENTS = 10_000;

/** Prints each transfer once, when it has ended. */
export async function tailTransfers(session: Session, _: Arguments, options: TransferTailOptions): Promise<void> {
  const { out, signal } = session;
  const feed = options.follow === true ? await EndedTransfers.open(session) : undefined;
  for (const item of await lastTransfers(session, options)) {
    // It may have ended since the feed was opened.
    feed?.take(item);
    out.show(item, () => transferLine(item));
  }
  if (feed === undefined) return;
  for (;;) {
    for (const item of await feed.next()) if (isWanted(item, options)) out.show(item, () => transferLine(item));
    await delay(ASK_EVERY_MS, undefined, { signal });
  }
}

function isWanted(item: TransferItem, { status, type, connection }: TransferTailOptions): boolean {
  if (item.status === 'pending' || (status !== undefined && item.status !== status)) return false;
  return (type ?? [item.type]).includes(item.type) && isAbout([item.connectionId], connection);
}

/** Oldest first. */
async function lastTransfers(
  { gateway, signal }: Session,
  options: TransferTailOptions,
): Promise<readonly TransferItem[]> {
  const { lines, status, type, connection } = options;
  const only = <T>(values: readonly T[] | undefined): T | undefined => (values?.length === 1 ? values[0] : undefined);
  const query = { status, type: only(type), connection_id: only(connection) };
  const known = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as TransfersQuery;
  const found: TransferItem[] = [];
  if (lines === 0) return found;
  for await (const item of gateway.files.allTransfers(known, { signal })) {
    if (isWanted(item, options) && found.push(item) >= lines) break;
  }
  return found.reverse();
}

/** Transfers that end from now on, even if they began before. */
class EndedTransfers {
  readonly #session: Session;
  #newestMs: number;
  /** Start times of transfers that were shown and may appear again. */
  readonly #seen = new Map<string, number>();
  readonly #pending = new Set<string>();

  private constructor(session: Session, newestMs: number) {
    this.#session = session;
    this.#newestMs = newestMs;
  }

  static async open(session: Session): Promise<EndedTransfers> {
    const { files } = session.gateway;
    const { signal } = session;
    const [newest] = (await files.transfers({ limit: 1 }, { signal })).transfers;
    const feed = new EndedTransfers(session, newest === undefined ? 0 : Date.parse(newest.createdAt));
    for await (const { id } of files.allTransfers({ status: 'pending' }, { signal })) feed.#pending.add(id);
    await feed.#begun();
    return feed;
  }

  /** In the order in which they began. Continues after restarts of gateways and broken connections. */
  async next(): Promise<readonly TransferItem[]> {
    const ended: TransferItem[] = [];
    try {
      const known = [...this.#pending];
      ended.push(...(await this.#begun()));
      for (const id of known) {
        if (!this.#pending.has(id)) continue;
        const item = await this.#session.gateway.files.transfer(id, { signal: this.#session.signal });
        if (this.take(item)) ended.push(item);
      }
    } catch (thrown) {
      this.#session.signal.throwIfAborted();
      if (!(thrown instanceof FtgError) || (thrown.status !== 0 && thrown.status < 429)) throw thrown;
    }
    return ended.sort((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt));
  }

  /** The ended ones among the recently begun transfers. */
  async #begun(): Promise<readonly TransferItem[]> {
    const { gateway, signal } = this.#session;
    const since = this.#newestMs === 0 ? {} : { since: new Date(this.#newestMs - LATE_MS).toISOString() };
    const items: TransferItem[] = [];
    for await (const item of gateway.files.allTransfers(since, { signal })) items.push(item);
    const ended = items.filter((item) => this.take(item));
    this.#newestMs = Math.max(this.#newestMs, ...items.map(({ createdAt }) => Date.parse(createdAt)));
    for (const [id, atMs] of this.#seen) if (atMs < this.#newestMs - 2 * LATE_MS) this.#seen.delete(id);
    return ended;
  }

  /** Whether it has ended and was not taken before. */
  take({ id, status, createdAt }: TransferItem): boolean {
    if (this.#seen.has(id)) return false;
    if (status === 'pending') {
      this.#pending.add(id);
      return false;
    }
    this.#pending.delete(id);
    this.#seen.set(id, Date.parse(createdAt));
    return true;
  }
}

function transferLine(item: TransferItem): string {
  const { createdAt, type, status, fileSize, connectionId, path, durationMs, errorMessage } = item;
  const what = errorMessage ?? `${bytesText(fileSize)} in ${durationMs} ms`;
  return oneLine(`${timeText(createdAt)}  ${status.padEnd(7)}  ${type.padEnd(8)}  ${connectionId}:${path}  ${what}`);
}

interface EventTailOptions extends TailOptions {
  readonly type?: readonly string[];
}

export async function tailEvents(session: Session, _: Arguments, options: EventTailOptions): Promise<void> {
  const { gateway, out, signal } = session;
  const { files } = gateway;
  const isWantedEvent = ({ type, data }: FeedEvent): boolean =>
    (options.type ?? [type]).includes(type) && isAbout(connectionsOf(data), options.connection);
  const { last } = await files.eventsPage({ limit: 1 }, { signal });
  for (const event of await lastEvents(session, last, options.lines, isWantedEvent)) {
    out.show(event, () => eventLine(event));
  }
  if (options.follow !== true) return;
  for await (const event of files.events({ after: last, signal })) {
    if (isWantedEvent(event)) out.show(event, () => eventLine(event));
  }
}

/** Oldest first; searches further and further back. */
async function lastEvents(
  { gateway, signal }: Session,
  last: number,
  lines: number,
  takes: (event: FeedEvent) => boolean,
): Promise<readonly FeedEvent[]> {
  for (let back = lines; back > 0; back *= 10) {
    const found: FeedEvent[] = [];
    const after = Math.max(0, last - back);
    for await (const event of gateway.files.events({ after, follow: false, limit: 1_000, signal })) {
      if (event.sequence <= last && takes(event)) found.push(event);
    }
    if (found.length >= lines || after === 0 || back >= MOST_EVENTS) return found.slice(-lines);
  }
  return [];
}

function connectionsOf(data: FeedEvent['data']): readonly string[] {
  if ('transfer' in data) return [data.transfer.connectionId];
  if ('job' in data) {
    const { source, destination } = data.job;
    return [source, destination].flatMap((place) => (place === null ? [] : [place.connectionId]));
  }
  if ('watchedFolder' in data) return [data.watchedFolder.connectionId];
  return 'connection' in data ? [data.connection.id] : [];
}

function isAbout(ids: readonly string[], wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || ids.some((id) => wanted.includes(id));
}

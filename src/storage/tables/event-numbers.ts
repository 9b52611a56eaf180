/** Numbers events, and creates their deliveries in the same transaction. */
import type { QueueSender, NewTask } from '../queue/queue.js';
import type { Database } from '../postgres/database.js';
import type { Transaction } from '../postgres/sql.js';
import { type Batch, type EventFeeds, type LockedFeed, lockFeed, numbering } from './event-feeds.js';
import { addressing } from './webhook-events.js';
import type { SentDelivery } from './webhook-event.js';
import { targetGroup } from './webhook-targets.js';

/** With twenty webhooks, a batch makes 10,000 deliveries, which stays below the time limit of statements. */
const BATCH: Batch = { events: 500, bytes: 2 * 1024 * 1024 };

interface Numbered {
  readonly numbered: number;
  readonly last: number;
}

export class EventNumbers {
  readonly #database: Database;
  readonly #queue: QueueSender;
  readonly #feeds: Pick<EventFeeds, 'numbered'>;

  constructor(database: Database, queue: QueueSender, feeds: Pick<EventFeeds, 'numbered'>) {
    this.#database = database;
    this.#queue = queue;
    this.#feeds = feeds;
  }

  /** Numbers one batch of waiting events. `again`: there may be more, or another node is numbering them. */
  async give(accountId: string): Promise<{ readonly numbered: number; readonly again: boolean }> {
    const batch = await this.#database.transaction(async (tx) => {
      const feed = await lockFeed(tx, accountId);
      return feed === undefined ? undefined : this.#giveIn(tx, accountId, feed);
    });
    if (batch === undefined) return { numbered: 0, again: true };
    const { numbered, last } = batch;
    if (numbered > 0) this.#feeds.numbered(accountId, last);
    return { numbered, again: numbered > 0 };
  }

  async #giveIn(tx: Transaction, accountId: string, feed: LockedFeed): Promise<Numbered> {
    // A separate statement: it sees everything that was committed before the lock was taken.
    const [row] = await tx<(Numbered & { readonly deliveries: readonly SentDelivery[] | null })[]>`
      with ${numbering(tx, accountId, feed, BATCH)},
      ${addressing(tx)}
      select (select count(*) from numbered) as numbered,
        coalesce((select max(sequence) from numbered), ${feed.last}::bigint) as last,
        (select json_agg(json_build_object('id', id, 'url', url, 'webhookId', webhook_id)) from addressed) as deliveries`;
    const { numbered = 0, last = feed.last, deliveries } = row ?? {};
    const tasks = (deliveries ?? []).map(({ id, url, webhookId }): NewTask => {
      // A slow webhook delays no other, even of the same host.
      return { key: id, account: accountId, group: webhookId ?? targetGroup(url), data: {} };
    });
    await this.#queue.send('webhook-delivery', tasks, tx);
    return { numbered, last };
  }
}

/**
 * The outbox: everything that makes an event adds it here, in the transaction of what the event reports, and waits for
 * nothing else. Once that has committed, the event gets its number in the feed, and with it its deliveries
 * (event-numbers.ts). An event with copies gets them once the copies have ended.
 */
import { uuidv7 } from '../../base/uuid.js';
import type { Database } from '../postgres/database.js';
import type { Transaction } from '../postgres/sql.js';
import type { QueueSender } from '../queue/queue.js';
import { dropUnready, insertDrafts } from './event-feeds.js';
import { insertCopies } from './route-copies.js';
import type { DraftEvent, NewEvent } from './webhook-event.js';
import { insertOwnDelivery } from './webhook-events.js';

export class Outbox {
  readonly #database: Database;
  readonly #queue: QueueSender;

  constructor(database: Database, queue: QueueSender) {
    this.#database = database;
    this.#queue = queue;
  }

  /** Adds events as part of `tx`; undefined = in a transaction of their own. */
  async add(tx: Transaction | undefined, events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    if (tx === undefined) return this.#database.transaction((own) => this.add(own, events));
    const added = events.map((event) => ({ id: uuidv7(), ...event }));
    for (const event of added) {
      if (event.receiver === undefined) continue;
      await insertOwnDelivery(tx, event, event.receiver);
      await insertCopies(tx, event.id, event.copies ?? []);
    }
    const copied = added.filter(hasCopies);
    await insertDrafts(tx, copied, false);
    await insertDrafts(
      tx,
      added.filter((event) => !hasCopies(event)),
    );
    const tasks = copied.map(({ id, accountId, receiver }) => {
      return { key: id, account: accountId, group: receiver?.watchedFolderId ?? '', data: {} };
    });
    await this.#queue.send('route-copy', tasks, tx);
    this.announce(tx);
  }

  /** The copies of an event have ended: it gets its number, with this body, as if it had been added now. */
  async complete(tx: Transaction, event: DraftEvent): Promise<void> {
    await dropUnready(tx, [event.id]);
    await insertDrafts(tx, [event]);
    this.announce(tx);
  }

  /**
   * Events that a larger statement has written are to get their numbers, once `tx` has committed, or now. This only
   * saves time: they are also found without it.
   */
  announce(tx: Transaction | undefined): void {
    this.#database.notices.announceHere(tx, 'events', 0);
  }
}

function hasCopies({ copies = [] }: NewEvent): boolean {
  return copies.length > 0;
}

/** Requests that wait for new events of a feed. They are woken by events of any node. */
import { onAbort } from '../base/deadline.js';
import { refusal, toGatewayError } from '../base/errors.js';
import type { EndSignal } from '../base/ending.js';
import { Periodic } from '../base/periodic.js';
import { WokenWork } from '../base/woken-work.js';
import type { EventFeeds, FeedPage, FeedQuery, StorageOptions } from '../storage/storage.js';

/** Events that this process numbers wake its readers at once. Events of other nodes are found by polling the awaited feeds. */
const POLL_EVERY_MS = 250;

interface Waiter {
  readonly accountId: string;
  readonly after: number;
  readonly wake: () => void;
}

interface FeedReadersOptions {
  readonly feeds: Pick<EventFeeds, 'on' | 'read' | 'lastOf'>;
  readonly log: StorageOptions['log'];
}

export class FeedReaders {
  readonly #options: FeedReadersOptions;
  readonly #waiters = new Set<Waiter>();
  readonly #poll: WokenWork;
  readonly #polling = new Periodic(() => this.#poll.wake(), POLL_EVERY_MS);
  #isClosed = false;

  constructor(options: FeedReadersOptions) {
    this.#options = options;
    this.#poll = new WokenWork(
      () => this.#wakeReaders(),
      // The readers keep waiting: nothing is new while the database is away.
      (error) => options.log('debug', 'the event feeds could not be read', { reason: toGatewayError(error).message }),
    );
    options.feeds.on('numbered', (accountId, last) =>
      this.#wake((one) => one.accountId === accountId && one.after < last),
    );
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** One page. Errors: gone if the events after `after` are no longer kept; bad_request if `after` is above the last number. */
  async read(accountId: string, query: FeedQuery): Promise<FeedPage> {
    const page = await this.#options.feeds.read(accountId, query);
    const { after } = query;
    if (after === undefined) return page;
    const { oldest, last } = page;
    if (after > last) {
      throw refusal('bad_request', `after must be at most ${last}, the sequence of the last event; it is ${after}`);
    }
    if (after < oldest - 1) {
      const text = `events up to ${oldest - 1} are no longer kept; the oldest is ${oldest}: continue with after=${oldest - 1}`;
      throw refusal('gone', text);
    }
    return page;
  }

  /** Resolves when there may be more than `after`, when the time is over, when `signal` ends, or when the gateway stops. */
  wait(accountId: string, after: number, ms: number, signal: EndSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed || signal.aborted) return resolve();
      const wake = (): void => {
        clearTimeout(timer);
        stopListening();
        this.#waiters.delete(waiter);
        if (this.#waiters.size === 0) void this.#polling.stop();
        resolve();
      };
      const waiter: Waiter = { accountId, after, wake };
      const timer = setTimeout(wake, ms);
      const stopListening = onAbort(signal, wake);
      this.#waiters.add(waiter);
      this.#polling.start();
      // Events may have been numbered since the reader read its page.
      this.#poll.wake();
    });
  }

  /** Wakes all readers, and lets no request wait from now on. */
  close(): void {
    this.#isClosed = true;
    this.#wake(() => true);
  }

  #wake(isMeant: (waiter: Waiter) => boolean): void {
    for (const waiter of [...this.#waiters]) if (isMeant(waiter)) waiter.wake();
  }

  /** One query for all waiting readers. */
  async #wakeReaders(): Promise<void> {
    if (this.#waiters.size === 0) return;
    const accounts = [...new Set([...this.#waiters].map(({ accountId }) => accountId))];
    const last = await this.#options.feeds.lastOf(accounts);
    this.#wake(({ accountId, after }) => (last.get(accountId) ?? 0) > after);
  }
}

/**
 * Notices between the nodes of a database (LISTEN and NOTIFY): work of a topic is due, now or soon. They only save
 * time: a node that misses one finds the work in the tables at its next check (queue/agenda.ts).
 */
import type { Transaction } from './sql.js';

/** The PostgreSQL channel of the notices. */
export const CHANNEL = 'ftg';

/** All queues. A queue has at most one task of a key, waiting or running. */
export const QUEUES = [
  'watch-check',
  'route-copy',
  'webhook-delivery',
  'after-delivery',
  'job-list',
  'job-files',
] as const;
export type QueueName = (typeof QUEUES)[number];

/** The kinds of work that may be due. */
export type Topic =
  | QueueName
  | 'claims'
  | 'connection-check'
  | 'connections'
  | 'folders'
  | 'deleted-folders'
  | 'schedules'
  | 'events'
  | 'jobs'
  | 'uploads'
  | 'alarm-look'
  | 'alarm-mail';

/**
 * The time between two notices of a topic from one node. Committing a notice takes a lock of the whole server. A node that
 * has received one polls for a while (`HEARD_MS`), so a busy node need not send one with each transaction.
 */
const SEND_EVERY_MS = 500;
/** After a notice, a node polls for this long, at least every `SEND_EVERY_MS`. */
export const HEARD_MS = 3 * SEND_EVERY_MS;
/** Work that is due later needs no notice: each node checks again before that. */
export const NOTICED_MS = 10_000;

type Listener = (topic: string, inMs: number) => void;

interface Due {
  readonly topic: Topic;
  readonly inMs: number;
  readonly isForAll: boolean;
}

export class Notices {
  readonly #listeners = new Set<Listener>();
  readonly #ofTransactions = new WeakMap<Transaction, Map<string, Due>>();
  /** When this node last committed a notice of work that is due at once. */
  readonly #sentAt = new Map<Topic, number>();

  /** Subscribes to the notices of all nodes, including this one. Returns a function that stops this. */
  on(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Work will be due `inMs` after the commit of `tx`, which notifies all nodes. */
  announce(tx: Transaction, topic: Topic, inMs = 0): void {
    if (inMs < NOTICED_MS) this.#add(tx, { topic, inMs: Math.max(0, inMs), isForAll: true });
  }

  /** The same for this node only, which will find the work itself: with the commit of `tx`, or at once. */
  announceHere(tx: Transaction | undefined, topic: Topic, inMs: number): void {
    if (tx === undefined) this.#emit(topic, inMs);
    else this.#add(tx, { topic, inMs, isForAll: false });
  }

  /** Runs `work`, and sends its notices in the same transaction. */
  async within<T>(
    begin: (work: (tx: Transaction) => Promise<T>) => Promise<T>,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    let due: readonly Due[] = [];
    let sent: readonly Due[] = [];
    const result = await begin(async (tx) => {
      const value = await work(tx);
      due = [...(this.#ofTransactions.get(tx)?.values() ?? [])];
      sent = due.filter((one) => one.isForAll && this.#isNews(one));
      if (sent.length > 0) {
        const payloads = [...new Set(sent.map(({ topic, inMs }) => `${topic} ${Math.round(inMs)}`))];
        await tx`select pg_notify(${CHANNEL}, payload) from unnest(${tx.types.texts(payloads)}) as n (payload)`;
      }
      return value;
    });
    // A notice counts only once its transaction has committed.
    const now = performance.now();
    for (const { topic, inMs } of sent) if (inMs === 0) this.#sentAt.set(topic, now);
    // The notices that were sent also reach this node. The others are only for this node, or follow one too closely.
    for (const one of due) if (!sent.includes(one)) this.#emit(one.topic, one.inMs);
    return result;
  }

  /** Handles a received notice. */
  receive(payload: string): void {
    const [topic = '', inMs] = payload.split(' ');
    this.#emit(topic, Number(inMs) || 0);
  }

  #add(tx: Transaction, due: Due): void {
    const known = this.#ofTransactions.get(tx) ?? new Map<string, Due>();
    this.#ofTransactions.set(tx, known);
    known.set(`${due.topic} ${due.inMs} ${due.isForAll}`, due);
  }

  #isNews({ topic, inMs }: Due): boolean {
    return inMs > 0 || performance.now() - (this.#sentAt.get(topic) ?? -Infinity) >= SEND_EVERY_MS;
  }

  #emit(topic: string, inMs: number): void {
    for (const listener of this.#listeners) listener(topic, inMs);
  }
}

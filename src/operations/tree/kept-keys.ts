/**
 * Lists of keys that continue page after page: what was read beyond a page is kept for the next one, for a moment. A
 * folder of a million files is then listed once for nine pages. Without it, after a restart or on another node, the next
 * page is read as the first one was.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Budget } from '../../budgets/budget.js';
import { Memory } from '../../budgets/memory.js';
import type { Connection } from '../../connections/connection.js';
import type { Operation } from '../operation.js';
import { firstOf, type KeysOptions, type KeysPage, type KeysRead, listKeys } from './list-keys.js';
import { PAGE_ENTRY_BYTES } from './list-tree.js';

/** The greatest age of an entry: clients ask for the next page at once. */
const KEPT_MS = 30_000;
const MOST_LISTS = 32;

interface Kept {
  readonly connection: Connection;
  readonly read: KeysRead;
  /** On the clock of performance.now(). */
  readonly until: number;
  readonly memory: Memory;
  readonly timer: NodeJS.Timeout;
}

export class KeptKeys {
  readonly #budget: Budget;
  readonly #lists = new Map<string, Kept>();

  /** `budget`: counts the bytes that are kept, each under the account of its connection. */
  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** A page as `listKeys` returns it, of what is kept if there is enough. `memory` counts what is read for it. */
  async page(
    operation: Operation,
    connection: Connection,
    memory: Parameters<typeof listKeys>[1],
    options: KeysOptions,
  ): Promise<KeysPage> {
    const began = performance.now();
    const kept = this.#taken(connection, options);
    const read = kept === undefined ? await listKeys(operation, memory, options) : firstOf(kept.read, options.limit);
    const { entries, next, incomplete } = read;
    const until = kept?.until ?? began + KEPT_MS;
    if (next !== undefined) this.#keep({ connection, read, until }, { ...options, after: next });
    return { entries, next, incomplete };
  }

  /** Forgets all of them. */
  close(): void {
    for (const id of [...this.#lists.keys()]) this.#drop(id);
  }

  #taken(connection: Connection, options: KeysOptions): Kept | undefined {
    const id = idOf(connection, options);
    const kept = this.#lists.get(id);
    if (kept === undefined) return undefined;
    this.#drop(id);
    if (!hasPage(kept.read, options.limit)) return undefined;
    // It may have been given another server or root since.
    return isDeepStrictEqual(kept.connection, connection) ? kept : undefined;
  }

  /** Also if nothing is left to keep: an older list that continues there is over. */
  #keep({ connection, read, until }: Pick<Kept, 'connection' | 'read' | 'until'>, options: KeysOptions): void {
    const id = idOf(connection, options);
    this.#drop(id);
    const left = until - performance.now();
    if (left <= 0 || !hasPage(read, options.limit)) return;
    const memory = new Memory(this.#budget, connection.accountId);
    if (!memory.hold().stretch(read.rest.length * PAGE_ENTRY_BYTES)) return memory.release();
    const timer = setTimeout(() => this.#drop(id), left).unref();
    this.#lists.set(id, { connection, read, until, memory, timer });
    const oldest = this.#lists.keys().next();
    if (this.#lists.size > MOST_LISTS && oldest.done === false) this.#drop(oldest.value);
  }

  #drop(id: string): void {
    const kept = this.#lists.get(id);
    if (kept === undefined) return;
    clearTimeout(kept.timer);
    kept.memory.release();
    this.#lists.delete(id);
  }
}

/** Whether a full page is left, and whether more follows it is known: a list is not cut off where it ends. */
const hasPage = ({ rest, isEnd }: KeysRead, limit: number): boolean =>
  limit > 0 && (isEnd ? rest.length >= limit : rest.length > limit);

const idOf = ({ accountId, id }: Connection, { prefix, delimiter, after }: KeysOptions): string =>
  JSON.stringify([accountId, id, prefix, delimiter, after]);

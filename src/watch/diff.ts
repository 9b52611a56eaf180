/** What a check makes of a whole listing: the decisions about its entries, and what is gone. */
import { Turns } from '../base/turns.js';
import type { EntryChange, StoredEntry } from '../storage/storage.js';
import { decide, type Decision, type DiffRules, isReport, type ListedEntry } from './decide.js';

/** A stored entry that the listing does not hold. */
export interface Unlisted {
  readonly key: Buffer;
  /** 'unchanged' and 'settling' of one that another listing of the same check holds. */
  readonly reason: 'gone' | 'unreadable' | 'unchanged' | 'settling';
  /** Since when its state waits to settle; undefined = it does not. */
  readonly sinceMs: number | undefined;
  /** undefined = what is known of it stays. */
  readonly change: EntryChange | undefined;
}

type Batches<T> = AsyncIterable<readonly T[]>;

/**
 * Meets the listing with the stored set, both in the order of their keys and read batch by batch: memory does not grow
 * with the folder. Every listed entry leaves with one decision; stored ones that are not listed leave as gone.
 */
export async function* diff(
  listed: Batches<ListedEntry>,
  stored: Batches<StoredEntry>,
  rules: DiffRules,
): AsyncGenerator<readonly (Decision | Unlisted)[]> {
  const store = new EntryReader(stored);
  const turns = new Turns();
  let reports = 0;
  let held = await store.read();
  const decisions: (Decision | Unlisted)[] = [];
  for await (const batch of listed) {
    decisions.length = 0;
    for (const entry of batch) {
      while (held !== undefined && held.key.compare(entry.key) < 0) {
        decisions.push(unlisted(held, rules));
        held = store.readNow() ?? (await store.read());
      }
      const match = held !== undefined && held.key.equals(entry.key) ? held : undefined;
      if (turns.isOver()) await turns.next();
      const decision = decide(entry, match, rules);
      if (isReport(decision.reason) && ++reports > rules.maxReports) {
        decisions.push({ ...decision, reason: 'over_cap', change: undefined });
      } else {
        decisions.push(decision);
      }
      if (match !== undefined) held = store.readNow() ?? (await store.read());
    }
    yield decisions;
  }
  let rest: Unlisted[] = [];
  while (held !== undefined) {
    rest.push(unlisted(held, rules));
    if (rest.length === GONE_BATCH) {
      yield rest;
      rest = [];
    }
    held = store.readNow() ?? (await store.read());
  }
  if (rest.length > 0) yield rest;
}

const GONE_BATCH = 1000;

function unlisted({ key, seen }: StoredEntry, rules: DiffRules): Unlisted {
  const sinceMs = seen?.sinceMs;
  if (rules.mayBeThere?.(key) === true) return { key, reason: 'unreadable', sinceMs, change: undefined };
  return { key, reason: 'gone', sinceMs, change: { key, known: undefined, seen: undefined } };
}

/** One by one out of batches, waiting only where a batch ends. */
class EntryReader<T> {
  readonly #batches: AsyncIterator<readonly T[]>;
  #batch: readonly T[] = [];
  #at = 0;

  constructor(batches: Batches<T>) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  readNow(): T | undefined {
    return this.#batch[this.#at++];
  }

  async read(): Promise<T | undefined> {
    for (;;) {
      const item = this.readNow();
      if (item !== undefined) return item;
      const next = await this.#batches.next();
      if (next.done === true) return undefined;
      this.#batch = next.value;
      this.#at = 0;
    }
  }
}

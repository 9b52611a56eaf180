/** Compares a whole listing with the stored entries: decides about the listed ones, and finds those that are gone. */
import { Turns } from '../base/turns.js';
import type { EntryChange, StoredEntry } from '../storage/storage.js';
import { decide, type Decision, type DiffRules, isReport, type ListedEntry } from './decide.js';

/** A stored entry that is not in the listing. */
export interface Unlisted {
  readonly key: Buffer;
  /** 'unchanged' and 'settling': another listing of the same check contains it. */
  readonly reason: 'gone' | 'unreadable' | 'unchanged' | 'settling';
  /** Since when its state has been waiting to settle; undefined = it is not waiting. */
  readonly sinceMs: number | undefined;
  /** undefined = the stored entry stays as it is. */
  readonly change: EntryChange | undefined;
}

type Batches<T> = AsyncIterable<readonly T[]>;

/**
 * Merges the listing and the stored entries. Both are sorted by key and read in batches, so that memory does not grow
 * with the folder. Yields one decision for each listed entry, and an Unlisted for each other stored entry.
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

/** Reads entries one by one, and waits only for the next batch. */
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

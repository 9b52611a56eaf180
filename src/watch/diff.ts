/** Compares a whole listing with the stored entries: decides about the listed ones, and finds those that are gone. */
import { pairs } from '../base/entry-pairs.js';
import type { CheckReason } from '../contract/watch-check.js';
import { Turns } from '../base/turns.js';
import type { EntryChange, StoredEntry } from '../storage/storage.js';
import { decide, type Decision, type DiffRules, isReport, type ListedEntry } from './decide.js';

/** A stored entry that is not in the listing. */
export interface Unlisted {
  readonly key: Buffer;
  /** 'unchanged' and 'settling': another listing of the same check contains it. */
  readonly reason: Extract<CheckReason, 'gone' | 'unreadable' | 'unchanged' | 'settling' | 'over_cap'>;
  /** Since when its state has been waiting to settle; undefined = it is not waiting. */
  readonly sinceMs: number | undefined;
  /** Reported, or in the baseline. */
  readonly isKnown: boolean;
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
  const turns = new Turns();
  let reports = 0;
  for await (const some of pairs(listed, stored)) {
    const decisions: (Decision | Unlisted)[] = [];
    for (const { source: entry, target } of some) {
      if (entry === undefined) {
        decisions.push(unlisted(target, rules));
        continue;
      }
      if (turns.isOver()) await turns.next();
      const decision = decide(entry, target, rules);
      const isCut = isReport(decision.reason) && ++reports > rules.maxReports;
      decisions.push(isCut ? { ...decision, reason: 'over_cap', change: undefined } : decision);
    }
    yield decisions;
  }
}

function unlisted({ key, known, seen }: StoredEntry, rules: DiffRules): Unlisted {
  const missing = { key, sinceMs: seen?.sinceMs, isKnown: known !== undefined };
  if (rules.mayBeThere?.(key) === true) return { ...missing, reason: 'unreadable', change: undefined };
  return { ...missing, reason: 'gone', change: { key, known: undefined, seen: undefined } };
}

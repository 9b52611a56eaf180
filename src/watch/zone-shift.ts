/**
 * A server that lists local times shifts all of them when its summer time begins or ends, or when it is moved to another
 * zone. One file that is an hour off proves nothing: it was rewritten. A whole listing does, where one of its files cannot
 * have been.
 */
import type { FileState, StoredEntry } from '../storage/storage.js';
import type { ListedEntry } from './decide.js';
import { LOSES_CLOCK_AFTER_MS } from './same-state.js';
import { HOUR_MS, MINUTE_MS } from '../contract/units.js';

const MAX_SHIFT_MS = 26 * HOUR_MS;
/** One file alone proves nothing. */
const MIN_PROOFS = 2;

type Batches<T> = AsyncIterable<readonly T[]>;

/**
 * Milliseconds, whole hours, that the listing is off from the stored set; 0 = not at all, or not provably. Both are in the
 * order of their keys, and read only as far as no entry disproves a shift: commonly to the first one.
 */
export async function zoneShift(
  listed: Batches<ListedEntry>,
  stored: Batches<StoredEntry>,
  endedMs: number,
): Promise<number> {
  let shiftMs: number | undefined;
  let proofs = 0;
  let newestBefore = -Infinity;
  let oldestNow = Infinity;
  for await (const [entry, before] of common(listed, stored)) {
    // Another size is another content, whatever the time; and a bare day has no hour.
    const isOld = endedMs - Math.max(entry.modifiedMs, before.modifiedMs) > LOSES_CLOCK_AFTER_MS;
    const hasTimes = entry.modifiedMs !== 0 && before.modifiedMs !== 0;
    if (entry.size !== before.size || isOld || !hasTimes) continue;
    const offMs = (Math.floor(entry.modifiedMs / MINUTE_MS) - Math.floor(before.modifiedMs / MINUTE_MS)) * MINUTE_MS;
    shiftMs ??= offMs;
    if (offMs !== shiftMs || offMs === 0 || offMs % HOUR_MS !== 0 || Math.abs(offMs) > MAX_SHIFT_MS) return 0;
    proofs += 1;
    newestBefore = Math.max(newestBefore, before.modifiedMs);
    oldestNow = Math.min(oldestNow, entry.modifiedMs);
  }
  // Whatever was rewritten is younger than all that was there before: a job that rewrites every file each hour is no shift.
  const isProven = proofs >= MIN_PROOFS && oldestNow <= newestBefore;
  return isProven ? (shiftMs ?? 0) : 0;
}

async function* common(
  listed: Batches<ListedEntry>,
  stored: Batches<StoredEntry>,
): AsyncGenerator<readonly [ListedEntry, FileState]> {
  const store = entriesOf(stored);
  let held = await store.next();
  try {
    for await (const batch of listed) {
      for (const entry of batch) {
        while (held.done !== true && held.value.key.compare(entry.key) < 0) held = await store.next();
        if (held.done === true) return;
        const before = held.value.seen ?? held.value.known;
        if (before !== undefined && held.value.key.equals(entry.key)) yield [entry, before];
      }
    }
  } finally {
    await store.return(undefined);
  }
}

async function* entriesOf<T>(batches: Batches<T>): AsyncGenerator<T, undefined> {
  for await (const batch of batches) yield* batch;
  return undefined;
}

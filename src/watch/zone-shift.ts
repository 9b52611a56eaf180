/**
 * Detects a shift of all times of a server that lists local times: when summer time begins or ends, or its zone
 * changes. One file that is an hour off proves nothing, because it may have been rewritten. A whole listing with the
 * same offset is a proof if at least one of its files cannot have been rewritten.
 */
import { pairs } from '../base/entry-pairs.js';
import type { StoredEntry } from '../storage/storage.js';
import type { ListedEntry } from './decide.js';
import { LOSES_CLOCK_AFTER_MS } from '../remotes/times.js';
import { HOUR_MS, MINUTE_MS } from '../contract/units.js';

const MAX_SHIFT_MS = 26 * HOUR_MS;
const MIN_PROOFS = 2;

type Batches<T> = AsyncIterable<readonly T[]>;

/**
 * The offset of the listing from the stored entries: milliseconds, whole hours; 0 = none, or not provable. Both are
 * sorted by key, and are read until an entry disproves a shift, which is usually the first one.
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
  for await (const some of pairs(listed, stored)) {
    for (const { source: entry, target } of some) {
      const before = target?.seen ?? target?.known;
      if (entry === undefined || before === undefined) continue;
      // A file of another size has other content, and a time that is only a day shows no shift.
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
  }
  // A rewritten file is newer than all files before. So a job that rewrites every file each hour is not taken for a
  // shift.
  const isProven = proofs >= MIN_PROOFS && oldestNow <= newestBefore;
  return isProven ? (shiftMs ?? 0) : 0;
}

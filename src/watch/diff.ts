/**
 * What a check makes of each entry that it sees: pure, so that a brute-force model can be held against it. Entries are
 * compared with the stored set of path, size and date, never with a time cursor: a server whose clock jumps, or a file
 * that arrives with an old date, changes nothing.
 */
import { Turns } from '../base/turns.js';
import {
  type EntryChange,
  type FileState,
  type SeenState,
  type StoredEntry,
  UNKNOWN_SIZE,
} from '../storage/storage.js';

export interface ListedEntry extends FileState {
  /** The bytes of the path below the watched folder. */
  readonly key: Buffer;
}

/** Why an entry was, or was not, reported. */
export type Reason =
  | 'new'
  | 'modified'
  | 'baseline'
  | 'unchanged'
  /** Changed, but the folder reports new files only. */
  | 'modification_ignored'
  /** First seen in this state; it must keep it. */
  | 'settling'
  /** Size or date moved since the check before. */
  | 'growing'
  /** Empty and new: waits for the next check. */
  | 'empty'
  | 'waiting_for_marker'
  | FilterReason
  /** More files than one check reports; the next check goes on. */
  | 'over_cap'
  /** The listing has an entry that cannot be read, which this may be; what is known of it stays. */
  | 'unreadable';

/** An entry that is none of the folder's files, by its name alone. */
export type FilterReason = 'pattern' | 'excluded' | 'temporary_name' | 'marker';

export interface DiffRules {
  /** What stands there at the folder's first check is taken as known; later, what the folder takes only since then. */
  readonly isBaseline: boolean | ((key: Buffer) => boolean);
  readonly detectModified: boolean;
  /** How long a file must keep size and date. */
  readonly settleMs: number;
  /** Of the server's times; the coarser one of this check's and the last one's. */
  readonly resolutionMs: number;
  /** What the whole listing is off from the stored times (see zone-shift.ts); absent = 0. */
  readonly zoneShiftMs?: number;
  /** When this look began and ended: what settled before the one is settled, what is new is seen since the other. */
  readonly beganMs: number;
  readonly endedMs: number;
  /** A follow-up never reports empty files: they wait for the next regular check. */
  readonly mayReportEmpty: boolean;
  /** Reports of one check. */
  readonly maxReports: number;
  /** Whether a stored entry that no listing shows may be there all the same; absent = none is. */
  mayBeThere?(key: Buffer): boolean;
  filter(key: Buffer): FilterReason | undefined;
  /** Whether the marker that announces this file is there; always true where none is asked for. */
  hasMarker(key: Buffer): boolean;
}

export interface Decision {
  readonly key: Buffer;
  readonly reason: Reason;
  readonly entry: ListedEntry;
  /** What was stored before. */
  readonly stored: StoredEntry | undefined;
  /** What is to be stored; undefined = nothing changes. */
  readonly change: EntryChange | undefined;
}

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

export type AnyReason = Reason | 'gone';

export const isReport = (reason: AnyReason): reason is 'new' | 'modified' => reason === 'new' || reason === 'modified';

/** Decides about one entry; the cap is the merge's business. */
export function decide(entry: ListedEntry, stored: StoredEntry | undefined, rules: DiffRules): Decision {
  const { key, size, modifiedMs } = entry;
  const decision = (reason: Reason, change?: EntryChange): Decision => ({ key, reason, entry, stored, change });
  const filtered = rules.filter(key);
  if (filtered !== undefined) return decision(filtered);
  const state: FileState = { size, modifiedMs };
  const accepted: EntryChange = { key, known: state, seen: undefined };
  const { isBaseline } = rules;
  const known = stored?.known;
  if (typeof isBaseline === 'boolean' ? isBaseline : known === undefined && isBaseline(key)) {
    return decision('baseline', accepted);
  }
  if (known !== undefined && isSame(known, entry, rules)) {
    const isExact = known.size === size && known.modifiedMs === modifiedMs && stored?.seen === undefined;
    return decision('unchanged', isExact ? undefined : accepted);
  }
  if (known !== undefined && !rules.detectModified) return decision('modification_ignored', accepted);

  const seen = stored?.seen;
  const isKept = seen !== undefined && isSame(seen, entry, rules);
  // A clock of ours that was set back must not settle anything, nor keep a file waiting for years.
  const sinceMs = isKept && seen.sinceMs <= rules.endedMs ? seen.sinceMs : rules.endedMs;
  const waiting = (reason: Reason): Decision => {
    const next: SeenState = { size, modifiedMs, sinceMs };
    const isStored = isKept && seen.sinceMs === sinceMs && seen.modifiedMs === modifiedMs;
    return decision(reason, isStored ? undefined : { key, known, seen: next });
  };
  if (seen !== undefined && !isKept) return waiting('growing');
  if (size === 0 && known === undefined && (seen === undefined || !rules.mayReportEmpty)) return waiting('empty');
  const isSettled = rules.settleMs === 0 || (isKept && rules.beganMs - sinceMs >= rules.settleMs);
  if (!isSettled) return waiting('settling');
  if (!rules.hasMarker(key)) return waiting('waiting_for_marker');
  return decision(known === undefined ? 'new' : 'modified', accepted);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** LIST shows a clock time for about half a year and a bare day after it. */
export const LOSES_CLOCK_AFTER_MS = 150 * DAY_MS;

/**
 * Whether two looks, `before` the earlier one, saw the same state. Servers that tell minutes in their own zone show one
 * file's time in three ways: to the minute, hours off when their zone has shifted, and to the day when it is half a year old.
 */
export function isSame(
  before: FileState,
  now: FileState,
  { resolutionMs, zoneShiftMs = 0, endedMs }: Pick<DiffRules, 'resolutionMs' | 'zoneShiftMs' | 'endedMs'>,
): boolean {
  if (before.size === UNKNOWN_SIZE) return true;
  if (before.size !== now.size) return false;
  // The epoch is no time: the server keeps none, or did not tell it this once.
  if (before.modifiedMs === 0 || now.modifiedMs === 0) return true;
  if (before.modifiedMs === now.modifiedMs && zoneShiftMs === 0) return true;
  if (resolutionMs < MINUTE_MS) {
    return Math.floor(before.modifiedMs / resolutionMs) === Math.floor(now.modifiedMs / resolutionMs);
  }
  const minutesApart = Math.floor(now.modifiedMs / MINUTE_MS) - Math.floor(before.modifiedMs / MINUTE_MS);
  if (minutesApart * MINUTE_MS === zoneShiftMs) return true;
  const isOld = endedMs - Math.max(before.modifiedMs, now.modifiedMs) > LOSES_CLOCK_AFTER_MS;
  return isOld && Math.abs(minutesApart) * MINUTE_MS <= DAY_MS + HOUR_MS;
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
  const store = new Reader(stored);
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
class Reader<T> {
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

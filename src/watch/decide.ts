/**
 * What a check makes of one entry that it sees: pure, so that a brute-force model can be held against it. Entries are
 * compared with the stored set of path, size and date, never with a time cursor: a server whose clock jumps, or a file
 * that arrives with an old date, changes nothing.
 */
import type { EntryChange, FileState, SeenState, StoredEntry } from '../storage/storage.js';
import { isSame, type TimeRules } from './same-state.js';

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

export interface DiffRules extends TimeRules {
  /** Entries that count as known: all at the first check, later those that only new settings let in. */
  readonly isBaseline: boolean | ((key: Buffer) => boolean);
  readonly detectModified: boolean;
  /** How long a file must keep size and date. */
  readonly settleMs: number;
  /** When this scan began: files that had settled by then are settled. */
  readonly beganMs: number;
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

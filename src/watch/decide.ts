/**
 * The decision about one listed entry. It is a pure function, and is tested against a brute-force model. Entries are
 * compared with the stored path, size and date, never with a time cursor: a jump of the server's clock, or a new file
 * with an old date, makes no difference.
 */
import type { CheckReason } from '../contract/watch-check.js';
import type { EntryChange, FileState, SeenState, StoredEntry } from '../storage/storage.js';
import { isSameState, type TimeRules } from './same-state.js';

export interface ListedEntry extends FileState {
  /** The bytes of the path below the watched folder. */
  readonly key: Buffer;
}

/** Why a listed entry was, or was not, reported. */
export type Reason = Exclude<CheckReason, 'gone'>;

/** Why the name of an entry excludes it from the folder's files. */
export type FilterReason = Extract<Reason, 'pattern' | 'excluded' | 'temporary_name' | 'marker'>;

export interface DiffRules extends TimeRules {
  /** Entries that count as known: all at the first check, later those that only changed settings let in. */
  readonly isBaseline: boolean | ((key: Buffer) => boolean);
  readonly detectModified: boolean;
  /** How long a file must keep size and date. */
  readonly settleMs: number;
  /** The start of this scan; a file must have settled by then. */
  readonly beganMs: number;
  /** False for a follow-up: empty files wait for the next regular check. */
  readonly mayReportEmpty: boolean;
  /** The limit for one check. */
  readonly maxReports: number;
  /** Whether a stored entry may exist although no listing shows it; absent = no. */
  mayBeThere?(key: Buffer): boolean;
  filter(key: Buffer): FilterReason | undefined;
  /** Whether the marker that announces this file exists; always true if the folder needs no markers. */
  hasMarker(key: Buffer): boolean;
}

export interface Decision {
  readonly key: Buffer;
  readonly reason: Reason;
  readonly entry: ListedEntry;
  /** The entry before this check. */
  readonly stored: StoredEntry | undefined;
  /** undefined = the stored entry stays as it is. */
  readonly change: EntryChange | undefined;
}

export const isReport = (reason: CheckReason): reason is 'new' | 'modified' =>
  reason === 'new' || reason === 'modified';

/** Decides about one entry, without the limit of reports: `diff` counts them. */
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
  if (known !== undefined && isSameState(known, entry, rules)) {
    const isExact = known.size === size && known.modifiedMs === modifiedMs && stored?.seen === undefined;
    return decision('unchanged', isExact ? undefined : accepted);
  }
  if (known !== undefined && !rules.detectModified) return decision('modification_ignored', accepted);

  const seen = stored?.seen;
  const isKept = seen !== undefined && isSameState(seen, entry, rules);
  // If the gateway's clock was set back, files must neither settle early nor wait for years.
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

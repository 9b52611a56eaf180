/** What a sync makes of the entries of one folder, source beside destination: pure. */
import type { SortedEntry } from '../base/entry-sorter.js';
import type { FileInfo } from '../remotes/remote.js';
import type { JobDefinition } from '../contract/job.js';

/** Size of a folder, in a sorted listing. */
export const FOLDER = -1;
/** And of a link that leads to one. */
export const FOLDER_LINK = -2;

/** undefined: a file. */
export function kindOf({ isDirectory, isLink }: FileInfo): typeof FOLDER | typeof FOLDER_LINK | undefined {
  if (!isDirectory) return undefined;
  return isLink === true ? FOLDER_LINK : FOLDER;
}

/** How exact the times of either side are, and whether a copy shows that of its source. */
interface Times {
  readonly sourceResolutionMs: number;
  readonly targetResolutionMs: number;
  readonly areKept: boolean;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Whether the target's file is the source's, as far as is asked. Digests are compared when the file's turn comes. */
export function isSame(
  source: SortedEntry,
  target: SortedEntry,
  compare: JobDefinition['compare'],
  { sourceResolutionMs, targetResolutionMs, areKept }: Times,
): boolean {
  if (source.size !== target.size || compare === 'digest') return false;
  if (compare === 'size') return true;
  // The epoch is no time: the server keeps none, or shows it in a form that cannot be read.
  if (source.modifiedMs === 0 || target.modifiedMs === 0) return true;
  const offMs = target.modifiedMs - source.modifiedMs;
  // Where the target's time is that of the copy, whatever is not older was copied from what the source is now.
  const resolutionMs = Math.max(resolutionOf(source, sourceResolutionMs), resolutionOf(target, targetResolutionMs));
  return Math.abs(offMs) < resolutionMs || (!areKept && offMs > 0);
}

/** Listings that tell minutes tell of old files only the day. */
function resolutionOf({ modifiedMs }: SortedEntry, usualMs: number): number {
  return usualMs >= MINUTE_MS && modifiedMs % DAY_MS === 0 ? DAY_MS : usualMs;
}

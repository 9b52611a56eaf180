/** How a sync compares the entries of one folder, source beside destination; without side effects. */
import type { SortedEntry } from '../base/entry-sorter.js';
import type { FileInfo } from '../remotes/remote.js';
import { mayBeOneTime } from '../remotes/times.js';
import type { JobDefinition } from '../contract/job.js';

/** The size of a folder in a sorted listing. */
export const FOLDER = -1;
/** The size of a link to a folder. */
export const FOLDER_LINK = -2;

/** undefined: a file. */
export function kindOf({ isDirectory, isLink }: FileInfo): typeof FOLDER | typeof FOLDER_LINK | undefined {
  if (!isDirectory) return undefined;
  return isLink === true ? FOLDER_LINK : FOLDER;
}

/** The resolution of either side's times, and whether a copy shows the time of its source. */
interface Times {
  readonly sourceResolutionMs: number;
  readonly targetResolutionMs: number;
  readonly areKept: boolean;
  /** When they were listed. */
  readonly nowMs: number;
}

/**
 * Whether the target's file equals the source's, as far as requested. Digests are compared when the file is processed.
 */
export function isUpToDate(
  source: SortedEntry,
  target: SortedEntry,
  compare: JobDefinition['compare'],
  { sourceResolutionMs, targetResolutionMs, areKept, nowMs }: Times,
): boolean {
  if (source.size !== target.size || compare === 'digest') return false;
  if (compare === 'size') return true;
  const resolutionMs = Math.max(sourceResolutionMs, targetResolutionMs);
  if (mayBeOneTime(source.modifiedMs, target.modifiedMs, { resolutionMs, nowMs })) return true;
  // If the target's time is that of the copy, a copy that is not older was made from the source's current content.
  return !areKept && target.modifiedMs > source.modifiedMs;
}

/** Selects the files of a job: by path, depth, size and age. */
import { refusal } from '../base/errors.js';
import { createPathFilter } from '../operations/tree/path-filter.js';
import type { JobFilters } from '../contract/job.js';

export interface FileFilter {
  /** For a file of which only the path is known. */
  takesPath(below: string): boolean;
  takes(below: string, size: number, modifiedMs: number): boolean;
  /** Whether a folder is entered; `depth`: that of its parent, 0 for the job's own folder. */
  enters(folder: string, depth: number): boolean;
  /** Whether an empty folder is wanted, '' = the job's own. */
  takesEmpty(folder: string): boolean;
}

/** `nowMs`: the reference for ages. @throws GatewayError bad_request */
export function createFileFilter(filters: JobFilters, nowMs: number): FileFilter {
  const { include, maxDepth = Infinity, minSize = 0, maxSize = Infinity } = filters;
  const { minAgeSeconds = -Infinity, maxAgeSeconds = Infinity } = filters;
  if (minSize > maxSize) throw refusal('bad_request', 'minSize must not be above maxSize');
  if (minAgeSeconds > maxAgeSeconds) throw refusal('bad_request', 'minAgeSeconds must not be above maxAgeSeconds');
  const paths = createPathFilter(filters);
  const newestMs = nowMs - minAgeSeconds * 1000;
  const oldestMs = nowMs - maxAgeSeconds * 1000;
  return {
    takesPath: (below) => paths.takes(below),
    takes: (below, size, modifiedMs) =>
      // The single file of a job is not part of a tree.
      (below === '' || paths.takes(below)) &&
      size >= minSize &&
      size <= maxSize &&
      modifiedMs <= newestMs &&
      modifiedMs >= oldestMs,
    enters: (folder, depth) => depth + 2 <= maxDepth && paths.enters(folder),
    takesEmpty: (folder) => (folder === '' ? include.length === 0 : paths.takes(folder)),
  };
}

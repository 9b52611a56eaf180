/** Which files of a tree a job is for: by their paths, how deep they lie, how large and how old they are. */
import { refusal } from '../base/errors.js';
import { createPathFilter } from '../operations/tree/path-filter.js';
import type { JobFilters } from '../contract/job.js';

export interface FileFilter {
  /** Of a file of which nothing but its path is known. */
  takesPath(below: string): boolean;
  takes(below: string, size: number, modifiedMs: number): boolean;
  /** Of a folder that lies in one of this depth; the job's own has 0. */
  enters(folder: string, depth: number): boolean;
  /** Whether a folder that holds nothing is wanted, '' = the job's own. */
  takesEmpty(folder: string): boolean;
}

/** `nowMs`: what ages are counted from. @throws GatewayError bad_request */
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
      // The one file of a job is no part of a tree.
      (below === '' || paths.takes(below)) &&
      size >= minSize &&
      size <= maxSize &&
      modifiedMs <= newestMs &&
      modifiedMs >= oldestMs,
    enters: (folder, depth) => depth + 2 <= maxDepth && paths.enters(folder),
    takesEmpty: (folder) => (folder === '' ? include.length === 0 : paths.takes(folder)),
  };
}

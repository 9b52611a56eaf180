/**
 * The exact state of files that will be moved or deleted later. The times of a listing may be in whole minutes, within
 * which a file can be replaced unnoticed; here each file gets its own stat.
 */
import { pause } from '../base/deadline.js';
import { hasCode } from '../base/errors.js';
import { parseRemotePath, ROOT, type RemotePath } from '../remotes/path.js';
import type { Remote } from '../remotes/remote.js';
import { isSameTime } from '../remotes/times.js';
import type { DeliveredFile } from '../contract/delivery.js';
import { SECOND_MS } from '../contract/units.js';

const AGED_MS = 2 * SECOND_MS;

/** Undefined if there is no file at the path. */
export async function exactState(remote: Remote, path: RemotePath): Promise<DeliveredFile | undefined> {
  try {
    const { size, modifiedAt, isDirectory, etag } = await remote.stat(path);
    if (isDirectory) return undefined;
    const modifiedMs = modifiedAt.getTime();
    // The epoch means that the server keeps no time.
    const isExact = etag !== undefined || (modifiedMs > 0 && remote.can.statTimeResolutionMs <= SECOND_MS);
    return { path, size, modifiedMs, isExact, ...(etag === undefined ? {} : { etag }) };
  } catch (error) {
    if (hasCode(error, 'not_found')) return undefined;
    throw error;
  }
}

/**
 * States by path. Resolves only when they are so old that any later change gives a file another time. Files that are
 * gone meanwhile are left out.
 */
export async function agedStates(
  remote: Remote,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, DeliveredFile>> {
  const states = new Map<string, DeliveredFile>();
  for (const path of paths) {
    const state = await exactState(remote, parseRemotePath(path, ROOT, 'path'));
    if (state !== undefined) states.set(path, state);
  }
  const haveTags = [...states.values()].every(({ etag }) => etag !== undefined);
  if (!haveTags) await pause(AGED_MS, signal);
  return states;
}

/** Whether the file is the one that was reported. */
export function isReported(found: DeliveredFile, reported: DeliveredFile): boolean {
  if (found.size !== reported.size) return false;
  if (found.etag !== undefined && reported.etag !== undefined && found.etag !== reported.etag) return false;
  if (reported.isExact !== undefined) return found.modifiedMs === reported.modifiedMs;
  // A report of version 1.0 has the time of a listing, which may be less precise than that of a stat.
  return isSameTime(new Date(found.modifiedMs), new Date(reported.modifiedMs));
}

/** Entries of a job's folders, as listings and removals see them. */
import { isFiltered } from '../contract/job.js';
import type { RunningJob } from '../storage/storage.js';

/** The gateway's own uploads on their way. */
export const OWN_TEMPORARY = /^\.ftg-[0-9a-f]{8}-/;

const SLASH = Buffer.from('/');

/** The path of an entry of that folder. */
export function keyBelow(folder: Buffer, name: Buffer): Buffer {
  return folder.length === 0 ? name : Buffer.concat([folder, SLASH, name]);
}

/** Nothing is to be left of it. */
export function isWholeTree({ type, definition }: RunningJob): boolean {
  return (type === 'move' || type === 'delete') && !isFiltered(definition);
}

/** Whether a file may have come, or changed, after the job began: that is left for another one. */
export function hasComeSince({ startedAt, createdAt }: RunningJob, modifiedMs: number, resolutionMs: number): boolean {
  const beganMs = (startedAt ?? createdAt).getTime();
  return modifiedMs >= Math.floor(beganMs / resolutionMs) * resolutionMs;
}

/** Entries of a job's folders, for listings and removals. */
import { isFiltered } from '../contract/job.js';
import type { RunningJob } from '../storage/storage.js';

const SLASH = Buffer.from('/');

/** The path of an entry in that folder. */
export function keyBelow(folder: Buffer, name: Buffer): Buffer {
  return folder.length === 0 ? name : Buffer.concat([folder, SLASH, name]);
}

/** Whether nothing of the tree must be left. */
export function isWholeTree({ type, definition }: RunningJob): boolean {
  return (type === 'move' || type === 'delete') && !isFiltered(definition);
}

/** Whether a file may have been created or changed after the job began: such files are left to another job. */
export function hasComeSince({ startedAt, createdAt }: RunningJob, modifiedMs: number, resolutionMs: number): boolean {
  const beganMs = (startedAt ?? createdAt).getTime();
  return modifiedMs >= Math.floor(beganMs / resolutionMs) * resolutionMs;
}

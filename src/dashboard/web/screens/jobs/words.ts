/** Jobs in words. */
import type { Job, JobFile, NewJob, RepeatableJob } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber } from '../../format.ts';
import type { Tone } from '../../ui/basics.tsx';

export const ORDERS: Readonly<Record<NewJob['type'], string>> = {
  copy: 'Copy',
  move: 'Move',
  sync: 'Sync',
  delete: 'Delete',
};
export const TYPES: Readonly<Record<Job['type'], string>> = { ...ORDERS, upload: 'Upload from a URL' };

export const STATES: Readonly<Record<Job['state'], readonly [text: string, tone: Tone]>> = {
  queued: ['Waiting', 'plain'],
  running: ['Running', 'info'],
  paused: ['Paused', 'warn'],
  succeeded: ['Done', 'good'],
  partly_failed: ['Partly failed', 'warn'],
  failed: ['Failed', 'bad'],
  cancelled: ['Cancelled', 'plain'],
};

export const FILE_STATES: Readonly<Record<JobFile['state'], readonly [text: string, tone: Tone]>> = {
  waiting: ['To do', 'plain'],
  planned: ['Would be done', 'info'],
  done: ['Done', 'good'],
  skipped: ['Left as it is', 'plain'],
  failed: ['Failed', 'bad'],
};

export const CONFLICTS: Readonly<Record<Job['settings']['onConflict'], string>> = {
  replace: 'Replace it',
  skip: 'Leave it as it is',
  newer: 'Replace it where the source is newer',
  rename: 'Keep both: the new one gets another name',
  fail: 'Count the file as failed',
};

export const COMPARISONS: Readonly<Record<Job['settings']['compare'], string>> = {
  'size-and-time': 'Its size and its time are the same',
  size: 'Its size is the same',
  digest: 'Its content is the same (reads both files)',
};

export function hasEnded({ state }: Pick<Job, 'state'>): boolean {
  return state !== 'queued' && state !== 'running' && state !== 'paused';
}

export function titleOf({
  name,
  type,
  source,
  destination,
}: Pick<Job, 'name' | 'type' | 'source' | 'destination'>): string {
  return name ?? `${TYPES[type]} ${(source ?? destination)?.path ?? ''}`;
}

/** How far it is; undefined while nobody can tell how much there is. */
export function progressOf(job: Job): { readonly value: number | undefined; readonly max: number } {
  const { found, bytes, bytesTotal } = job.counts;
  if (job.state === 'succeeded') return { value: 1, max: 1 };
  if (!job.isListed) return { value: hasEnded(job) ? 0 : undefined, max: 1 };
  return bytesTotal > 0 ? { value: bytes, max: bytesTotal } : { value: endedFiles(job), max: Math.max(1, found) };
}

function endedFiles({ counts: { done, skipped, failed, deleted } }: Job): number {
  return done + skipped + failed + deleted;
}

export function filesText(count: number): string {
  return count === 1 ? '1 file' : `${formatNumber(count)} files`;
}

/** What was done, or would be. */
export function countsText({ counts, type, state, settings: { dryRun } }: Job): string {
  const { done, skipped, failed, deleted, bytes } = counts;
  const would = dryRun ? 'would be ' : '';
  const parts = [
    ...(done > 0 ? [`${filesText(done)} ${would}${type === 'move' ? 'moved' : 'copied'} (${formatBytes(bytes)})`] : []),
    ...(deleted > 0 ? [`${filesText(deleted)} ${would}deleted`] : []),
    ...(skipped > 0 ? [`${filesText(skipped)} left as they are`] : []),
    ...(failed > 0 ? [`${filesText(failed)} failed`] : []),
  ];
  if (parts.length > 0) return parts.join(', ');
  if (!hasEnded({ state })) return 'Nothing is done yet';
  return `Nothing ${dryRun ? 'would be' : 'was'} done`;
}

/** The bounds on which files it is for, each in words. */
export function boundsOf(settings: Partial<Job['settings']>): readonly string[] {
  const { maxDepth, minSize, maxSize, minAgeSeconds, maxAgeSeconds } = settings;
  return [
    ...(maxDepth === undefined ? [] : [`${formatNumber(maxDepth)} folders deep at most`]),
    ...(minSize === undefined ? [] : [`of ${formatBytes(minSize)} or more`]),
    ...(maxSize === undefined ? [] : [`of ${formatBytes(maxSize)} or less`]),
    ...(minAgeSeconds === undefined
      ? []
      : [`modified ${formatDuration(minAgeSeconds * 1_000)} before the job or earlier`]),
    ...(maxAgeSeconds === undefined
      ? []
      : [`modified ${formatDuration(maxAgeSeconds * 1_000)} before the job or later`]),
  ];
}

export function isRepeatable(job: Job): job is RepeatableJob {
  return job.source !== null;
}

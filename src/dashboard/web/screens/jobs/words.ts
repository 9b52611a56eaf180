/** Jobs in words. */
import type { Job, JobFile, RepeatableJob } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import type { Tone } from '../../ui/basics.tsx';
import { hasEnded } from '../../../../contract/job-states.ts';

const words = t.jobs;
export const TYPES: Readonly<Record<Job['type'], string>> = t.fields.job.type.choices;
const { copy, move, sync, delete: remove } = TYPES;
/** The types of jobs that can be started. */
export const ORDERS = { copy, move, sync, delete: remove };

export const STATES: Readonly<Record<Job['state'], readonly [text: string, tone: Tone]>> = {
  queued: [words.states.queued, 'plain'],
  running: [words.states.running, 'info'],
  paused: [words.states.paused, 'warn'],
  succeeded: [words.states.succeeded, 'good'],
  partly_failed: [words.states.partly_failed, 'warn'],
  failed: [words.states.failed, 'bad'],
  cancelled: [words.states.cancelled, 'plain'],
};

export const FILE_STATES: Readonly<Record<JobFile['state'], readonly [text: string, tone: Tone]>> = {
  waiting: [words.fileStates.waiting, 'plain'],
  planned: [words.fileStates.planned, 'info'],
  done: [words.fileStates.done, 'good'],
  skipped: [words.fileStates.skipped, 'plain'],
  failed: [words.fileStates.failed, 'bad'],
};

export function titleOf({
  name,
  type,
  source,
  destination,
}: Pick<Job, 'name' | 'type' | 'source' | 'destination'>): string {
  return name ?? `${TYPES[type]} ${(source ?? destination)?.path ?? ''}`;
}

/** The progress of a job; its value is undefined while the total is unknown. */
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
  return t.words.fileCount(count, formatNumber(count));
}

/** The counts of a job, or of its dry run. */
export function countsText(job: Job): string {
  const { counts, type, state, isListed, settings } = job;
  const { dryRun } = settings;
  const { done, skipped, failed, deleted, bytes } = counts;
  const said = words.counts;
  const left = hasEnded({ state }) && isListed ? counts.found - endedFiles(job) : 0;
  const moved = dryRun ? said.wouldBeMoved : said.moved;
  const copied = dryRun ? said.wouldBeCopied : said.copied;
  const parts = [
    ...(done > 0 ? [(type === 'move' ? moved : copied)(filesText(done), formatBytes(bytes))] : []),
    ...(deleted > 0 ? [(dryRun ? said.wouldBeDeleted : said.deleted)(filesText(deleted))] : []),
    ...(skipped > 0 ? [said.skipped(filesText(skipped))] : []),
    ...(failed > 0 ? [t.words.filesFailed(filesText(failed))] : []),
    ...(left > 0 && !dryRun ? [said.notDone(filesText(left))] : []),
  ];
  if (parts.length > 0) return parts.join(', ');
  if (!hasEnded({ state })) return said.nothingYet;
  return dryRun ? said.nothingWould : said.nothing;
}

/** The filters of a job, each in words. */
export function boundsOf(settings: Partial<Job['settings']>): readonly string[] {
  const { maxDepth, minSize, maxSize, minAgeSeconds, maxAgeSeconds } = settings;
  const { bounds } = words;
  return [
    ...(maxDepth === undefined ? [] : [bounds.depth(formatNumber(maxDepth))]),
    ...(minSize === undefined ? [] : [bounds.least(formatBytes(minSize))]),
    ...(maxSize === undefined ? [] : [bounds.most(formatBytes(maxSize))]),
    ...(minAgeSeconds === undefined ? [] : [bounds.before(formatDuration(minAgeSeconds * 1_000))]),
    ...(maxAgeSeconds === undefined ? [] : [bounds.after(formatDuration(maxAgeSeconds * 1_000))]),
  ];
}

export function isRepeatable(job: Job): job is RepeatableJob {
  return job.source !== null;
}

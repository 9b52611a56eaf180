/** Jobs as rows, and parts of a job that several screens show. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { request } from '../../api/client.ts';
import { useConnectionName } from '../../api/names.ts';
import type { Job } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber, formatSpeed } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Badge, type Column, Mono, Progress, Time } from '../../ui/basics.tsx';
import { Ban, RotateCw } from '../../ui/icons.tsx';
import { Pause, Play } from '../../ui/later-icons.ts';
import { MiddleName } from '../../ui/middle-name.tsx';
import type { Bulk } from '../../ui/selection.tsx';
import { hasEnded } from '../../../../contract/job-states.ts';
import { filesText, progressOf, STATES, titleOf, TYPES } from './words.ts';

const words = t.jobs;

export function StateBadge({ job: { state, settings } }: { readonly job: Job }): ReactElement {
  const [text, tone] = STATES[state];
  return (
    <span className="row">
      <Badge tone={tone}>{text}</Badge>
      {settings.dryRun && <Badge>{t.words.dryRun}</Badge>}
    </span>
  );
}

export function JobProgress({ job }: { readonly job: Job }): ReactElement {
  const tone = STATES[job.state][1];
  return <Progress {...progressOf(job)} label={t.words.progressOf(titleOf(job))} tone={tone} />;
}

/** The current speed, or the average of a finished job. */
export function speedText({ filesPerSecond, bytesPerSecond }: Job): string {
  return words.speed(formatNumber(filesPerSecond), formatSpeed(bytesPerSecond));
}

export function leftText(job: Job): string {
  if (job.etaSeconds !== null) return t.words.left(formatDuration(job.etaSeconds * 1_000));
  return job.state === 'running' && !job.isListed ? words.stillListing : '';
}

export function starterOf({ key, scheduleId }: Job): string {
  if (scheduleId !== null) return words.aSchedule;
  return key === null ? words.theDashboard : t.words.keyNamed(key.name);
}

/** The type of the job with its source and destination. */
export function routeOf(
  { type, source, destination }: Pick<Job, 'type' | 'source' | 'destination'>,
  nameOf: (id: string) => string,
): ReactElement {
  const place = (lead: string, { connectionId, path }: NonNullable<Job['source']>): ReactElement => (
    <>
      {lead}
      {nameOf(connectionId)} <Mono>{path}</Mono>
    </>
  );
  return (
    <>
      {TYPES[type]}
      {source !== null && place(': ', source)}
      {destination !== null && place(' → ', destination)}
    </>
  );
}

const act =
  (verb: string) =>
  (job: Job): Promise<unknown> =>
    request('POST', `/api/jobs/${job.id}/${verb}`);
const refreshes = ['/manage/jobs', '/api/jobs', '/manage/overview'];

export const JOB_BULK: Bulk<Job> = {
  nameOf: titleOf,
  actions: [
    {
      verb: t.words.pause,
      icon: Pause,
      fits: (job) => !hasEnded(job) && job.state !== 'paused',
      run: act('pause'),
      refreshes,
    },
    { verb: t.words.resume, icon: Play, fits: ({ state }) => state === 'paused', run: act('resume'), refreshes },
    { verb: words.screen.retry, icon: RotateCw, fits: canRetry, run: act('retry'), refreshes },
    {
      verb: t.common.cancel,
      icon: Ban,
      fits: (job) => !hasEnded(job),
      run: act('cancel'),
      refreshes,
      warning: words.screen.cancelText,
    },
  ],
};

/** Whether failed files can be tried again. */
export function canRetry(job: Job): boolean {
  return hasEnded(job) && job.state !== 'succeeded' && !job.settings.dryRun;
}

export function useJobColumns(): readonly Column<Job>[] {
  const nameOf = useConnectionName();
  const { columns } = words;
  return [
    {
      head: t.jobs.one,
      grow: 40,
      cell: (job) => (
        <Link href={`/jobs/${job.id}`}>
          <MiddleName name={titleOf(job)} />
        </Link>
      ),
    },
    {
      name: 'what',
      head: t.words.what,
      grow: 36,
      cell: (job) => <span className="muted">{routeOf(job, nameOf)}</span>,
    },
    { name: 'state', head: t.words.state, cell: (job) => <StateBadge job={job} /> },
    {
      name: 'progress',
      head: columns.progress,
      cell: (job) => {
        const { done, skipped, deleted, found, bytes, failed } = job.counts;
        return (
          <div className="job-progress">
            <JobProgress job={job} />
            <span className="muted small number">
              {t.words.of(formatNumber(done + skipped + deleted), filesText(found))}, {formatBytes(bytes)}
              {failed > 0 && <span className="bad-text">{words.failedCount(formatNumber(failed))}</span>}
            </span>
          </div>
        );
      },
    },
    {
      name: 'speed',
      head: columns.speed,
      isSecondary: true,
      cell: (job) => (
        <span className="small number">
          {job.startedAt === null ? '–' : speedText(job)} <span className="muted">{leftText(job)}</span>
        </span>
      ),
    },
    {
      name: 'started',
      head: t.words.started,
      cell: ({ createdAt }) => <Time iso={createdAt} />,
    },
    {
      name: 'begunBy',
      head: words.facts.begunBy,
      isSecondary: true,
      cell: (job) => <span className="muted">{starterOf(job)}</span>,
    },
  ];
}

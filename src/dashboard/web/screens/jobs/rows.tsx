/** Jobs as rows, and what several screens show of one. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/hooks.ts';
import type { Connection, Job } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber, formatSpeed } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Badge, Progress, Table, Time } from '../../ui/basics.tsx';
import { filesText, progressOf, STATES, titleOf, TYPES } from './words.ts';

/** The name of a connection; its id while nothing better is known. */
export function useConnectionNames(): (id: string) => string {
  const read = useRead<{ connections: Connection[] }>('/manage/connections');
  return (id) => read.data?.connections.find((one) => one.id === id)?.name ?? id;
}

export function StateBadge({ job: { state, settings } }: { readonly job: Job }): ReactElement {
  const [text, tone] = STATES[state];
  return (
    <span className="row">
      <Badge tone={tone}>{text}</Badge>
      {settings.dryRun && <Badge>{t.jobs.dryRun}</Badge>}
    </span>
  );
}

export function JobProgress({ job }: { readonly job: Job }): ReactElement {
  const tone = STATES[job.state][1];
  return <Progress {...progressOf(job)} label={t.jobs.progressOf(titleOf(job))} tone={tone} />;
}

/** How fast it goes, or went. */
export function speedText({ filesPerSecond, bytesPerSecond }: Job): string {
  return t.jobs.speed(formatNumber(filesPerSecond), formatSpeed(bytesPerSecond));
}

export function leftText(job: Job): string {
  if (job.etaSeconds !== null) return t.jobs.left(formatDuration(job.etaSeconds * 1_000));
  return job.state === 'running' && !job.isListed ? t.jobs.stillListing : '';
}

export function starterOf({ key, scheduleId }: Job): string {
  if (scheduleId !== null) return t.jobs.aSchedule;
  return key === null ? t.jobs.theDashboard : t.jobs.apiKey(key.name);
}

export function JobTable({ jobs }: { readonly jobs: readonly Job[] }): ReactElement {
  const nameOf = useConnectionNames();
  return (
    <Table
      label={t.jobs.title}
      rows={jobs}
      rowKey={({ id }) => id}
      columns={[
        {
          head: t.jobs.columns.job,
          cell: (job) => (
            <div>
              <Link href={`/jobs/${job.id}`}>{titleOf(job)}</Link>
              <div className="muted small">
                {TYPES[job.type]}
                {job.source !== null && (
                  <>
                    {': '}
                    {nameOf(job.source.connectionId)} <span className="mono">{job.source.path}</span>
                  </>
                )}
                {job.destination !== null && (
                  <>
                    {' → '}
                    {nameOf(job.destination.connectionId)} <span className="mono">{job.destination.path}</span>
                  </>
                )}
              </div>
            </div>
          ),
        },
        { head: t.jobs.columns.state, cell: (job) => <StateBadge job={job} /> },
        {
          head: t.jobs.columns.progress,
          cell: (job) => (
            <div className="job-progress">
              <JobProgress job={job} />
              <span className="muted small number">
                {t.jobs.of(
                  formatNumber(job.counts.done + job.counts.skipped + job.counts.deleted),
                  filesText(job.counts.found),
                )}
                , {formatBytes(job.counts.bytes)}
                {job.counts.failed > 0 && (
                  <span className="bad-text">{t.jobs.failedCount(formatNumber(job.counts.failed))}</span>
                )}
              </span>
            </div>
          ),
        },
        {
          head: t.jobs.columns.speed,
          cell: (job) => (
            <div className="small number">
              {job.startedAt === null ? '–' : speedText(job)}
              <div className="muted">{leftText(job)}</div>
            </div>
          ),
        },
        {
          head: t.jobs.columns.begun,
          cell: (job) => (
            <div className="small">
              <Time iso={job.createdAt} />
              <div className="muted">{t.jobs.by(starterOf(job))}</div>
            </div>
          ),
        },
      ]}
    />
  );
}

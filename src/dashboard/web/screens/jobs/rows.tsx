/** Jobs as rows, and what several screens show of one. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/hooks.ts';
import type { Connection, Job } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber, formatSpeed } from '../../format.ts';
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
      {settings.dryRun && <Badge>Dry run</Badge>}
    </span>
  );
}

export function JobProgress({ job }: { readonly job: Job }): ReactElement {
  const tone = STATES[job.state][1];
  return <Progress {...progressOf(job)} label={`Progress of ${titleOf(job)}`} tone={tone} />;
}

/** How fast it goes, or went. */
export function speedText({ filesPerSecond, bytesPerSecond }: Job): string {
  return `${formatNumber(filesPerSecond)} files/s, ${formatSpeed(bytesPerSecond)}`;
}

export function leftText(job: Job): string {
  if (job.etaSeconds !== null) return `${formatDuration(job.etaSeconds * 1_000)} left`;
  return job.state === 'running' && !job.isListed ? 'still listing' : '';
}

export function starterOf({ key, scheduleId }: Job): string {
  if (scheduleId !== null) return 'a schedule';
  return key === null ? 'the dashboard' : `API key ${key.name}`;
}

export function JobTable({ jobs }: { readonly jobs: readonly Job[] }): ReactElement {
  const nameOf = useConnectionNames();
  return (
    <Table
      label="Jobs"
      rows={jobs}
      rowKey={({ id }) => id}
      columns={[
        {
          head: 'Job',
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
        { head: 'State', cell: (job) => <StateBadge job={job} /> },
        {
          head: 'Progress',
          cell: (job) => (
            <div className="job-progress">
              <JobProgress job={job} />
              <span className="muted small number">
                {formatNumber(job.counts.done + job.counts.skipped + job.counts.deleted)} of{' '}
                {filesText(job.counts.found)}, {formatBytes(job.counts.bytes)}
                {job.counts.failed > 0 && <span className="bad-text">, {formatNumber(job.counts.failed)} failed</span>}
              </span>
            </div>
          ),
        },
        {
          head: 'Speed',
          cell: (job) => (
            <div className="small number">
              {job.startedAt === null ? '–' : speedText(job)}
              <div className="muted">{leftText(job)}</div>
            </div>
          ),
        },
        {
          head: 'Begun',
          cell: (job) => (
            <div className="small">
              <Time iso={job.createdAt} />
              <div className="muted">by {starterOf(job)}</div>
            </div>
          ),
        },
      ]}
    />
  );
}

/** Schedules as rows, and what several screens show of one or do with it. */
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Schedule } from '../../api/types.ts';
import { formatDuration } from '../../format.ts';
import { Badge, Table, Time } from '../../ui/basics.tsx';
import { Confirm, Menu, type MenuEntry } from '../../ui/dialog.tsx';
import { useConnectionNames } from '../jobs/rows.tsx';
import { filesText, STATES, TYPES } from '../jobs/words.ts';
import { wordsOf } from './cron.ts';

const READS = ['/manage/schedules', '/manage/jobs', '/manage/overview'];
/** A run that began later than this after its time is called late. */
const LATE_MS = 60_000;

export function StateBadge({ schedule: { isActive, error } }: { readonly schedule: Schedule }): ReactElement {
  if (isActive) return <Badge tone="good">Active</Badge>;
  return error === null ? <Badge tone="warn">Paused</Badge> : <Badge tone="bad">Stopped</Badge>;
}

/** In plain words where it has any. */
export function When({ cron, timeZone }: Pick<Schedule, 'cron' | 'timeZone'>): ReactElement {
  const words = wordsOf(cron);
  return (
    <div>
      {words ?? <span className="mono">{cron}</span>}
      <div className="muted small">{timeZone}</div>
    </div>
  );
}

export function LastRun({ schedule }: { readonly schedule: Schedule }): ReactElement {
  const { lastRunAt, lastDueAt, lastJobId, lastJob } = schedule;
  if (lastRunAt === null) return <span className="muted">none yet</span>;
  const lateMs = lastDueAt === null ? 0 : Date.parse(lastRunAt) - Date.parse(lastDueAt);
  const time = <Time iso={lastRunAt} />;
  return (
    <div className="small">
      <span className="row">
        {lastJob === null ? time : <Link href={`/jobs/${lastJobId ?? ''}`}>{time}</Link>}
        {lastJob !== null && <Badge tone={STATES[lastJob.state][1]}>{STATES[lastJob.state][0]}</Badge>}
      </span>
      {lateMs > LATE_MS && <div className="warn-text">began {formatDuration(lateMs)} late</div>}
      {lastJob !== null && lastJob.failed > 0 && <div className="bad-text">{filesText(lastJob.failed)} failed</div>}
      {lastJob !== null && lastJob.error !== null && <div className="bad-text">{lastJob.error}</div>}
    </div>
  );
}

/** `isOne`: on its own screen, which has buttons for the rest. */
export function ScheduleMenu({ schedule, isOne = false }: { schedule: Schedule; isOne?: boolean }): ReactElement {
  const { id, name, isActive } = schedule;
  const path = `/api/schedules/${id}`;
  const [isDeleting, setDeleting] = useState(false);
  const [, navigate] = useLocation();
  const run = useRun(schedule);
  const toggle = useAction(() => request('PATCH', path, { isActive: !isActive }), {
    says: isActive ? 'Paused' : 'Active again',
    refreshes: READS,
  });
  const remove = useAction(() => request('DELETE', path), {
    says: `${name} is deleted`,
    refreshes: READS,
    showsError: true,
    onDone: () => {
      setDeleting(false);
      navigate('/schedules');
    },
  });
  const entries: readonly MenuEntry[] = [
    ...(isOne ? [] : [{ label: 'Run now', onSelect: () => run.mutate(undefined) }]),
    { label: isActive ? 'Pause' : 'Resume', onSelect: () => toggle.mutate(undefined) },
    ...(isOne ? [] : [{ label: 'Change …', onSelect: () => navigate(`/schedules/${id}/edit`) }]),
    { label: 'Delete …', isDanger: true, onSelect: () => setDeleting(true) },
  ];
  return (
    <>
      <Menu label={isOne ? 'More' : `More for ${name}`} entries={entries} />
      {isDeleting && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete the schedule"
          isBusy={remove.isPending}
          error={remove.error}
          onClose={() => setDeleting(false)}
          onConfirm={() => remove.mutate(undefined)}
        >
          <p>It begins no more jobs. Those that it has begun go on, and stay in the list.</p>
        </Confirm>
      )}
    </>
  );
}

/** Begins its job out of turn, and goes there. */
export function useRun({ id }: Pick<Schedule, 'id'>) {
  const [, navigate] = useLocation();
  return useAction(() => request<{ job: { id: string } }>('POST', `/api/schedules/${id}/run`), {
    refreshes: READS,
    onDone: ({ job }) => navigate(`/jobs/${job.id}`),
  });
}

export function ScheduleTable({ schedules }: { readonly schedules: readonly Schedule[] }): ReactElement {
  const nameOf = useConnectionNames();
  return (
    <Table
      label="Schedules"
      rows={schedules}
      rowKey={({ id }) => id}
      columns={[
        {
          head: 'Schedule',
          cell: ({ id, name, job }) => (
            <div>
              <Link href={`/schedules/${id}`}>{name}</Link>
              <div className="muted small">
                {TYPES[job.type]}: {nameOf(job.source.connectionId)} <span className="mono">{job.source.path}</span>
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
        { head: 'When', cell: ({ cron, timeZone }) => <When cron={cron} timeZone={timeZone} /> },
        {
          head: 'Next run',
          cell: ({ nextRuns: [next] }) => (next === undefined ? '–' : <Time iso={next} />),
        },
        { head: 'Last run', cell: (schedule) => <LastRun schedule={schedule} /> },
        { head: 'State', cell: (schedule) => <StateBadge schedule={schedule} /> },
        { head: 'Actions', isHeadHidden: true, cell: (schedule) => <ScheduleMenu schedule={schedule} /> },
      ]}
    />
  );
}

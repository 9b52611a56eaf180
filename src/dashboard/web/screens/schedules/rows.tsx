/** Schedules as rows, and what several screens show of one or do with it. */
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Schedule } from '../../api/types.ts';
import { formatDuration } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Badge, Table, Time } from '../../ui/basics.tsx';
import { Confirm, Menu, type MenuEntry } from '../../ui/dialog.tsx';
import { useConnectionNames } from '../jobs/rows.tsx';
import { filesText, STATES, TYPES } from '../jobs/words.ts';
import { wordsOf } from './cron.ts';

const READS = ['/manage/schedules', '/manage/jobs', '/manage/overview'];
/** A run that began later than this after its time is called late. */
const LATE_MS = 60_000;

export function StateBadge({ schedule: { isActive, error } }: { readonly schedule: Schedule }): ReactElement {
  if (isActive) return <Badge tone="good">{t.schedules.active}</Badge>;
  return error === null ? (
    <Badge tone="warn">{t.schedules.paused}</Badge>
  ) : (
    <Badge tone="bad">{t.schedules.stopped}</Badge>
  );
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
  if (lastRunAt === null) return <span className="muted">{t.schedules.noneYet}</span>;
  const lateMs = lastDueAt === null ? 0 : Date.parse(lastRunAt) - Date.parse(lastDueAt);
  const time = <Time iso={lastRunAt} />;
  return (
    <div className="small">
      <span className="row">
        {lastJob === null ? time : <Link href={`/jobs/${lastJobId ?? ''}`}>{time}</Link>}
        {lastJob !== null && <Badge tone={STATES[lastJob.state][1]}>{STATES[lastJob.state][0]}</Badge>}
      </span>
      {lateMs > LATE_MS && <div className="warn-text">{t.schedules.beganLate(formatDuration(lateMs))}</div>}
      {lastJob !== null && lastJob.failed > 0 && (
        <div className="bad-text">{t.schedules.failed(filesText(lastJob.failed))}</div>
      )}
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
    says: isActive ? t.schedules.nowPaused : t.schedules.nowActive,
    refreshes: READS,
  });
  const remove = useAction(() => request('DELETE', path), {
    says: t.schedules.removed(name),
    refreshes: READS,
    showsError: true,
    onDone: () => {
      setDeleting(false);
      navigate('/schedules');
    },
  });
  const entries: readonly MenuEntry[] = [
    ...(isOne ? [] : [{ label: t.schedules.run, onSelect: () => run.mutate(undefined) }]),
    { label: isActive ? t.schedules.pause : t.schedules.resume, onSelect: () => toggle.mutate(undefined) },
    ...(isOne ? [] : [{ label: t.schedules.edit, onSelect: () => navigate(`/schedules/${id}/edit`) }]),
    { label: t.schedules.remove, isDanger: true, onSelect: () => setDeleting(true) },
  ];
  return (
    <>
      <Menu label={isOne ? t.schedules.more : t.schedules.moreFor(name)} entries={entries} />
      {isDeleting && (
        <Confirm
          title={t.schedules.removeTitle(name)}
          verb={t.schedules.removeVerb}
          isBusy={remove.isPending}
          error={remove.error}
          onClose={() => setDeleting(false)}
          onConfirm={() => remove.mutate(undefined)}
        >
          <p>{t.schedules.removeText}</p>
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
  const { columns } = t.schedules;
  return (
    <Table
      label={t.schedules.title}
      rows={schedules}
      rowKey={({ id }) => id}
      columns={[
        {
          head: columns.schedule,
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
        { head: columns.when, cell: ({ cron, timeZone }) => <When cron={cron} timeZone={timeZone} /> },
        {
          head: columns.next,
          cell: ({ nextRuns: [next] }) => (next === undefined ? '–' : <Time iso={next} />),
        },
        { head: columns.last, cell: (schedule) => <LastRun schedule={schedule} /> },
        { head: columns.state, cell: (schedule) => <StateBadge schedule={schedule} /> },
        { head: columns.actions, isHeadHidden: true, cell: (schedule) => <ScheduleMenu schedule={schedule} /> },
      ]}
    />
  );
}

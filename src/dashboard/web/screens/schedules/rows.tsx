/** Schedules as rows, and the parts and actions that several screens share. */
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Schedule } from '../../api/types.ts';
import { formatDuration } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { ConfirmAction } from '../../ui/form-dialog.tsx';
import { Badge, Mono, Time, Titled } from '../../ui/basics.tsx';
import { RotateCw } from '../../ui/icons.tsx';
import { Pause, Play } from '../../ui/later-icons.ts';
import { Menu, type MenuEntry } from '../../ui/menu.tsx';
import { Reason } from '../../ui/reason.tsx';
import type { Bulk } from '../../ui/selection.tsx';
import { filesText, STATES } from '../jobs/words.ts';
import { wordsOf } from './cron.ts';

const READS = ['/manage/schedules', '/manage/jobs', '/manage/overview'];
/** A run that starts later than this is called late. */
const LATE_MS = 60_000;

export function StateBadge({ schedule: { isActive, error } }: { readonly schedule: Schedule }): ReactElement {
  if (isActive) return <Badge tone="good">{t.words.active}</Badge>;
  return error === null ? <Badge tone="warn">{t.words.paused}</Badge> : <Badge tone="bad">{t.schedules.stopped}</Badge>;
}

/** The cron in plain words if it has any. */
export function When({ cron, timeZone }: Pick<Schedule, 'cron' | 'timeZone'>): ReactElement {
  return <Titled top={wordsOf(cron) ?? <Mono>{cron}</Mono>}>{timeZone}</Titled>;
}

export function LastRun({ schedule }: { readonly schedule: Schedule }): ReactElement {
  const { lastRunAt, lastJobId, lastJob } = schedule;
  if (lastRunAt === null) return <span className="muted">{t.schedules.noneYet}</span>;
  const time = <Time iso={lastRunAt} />;
  return (
    <span className="row">
      {lastJob === null ? time : <Link href={`/jobs/${lastJobId ?? ''}`}>{time}</Link>}
      {lastJob !== null && <Badge tone={STATES[lastJob.state][1]}>{STATES[lastJob.state][0]}</Badge>}
    </span>
  );
}

/** Why the last run was late or failed; empty if all went well. */
export function RunTrouble({ schedule: { lastRunAt, lastDueAt, lastJob } }: { schedule: Schedule }): ReactElement {
  const lateMs = lastRunAt === null || lastDueAt === null ? 0 : Date.parse(lastRunAt) - Date.parse(lastDueAt);
  const { failed = 0, error = null, errorCode = null } = lastJob ?? {};
  const facts = [
    ...(lateMs > LATE_MS ? [t.schedules.beganLate(formatDuration(lateMs))] : []),
    ...(failed > 0 ? [t.words.filesFailed(filesText(failed))] : []),
  ].join(', ');
  return (
    <span title={[facts, error].filter(Boolean).join(', ')}>
      {facts}
      {error !== null && facts !== '' && ', '}
      {error !== null && <Reason code={errorCode} text={error} isShort />}
    </span>
  );
}

const path = ({ id }: Schedule): string => `/api/schedules/${id}`;
const turn = (isActive: boolean) => (schedule: Schedule) => request('PATCH', path(schedule), { isActive });

export const SCHEDULE_BULK: Bulk<Schedule> = {
  nameOf: ({ name }) => name,
  actions: [
    {
      verb: t.schedules.run,
      icon: RotateCw,
      fits: () => true,
      run: (schedule) => request('POST', `${path(schedule)}/run`),
      refreshes: READS,
    },
    { verb: t.words.pause, icon: Pause, fits: ({ isActive }) => isActive, run: turn(false), refreshes: READS },
    { verb: t.words.resume, icon: Play, fits: ({ isActive }) => !isActive, run: turn(true), refreshes: READS },
  ],
};

/** `isOne`: shown on the schedule's screen, which has buttons for the other actions. */
export function ScheduleMenu({ schedule, isOne = false }: { schedule: Schedule; isOne?: boolean }): ReactElement {
  const { id, name, isActive } = schedule;
  const [isDeleting, setDeleting] = useState(false);
  const [, navigate] = useLocation();
  const run = useRun(schedule);
  const toggle = useAction(() => turn(!isActive)(schedule), {
    says: isActive ? t.words.paused : t.words.activeAgain,
    refreshes: READS,
  });
  const entries: readonly MenuEntry[] = [
    ...(isOne ? [] : [{ label: t.schedules.run, onSelect: () => run.mutate() }]),
    { label: isActive ? t.words.pause : t.words.resume, onSelect: () => toggle.mutate() },
    ...(isOne ? [] : [{ label: t.words.edit, onSelect: () => navigate(`/schedules/${id}/edit`) }]),
    { label: t.words.remove, isDanger: true, onSelect: () => setDeleting(true) },
  ];
  return (
    <>
      <Menu label={isOne ? t.common.more : t.schedules.moreFor(name)} entries={entries} />
      {isDeleting && (
        <ConfirmAction
          title={t.words.removing(name)}
          verb={t.schedules.removeVerb}
          run={() => request('DELETE', path(schedule))}
          says={t.schedules.removed(name)}
          refreshes={READS}
          onDone={() => {
            setDeleting(false);
            navigate('/schedules');
          }}
          onClose={() => setDeleting(false)}
        >
          <p>{t.schedules.removeText}</p>
        </ConfirmAction>
      )}
    </>
  );
}

/** Runs the schedule's job now, and opens it. */
export function useRun({ id }: Pick<Schedule, 'id'>) {
  const [, navigate] = useLocation();
  return useAction(() => request('POST', `/api/schedules/${id}/run`), {
    refreshes: READS,
    onDone: ({ job }) => navigate(`/jobs/${job.id}`),
  });
}

/** All schedules with their next run and the result of the last one. */
import type { ReactElement } from 'react';
import { useRows } from '../api/hooks.ts';
import { useConnectionName } from '../api/names.ts';
import type { Schedule } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { actions, Time } from '../ui/basics.tsx';
import { CalendarClock } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list-screen.tsx';
import { MiddleName } from '../ui/middle-name.tsx';
import { Link } from 'wouter';
import { routeOf } from './jobs/rows.tsx';
import { LastRun, SCHEDULE_BULK, ScheduleMenu, StateBadge, RunTrouble, When } from './schedules/rows.tsx';

const { columns } = t.schedules;

export default function Schedules(): ReactElement {
  const nameOf = useConnectionName();
  return (
    <ListScreen
      title={t.places.schedules}
      words={t.schedules}
      icon={CalendarClock}
      list={useRows('/manage/schedules', 'schedules', { everyMs: 10_000 })}
      bulk={SCHEDULE_BULK}
      add="/schedules/new"
      columns={[
        {
          head: t.schedules.one,
          name: 'name',
          sort: ({ name }) => name,
          grow: 22,
          cell: ({ id, name }) => (
            <Link href={`/schedules/${id}`}>
              <MiddleName name={name} />
            </Link>
          ),
        },
        {
          name: 'what',
          head: t.words.what,
          grow: 20,
          cell: ({ job }) => <span className="muted">{routeOf(job, nameOf)}</span>,
        },
        {
          name: 'when',
          head: t.words.when,
          grow: 28,
          cell: ({ cron, timeZone }) => <When cron={cron} timeZone={timeZone} />,
        },
        {
          head: columns.next,
          name: 'next',
          sort: ({ nextRuns: [next] }) => next ?? '',
          cell: ({ nextRuns: [next] }) => (next === undefined ? '–' : <Time iso={next} />),
        },
        { name: 'lastRun', head: t.words.lastRun, cell: (schedule) => <LastRun schedule={schedule} /> },
        {
          name: 'details',
          head: t.words.details,
          grow: 25,
          isSecondary: true,
          cell: (schedule) => <RunTrouble schedule={schedule} />,
        },
        { name: 'state', head: t.words.state, cell: (schedule) => <StateBadge schedule={schedule} /> },
        actions<Schedule>((schedule) => <ScheduleMenu schedule={schedule} />),
      ]}
    />
  );
}

/** All schedules: when each runs next, and how its last run ended. */
import type { ReactElement } from 'react';
import { useRead } from '../api/hooks.ts';
import type { Schedule } from '../api/types.ts';
import { Empty, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { CalendarClock, Plus } from '../ui/icons.tsx';
import { ScheduleTable } from './schedules/rows.tsx';

export default function Schedules(): ReactElement {
  const read = useRead<{ schedules: Schedule[] }>('/manage/schedules', { everyMs: 10_000 });
  const schedules = read.data?.schedules;
  const add = (
    <LinkButton href="/schedules/new" look="primary" icon={Plus}>
      New schedule
    </LinkButton>
  );
  return (
    <Page
      isWide
      title="Schedules"
      lead="Jobs that begin by the clock."
      actions={schedules !== undefined && schedules.length > 0 && add}
    >
      <Panel>
        {schedules === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : schedules.length === 0 ? (
          <Empty icon={CalendarClock} title="No schedule yet" action={add}>
            A schedule begins a job again and again: a folder that goes to a partner every night, or is tidied up once a
            month. A run is left out while the one before still goes; runs that were missed are caught up by one.
          </Empty>
        ) : (
          <ScheduleTable schedules={schedules} />
        )}
      </Panel>
    </Page>
  );
}

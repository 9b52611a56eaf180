/** A schedule that is changed. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { useRead } from '../api/hooks.ts';
import type { Schedule } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Page, Pending } from '../ui/basics.tsx';
import { WithConnections } from './jobs/form.tsx';
import { draftOfSchedule, ScheduleForm } from './schedules/form.tsx';

export default function EditSchedule({ id }: { readonly id: string }): ReactElement {
  const read = useRead<Schedule>(`/manage/schedules/${id}`);
  const schedule = read.data;
  return (
    <Page
      title={schedule === undefined ? t.schedules.one : t.schedules.editTitle(schedule.name)}
      lead={<Link href={`/schedules/${id}`}>{schedule?.name ?? t.schedules.one}</Link>}
    >
      {schedule === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <WithConnections>
          {(usable) => <ScheduleForm connections={usable} initial={draftOfSchedule(schedule)} former={schedule} />}
        </WithConnections>
      )}
    </Page>
  );
}

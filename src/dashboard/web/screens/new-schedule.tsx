/** A new schedule, of a job that was begun where the address names one. */
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useRead } from '../api/hooks.ts';
import type { Connection, RepeatableJob } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Page, Pending } from '../ui/basics.tsx';
import { draftOf, emptyDraft } from './jobs/draft.ts';
import { WithConnections } from './jobs/form.tsx';
import { ScheduleForm } from './schedules/form.tsx';

export default function NewSchedule(): ReactElement {
  const [parameters] = useSearchParams();
  const like = parameters.get('like');
  return (
    <Page title={t.schedules.add} lead={<Link href="/schedules">{t.schedules.title}</Link>}>
      <WithConnections>
        {(usable) =>
          like !== null ? (
            <OfJob id={like} connections={usable} />
          ) : (
            <ScheduleForm connections={usable} initial={emptyDraft(usable, parameters)} />
          )
        }
      </WithConnections>
    </Page>
  );
}

function OfJob({
  id,
  connections,
}: {
  readonly id: string;
  readonly connections: readonly Connection[];
}): ReactElement {
  const read = useRead<RepeatableJob>(`/manage/jobs/${id}`);
  if (read.data === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  return <ScheduleForm connections={connections} initial={draftOf(read.data)} />;
}

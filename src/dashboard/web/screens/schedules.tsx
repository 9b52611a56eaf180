/** All schedules: when each runs next, and how its last run ended. */
import type { ReactElement } from 'react';
import { useRead } from '../api/hooks.ts';
import type { Schedule } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Empty, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { CalendarClock, Plus } from '../ui/icons.tsx';
import { ScheduleTable } from './schedules/rows.tsx';

export default function Schedules(): ReactElement {
  const read = useRead<{ schedules: Schedule[] }>('/manage/schedules', { everyMs: 10_000 });
  const schedules = read.data?.schedules;
  const add = (
    <LinkButton href="/schedules/new" look="primary" icon={Plus}>
      {t.schedules.add}
    </LinkButton>
  );
  return (
    <Page
      isWide
      title={t.schedules.title}
      lead={t.schedules.lead}
      actions={schedules !== undefined && schedules.length > 0 && add}
    >
      <Panel>
        {schedules === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : schedules.length === 0 ? (
          <Empty icon={CalendarClock} title={t.schedules.none} action={add}>
            {t.schedules.noneText}
          </Empty>
        ) : (
          <ScheduleTable schedules={schedules} />
        )}
      </Panel>
    </Page>
  );
}

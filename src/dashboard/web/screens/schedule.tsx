/** A schedule: its times, its job, and its runs. */
import type { ReactElement } from 'react';
import { withQuery } from '../api/client.ts';
import { usePages, useRead } from '../api/hooks.ts';
import { useConnectionName } from '../api/names.ts';
import type { Schedule } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Button, Facts, LinkButton, Mono, Notice, Panel, Time } from '../ui/basics.tsx';
import { Detail, DetailPage } from '../ui/detail.tsx';
import { Pencil, Play } from '../ui/later-icons.ts';
import { List } from '../ui/list.tsx';
import { Reason } from '../ui/reason.tsx';
import { jobOfSchedule } from './jobs/draft.ts';
import { factsOf } from './jobs/facts.tsx';
import { useJobColumns } from './jobs/rows.tsx';
import { LastRun, ScheduleMenu, StateBadge, RunTrouble, useRun, When } from './schedules/rows.tsx';
import { RunTimes } from './schedules/times.tsx';

const words = t.schedules;
const UP = ['/schedules', t.places.schedules] as const;

export default function ScheduleScreen({ id }: { readonly id: string }): ReactElement {
  const read = useRead(`/manage/schedules/${id}`, { everyMs: 5_000 });
  return (
    <Detail of={read} title={words.one} up={UP}>
      {(schedule) => <Shown schedule={schedule} />}
    </Detail>
  );
}

function Shown({ schedule }: { readonly schedule: Schedule }): ReactElement {
  const { id, name, cron, timeZone, isActive, nextRuns, key, createdAt } = schedule;
  const nameOf = useConnectionName();
  const run = useRun(schedule);
  const runs = withQuery('/manage/jobs', { scheduleId: id, limit: 20 });
  return (
    <DetailPage
      title={name}
      up={UP}
      state={<StateBadge schedule={schedule} />}
      actions={
        <>
          <Button icon={Play} isBusy={run.isPending} onClick={() => run.mutate()}>
            {words.run}
          </Button>
          <LinkButton href={`/schedules/${id}/edit`} icon={Pencil}>
            {t.words.edit}
          </LinkButton>
          <ScheduleMenu schedule={schedule} isOne />
        </>
      }
    >
      <Trouble schedule={schedule} />
      <Panel isPadded title={t.words.when}>
        <Facts
          of={{
            [words.runsAt]: <When cron={cron} timeZone={timeZone} />,
            [t.fields.schedule.cron.label]: <Mono>{cron}</Mono>,
            [words.nextRuns]: isActive ? <RunTimes nextRuns={nextRuns} timeZone={timeZone} /> : words.noRuns,
            [t.words.lastRun]: (
              <>
                <LastRun schedule={schedule} />
                <span className="warn-text">
                  <RunTrouble schedule={schedule} />
                </span>
              </>
            ),
          }}
        />
      </Panel>
      <Panel isPadded title={t.words.what}>
        <Facts
          isWide
          of={{
            ...factsOf(jobOfSchedule(schedule), nameOf),
            [words.rightsOf]: key === null ? words.owner : t.words.keyNamed(key.name),
            [t.words.created]: <Time iso={createdAt} form="long" />,
          }}
        />
      </Panel>
      <Panel title={words.runs}>
        <List
          list={usePages(runs, 'jobs', { everyMs: 3_000 })}
          label={t.places.jobs}
          none={words.noRunYet}
          columns={useJobColumns().filter(({ name }) => name !== 'begunBy')}
        />
      </Panel>
    </DetailPage>
  );
}

function Trouble({ schedule: { isActive, error, errorCode, lastSkippedAt } }: { readonly schedule: Schedule }) {
  if (error === null) return null;
  if (!isActive) {
    return (
      <Notice tone="bad" title={words.stoppedTitle}>
        <p>
          <Reason code={errorCode} text={error} />
        </p>
        <p className="small">{words.stoppedRemedy}</p>
      </Notice>
    );
  }
  return (
    <Notice tone="warn" title={words.leftOut}>
      <p>{errorCode === 'in_use' ? words.stillRan : <Reason code={errorCode} text={error} />}</p>
      {lastSkippedAt !== null && (
        <p className="small">
          <Time iso={lastSkippedAt} form="long" />
        </p>
      )}
    </Notice>
  );
}

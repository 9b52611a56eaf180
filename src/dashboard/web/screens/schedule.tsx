/** One schedule: when it runs, what it begins, and its runs. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { withQuery } from '../api/client.ts';
import { usePages, useRead } from '../api/hooks.ts';
import type { Job, Schedule } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Button, Facts, LinkButton, Notice, Page, Panel, Pending, Time } from '../ui/basics.tsx';
import { Pencil, Play } from '../ui/icons.tsx';
import { factsOf } from './jobs/facts.tsx';
import { JobTable, useConnectionNames } from './jobs/rows.tsx';
import { toldOf } from './schedules/form.tsx';
import { LastRun, ScheduleMenu, StateBadge, useRun, When } from './schedules/rows.tsx';
import { RunTimes } from './schedules/times.tsx';

export default function ScheduleScreen({ id }: { readonly id: string }): ReactElement {
  const read = useRead<Schedule>(`/manage/schedules/${id}`, { everyMs: 5_000 });
  if (read.data !== undefined) return <Shown schedule={read.data} />;
  return (
    <Page title={t.schedules.one} lead={<Link href="/schedules">{t.schedules.title}</Link>}>
      <Panel>
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      </Panel>
    </Page>
  );
}

function Shown({ schedule }: { readonly schedule: Schedule }): ReactElement {
  const { id, name, cron, timeZone, isActive, nextRuns, key, createdAt } = schedule;
  const nameOf = useConnectionNames();
  const run = useRun(schedule);
  return (
    <Page
      isWide
      title={name}
      lead={
        <span className="row">
          <Link href="/schedules">{t.schedules.title}</Link>
          <StateBadge schedule={schedule} />
        </span>
      }
      actions={
        <>
          <Button icon={Play} isBusy={run.isPending} onClick={() => run.mutate(undefined)}>
            {t.schedules.run}
          </Button>
          <LinkButton href={`/schedules/${id}/edit`} icon={Pencil}>
            {t.schedules.edit}
          </LinkButton>
          <ScheduleMenu schedule={schedule} isOne />
        </>
      }
    >
      <Trouble schedule={schedule} />
      <Panel title={t.schedules.when}>
        <div className="panel-body">
          <Facts
            items={[
              [t.schedules.runsAt, <When key="w" cron={cron} timeZone={timeZone} />],
              [
                t.schedules.cron,
                <span key="c" className="mono">
                  {cron}
                </span>,
              ],
              [
                t.schedules.nextRuns,
                isActive ? <RunTimes key="n" nextRuns={nextRuns} timeZone={timeZone} /> : t.schedules.noRuns,
              ],
              [t.schedules.lastRun, <LastRun key="l" schedule={schedule} />],
            ]}
          />
        </div>
      </Panel>
      <Panel title={t.schedules.what}>
        <div className="panel-body">
          <Facts
            isWide
            items={[
              ...factsOf(toldOf(schedule), nameOf),
              [t.schedules.rightsOf, key === null ? t.schedules.owner : t.jobs.apiKey(key.name)],
              [t.schedules.made, <Time key="m" iso={createdAt} isLong />],
            ]}
          />
        </div>
      </Panel>
      <Runs id={id} />
    </Page>
  );
}

function Trouble({ schedule: { isActive, error, lastSkippedAt } }: { readonly schedule: Schedule }) {
  if (error === null) return null;
  if (!isActive) {
    return (
      <Notice tone="bad" title={t.schedules.stoppedTitle}>
        <p>{error}</p>
        <p className="small">{t.schedules.stoppedRemedy}</p>
      </Notice>
    );
  }
  return (
    <Notice tone="warn" title={t.schedules.leftOut}>
      <p>{error}</p>
      {lastSkippedAt !== null && (
        <p className="small">
          <Time iso={lastSkippedAt} isLong />
        </p>
      )}
    </Notice>
  );
}

interface JobPage {
  readonly jobs: readonly Job[];
  readonly nextCursor: string | null;
}

function Runs({ id }: { readonly id: string }): ReactElement {
  const pages = usePages<JobPage>(withQuery('/manage/jobs', { scheduleId: id, limit: 20 }), { everyMs: 3_000 });
  const jobs = (pages.data?.pages ?? []).flatMap((page) => page.jobs);
  return (
    <Panel title={t.schedules.runs}>
      {pages.data === undefined ? (
        <Pending error={pages.error} onRetry={() => void pages.refetch()} />
      ) : jobs.length === 0 ? (
        <p className="panel-body muted">{t.schedules.noRunYet}</p>
      ) : (
        <JobTable jobs={jobs} />
      )}
      {pages.hasNextPage && (
        <div className="panel-body">
          <div className="row">
            <Button isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
              {t.jobs.showOlder}
            </Button>
          </div>
        </div>
      )}
    </Panel>
  );
}

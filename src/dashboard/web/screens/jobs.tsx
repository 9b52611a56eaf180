/** All jobs, filtered by what stands in the address. */
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import type { Job } from '../api/types.ts';
import { Button, Empty, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { ChoiceField } from '../ui/fields.tsx';
import { Layers, Plus } from '../ui/icons.tsx';
import { JobTable } from './jobs/rows.tsx';
import { STATES, TYPES } from './jobs/words.ts';

interface JobPage {
  readonly jobs: readonly Job[];
  readonly nextCursor: string | null;
}

export default function Jobs(): ReactElement {
  const [parameters, setParameters] = useSearchParams();
  const state = parameters.get('state') ?? '';
  const type = parameters.get('type') ?? '';
  const isFiltered = state !== '' || type !== '';
  const change = (name: 'state' | 'type', value: string): void =>
    setParameters(
      (former) => {
        const next = new URLSearchParams(former);
        if (value === '') next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const pages = usePages<JobPage>(withQuery('/manage/jobs', { state, type, limit: 50 }), { everyMs: 3_000 });
  const jobs = (pages.data?.pages ?? []).flatMap((page) => page.jobs);
  const add = (
    <LinkButton href="/jobs/new" look="primary" icon={Plus}>
      New job
    </LinkButton>
  );
  return (
    <Page
      isWide
      title="Jobs"
      lead="Whole folders: copied, moved, kept in sync or deleted."
      actions={(jobs.length > 0 || isFiltered) && add}
    >
      {(jobs.length > 0 || isFiltered) && (
        <search className="filters jobs">
          <ChoiceField
            label="State"
            value={state}
            onText={(value) => change('state', value)}
            options={[['', 'All'], ...Object.entries(STATES).map(([name, [text]]) => [name, text] as const)]}
          />
          <ChoiceField
            label="Type"
            value={type}
            onText={(value) => change('type', value)}
            options={[['', 'All'], ...Object.entries(TYPES)]}
          />
        </search>
      )}
      <Panel>
        {pages.data === undefined ? (
          <Pending error={pages.error} onRetry={() => void pages.refetch()} />
        ) : jobs.length > 0 ? (
          <JobTable jobs={jobs} />
        ) : isFiltered ? (
          <Empty title="No job fits the filters" action={<Button onClick={() => setParameters({})}>Show all</Button>}>
            Take a filter away.
          </Empty>
        ) : (
          <Empty icon={Layers} title="No job yet" action={add}>
            A job takes a whole folder from one connection to another, brings only what has changed, or deletes it. It
            goes on when a gateway stops and starts again, can be paused, and says of each file that failed why.
          </Empty>
        )}
        {pages.hasNextPage && (
          <div className="panel-body">
            <div className="row">
              <Button isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                Show older ones
              </Button>
            </div>
          </div>
        )}
      </Panel>
    </Page>
  );
}

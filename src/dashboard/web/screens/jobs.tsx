/** All jobs, filtered by what stands in the address. */
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import type { Job } from '../api/types.ts';
import { t } from '../texts/texts.ts';
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
      {t.jobs.add}
    </LinkButton>
  );
  return (
    <Page isWide title={t.jobs.title} lead={t.jobs.lead} actions={(jobs.length > 0 || isFiltered) && add}>
      {(jobs.length > 0 || isFiltered) && (
        <search className="filters jobs">
          <ChoiceField
            label={t.jobs.columns.state}
            value={state}
            onText={(value) => change('state', value)}
            options={[['', t.jobs.all], ...Object.entries(STATES).map(([name, [text]]) => [name, text] as const)]}
          />
          <ChoiceField
            label={t.jobs.columns.type}
            value={type}
            onText={(value) => change('type', value)}
            options={[['', t.jobs.all], ...Object.entries(TYPES)]}
          />
        </search>
      )}
      <Panel>
        {pages.data === undefined ? (
          <Pending error={pages.error} onRetry={() => void pages.refetch()} />
        ) : jobs.length > 0 ? (
          <JobTable jobs={jobs} />
        ) : isFiltered ? (
          <Empty title={t.jobs.noneFits} action={<Button onClick={() => setParameters({})}>{t.jobs.showAll}</Button>}>
            {t.jobs.noneFitsText}
          </Empty>
        ) : (
          <Empty icon={Layers} title={t.jobs.none} action={add}>
            {t.jobs.noneText}
          </Empty>
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
    </Page>
  );
}

/** A new job: what, from where to where, by which rules; what deletes shows first what would happen. */
import { useState, type ReactElement } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { Connection, RepeatableJob } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Page, Panel, Pending } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';
import { deletes, draftOf, emptyDraft, type JobDraft, requestOf } from './jobs/draft.ts';
import { JobFields } from './jobs/fields.tsx';
import { JobForm, WithConnections } from './jobs/form.tsx';

export default function NewJob(): ReactElement {
  const [parameters] = useSearchParams();
  const like = parameters.get('like');
  return (
    <Page title={t.jobs.add} lead={<Link href="/jobs">{t.jobs.title}</Link>}>
      <WithConnections>
        {(usable) =>
          like !== null ? (
            <Again id={like} connections={usable} />
          ) : (
            <Form connections={usable} initial={emptyDraft(usable, parameters)} />
          )
        }
      </WithConnections>
    </Page>
  );
}

function Again({
  id,
  connections,
}: {
  readonly id: string;
  readonly connections: readonly Connection[];
}): ReactElement {
  const read = useRead<RepeatableJob>(`/manage/jobs/${id}`);
  if (read.data === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  return <Form connections={connections} initial={draftOf(read.data)} />;
}

function Form({
  connections,
  initial,
}: {
  readonly connections: readonly Connection[];
  readonly initial: JobDraft;
}): ReactElement {
  const [draft, setDraft] = useState(initial);
  const [, navigate] = useLocation();
  const change = (to: Partial<JobDraft>): void => setDraft((former) => ({ ...former, ...to }));
  const start = useAction(() => request<{ job: { id: string } }>('POST', '/api/jobs', requestOf(draft, false)), {
    says: t.jobs.form.started,
    refreshes: ['/manage/jobs'],
    showsError: true,
    onDone: ({ job }) => navigate(`/jobs/${job.id}`),
  });
  return (
    <JobForm
      draft={draft}
      mustLook={deletes(draft)}
      verb={t.jobs.form.start}
      refused={t.jobs.form.refused}
      back="/jobs"
      isBusy={start.isPending}
      error={start.error}
      onSend={() => start.mutate(undefined)}
    >
      <Panel>
        <div className="panel-body stack">
          <JobFields draft={draft} onChange={change} connections={connections} />
          <TextField
            label={t.jobs.form.name}
            maxLength={200}
            value={draft.name}
            onText={(name) => change({ name })}
            hint={t.jobs.form.nameHint}
          />
        </div>
      </Panel>
    </JobForm>
  );
}

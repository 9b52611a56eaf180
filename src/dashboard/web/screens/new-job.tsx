/** A new job: what, from where to where, by which rules; what deletes shows first what would happen. */
import { useState, type ReactElement } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { Connection, NewJob as Order, RepeatableJob } from '../api/types.ts';
import { Button, Empty, Failure, LinkButton, Notice, Page, Panel, Pending } from '../ui/basics.tsx';
import { AreaField, CheckField, ChoiceField, RadioGroup, TextField } from '../ui/fields.tsx';
import { Server } from '../ui/icons.tsx';
import { deletes, draftOf, isReady, type JobDraft, NEW_JOB, requestOf } from './jobs/draft.ts';
import { DryRun } from './jobs/dry-run.tsx';
import { boundsOf, COMPARISONS, CONFLICTS, ORDERS } from './jobs/words.ts';

const HINTS: Readonly<Record<Order['type'], string>> = {
  copy: 'Copies each file; the source stays as it is.',
  move: 'Copies each file, then deletes it at the source.',
  sync: 'Brings what is new or has changed; what is the same already costs nothing.',
  delete: 'Deletes each file, and the folders that are empty then. This cannot be undone.',
};

export default function NewJob(): ReactElement {
  const [parameters] = useSearchParams();
  const like = parameters.get('like');
  const connections = useRead<{ connections: Connection[] }>('/manage/connections');
  const usable = connections.data?.connections.filter(({ isActive }) => isActive);
  return (
    <Page title="New job" lead={<Link href="/jobs">Jobs</Link>}>
      {usable === undefined ? (
        <Pending error={connections.error} onRetry={() => void connections.refetch()} />
      ) : usable.length === 0 ? (
        <Panel>
          <Empty
            icon={Server}
            title="No connection to work on"
            action={<LinkButton href="/connections/new">Add a connection</LinkButton>}
          >
            A job works on the servers of your connections. Add one, or switch one on.
          </Empty>
        </Panel>
      ) : like !== null ? (
        <Again id={like} connections={usable} />
      ) : (
        <Form
          connections={usable}
          initial={{
            ...NEW_JOB,
            sourceId: parameters.get('source') ?? usable[0]?.id ?? '',
            sourcePath: parameters.get('path') ?? '',
            destinationId: usable[1]?.id ?? usable[0]?.id ?? '',
          }}
        />
      )}
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

interface FieldsProps {
  readonly draft: JobDraft;
  readonly onChange: (to: Partial<JobDraft>) => void;
}

function Form({
  connections,
  initial,
}: {
  readonly connections: readonly Connection[];
  readonly initial: JobDraft;
}): ReactElement {
  const [draft, setDraft] = useState(initial);
  const [dryRun, setDryRun] = useState<string>();
  const [, navigate] = useLocation();
  const change = (to: Partial<JobDraft>): void => setDraft((former) => ({ ...former, ...to }));
  const begin = (isDry: boolean) => request<{ job: { id: string } }>('POST', '/api/jobs', requestOf(draft, isDry));
  const start = useAction(() => begin(false), {
    says: 'The job is on its way',
    refreshes: ['/manage/jobs'],
    showsError: true,
    onDone: ({ job }) => navigate(`/jobs/${job.id}`),
  });
  const look = useAction(() => begin(true), { showsError: true, onDone: ({ job }) => setDryRun(job.id) });
  const mustLook = deletes(draft);
  const ready = isReady(draft);
  return (
    <Panel>
      <form
        className="panel-body"
        onSubmit={(event) => {
          event.preventDefault();
          if (mustLook) look.mutate(undefined);
          else start.mutate(undefined);
        }}
      >
        <RadioGroup
          label="What is to be done"
          value={draft.type}
          options={Object.entries(ORDERS) as [Order['type'], string][]}
          onValue={(type) => change({ type })}
        />
        <p className="hint">{HINTS[draft.type]}</p>
        <Places draft={draft} onChange={change} connections={connections} />
        <div className="form-grid">
          <AreaField
            label="Only files like"
            rows={2}
            value={draft.include}
            onText={(include) => change({ include })}
            placeholder="*.csv"
            hint="One glob a line; with / or ** of the path below the folder, else of the name."
          />
          <AreaField
            label="But not like"
            rows={2}
            value={draft.exclude}
            onText={(exclude) => change({ exclude })}
            placeholder="*.tmp"
            hint="Files and folders that are left out."
          />
        </div>
        {boundsOf(draft.others).length > 0 && (
          <Notice title="As before, only files">{boundsOf(draft.others).join(', ')}</Notice>
        )}
        <Rules draft={draft} onChange={change} />
        <div className="form-grid">
          <TextField
            label="Not faster than, in MiB a second"
            type="number"
            min={0}
            step="any"
            value={draft.mebibytesPerSecond}
            onText={(mebibytesPerSecond) => change({ mebibytesPerSecond })}
            hint="All its files together. Empty: as fast as it goes."
          />
          <TextField
            label="Name"
            maxLength={200}
            value={draft.name}
            onText={(name) => change({ name })}
            hint="Empty: what it does, and the folder."
          />
        </div>
        {dryRun === undefined && <Failure error={start.error ?? look.error} title="It was not started" />}
        <div className="row end">
          <LinkButton href="/jobs">Discard</LinkButton>
          {!mustLook && (
            <Button disabled={!ready} isBusy={look.isPending} onClick={() => look.mutate(undefined)}>
              Dry run
            </Button>
          )}
          <Button
            look="primary"
            type="submit"
            disabled={!ready}
            isBusy={mustLook ? look.isPending : start.isPending && dryRun === undefined}
          >
            {mustLook ? 'Show what would happen' : 'Start the job'}
          </Button>
        </div>
      </form>
      {dryRun !== undefined && (
        <DryRun
          id={dryRun}
          isBusy={start.isPending}
          error={start.error}
          onStart={() => start.mutate(undefined)}
          onClose={() => setDryRun(undefined)}
        />
      )}
    </Panel>
  );
}

function Places({
  draft,
  onChange,
  connections,
}: FieldsProps & { readonly connections: readonly Connection[] }): ReactElement {
  const options = connections.map(({ id, name }) => [id, name] as const);
  // One that is switched off by now can still be seen, and changed.
  const withChosen = (id: string) =>
    options.some(([known]) => known === id) || id === '' ? options : [...options, [id, `${id} (not active)`] as const];
  return (
    <>
      <div className="form-grid">
        <ChoiceField
          label="From the connection"
          value={draft.sourceId}
          onText={(sourceId) => onChange({ sourceId })}
          options={withChosen(draft.sourceId)}
        />
        <TextField
          label="Folder there"
          required
          value={draft.sourcePath}
          onText={(sourcePath) => onChange({ sourcePath })}
          placeholder="/reports"
          hint="With all below it. The path of one file works too."
        />
      </div>
      {draft.type !== 'delete' && (
        <div className="form-grid">
          <ChoiceField
            label="To the connection"
            value={draft.destinationId}
            onText={(destinationId) => onChange({ destinationId })}
            options={withChosen(draft.destinationId)}
          />
          <TextField
            label="Folder that takes the files"
            required
            value={draft.destinationPath}
            onText={(destinationPath) => onChange({ destinationPath })}
            placeholder="/archive/reports"
            hint="It is made where it is missing."
          />
        </div>
      )}
    </>
  );
}

function Rules({ draft, onChange }: FieldsProps): ReactElement | null {
  if (draft.type === 'delete') return null;
  if (draft.type !== 'sync') {
    return (
      <ChoiceField
        label="A file that is there already"
        value={draft.onConflict}
        onText={(rule) => onChange({ onConflict: rule as JobDraft['onConflict'] })}
        options={Object.entries(CONFLICTS)}
      />
    );
  }
  return (
    <>
      <ChoiceField
        label="A file has not changed when"
        value={draft.compare}
        onText={(compare) => onChange({ compare: compare as JobDraft['compare'] })}
        options={Object.entries(COMPARISONS)}
      />
      <CheckField
        label="Delete at the destination what the source does not have"
        hint="After all else, and only when everything could be listed and copied."
        checked={draft.deleteExtra}
        onCheck={(deleteExtra) => onChange({ deleteExtra })}
      />
      {draft.deleteExtra && (
        <TextField
          label="Delete at most so many files"
          type="number"
          min={0}
          required
          value={draft.maxDeletes}
          onText={(maxDeletes) => onChange({ maxDeletes })}
          hint="With more to delete than this, nothing is deleted."
        />
      )}
    </>
  );
}

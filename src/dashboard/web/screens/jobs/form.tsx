/** A form around the fields of a job: sent at once, or after a look at what would happen. */
import { useState, type ReactElement, type ReactNode } from 'react';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Connection } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Button, Empty, Failure, LinkButton, Panel, Pending } from '../../ui/basics.tsx';
import { Server } from '../../ui/icons.tsx';
import { useUnsaved } from '../../ui/unsaved.ts';
import { isReady, type JobDraft, requestOf } from './draft.ts';
import { DryRun } from './dry-run.tsx';

export function JobForm(props: {
  readonly draft: JobDraft;
  /** What the form asks beside the job is answered. */
  readonly isAnswered?: boolean;
  /** What it would do is shown before it is sent. */
  readonly mustLook: boolean;
  readonly verb: string;
  readonly refused: string;
  readonly back: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onSend: () => void;
  readonly children: ReactNode;
}): ReactElement {
  const { draft, isAnswered = true, mustLook, verb, refused, back, isBusy, error, onSend, children } = props;
  const [dryRun, setDryRun] = useState<string>();
  const look = useAction(() => request<{ job: { id: string } }>('POST', '/api/jobs', requestOf(draft, true)), {
    showsError: true,
    onDone: ({ job }) => setDryRun(job.id),
  });
  const isComplete = isReady(draft);
  const [first] = useState(draft);
  useUnsaved(draft !== first && !isBusy);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (mustLook) look.mutate(undefined);
        else onSend();
      }}
    >
      {children}
      {dryRun === undefined && <Failure error={error ?? look.error} title={refused} />}
      <div className="row end">
        <LinkButton href={back}>{t.jobs.form.discard}</LinkButton>
        {!mustLook && (
          <Button disabled={!isComplete} isBusy={look.isPending} onClick={() => look.mutate(undefined)}>
            {t.words.dryRun}
          </Button>
        )}
        <Button
          look="primary"
          type="submit"
          disabled={!isComplete || !isAnswered}
          isBusy={mustLook ? look.isPending : isBusy && dryRun === undefined}
        >
          {mustLook ? t.jobs.form.showFirst : verb}
        </Button>
      </div>
      {dryRun !== undefined && (
        <DryRun
          id={dryRun}
          verb={verb}
          refused={refused}
          isBusy={isBusy}
          error={error}
          onStart={onSend}
          onClose={() => setDryRun(undefined)}
        />
      )}
    </form>
  );
}

/** Whatever needs connections to work on, once they are known and there are any. */
export function WithConnections({
  children,
}: {
  readonly children: (usable: readonly Connection[]) => ReactElement;
}): ReactElement {
  const connections = useRead<{ connections: Connection[] }>('/manage/connections');
  const usable = connections.data?.connections.filter(({ isActive }) => isActive);
  if (usable === undefined) {
    return <Pending error={connections.error} onRetry={() => void connections.refetch()} />;
  }
  if (usable.length > 0) return children(usable);
  return (
    <Panel>
      <Empty
        icon={Server}
        title={t.jobs.form.noConnection}
        action={<LinkButton href="/connections/new">{t.jobs.form.addConnection}</LinkButton>}
      >
        {t.jobs.form.noConnectionText}
      </Empty>
    </Panel>
  );
}

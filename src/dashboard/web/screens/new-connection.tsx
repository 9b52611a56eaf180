/** A new connection: fill in, test, save. */
import { useEffect, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { ApiError, request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { Connection, ConnectionType } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Button, Failure, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { CheckedForm } from '../ui/checked-form.tsx';
import { RestoredNotice } from '../ui/form.tsx';
import { useUnsaved } from '../ui/unsaved.ts';
import { useConnectionForm } from './connection/draft.ts';
import { ConnectionFields } from './connection/form.tsx';
import { slugOf } from './connection/slug.ts';
import { keepOfSaved, noteTest, UNSAVED } from './connection/tested.ts';
import { TestPanel } from './connection/test-panel.tsx';

export default function NewConnection(): ReactElement {
  const read = useRead('/manage/connection-types');
  return (
    <Page title={t.connection.made.title} lead={<Link href="/connections">{t.places.connections}</Link>}>
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Form types={read.data.connectionTypes} />
      )}
    </Page>
  );
}

function Form({ types }: { readonly types: readonly ConnectionType[] }): ReactElement {
  const of = useConnectionForm(types);
  const { draft, isDirty, forget } = of.form;
  const [, navigate] = useLocation();
  const others = useRead('/manage/connections').data?.connections ?? [];
  const derivedId = slugOf(
    String(draft['name']),
    others.map(({ id }) => id),
  );
  const create = useAction(() => save({ id: derivedId, ...of.input }, draft['id'] === ''), {
    says: t.connection.made.saved,
    refreshes: ['/manage/connections', '/manage/account', '/manage/overview'],
    showsError: true,
    onDone: ({ id }) => {
      forget();
      keepOfSaved(id, draft);
      navigate(`/connections/${encodeURIComponent(id)}`);
    },
  });
  useUnsaved(isDirty && !create.isPending, 'changes', forget);
  useEffect(() => noteTest(UNSAVED, undefined), []);
  return (
    <div className="split">
      <Panel title={t.connection.server}>
        <CheckedForm className="panel-body" onSend={() => create.mutate(undefined)}>
          <RestoredNotice form={of.form} />
          <ConnectionFields {...of} derivedId={derivedId} />
          <Failure error={create.error} title={t.connection.notSaved} />
          <div className="row end">
            <LinkButton href="/connections">{t.connection.made.cancel}</LinkButton>
            <Button variant="primary" type="submit" isBusy={create.isPending}>
              {t.connection.made.save}
            </Button>
          </div>
        </CheckedForm>
      </Panel>
      <TestPanel {...of} />
    </div>
  );
}

const TRIES = 3;

/** An id derived from the name gets a random suffix if it is taken. */
async function save(input: { readonly id: string }, isDerived: boolean): Promise<Connection> {
  for (let tries = 1; ; tries++) {
    const id = tries === 1 ? input.id : `${input.id}-${crypto.randomUUID().slice(0, 4)}`;
    try {
      return await request('POST', '/manage/connections', { ...input, ...(id === '' ? {} : { id }) });
    } catch (error) {
      const isTaken = error instanceof ApiError && error.code === 'already_exists';
      if (!isTaken || !isDerived || input.id === '' || tries === TRIES) throw error;
    }
  }
}

/** A new connection: fill in, test, save. */
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { Connection, ConnectionType } from '../api/types.ts';
import { Button, Failure, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { inputOf, isComplete, newDraft, withPin } from './connection/draft.ts';
import { ConnectionFields } from './connection/form.tsx';
import { TestPanel } from './connection/test-panel.tsx';

export default function NewConnection(): ReactElement {
  const read = useRead<{ connectionTypes: ConnectionType[] }>('/manage/connection-types');
  return (
    <Page title="New connection" lead={<Link href="/connections">Connections</Link>}>
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Form types={read.data.connectionTypes} />
      )}
    </Page>
  );
}

function Form({ types }: { readonly types: readonly ConnectionType[] }): ReactElement | null {
  const [draft, setDraft] = useState(() => newDraft(types));
  const [, navigate] = useLocation();
  const type = types.find((one) => one.type === draft.type);
  const create = useAction((input: object) => request<Connection>('POST', '/manage/connections', input), {
    says: 'Connection saved',
    refreshes: ['/manage/connections', '/manage/account', '/manage/overview'],
    showsError: true,
    onDone: ({ id }) => navigate(`/connections/${encodeURIComponent(id)}`),
  });
  if (type === undefined) return null;
  return (
    <div className="split">
      <Panel title="Server and login">
        <form
          className="panel-body"
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate(inputOf(draft, type, undefined));
          }}
        >
          <ConnectionFields types={types} type={type} draft={draft} onDraft={setDraft} />
          <Failure error={create.error} title="It was not saved" />
          <div className="row end">
            <LinkButton href="/connections">Discard</LinkButton>
            <Button look="primary" type="submit" isBusy={create.isPending}>
              Save the connection
            </Button>
          </div>
        </form>
      </Panel>
      <TestPanel
        draft={draft}
        type={type}
        isComplete={isComplete(draft, type)}
        onPin={(fingerprint) => setDraft((former) => withPin(former, fingerprint))}
      />
    </div>
  );
}

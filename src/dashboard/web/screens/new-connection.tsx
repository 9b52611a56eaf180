/** A new connection: fill in, test, save. */
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { request } from '../api/client.ts';
import { useAction } from '../api/hooks.ts';
import type { Connection } from '../api/types.ts';
import { Button, LinkButton, Notice, Page, Panel } from '../ui/basics.tsx';
import { inputOf, NEW_DRAFT, type Draft } from './connection/draft.ts';
import { ConnectionFields } from './connection/form.tsx';
import { TestPanel } from './connection/test-panel.tsx';

export default function NewConnection(): ReactElement {
  const [draft, setDraft] = useState(NEW_DRAFT);
  const [, navigate] = useLocation();
  const create = useAction(() => request<Connection>('POST', '/manage/connections', inputOf(draft, undefined)), {
    says: 'Connection saved',
    refreshes: ['/manage/connections', '/manage/account', '/manage/overview'],
    showsError: true,
    onDone: ({ id }) => navigate(`/connections/${encodeURIComponent(id)}`),
  });
  return (
    <Page title="New connection" lead={<Link href="/connections">Connections</Link>}>
      <div className="split">
        <Panel title="Server and login">
          <form
            className="panel-body"
            onSubmit={(event) => {
              event.preventDefault();
              create.mutate(undefined);
            }}
          >
            <ConnectionFields draft={draft} onDraft={(change) => setDraft((former) => ({ ...former, ...change }))} />
            {create.error !== null && (
              <Notice tone="bad" title="It was not saved" isAlert>
                {create.error.message}
              </Notice>
            )}
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
          isComplete={isComplete(draft)}
          onPin={(fingerprint) =>
            setDraft((former) => ({ ...former, hostKeys: `${former.hostKeys}\n${fingerprint}`.trim() }))
          }
        />
      </div>
    </Page>
  );
}

export function isComplete(draft: Draft): boolean {
  if (draft.name.trim() === '') return false;
  return draft.type === 's3'
    ? draft.bucket !== '' && draft.accessKeyId !== ''
    : draft.host !== '' && draft.username !== '';
}

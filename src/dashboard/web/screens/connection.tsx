/** One connection: its settings, its test, its host keys, what is known of its server. */
import { type ReactElement, type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { request, segment } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { Card, Connection, ConnectionType, Dependents } from '../api/types.ts';
import { formatBytes } from '../format.ts';
import {
  Badge,
  Button,
  Facts,
  Failure,
  LinkButton,
  Notice,
  Page,
  Panel,
  Pending,
  Skeleton,
  Time,
} from '../ui/basics.tsx';
import { Confirm, Menu } from '../ui/dialog.tsx';
import { FolderOpen } from '../ui/icons.tsx';
import { AnnouncedKeys } from './connection/announced-keys.tsx';
import { changesOf, draftOf, isComplete, withPin } from './connection/draft.ts';
import { ConnectionFields } from './connection/form.tsx';
import { Health } from './connection/health.tsx';
import { HostKeys } from './connection/login-keys.tsx';
import { TestPanel } from './connection/test-panel.tsx';

const READS = ['/manage/connections', '/manage/account', '/manage/overview'];

export default function ConnectionScreen({ id }: { readonly id: string }): ReactElement {
  const read = useRead<Connection>(`/manage/connections/${segment(id)}`);
  const types = useRead<{ connectionTypes: ConnectionType[] }>('/manage/connection-types');
  const type = types.data?.connectionTypes.find((one) => one.type === read.data?.type);
  if (read.data === undefined || types.data === undefined || type === undefined) {
    return (
      <Page title={id} lead={<Link href="/connections">Connections</Link>}>
        <Panel>
          <Pending
            error={read.error ?? types.error}
            onRetry={() => void Promise.all([read.refetch(), types.refetch()])}
          />
        </Panel>
      </Page>
    );
  }
  return <Editor key={read.data.updatedAt} connection={read.data} type={type} types={types.data.connectionTypes} />;
}

function Editor(props: {
  readonly connection: Connection;
  readonly type: ConnectionType;
  readonly types: readonly ConnectionType[];
}): ReactElement {
  const { connection, type, types } = props;
  const { id, name, isActive, source } = connection;
  const path = `/manage/connections/${segment(id)}`;
  const [draft, setDraft] = useState(() => draftOf(connection, type));
  const [isDeleting, setDeleting] = useState(false);
  const [, navigate] = useLocation();
  const isOwned = source === 'configuration';
  const changes = changesOf(draft, type, connection);
  const hasChanges = Object.keys(changes).length > 0;

  const save = useAction(() => request<Connection>('PATCH', path, changes), {
    says: 'Changes saved',
    refreshes: READS,
    showsError: true,
  });
  const toggle = useAction(() => request<Connection>('POST', `${path}/${isActive ? 'deactivate' : 'activate'}`), {
    says: isActive ? 'The connection is switched off' : 'The connection is active',
    refreshes: READS,
  });
  const duplicate = useAction(() => request<Connection>('POST', `${path}/duplicate`, {}), {
    says: 'Duplicated; set the secrets of the copy where it shows none',
    refreshes: READS,
    onDone: (copy) => navigate(`/connections/${encodeURIComponent(copy.id)}`),
  });

  return (
    <Page
      title={name}
      lead={
        <span className="row">
          <Link href="/connections">Connections</Link>
          <span className="mono">{id}</span>
          {isActive ? <Badge tone="good">Active</Badge> : <Badge tone="warn">Switched off</Badge>}
        </span>
      }
      actions={
        <>
          {isActive && (
            <LinkButton href={`/files/${encodeURIComponent(id)}`} icon={FolderOpen}>
              Browse files
            </LinkButton>
          )}
          <Menu
            label="More"
            entries={[
              { label: 'Duplicate', onSelect: () => duplicate.mutate(undefined) },
              {
                label: isActive ? 'Switch off' : 'Switch on',
                isDisabled: isOwned,
                onSelect: () => toggle.mutate(undefined),
              },
              { label: 'Delete …', isDanger: true, isDisabled: isOwned, onSelect: () => setDeleting(true) },
            ]}
          />
        </>
      }
    >
      {isOwned && (
        <Notice title="This connection stands in the configuration file">
          <p>
            The next start of the gateway would undo changes made here. Change the file, or duplicate the connection to
            have one to edit: the copy needs secrets of its own.
          </p>
          <Button isBusy={duplicate.isPending} onClick={() => duplicate.mutate(undefined)}>
            Duplicate
          </Button>
        </Notice>
      )}
      <div className="split">
        <Panel title="Server and login">
          <form
            onSubmit={(event) => {
              event.preventDefault();
              save.mutate(undefined);
            }}
          >
            <fieldset className="panel-body plain-fieldset" disabled={isOwned}>
              <ConnectionFields types={types} type={type} draft={draft} known={connection} onDraft={setDraft} />
              <Failure error={save.error} title="It was not saved" />
              {!isOwned && (
                <div className="row end">
                  <Button disabled={!hasChanges} onClick={() => setDraft(draftOf(connection, type))}>
                    Discard changes
                  </Button>
                  <Button look="primary" type="submit" disabled={!hasChanges} isBusy={save.isPending}>
                    Save changes
                  </Button>
                </div>
              )}
            </fieldset>
          </form>
        </Panel>
        <div className="stack">
          <Health id={id} />
          <TestPanel
            draft={draft}
            type={type}
            known={connection}
            isComplete={isComplete(draft, type)}
            onPin={(fingerprint) => setDraft((former) => withPin(former, fingerprint))}
          />
          {connection.hostKeys !== undefined && <HostKeys connection={connection} isOwned={isOwned} />}
          {connection.hostKeys !== undefined && <AnnouncedKeys id={id} />}
          {connection.card !== undefined && connection.card !== null && <ServerCard card={connection.card} />}
        </div>
      </div>
      {isDeleting && <DeleteConnection connection={connection} onClose={() => setDeleting(false)} />}
    </Page>
  );
}

function DeleteConnection({
  connection: { id, name },
  onClose,
}: {
  readonly connection: Connection;
  readonly onClose: () => void;
}): ReactElement {
  const path = `/manage/connections/${segment(id)}`;
  const dependents = useRead<Dependents>(`${path}/dependents`);
  const [, navigate] = useLocation();
  const remove = useAction(() => request('DELETE', `${path}?confirm=true`), {
    says: `${name} is deleted`,
    refreshes: ['/manage/connections?', '/manage/account', '/manage/overview', '/manage/api-keys'],
    showsError: true,
    onDone: () => navigate('/connections'),
  });
  if (dependents.data === undefined && dependents.error === null) return <Skeleton />;
  const { apiKeys = [], watchedFolders = [], runningTransfers = 0 } = dependents.data ?? {};
  const isNeeded = apiKeys.length + watchedFolders.length + runningTransfers > 0;
  return (
    <Confirm
      title={`Delete ${name}?`}
      verb="Delete the connection"
      {...(isNeeded ? { typed: id } : {})}
      isBusy={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate(undefined)}
    >
      <div className="stack tight">
        <p>The stored login goes with it. The history stays; files on the server are not touched.</p>
        {isNeeded && (
          <ul className="bullets">
            {apiKeys.map((key) => (
              <li key={key.id}>
                API key {key.name}{' '}
                {key.willBeRevoked ? 'is for this connection alone and will be revoked' : 'loses this connection'}
              </li>
            ))}
            {watchedFolders.map((folder) => (
              <li key={folder.id}>The watch on {folder.name} ends</li>
            ))}
            {runningTransfers > 0 && <li>{runningTransfers} running transfers use it</li>}
          </ul>
        )}
      </div>
    </Confirm>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  software: 'Software',
  protocol: 'Protocol',
  home: 'Login folder',
  moveOnto: 'Rename onto a file',
  exclusiveCreate: 'Refuses to replace',
  timeResolutionMs: 'Times exact to',
  extensions: 'Extensions',
  algorithms: 'Algorithms',
  limits: 'Limits',
  machineListings: 'Machine listings (MLSD)',
  utf8: 'UTF-8 names',
  canAppend: 'Append',
  canExec: 'Commands',
  canCopy: 'Copy on the server',
  testedAt: 'Seen',
};

function ServerCard({ card }: { readonly card: Card }): ReactElement {
  const items = Object.entries(NAMES)
    .filter(([key]) => card[key] !== undefined && card[key] !== null)
    .map(([key, name]) => [name, show(key, card[key])] as const);
  return (
    <Panel title="The server">
      <div className="panel-body">
        <Facts items={items} />
      </div>
    </Panel>
  );
}

function show(key: string, value: unknown): ReactNode {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (key === 'timeResolutionMs' && typeof value === 'number')
    return value >= 60_000 ? 'a minute' : value >= 1_000 ? 'a second' : 'a millisecond';
  if (key === 'testedAt' && typeof value === 'string') return <Time iso={value} isLong />;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(String).join(', ');
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .filter(([, one]) => one !== null && one !== undefined)
    .map(
      ([name, one]) => `${name} ${name.endsWith('Bytes') && typeof one === 'number' ? formatBytes(one) : String(one)}`,
    )
    .join(', ');
}

/** API keys: issued once, limited, rotated, revoked. */
import { useState, type ReactElement } from 'react';
import { KeyRound, Plus } from '../ui/icons.tsx';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { ApiKey, Connection } from '../api/types.ts';
import { Ago, Badge, Button, Empty, Page, Panel, Pending, Time } from '../ui/basics.tsx';
import { Confirm, Menu } from '../ui/dialog.tsx';
import { Table } from '../ui/table.tsx';
import { IssuedKey, type Issued } from './keys/issued-key.tsx';
import { KeyForm, type KeyInput } from './keys/key-form.tsx';
import { RotateKey } from './keys/rotate-key.tsx';

const READS = ['/manage/api-keys', '/manage/overview'];

type Open =
  { readonly kind: 'new' } | { readonly kind: 'edit' | 'rotate' | 'revoke'; readonly apiKey: ApiKey } | undefined;

export default function Keys(): ReactElement {
  const read = useRead<{ apiKeys: ApiKey[] }>('/manage/api-keys');
  const connections = useRead<{ connections: Connection[] }>('/manage/connections');
  const [open, setOpen] = useState<Open>();
  const [issued, setIssued] = useState<Issued>();
  const close = (): void => setOpen(undefined);
  const show = (next: Issued): void => {
    close();
    setIssued(next);
  };
  const create = useAction((input: KeyInput) => request<Issued>('POST', '/manage/api-keys', input), {
    refreshes: READS,
    showsError: true,
    onDone: show,
  });
  const known = connections.data?.connections ?? [];
  const newKey = (
    <Button look="primary" icon={Plus} onClick={() => setOpen({ kind: 'new' })}>
      Issue a key
    </Button>
  );
  const apiKeys = read.data?.apiKeys;
  return (
    <Page
      title="API keys"
      lead="What programs show with each request. Each can be limited to connections, rights and addresses."
      actions={apiKeys !== undefined && apiKeys.length > 0 && newKey}
    >
      <Panel>
        {apiKeys === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : apiKeys.length === 0 ? (
          <Empty icon={KeyRound} title="No key yet" action={newKey}>
            Issue one for each program, so that one of them can be stopped without the others. A key is shown once, when
            it is issued.
          </Empty>
        ) : (
          <KeyTable apiKeys={apiKeys} onOpen={setOpen} />
        )}
      </Panel>
      {open?.kind === 'new' && (
        <KeyForm
          title="Issue a key"
          verb="Issue the key"
          connections={known}
          isBusy={create.isPending}
          error={create.error}
          onClose={close}
          onSave={create.mutate}
        />
      )}
      {open?.kind === 'edit' && <EditKey apiKey={open.apiKey} connections={known} onClose={close} />}
      {open?.kind === 'rotate' && <RotateKey apiKey={open.apiKey} onClose={close} onIssued={show} />}
      {open?.kind === 'revoke' && <RevokeKey apiKey={open.apiKey} onClose={close} />}
      {issued !== undefined && <IssuedKey issued={issued} connections={known} onClose={() => setIssued(undefined)} />}
    </Page>
  );
}

function KeyTable({
  apiKeys,
  onOpen,
}: {
  readonly apiKeys: readonly ApiKey[];
  readonly onOpen: (open: Open) => void;
}): ReactElement {
  return (
    <Table
      label="API keys"
      rows={apiKeys}
      rowKey={({ id }) => id}
      rowClass={({ state }) => (state === 'active' ? '' : 'gone')}
      columns={[
        {
          head: 'Name',
          cell: ({ name, hint, source }) => (
            <div>
              <strong>{name}</strong>
              <div className="muted small mono">
                {hint === null ? (source === 'configuration' ? 'from the configuration file' : '') : `ftg_…${hint}`}
              </div>
            </div>
          ),
        },
        {
          head: 'Rights',
          cell: ({ scopes }) => (
            <span className="row">
              {scopes.map((scope) => (
                <Badge key={scope} tone={scope === 'admin' || scope === 'exec' ? 'warn' : 'plain'}>
                  {scope}
                </Badge>
              ))}
            </span>
          ),
        },
        {
          head: 'Limited to',
          cell: ({ connections, allowedIps }) =>
            connections.length + allowedIps.length === 0 ? (
              <span className="muted">nothing</span>
            ) : (
              <span className="small">
                {connections.join(', ')}
                {connections.length > 0 && allowedIps.length > 0 && <br />}
                <span className="mono">{allowedIps.join(', ')}</span>
              </span>
            ),
        },
        {
          head: 'Last used',
          cell: ({ lastUsedAt }) =>
            lastUsedAt === null ? <span className="muted">never</span> : <Ago iso={lastUsedAt} />,
        },
        {
          head: 'Expires',
          cell: ({ expiresAt }) =>
            expiresAt === null ? <span className="muted">never</span> : <Time iso={expiresAt} />,
        },
        {
          head: 'State',
          cell: ({ state }) => (
            <Badge tone={state === 'active' ? 'good' : 'bad'}>
              {{ active: 'Active', expired: 'Expired', revoked: 'Revoked' }[state]}
            </Badge>
          ),
        },
        {
          head: 'Actions',
          isHeadHidden: true,
          align: 'end',
          cell: (apiKey) =>
            apiKey.state !== 'revoked' && (
              <Menu
                label={`Actions for ${apiKey.name}`}
                entries={[
                  {
                    label: 'Edit …',
                    isDisabled: apiKey.source === 'configuration',
                    onSelect: () => onOpen({ kind: 'edit', apiKey }),
                  },
                  {
                    label: 'Rotate …',
                    isDisabled: apiKey.source === 'configuration',
                    onSelect: () => onOpen({ kind: 'rotate', apiKey }),
                  },
                  { label: 'Revoke …', isDanger: true, onSelect: () => onOpen({ kind: 'revoke', apiKey }) },
                ]}
              />
            ),
        },
      ]}
    />
  );
}

function EditKey(props: {
  readonly apiKey: ApiKey;
  readonly connections: readonly Connection[];
  readonly onClose: () => void;
}): ReactElement {
  const { apiKey, connections, onClose } = props;
  const save = useAction((input: KeyInput) => request<ApiKey>('PATCH', `/manage/api-keys/${apiKey.id}`, input), {
    says: 'Key changed',
    refreshes: READS,
    showsError: true,
    onDone: onClose,
  });
  return (
    <KeyForm
      title={`Edit ${apiKey.name}`}
      verb="Save"
      apiKey={apiKey}
      connections={connections}
      isBusy={save.isPending}
      error={save.error}
      onClose={onClose}
      onSave={save.mutate}
    />
  );
}

function RevokeKey({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }): ReactElement {
  const revoke = useAction(() => request('DELETE', `/manage/api-keys/${apiKey.id}`), {
    says: `${apiKey.name} is revoked`,
    refreshes: READS,
    showsError: true,
    onDone: onClose,
  });
  return (
    <Confirm
      title={`Revoke ${apiKey.name}?`}
      verb="Revoke the key"
      isBusy={revoke.isPending}
      error={revoke.error}
      onClose={onClose}
      onConfirm={() => revoke.mutate(undefined)}
    >
      <p>
        Requests with it are refused within a second. This cannot be undone.
        {apiKey.source === 'configuration' &&
          ' It stands in the configuration file: unless it is taken out there, the next start gives it back.'}
      </p>
    </Confirm>
  );
}

/** API keys: issued once, limited, rotated, revoked. */
import { KeyRound, Plus } from '../ui/icons.tsx';
import { type ReactElement, useState } from 'react';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { ApiKey, Connection } from '../api/types.ts';
import { Ago, Badge, Button, CodeBlock, Empty, Notice, Page, Panel, Pending, Table, Time } from '../ui/basics.tsx';
import { Confirm, Dialog, FormDialog, Menu } from '../ui/dialog.tsx';
import { ChoiceField } from '../ui/fields.tsx';
import { KeyForm, type KeyInput } from './keys/key-form.tsx';

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

function KeyTable({ apiKeys, onOpen }: { apiKeys: readonly ApiKey[]; onOpen: (open: Open) => void }): ReactElement {
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

interface Issued {
  readonly apiKey: ApiKey;
  readonly key: string;
  readonly previous?: ApiKey;
}

function IssuedKey(props: {
  readonly issued: Issued;
  readonly connections: readonly Connection[];
  readonly onClose: () => void;
}): ReactElement {
  const { issued, connections, onClose } = props;
  return (
    <Dialog title={`The key ${issued.apiKey.name}`} onClose={onClose} keepsOpen>
      <Notice tone="warn" title="Copy it now: it is not shown again.">
        The gateway keeps a digest of it alone. A lost key is replaced, not found.
      </Notice>
      <div className="stack tight">
        <h3>Key</h3>
        <CodeBlock code={issued.key} label="API key" />
      </div>
      <div className="stack tight">
        <h3>Try it</h3>
        <CodeBlock code={curlLine(issued, connections)} label="curl line" />
      </div>
      <div className="dialog-actions">
        <Button look="primary" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}

function curlLine({ apiKey, key }: Issued, connections: readonly Connection[]): string {
  const header = `curl -H 'Authorization: Bearer ${key}'`;
  const usable = connections.filter(
    ({ id, isActive }) => isActive && (apiKey.connections.length === 0 || apiKey.connections.includes(id)),
  );
  const first = usable[0]?.id;
  if (first !== undefined && apiKey.scopes.includes('read')) return `${header} ${location.origin}/api/list/${first}`;
  if (first !== undefined && apiKey.scopes.includes('write'))
    return `${header} -F file=@hello.txt ${location.origin}/api/upload/${first}`;
  return `${header} ${location.origin}/api/me`;
}

const OVERLAPS = [
  ['0', 'At once'],
  ['60', 'In an hour'],
  ['1440', 'In a day'],
  ['10080', 'In a week'],
  ['43200', 'In 30 days'],
] as const;

function RotateKey(props: {
  readonly apiKey: ApiKey;
  readonly onIssued: (issued: Issued) => void;
  readonly onClose: () => void;
}): ReactElement {
  const { apiKey, onIssued, onClose } = props;
  const [overlap, setOverlap] = useState('60');
  const rotate = useAction(
    () => request<Issued>('POST', `/manage/api-keys/${apiKey.id}/rotate`, { overlapMinutes: Number(overlap) }),
    {
      refreshes: ['/manage/api-keys'],
      showsError: true,
      onDone: onIssued,
    },
  );
  return (
    <FormDialog
      title={`Rotate ${apiKey.name}`}
      verb="Issue the new key"
      isBusy={rotate.isPending}
      error={rotate.error}
      onClose={onClose}
      onSend={() => rotate.mutate(undefined)}
    >
      <p>A new key with the same rights is issued. Put it in place before the present one ends.</p>
      <ChoiceField label="The present key ends" value={overlap} onText={setOverlap} options={OVERLAPS} />
    </FormDialog>
  );
}

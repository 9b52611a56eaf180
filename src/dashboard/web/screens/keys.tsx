/** API keys: issued once, limited, rotated, revoked. */
import { type ReactElement, useEffect, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { ApiKey, Connection } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Ago, Badge, Button, Empty, Page, Panel, Pending, Table, Time } from '../ui/basics.tsx';
import { Menu } from '../ui/dialog.tsx';
import { KeyRound, Plus } from '../ui/icons.tsx';
import { EditKey, type Issued, IssuedKey, READS, RevokeKey, RotateKey } from './keys/dialogs.tsx';
import { KeyForm, type KeyInput } from './keys/key-form.tsx';

const words = t.keys;

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
  useOpening(setOpen);
  const known = connections.data?.connections ?? [];
  const newKey = (
    <Button look="primary" icon={Plus} onClick={() => setOpen({ kind: 'new' })}>
      {words.issue}
    </Button>
  );
  const apiKeys = read.data?.apiKeys;
  return (
    <Page title={words.title} lead={words.lead} actions={apiKeys !== undefined && apiKeys.length > 0 && newKey}>
      <Panel>
        {apiKeys === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : apiKeys.length === 0 ? (
          <Empty icon={KeyRound} title={words.none} action={newKey}>
            {words.noneText}
          </Empty>
        ) : (
          <KeyTable apiKeys={apiKeys} connections={known} onOpen={setOpen} />
        )}
      </Panel>
      {open?.kind === 'new' && (
        <KeyForm
          title={words.form.title}
          verb={words.form.verb}
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

/** `?new` in the address opens the form, once: that is how the palette asks for it. */
function useOpening(onOpen: (open: Open) => void): void {
  const isAsked = new URLSearchParams(useSearch()).has('new');
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!isAsked) return;
    onOpen({ kind: 'new' });
    navigate('/keys', { replace: true });
  }, [isAsked, navigate, onOpen]);
}

function KeyTable(props: {
  readonly apiKeys: readonly ApiKey[];
  readonly connections: readonly Connection[];
  readonly onOpen: (open: Open) => void;
}): ReactElement {
  const { apiKeys, connections, onOpen } = props;
  const nameOf = (id: string): string => connections.find((one) => one.id === id)?.name ?? id;
  return (
    <Table
      label={words.title}
      rows={apiKeys}
      rowKey={({ id }) => id}
      rowClass={({ state }) => (state === 'active' ? '' : 'gone')}
      columns={[
        {
          head: words.name,
          cell: ({ name, hint, source }) => (
            <div>
              <strong>{name}</strong>
              <div className="muted small mono">
                {hint === null ? (source === 'configuration' ? words.fromFile : '') : `ftg_…${hint}`}
              </div>
            </div>
          ),
        },
        {
          head: words.rights,
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
          head: words.mayUse,
          cell: ({ connections: ids, allowedIps }) => (
            <span className="small">
              {ids.length === 0 ? words.everyConnection : ids.map(nameOf).join(', ')}
              {allowedIps.length > 0 && <span className="block muted">{words.from(allowedIps.join(', '))}</span>}
            </span>
          ),
        },
        {
          head: words.lastUsed,
          cell: ({ lastUsedAt }) =>
            lastUsedAt === null ? <span className="muted">{words.never}</span> : <Ago iso={lastUsedAt} />,
        },
        {
          head: words.expires,
          cell: ({ expiresAt }) =>
            expiresAt === null ? <span className="muted">{words.never}</span> : <Time iso={expiresAt} />,
        },
        {
          head: words.state,
          cell: ({ state }) => <Badge tone={state === 'active' ? 'good' : 'bad'}>{words.states[state]}</Badge>,
        },
        {
          head: words.actions,
          isHeadHidden: true,
          align: 'end',
          cell: (apiKey) =>
            apiKey.state !== 'revoked' && (
              <Menu
                label={words.actionsFor(apiKey.name)}
                entries={[
                  {
                    label: words.edit,
                    isDisabled: apiKey.source === 'configuration',
                    onSelect: () => onOpen({ kind: 'edit', apiKey }),
                  },
                  {
                    label: words.rotate,
                    isDisabled: apiKey.source === 'configuration',
                    onSelect: () => onOpen({ kind: 'rotate', apiKey }),
                  },
                  { label: words.revoke, isDanger: true, onSelect: () => onOpen({ kind: 'revoke', apiKey }) },
                ]}
              />
            ),
        },
      ]}
    />
  );
}

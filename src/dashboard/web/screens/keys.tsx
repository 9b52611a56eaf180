/** API keys: shown once, limited, rotated, revoked. */
import { type ReactElement, useState } from 'react';
import { request } from '../api/client.ts';
import { useRows } from '../api/hooks.ts';
import { useConnectionName, useConnections } from '../api/names.ts';
import type { ApiKey, NewS3AccessKey } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { ConfirmAction } from '../ui/form-dialog.tsx';
import { actions, Ago, Badge, Mono, Time, Titled } from '../ui/basics.tsx';
import { Menu } from '../ui/menu.tsx';
import { useOpening } from '../ui/filters.tsx';
import { Ban, KeyRound } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list-screen.tsx';
import type { Bulk } from '../ui/selection.tsx';
import { IssuedKey, RotateKey } from './keys/dialogs.tsx';
import { type Issued, KeyForm, READS } from './keys/key-form.tsx';
import { DeleteS3AccessKey, MadeS3AccessKey, S3Access } from './keys/s3-access.tsx';

const words = t.keys;
const { revoking } = words;

const revoke = ({ id }: ApiKey): Promise<unknown> => request('DELETE', `/manage/api-keys/${id}`);
const BULK: Bulk<ApiKey> = {
  nameOf: ({ name }) => name,
  actions: [
    {
      verb: revoking.many,
      icon: Ban,
      fits: ({ state }) => state !== 'revoked',
      run: revoke,
      refreshes: READS,
      warning: revoking.text,
    },
  ],
};

type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'edit' | 'rotate' | 'revoke' | 's3'; readonly apiKey: ApiKey }
  | { readonly kind: 's3-made'; readonly pair: NewS3AccessKey }
  | { readonly kind: 's3-delete'; readonly apiKey: ApiKey; readonly accessKeyId: string }
  | { readonly kind: 'issued'; readonly issued: Issued }
  | undefined;

export default function Keys(): ReactElement {
  const connections = useConnections();
  const nameOf = useConnectionName();
  const list = useRows('/manage/api-keys', 'apiKeys');
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const show = (issued: Issued): void => setOpen({ kind: 'issued', issued });
  const latest = (apiKey: ApiKey): ApiKey => list.rows?.find(({ id }) => id === apiKey.id) ?? apiKey;
  useOpening(() => setOpen({ kind: 'new' }));
  return (
    <ListScreen
      title={t.places.keys}
      words={words}
      icon={KeyRound}
      list={list}
      bulk={BULK}
      rowClass={({ state }) => (state === 'active' ? '' : 'gone')}
      add={() => setOpen({ kind: 'new' })}
      columns={[
        {
          head: t.fields.apiKey.name.label,
          name: 'name',
          sort: ({ name }) => name,
          grow: 40,
          cell: ({ name, hint, source }) => (
            <Titled top={<strong>{name}</strong>}>
              <Mono>{hint === null ? (source === 'configuration' ? words.fromFile : '') : `ftg_…${hint}`}</Mono>
            </Titled>
          ),
        },
        {
          name: 'scopes',
          head: t.fields.apiKey.scopes.label,
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
          name: 'connections',
          head: t.fields.apiKey.connections.label,
          grow: 40,
          cell: ({ connections: ids, allowedIps }) => (
            <Titled top={ids.length === 0 ? words.everyConnection : ids.map(nameOf).join(', ')}>
              {allowedIps.length > 0 && words.from(allowedIps.join(', '))}
            </Titled>
          ),
        },
        {
          head: words.lastUsed,
          name: 'lastUsed',
          sort: ({ lastUsedAt }) => lastUsedAt ?? '',
          cell: ({ lastUsedAt }) => <Ago iso={lastUsedAt} otherwise={words.never} />,
        },
        {
          head: t.words.expires,
          name: 'expires',
          sort: ({ expiresAt }) => expiresAt ?? '',
          cell: ({ expiresAt }) => <Time iso={expiresAt} otherwise={words.never} />,
        },
        {
          name: 'state',
          head: t.words.state,
          cell: ({ state }) => <Badge tone={state === 'active' ? 'good' : 'bad'}>{words.states[state]}</Badge>,
        },
        actions<ApiKey>((apiKey) => {
          const disabledBecause = apiKey.source === 'configuration' && words.ofFile;
          const opens = (kind: 'edit' | 'rotate' | 'revoke' | 's3') => () => setOpen({ kind, apiKey });
          return (
            apiKey.state !== 'revoked' && (
              <Menu
                label={t.words.actionsFor(apiKey.name)}
                entries={[
                  { label: t.words.edit, disabledBecause, onSelect: opens('edit') },
                  { label: words.s3.open, onSelect: opens('s3') },
                  { label: words.rotate, disabledBecause, onSelect: opens('rotate') },
                  { label: words.revoke, isDanger: true, onSelect: opens('revoke') },
                ]}
              />
            )
          );
        }),
      ]}
    >
      {open?.kind === 'new' && <KeyForm onClose={close} onIssued={show} />}
      {open?.kind === 'edit' && <KeyForm former={open.apiKey} onClose={close} />}
      {open?.kind === 'rotate' && <RotateKey apiKey={open.apiKey} onClose={close} onIssued={show} />}
      {open?.kind === 'revoke' && (
        <ConfirmAction
          title={revoking.title(open.apiKey.name)}
          verb={revoking.verb}
          run={() => revoke(open.apiKey)}
          says={revoking.done(open.apiKey.name)}
          refreshes={READS}
          onClose={close}
        >
          <p>
            {revoking.text} {open.apiKey.source === 'configuration' && revoking.fromFile}
          </p>
        </ConfirmAction>
      )}
      {open?.kind === 's3' && (
        <S3Access
          apiKey={latest(open.apiKey)}
          onMade={(pair) => setOpen({ kind: 's3-made', pair })}
          onDelete={(accessKeyId) => setOpen({ kind: 's3-delete', apiKey: open.apiKey, accessKeyId })}
          onClose={close}
        />
      )}
      {open?.kind === 's3-made' && (
        <MadeS3AccessKey pair={open.pair} onClose={() => setOpen({ kind: 's3', apiKey: open.pair.apiKey })} />
      )}
      {open?.kind === 's3-delete' && (
        <DeleteS3AccessKey
          apiKey={open.apiKey}
          accessKeyId={open.accessKeyId}
          onClose={() => setOpen({ kind: 's3', apiKey: open.apiKey })}
        />
      )}
      {open?.kind === 'issued' && <IssuedKey issued={open.issued} connections={connections} onClose={close} />}
    </ListScreen>
  );
}

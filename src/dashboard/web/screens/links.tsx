/** Links: URLs that need no key, for people and programs outside. */
import { type ReactElement, useState } from 'react';
import { request, segment, withQuery } from '../api/client.ts';
import { usePages, useRows } from '../api/hooks.ts';
import { useConnectionName, useConnections, useKeys } from '../api/names.ts';
import type { FileLink } from '../api/types.ts';
import { formatBytes, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { ConfirmAction } from '../ui/form-dialog.tsx';
import { actions, Ago, Badge, Mono, Time, Titled } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Menu } from '../ui/menu.tsx';
import { useOpening } from '../ui/filters.tsx';
import { Ban, Link2 } from '../ui/icons.tsx';
import { List } from '../ui/list.tsx';
import { ListScreen } from '../ui/list-screen.tsx';
import { MiddleName } from '../ui/middle-name.tsx';
import type { Bulk } from '../ui/selection.tsx';
import type { LinkStart } from './links/form.tsx';
import NewLink from './links/new-link.tsx';
import { useTransferColumns } from './transfers/rows.tsx';

const words = t.links;
const { columns } = words;
const LINKS = '/api/links';

const revoke = ({ id }: FileLink): Promise<unknown> => request('DELETE', `${LINKS}/${segment(id)}`);
const BULK: Bulk<FileLink> = {
  nameOf: ({ operation, path }) => `${words.operations[operation]} ${path}`,
  actions: [
    {
      verb: words.revoking.many,
      icon: Ban,
      fits: ({ state }) => state !== 'revoked',
      run: revoke,
      refreshes: [LINKS],
      warning: words.revoking.text,
    },
  ],
};

type Open =
  | { readonly kind: 'new'; readonly start: LinkStart }
  | { readonly kind: 'uses' | 'revoke'; readonly link: FileLink }
  | undefined;

export default function Links(): ReactElement {
  const connections = useConnections();
  const nameOf = useConnectionName();
  const keys = useKeys();
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  useOpening((start) => setOpen({ kind: 'new', start }));
  return (
    <ListScreen
      title={t.places.links}
      words={words}
      icon={Link2}
      list={usePages(LINKS, 'links')}
      bulk={BULK}
      rowClass={({ state }) => (state === 'active' ? '' : 'gone')}
      add={() => setOpen({ kind: 'new', start: {} })}
      {...(connections.length > 0 ? {} : { noneAction: null })}
      columns={[
        {
          name: 'does',
          head: columns.does,
          sort: ({ path }) => path,
          grow: 55,
          cell: ({ operation, path }) => (
            <span className="worded">
              <strong>{words.operations[operation]}</strong>{' '}
              <Mono>
                <MiddleName name={path} />
              </Mono>
            </span>
          ),
        },
        {
          name: 'connection',
          head: t.words.connection,
          grow: 30,
          sort: ({ connectionId }) => nameOf(connectionId),
          cell: ({ connectionId, keyId }) => (
            <Titled top={nameOf(connectionId)}>
              {keyId !== null && words.madeBy(keys.find(({ id }) => id === keyId)?.name ?? keyId)}
            </Titled>
          ),
        },
        {
          name: 'uses',
          head: columns.uses,
          sort: ({ uses }) => String(uses),
          cell: ({ uses, maxUses, lastUsedAt }) => (
            <span>
              {maxUses === null ? formatNumber(uses) : t.words.of(formatNumber(uses), formatNumber(maxUses))}{' '}
              {lastUsedAt !== null && (
                <span className="muted small">
                  <Ago iso={lastUsedAt} />
                </span>
              )}
            </span>
          ),
        },
        { name: 'most', head: columns.most, cell: ({ maxBytes }) => (maxBytes === null ? '–' : formatBytes(maxBytes)) },
        {
          name: 'expires',
          head: t.words.expires,
          sort: ({ expiresAt }) => String(expiresAt),
          cell: ({ expiresAt }) => <Time iso={String(expiresAt)} />,
        },
        {
          name: 'state',
          head: t.words.state,
          cell: ({ state }) => <Badge tone={state === 'active' ? 'good' : 'plain'}>{words.states[state]}</Badge>,
        },
        actions<FileLink>((link) => (
          <Menu
            label={t.words.actionsFor(link.path)}
            entries={[
              { label: words.showUses, onSelect: () => setOpen({ kind: 'uses', link }) },
              {
                label: words.revoke,
                isDanger: true,
                disabledBecause: link.state === 'revoked' && words.states.revoked,
                onSelect: () => setOpen({ kind: 'revoke', link }),
              },
            ]}
          />
        )),
      ]}
    >
      {open?.kind === 'new' && <NewLink start={open.start} onClose={close} />}
      {open?.kind === 'uses' && <Uses link={open.link} onClose={close} />}
      {open?.kind === 'revoke' && (
        <ConfirmAction
          title={words.revoking.title(open.link.path)}
          verb={words.revoking.verb}
          run={() => revoke(open.link)}
          says={words.revoking.done}
          refreshes={[LINKS]}
          onClose={close}
        >
          <p>{words.revoking.text}</p>
        </ConfirmAction>
      )}
    </ListScreen>
  );
}

function Uses({ link, onClose }: { readonly link: FileLink; readonly onClose: () => void }): ReactElement {
  const path = withQuery('/manage/transfers', { linkId: link.id, limit: 100, type: link.operation });
  return (
    <Dialog title={words.usesOf(link.path)} onClose={onClose} size="large">
      <List
        list={useRows(path, 'transfers')}
        label={t.places.transfers}
        none={<p className="muted">{words.unused}</p>}
        columns={useTransferColumns()}
      />
    </Dialog>
  );
}

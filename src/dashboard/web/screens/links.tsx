/** Links: URLs that need no key, for people and programs outside. */
import { type ReactElement, useEffect, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { request, segment, withQuery } from '../api/client.ts';
import { useAction, usePages, useRead } from '../api/hooks.ts';
import { useConnectionName, useConnections, useKeys } from '../api/names.ts';
import type { CreatedLink, FileLink, NewLink, Transfer } from '../api/types.ts';
import { formatBytes, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Ago, Badge, Button, CodeBlock, Empty, Notice, Page, Panel, Pending, Table, Time } from '../ui/basics.tsx';
import { Confirm, Dialog, Menu } from '../ui/dialog.tsx';
import { Link2, Plus } from '../ui/icons.tsx';
import { TransferTable } from './transfers/rows.tsx';
import { LinkForm, type LinkStart } from './links/form.tsx';

const words = t.links;
const LINKS = '/api/links';

interface LinkPage {
  readonly links: readonly FileLink[];
  readonly nextCursor: string | null;
}

type Open =
  | { readonly kind: 'new'; readonly start: LinkStart }
  | { readonly kind: 'uses' | 'revoke'; readonly link: FileLink }
  | { readonly kind: 'made'; readonly link: CreatedLink }
  | undefined;

export default function Links(): ReactElement {
  const pages = usePages<LinkPage>(LINKS);
  const connections = useConnections();
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const create = useAction((input: NewLink) => request<{ link: CreatedLink }>('POST', LINKS, input), {
    refreshes: [LINKS],
    showsError: true,
    onDone: ({ link }) => setOpen({ kind: 'made', link }),
  });
  useOpening(setOpen);
  const links = pages.data?.pages.flatMap((page) => page.links);
  const add = (
    <Button look="primary" icon={Plus} onClick={() => setOpen({ kind: 'new', start: {} })}>
      {words.make}
    </Button>
  );
  return (
    <Page isWide title={words.title} lead={words.lead} actions={links !== undefined && links.length > 0 && add}>
      <Panel>
        {links === undefined ? (
          <Pending error={pages.error} onRetry={() => void pages.refetch()} />
        ) : links.length === 0 ? (
          <Empty icon={Link2} title={words.none} action={connections.length > 0 && add}>
            {words.noneText}
          </Empty>
        ) : (
          <LinkTable links={links} onOpen={setOpen} />
        )}
        {pages.hasNextPage && (
          <div className="panel-body">
            <div className="row">
              <Button isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                {words.older}
              </Button>
            </div>
          </div>
        )}
      </Panel>
      {open?.kind === 'new' && (
        <LinkForm
          start={open.start}
          connections={connections}
          isBusy={create.isPending}
          error={create.error}
          onClose={close}
          onSave={create.mutate}
        />
      )}
      {open?.kind === 'made' && <MadeLink link={open.link} onClose={close} />}
      {open?.kind === 'uses' && <Uses link={open.link} onClose={close} />}
      {open?.kind === 'revoke' && <Revoke link={open.link} onClose={close} />}
    </Page>
  );
}

/** `?new` in the address opens the form, once, with what else stands there: so the files and the palette ask for it. */
function useOpening(onOpen: (open: Open) => void): void {
  const search = useSearch();
  const [, navigate] = useLocation();
  useEffect(() => {
    const { new: isAsked, ...start } = Object.fromEntries(new URLSearchParams(search));
    if (isAsked === undefined) return;
    onOpen({ kind: 'new', start });
    navigate('/links', { replace: true });
  }, [search, navigate, onOpen]);
}

function LinkTable(props: {
  readonly links: readonly FileLink[];
  readonly onOpen: (open: Open) => void;
}): ReactElement {
  const { links, onOpen } = props;
  const nameOf = useConnectionName();
  const keys = useKeys();
  const { columns } = words;
  return (
    <Table
      label={words.title}
      rows={links}
      rowKey={({ id }) => id}
      rowClass={({ state }) => (state === 'active' ? '' : 'gone')}
      columns={[
        {
          head: columns.does,
          cell: ({ operation, path, connectionId, keyId }) => (
            <div>
              <strong>{words.operations[operation]}</strong> <span className="mono whole-words">{path}</span>
              <div className="muted small">
                {nameOf(connectionId)}
                {keyId !== null && `, ${words.madeBy(keys.find(({ id }) => id === keyId)?.name ?? keyId)}`}
              </div>
            </div>
          ),
        },
        {
          head: columns.uses,
          cell: ({ uses, maxUses, lastUsedAt }) => (
            <div className="nowrap">
              {maxUses === null ? formatNumber(uses) : words.of(formatNumber(uses), formatNumber(maxUses))}
              {lastUsedAt !== null && (
                <div className="muted small">
                  <Ago iso={lastUsedAt} />
                </div>
              )}
            </div>
          ),
        },
        { head: columns.most, cell: ({ maxBytes }) => (maxBytes === null ? '–' : formatBytes(maxBytes)) },
        { head: columns.expires, cell: ({ expiresAt }) => <Time iso={String(expiresAt)} /> },
        {
          head: columns.state,
          cell: ({ state }) => <Badge tone={state === 'active' ? 'good' : 'plain'}>{words.states[state]}</Badge>,
        },
        {
          head: words.actions,
          isHeadHidden: true,
          align: 'end',
          cell: (link) => (
            <Menu
              label={words.actionsFor(link.path)}
              entries={[
                { label: words.showUses, onSelect: () => onOpen({ kind: 'uses', link }) },
                {
                  label: words.revoke,
                  isDanger: true,
                  isDisabled: link.state === 'revoked',
                  onSelect: () => onOpen({ kind: 'revoke', link }),
                },
              ]}
            />
          ),
        },
      ]}
    />
  );
}

function MadeLink({ link, onClose }: { readonly link: CreatedLink; readonly onClose: () => void }): ReactElement {
  const { made } = words;
  const curl = link.operation === 'upload' ? `curl -T FILE '${link.url}?filename=FILE'` : `curl -OJ '${link.url}'`;
  return (
    <Dialog title={made.title} onClose={onClose} isShownOnce>
      <Notice tone="warn" title={made.warning}>
        {made.text}
      </Notice>
      <div className="stack tight">
        <h3>{made.url}</h3>
        <CodeBlock code={link.url} label={made.url} />
      </div>
      <div className="stack tight">
        <h3>{made.program}</h3>
        <CodeBlock code={curl} label={made.program} />
      </div>
      <div className="dialog-actions">
        <Button look="primary" onClick={onClose}>
          {made.kept}
        </Button>
      </div>
    </Dialog>
  );
}

function Uses({ link, onClose }: { readonly link: FileLink; readonly onClose: () => void }): ReactElement {
  const read = useRead<{ transfers: Transfer[] }>(
    withQuery('/api/transfers', { link_id: link.id, limit: 100, type: link.operation }),
  );
  const transfers = read.data?.transfers;
  return (
    <Dialog title={words.usesOf(link.path)} onClose={onClose} size="large">
      {transfers === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : transfers.length === 0 ? (
        <p className="muted">{words.unused}</p>
      ) : (
        <TransferTable transfers={transfers} />
      )}
    </Dialog>
  );
}

function Revoke({ link, onClose }: { readonly link: FileLink; readonly onClose: () => void }): ReactElement {
  const { revoking } = words;
  const revoke = useAction(() => request('DELETE', `${LINKS}/${segment(link.id)}`), {
    says: revoking.done,
    refreshes: [LINKS],
    showsError: true,
    onDone: onClose,
  });
  return (
    <Confirm
      title={revoking.title(link.path)}
      verb={revoking.verb}
      isBusy={revoke.isPending}
      error={revoke.error}
      onClose={onClose}
      onConfirm={() => revoke.mutate(undefined)}
    >
      <p>{revoking.text}</p>
    </Confirm>
  );
}

/** A connection: its settings, test and host keys, and facts about its server. */
import { Fragment, type ReactElement, type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { request, segment } from '../api/client.ts';
import { queries, useAction, useRead } from '../api/hooks.ts';
import type { Card, Connection, ConnectionType } from '../api/types.ts';
import { formatBytes } from '../format.ts';
import { t } from '../texts/texts.ts';
import { ConfirmAction } from '../ui/form-dialog.tsx';
import { CheckedForm } from '../ui/checked-form.tsx';
import { Button, Facts, Failure, LinkButton, Mono, Notice, Panel, Skeleton, Time } from '../ui/basics.tsx';
import { Detail, DetailPage } from '../ui/detail.tsx';
import { Menu } from '../ui/menu.tsx';
import { textsAt } from '../ui/draft.ts';
import { FolderOpen } from '../ui/icons.tsx';
import { useUnsaved } from '../ui/unsaved.ts';
import { AnnouncedKeys } from './connection/announced-keys.tsx';
import { useConnectionForm } from './connection/draft.ts';
import { ConnectionFields } from './connection/form.tsx';
import { Health } from './connection/health.tsx';
import { HostKeys } from './connection/login-keys.tsx';
import { ConnectionBadge, useConnectionStatus } from '../ui/connection-status.tsx';
import { keepOfSaved } from './connection/tested.ts';
import { TestPanel } from './connection/test-panel.tsx';

const words = t.connection;
const READS = ['/manage/connections', '/manage/account', '/manage/overview'];

const UP = ['/connections', t.places.connections] as const;

export default function ConnectionScreen({ id }: { readonly id: string }): ReactElement {
  const read = useRead(`/manage/connections/${segment(id)}`);
  const types = useRead('/manage/connection-types');
  const isRead = read.data !== undefined && types.data !== undefined;
  const both = {
    data: isRead ? { connection: read.data, types: types.data.connectionTypes } : undefined,
    error: read.error ?? types.error,
    refetch: () => Promise.all([read.refetch(), types.refetch()]),
  };
  return (
    <Detail of={both} title={id} up={UP}>
      {(editor) => <Editor {...editor} />}
    </Detail>
  );
}

function Editor(props: { readonly connection: Connection; readonly types: readonly ConnectionType[] }): ReactElement {
  const { connection, types } = props;
  const { id, name, isActive, source } = connection;
  const path = `/manage/connections/${segment(id)}` as const;
  const of = useConnectionForm(types, connection);
  const { form, changes } = of;
  const [isDeleting, setDeleting] = useState(false);
  const [, navigate] = useLocation();
  const isOwned = source === 'configuration';
  const hasChanges = Object.keys(changes).length > 0;

  const save = useAction(() => request('PATCH', path, changes), {
    says: words.saved,
    refreshes: READS,
    showsError: true,
    onDone: (saved) => {
      keepOfSaved(id, form.draft, id);
      queries.setQueryData<Connection>([path], (read) => ({ ...read, ...saved }));
      form.reset();
    },
  });
  const statusOf = useConnectionStatus();
  useUnsaved(hasChanges && !save.isPending);
  const toggle = useAction(() => request('POST', `${path}/${isActive ? 'deactivate' : 'activate'}`), {
    says: isActive ? words.switchedOff : words.switchedOn,
    refreshes: READS,
  });
  // Only connections of the configuration file may lead through one of that file.
  const isCopiedAlone = isOwned && typeof connection['via'] === 'string';
  const duplicate = useAction(() => request('POST', `${path}/duplicate`, isCopiedAlone ? { via: null } : {}), {
    says: isCopiedAlone ? words.duplicatedAlone : words.duplicated,
    refreshes: READS,
    onDone: (copy) => navigate(`/connections/${segment(copy.id)}`),
  });

  return (
    <DetailPage
      title={name}
      up={UP}
      state={
        <>
          <Mono>{id}</Mono>
          <ConnectionBadge status={statusOf(connection)} />
        </>
      }
      actions={
        <>
          {isActive && (
            <LinkButton href={`/files/${segment(id)}`} icon={FolderOpen}>
              {words.browse}
            </LinkButton>
          )}
          <Menu
            label={words.more}
            entries={[
              { label: words.duplicate, onSelect: () => duplicate.mutate() },
              {
                label: isActive ? words.switchOff : words.switchOn,
                disabledBecause: isOwned && words.fromFile.text,
                onSelect: () => toggle.mutate(),
              },
              {
                label: words.remove,
                isDanger: true,
                disabledBecause: isOwned && words.fromFile.text,
                onSelect: () => setDeleting(true),
              },
            ]}
          />
        </>
      }
    >
      {isOwned && (
        <Notice title={words.fromFile.title}>
          <p>{words.fromFile.text}</p>
          <Button isBusy={duplicate.isPending} onClick={() => duplicate.mutate()}>
            {words.duplicate}
          </Button>
        </Notice>
      )}
      <div className="split">
        <Panel title={words.server}>
          <CheckedForm onSend={() => save.mutate()}>
            <fieldset className="panel-body plain-fieldset" disabled={isOwned}>
              <ConnectionFields {...of} />
              <Failure error={save.error} title={words.notSaved} />
              {!isOwned && (
                <div className="row end">
                  <Button disabledBecause={!hasChanges && t.common.off.same} onClick={form.reset}>
                    {words.discard}
                  </Button>
                  <Button
                    variant="primary"
                    type="submit"
                    disabledBecause={!hasChanges && t.common.off.same}
                    isBusy={save.isPending}
                  >
                    {words.save}
                  </Button>
                </div>
              )}
            </fieldset>
          </CheckedForm>
        </Panel>
        <div className="stack">
          <Health id={id} status={statusOf(connection)} />
          <TestPanel {...of} />
          {connection.hostKeys !== undefined && <HostKeys connection={connection} isOwned={isOwned} />}
          {connection.hostKeys !== undefined && <AnnouncedKeys id={id} />}
          <SettingsCard connection={connection} multiline={of.type.multiline} />
          {connection.card !== undefined && connection.card !== null && <ServerCard card={connection.card} />}
        </div>
      </div>
      {isDeleting && <DeleteConnection connection={connection} onClose={() => setDeleting(false)} />}
    </DetailPage>
  );
}

function DeleteConnection(props: { readonly connection: Connection; readonly onClose: () => void }): ReactElement {
  const { id, name } = props.connection;
  const path = `/manage/connections/${segment(id)}` as const;
  const dependents = useRead(`${path}/dependents`);
  const [, navigate] = useLocation();
  if (dependents.data === undefined && dependents.error === null) return <Skeleton />;
  const { apiKeys = [], watchedFolders = [], runningTransfers = 0 } = dependents.data ?? {};
  const isNeeded = apiKeys.length + watchedFolders.length + runningTransfers > 0;
  return (
    <ConfirmAction
      title={words.deleting.title(name)}
      verb={words.deleting.verb}
      typed={isNeeded ? id : undefined}
      run={() => request('DELETE', `${path}?confirm=true`)}
      says={words.deleting.done(name)}
      refreshes={['/manage/connections?', '/manage/account', '/manage/overview', '/manage/api-keys']}
      onDone={() => navigate('/connections')}
      onClose={props.onClose}
    >
      <div className="stack tight">
        <p>{words.deleting.text}</p>
        {isNeeded && (
          <ul className="bullets">
            {apiKeys.map((key) => (
              <li key={key.id}>
                {key.willBeRevoked ? words.deleting.keyRevoked(key.name) : words.deleting.keyLoses(key.name)}
              </li>
            ))}
            {watchedFolders.map((folder) => (
              <li key={folder.id}>{words.deleting.watchEnds(folder.name)}</li>
            ))}
            {runningTransfers > 0 && <li>{words.deleting.running(runningTransfers)}</li>}
          </ul>
        )}
      </div>
    </ConfirmAction>
  );
}

function SettingsCard(props: {
  readonly connection: Connection;
  /** Fields whose text has several lines. */
  readonly multiline: readonly string[];
}): ReactElement | null {
  const { connection, multiline } = props;
  const { set = [] } = connection;
  if (set.length === 0) return null;
  const values: Readonly<Record<string, unknown>> = connection;
  const names: Readonly<Record<string, string>> = words.setFacts;
  const rows = set.map(({ name, facts }) => {
    const value = multiline.includes(name) ? true : values[name];
    const { label = name, choices = {} } = textsAt('connection', name) ?? {};
    const shown = typeof value === 'string' ? (choices[value] ?? value) : show(name, value);
    const followed = Object.entries(facts).map(([fact, text]) => (
      <div key={fact} className="hint">
        {names[fact] ?? fact}: {ENDS_WITH_TIME.test(fact) ? <Time iso={text} form="long" /> : text}
      </div>
    ));
    return [
      label,
      <Fragment key={name}>
        {shown}
        {followed}
      </Fragment>,
    ] as const;
  });
  return (
    <Panel isPadded title={words.set}>
      <Facts of={Object.fromEntries(rows)} />
    </Panel>
  );
}

/** Names of facts that are times. */
const ENDS_WITH_TIME = /(?:At|Until)$/;

function ServerCard({ card }: { readonly card: Card }): ReactElement {
  const facts = Object.entries(words.facts).map(([key, name]) => {
    const value = card[key];
    return [name, value === undefined || value === null ? undefined : show(key, value)] as const;
  });
  return (
    <Panel isPadded title={words.card}>
      <Facts of={Object.fromEntries(facts)} />
    </Panel>
  );
}

function show(key: string, value: unknown): ReactNode {
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (key === 'timeResolutionMs' && typeof value === 'number')
    return value >= 60_000 ? words.minute : value >= 1_000 ? words.second : words.millisecond;
  if (key === 'testedAt' && typeof value === 'string') return <Time iso={value} form="long" />;
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

/** All connections of the account. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { ApiError, request, segment } from '../api/client.ts';
import { useRows } from '../api/hooks.ts';
import type { Connection } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { actions, Ago, Badge, LinkButton, Mono, Notice, Titled } from '../ui/basics.tsx';
import { FolderOpen, Server } from '../ui/icons.tsx';
import { FlaskConical, Pause, Play } from '../ui/later-icons.ts';
import { ListScreen } from '../ui/list-screen.tsx';
import { MiddleName } from '../ui/middle-name.tsx';
import type { Bulk } from '../ui/selection.tsx';
import { ConnectionBadge, useConnectionStatus } from '../ui/connection-status.tsx';

const words = t.connections;
const EVERY_MS = 30_000;

export default function Connections(): ReactElement {
  const list = useRows('/manage/connections', 'connections', { everyMs: EVERY_MS });
  const statusOf = useConnectionStatus();
  const limit = Number(list.first?.['limit'] ?? 0);
  const isFull = limit > 0 && (list.rows?.length ?? 0) >= limit;
  return (
    <ListScreen
      title={t.places.connections}
      words={words}
      icon={Server}
      list={list}
      above={isFull && <Notice title={words.full(limit)}>{words.fullText}</Notice>}
      bulk={BULK}
      add={isFull ? undefined : '/connections/new'}
      columns={[
        {
          head: words.name,
          name: 'name',
          sort: ({ name }) => name,
          grow: 40,
          cell: ({ id, name }) => (
            <Titled top={<Link href={`/connections/${segment(id)}`}>{name}</Link>}>
              <Mono>{id}</Mono>
            </Titled>
          ),
        },
        {
          head: t.words.type,
          name: 'type',
          sort: ({ type }) => type,
          cell: ({ type }) => <span className="muted">{type.toUpperCase()}</span>,
        },
        {
          name: 'server',
          head: words.server,
          grow: 40,
          cell: (connection) => (
            <Mono>
              <MiddleName name={serverOf(connection)} />
            </Mono>
          ),
        },
        {
          name: 'state',
          head: t.words.state,
          cell: (connection) => (
            <span className="row">
              <ConnectionBadge status={statusOf(connection)} />
              {connection.source === 'configuration' && <Badge>{words.fromFile}</Badge>}
            </span>
          ),
        },
        {
          head: words.lastTest,
          name: 'lastTest',
          sort: ({ lastTest }) => lastTest?.testedAt ?? '',
          cell: ({ lastTest }) =>
            lastTest === null ? (
              <span className="muted">{words.never}</span>
            ) : (
              <span className="row">
                {lastTest.isOk ? <Badge tone="good">{words.passed}</Badge> : <Badge tone="bad">{words.failed}</Badge>}
                <span className="muted small">
                  <Ago iso={lastTest.testedAt} />
                </span>
              </span>
            ),
        },
        actions<Connection>(
          ({ id, name, isActive }) =>
            isActive && (
              <LinkButton href={`/files/${segment(id)}`} icon={FolderOpen}>
                {t.words.files}
                <span className="visually-hidden">{words.filesOf(name)}</span>
              </LinkButton>
            ),
        ),
      ]}
    />
  );
}

const path = ({ id }: Connection) => `/manage/connections/${segment(id)}` as const;
const refreshes = ['/manage/connections', '/manage/health', '/manage/overview'];
const BULK: Bulk<Connection> = {
  nameOf: ({ name }) => name,
  actions: [
    { verb: t.connection.test.title, icon: FlaskConical, fits: ({ isActive }) => isActive, run: test, refreshes },
    {
      verb: t.connection.switchOn,
      icon: Play,
      fits: ({ isActive, source }) => !isActive && source !== 'configuration',
      run: (connection) => request('POST', `${path(connection)}/activate`),
      refreshes,
    },
    {
      verb: t.connection.switchOff,
      icon: Pause,
      fits: ({ isActive, source }) => isActive && source !== 'configuration',
      run: (connection) => request('POST', `${path(connection)}/deactivate`),
      refreshes,
    },
  ],
};

/** A test that fails is a failure of the action. */
async function test(connection: Connection): Promise<void> {
  const { isOk, steps } = await request('POST', `${path(connection)}/test`, { probe: false });
  const { error = '', code = '' } = steps.find(({ status }) => status === 'failed') ?? {};
  if (!isOk) throw new ApiError(`${connection.name}: ${error}`, 200, code, undefined);
}

function serverOf({ type, host, port, endpoint, bucket }: Connection): string {
  return type === 's3' ? words.bucketAt(bucket ?? '', endpoint ?? 'AWS') : `${host ?? ''}:${port ?? ''}`;
}

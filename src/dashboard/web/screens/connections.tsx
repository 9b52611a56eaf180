/** All connections of the account. */
import type { ReactElement } from 'react';
import { FolderOpen, Plus, Server } from '../ui/icons.tsx';
import { Link } from 'wouter';
import { useRead } from '../api/hooks.ts';
import type { Connection } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Ago, Badge, Empty, LinkButton, Notice, Page, Panel, Pending, Table } from '../ui/basics.tsx';
import { ConnectionBadge, useConnectionStatus } from './connection/status.tsx';

const words = t.connections;
const EVERY_MS = 30_000;

export default function Connections(): ReactElement {
  const read = useRead<{ connections: Connection[]; limit: number }>('/manage/connections', { everyMs: EVERY_MS });
  const { connections = [], limit = 0 } = read.data ?? {};
  const isFull = limit > 0 && connections.length >= limit;
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        connections.length > 0 &&
        !isFull && (
          <LinkButton href="/connections/new" look="primary" icon={Plus}>
            {words.add}
          </LinkButton>
        )
      }
    >
      {isFull && <Notice title={words.full(limit)}>{words.fullText}</Notice>}
      <Panel>
        {read.data === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : connections.length === 0 ? (
          <Empty
            icon={Server}
            title={words.none}
            action={
              <LinkButton href="/connections/new" look="primary" icon={Plus}>
                {words.add}
              </LinkButton>
            }
          >
            {words.noneText}
          </Empty>
        ) : (
          <ConnectionTable connections={connections} />
        )}
      </Panel>
    </Page>
  );
}

function ConnectionTable({ connections }: { readonly connections: readonly Connection[] }): ReactElement {
  const statusOf = useConnectionStatus();
  return (
    <Table
      label={words.title}
      rows={connections}
      rowKey={({ id }) => id}
      columns={[
        {
          head: words.name,
          cell: ({ id, name }) => (
            <div>
              <Link href={`/connections/${encodeURIComponent(id)}`}>{name}</Link>
              <div className="muted small mono">{id}</div>
            </div>
          ),
        },
        {
          head: words.server,
          cell: (connection) => (
            <div>
              <span className="mono">{serverOf(connection)}</span>
              <div className="muted small">{connection.type.toUpperCase()}</div>
            </div>
          ),
        },
        {
          head: words.state,
          cell: (connection) => (
            <span className="row">
              <ConnectionBadge status={statusOf(connection)} />
              {connection.source === 'configuration' && <Badge>{words.fromFile}</Badge>}
            </span>
          ),
        },
        {
          head: words.lastTest,
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
        {
          head: words.actions,
          isHeadHidden: true,
          align: 'end',
          cell: ({ id, name, isActive }) =>
            isActive && (
              <LinkButton href={`/files/${encodeURIComponent(id)}`} icon={FolderOpen}>
                {words.files}
                <span className="visually-hidden">{words.filesOf(name)}</span>
              </LinkButton>
            ),
        },
      ]}
    />
  );
}

function serverOf({ type, host, port, endpoint, bucket }: Connection): string {
  return type === 's3' ? words.bucketAt(bucket ?? '', endpoint ?? 'AWS') : `${host ?? ''}:${port ?? ''}`;
}

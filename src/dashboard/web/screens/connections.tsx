/** All connections of the account. */
import type { ReactElement } from 'react';
import { FolderOpen, Plus, Server } from '../ui/icons.tsx';
import { Link } from 'wouter';
import { useRead } from '../api/hooks.ts';
import type { Connection } from '../api/types.ts';
import { Ago, Badge, Empty, LinkButton, Notice, Page, Panel, Pending, Table } from '../ui/basics.tsx';

export default function Connections(): ReactElement {
  const read = useRead<{ connections: Connection[]; limit: number }>('/manage/connections');
  const { connections = [], limit = 0 } = read.data ?? {};
  const isFull = limit > 0 && connections.length >= limit;
  return (
    <Page
      title="Connections"
      lead="The servers that files go to and come from."
      actions={
        connections.length > 0 &&
        !isFull && (
          <LinkButton href="/connections/new" look="primary" icon={Plus}>
            Add a connection
          </LinkButton>
        )
      }
    >
      {isFull && (
        <Notice
          title={`The plan has room for ${limit} ${limit === 1 ? 'connection' : 'connections'}, and all are taken.`}
        >
          Another plan, set by the operator of this gateway, allows more.
        </Notice>
      )}
      <Panel>
        {read.data === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : connections.length === 0 ? (
          <Empty
            icon={Server}
            title="No connection yet"
            action={
              <LinkButton href="/connections/new" look="primary" icon={Plus}>
                Add a connection
              </LinkButton>
            }
          >
            A connection is one login on one SFTP, FTP or S3 server. Programs then name it in their requests, and never
            see its password.
          </Empty>
        ) : (
          <ConnectionTable connections={connections} />
        )}
      </Panel>
    </Page>
  );
}

function ConnectionTable({ connections }: { readonly connections: readonly Connection[] }): ReactElement {
  return (
    <Table
      label="Connections"
      rows={connections}
      rowKey={({ id }) => id}
      columns={[
        {
          head: 'Name',
          cell: ({ id, name }) => (
            <div>
              <Link href={`/connections/${encodeURIComponent(id)}`}>{name}</Link>
              <div className="muted small mono">{id}</div>
            </div>
          ),
        },
        { head: 'Type', cell: ({ type }) => type.toUpperCase() },
        { head: 'Server', cell: (connection) => <span className="mono">{serverOf(connection)}</span> },
        {
          head: 'State',
          cell: ({ isActive, source }) => (
            <span className="row">
              {isActive ? <Badge tone="good">Active</Badge> : <Badge tone="warn">Switched off</Badge>}
              {source === 'configuration' && <Badge>Configuration file</Badge>}
            </span>
          ),
        },
        {
          head: 'Last test',
          cell: ({ lastTest }) =>
            lastTest === null ? (
              <span className="muted">Never</span>
            ) : (
              <span className="row">
                {lastTest.isOk ? <Badge tone="good">Passed</Badge> : <Badge tone="bad">Failed</Badge>}
                <span className="muted small">
                  <Ago iso={lastTest.testedAt} />
                </span>
              </span>
            ),
        },
        {
          head: 'Actions',
          isHeadHidden: true,
          align: 'end',
          cell: ({ id, name, isActive }) =>
            isActive && (
              <LinkButton href={`/files/${encodeURIComponent(id)}`} icon={FolderOpen}>
                Files<span className="visually-hidden"> of {name}</span>
              </LinkButton>
            ),
        },
      ]}
    />
  );
}

function serverOf({ type, host, port, endpoint, bucket }: Connection): string {
  return type === 's3' ? `${bucket ?? ''} at ${endpoint ?? 'AWS'}` : `${host ?? ''}:${port ?? ''}`;
}

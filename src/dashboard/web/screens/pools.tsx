/** Sessions to the servers, and whether the gateway is well. */
import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactElement } from 'react';
import { Activity } from '../ui/icons.tsx';
import { Link } from 'wouter';
import { useRead } from '../api/hooks.ts';
import type { PoolsAnswer, ShareState } from '../api/types.ts';
import { formatBytes } from '../format.ts';
import { Badge, Empty, Notice, Page, Panel, Pending, Progress, Table } from '../ui/basics.tsx';

const EVERY_MS = 3_000;

export default function Pools(): ReactElement {
  const read = useRead<PoolsAnswer>('/manage/pools', { everyMs: EVERY_MS });
  return (
    <Page
      title="Pools and health"
      lead="Open logins are shared between requests. A server never sees more of them than its limit."
    >
      <Health />
      <Panel title="Sessions by server">
        {read.data === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : read.data.pools.length === 0 ? (
          <Empty icon={Activity} title="No session is open">
            The first transfer to a server opens one; it is closed when nobody has used it for a while.
          </Empty>
        ) : (
          <Table
            label="Sessions by server"
            rows={read.data.pools}
            rowKey={({ host, connectionIds }) => `${host} ${connectionIds.join()}`}
            columns={[
              { head: 'Server', cell: ({ host }) => <span className="mono">{host}</span> },
              {
                head: 'Connections',
                cell: ({ connectionIds }) => (
                  <span>
                    {connectionIds.map((id, index) => (
                      <Fragment key={id}>
                        {index > 0 && ', '}
                        <Link href={`/connections/${encodeURIComponent(id)}`}>{id}</Link>
                      </Fragment>
                    ))}
                  </span>
                ),
              },
              {
                head: 'In use',
                cell: ({ host, leased, maxSessions, waiting }) => (
                  <Progress
                    value={leased}
                    max={maxSessions}
                    label={`Sessions of ${host} in use`}
                    tone={waiting > 0 ? 'bad' : leased >= maxSessions ? 'warn' : 'info'}
                  />
                ),
              },
              { head: 'Leased', align: 'end', cell: ({ leased }) => leased },
              { head: 'Open', align: 'end', cell: ({ open, maxSessions }) => `${open} of ${maxSessions}` },
              {
                head: 'Waiting',
                align: 'end',
                cell: ({ waiting }) => (waiting === 0 ? '0' : <Badge tone="bad">{waiting}</Badge>),
              },
            ]}
          />
        )}
      </Panel>
      {read.data !== undefined && <Shares shares={read.data.shares} />}
    </Page>
  );
}

const SHARE_NAMES: Record<ShareState['name'], string> = {
  memoryBytes: 'Memory of bodies and answers',
  requests: 'Requests under way',
  waiting: 'Operations that wait for a session',
  sessions: 'Open sessions',
  lookups: 'Name look-ups',
};

function Shares({ shares }: { shares: readonly ShareState[] }): ReactElement {
  const format = ({ name }: ShareState, amount: number): string =>
    name === 'memoryBytes' ? formatBytes(amount) : String(amount);
  return (
    <Panel title="Your part of what all accounts share">
      <Table
        label="Your part of what all accounts share"
        rows={shares}
        rowKey={({ name }) => name}
        columns={[
          { head: 'What', cell: ({ name }) => SHARE_NAMES[name] },
          {
            head: 'Yours',
            cell: ({ name, used, capacity }) => (
              <Progress value={used} max={capacity} label={`${SHARE_NAMES[name]}: your part`} tone="info" />
            ),
          },
          {
            head: 'In use',
            align: 'end',
            cell: (share) => `${format(share, share.used)} of ${format(share, share.capacity)}`,
          },
          {
            head: 'Refused',
            align: 'end',
            cell: ({ refused }) => (refused === 0 ? '0' : <Badge tone="warn">{refused}</Badge>),
          },
        ]}
      />
    </Panel>
  );
}

function Health(): ReactElement {
  const ready = useQuery({
    queryKey: ['/readyz'],
    refetchInterval: EVERY_MS,
    retry: false,
    queryFn: async () => {
      const response = await fetch('/readyz');
      const { error } = (await response.json()) as { error?: string };
      return response.ok ? '' : (error ?? `status ${response.status}`);
    },
  });
  const isWell = ready.data === '';
  return (
    <Notice
      tone={ready.isPending || isWell ? 'good' : 'bad'}
      title={ready.isPending ? 'Asking …' : isWell ? 'The gateway is ready' : 'The gateway is not ready'}
    >
      {isWell || ready.isPending
        ? 'It serves requests, and its database answers.'
        : (ready.data ?? 'It cannot be reached.')}
    </Notice>
  );
}

/** Sessions to the servers, the account's share of the common limits, and the health of the gateway. */
import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactElement } from 'react';
import { Link } from 'wouter';
import { segment } from '../api/client.ts';
import { type Rows, useRead } from '../api/hooks.ts';
import { useConnectionName } from '../api/names.ts';
import type { PoolState, ShareState } from '../api/types.ts';
import { formatBytes, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Badge, Empty, Mono, Notice, Page, Panel, Progress, Table } from '../ui/basics.tsx';
import { Activity } from '../ui/icons.tsx';
import { List } from '../ui/list.tsx';
import { mostOf, toneOf } from './pools/tone.ts';

const EVERY_MS = 3_000;
const words = t.pools;

export default function Pools(): ReactElement {
  const read = useRead('/manage/pools', { everyMs: EVERY_MS });
  return (
    <Page title={t.places.pools} lead={words.lead}>
      <Ready />
      <Panel title={words.byServer}>
        <Sessions list={{ ...read, rows: read.data?.pools }} />
      </Panel>
      {read.data !== undefined && <Shares shares={read.data.shares} />}
    </Page>
  );
}

function Sessions({ list }: { readonly list: Rows<PoolState> }): ReactElement {
  const nameOf = useConnectionName();
  const idleOf = ({ open, leased }: PoolState): number => Math.max(0, open - leased);
  return (
    <List
      list={list}
      label={words.byServer}
      none={
        <Empty icon={Activity} title={words.none}>
          {words.noneText}
        </Empty>
      }
      rowKey={({ host, connectionIds }) => `${host} ${connectionIds.join()}`}
      columns={[
        { head: t.connections.server, cell: ({ host }) => <Mono>{host}</Mono> },
        {
          head: t.words.connections,
          cell: ({ connectionIds }) => (
            <span>
              {connectionIds.map((id, index) => (
                <Fragment key={id}>
                  {index > 0 && ', '}
                  <Link href={`/connections/${segment(id)}`}>{nameOf(id)}</Link>
                </Fragment>
              ))}
            </span>
          ),
        },
        {
          head: words.use,
          cell: (pool) => (
            <div className="stack tight">
              <Progress
                value={pool.leased}
                max={mostOf(pool)}
                label={t.words.sessionsInUse(pool.host)}
                tone={toneOf(pool)}
              />
              <span className="muted small">{words.explain(pool.leased, idleOf(pool), mostOf(pool))}</span>
            </div>
          ),
        },
        { head: words.working, align: 'end', cell: ({ leased }) => leased },
        { head: words.idle, align: 'end', cell: idleOf },
        {
          head: words.most,
          align: 'end',
          cell: (pool) =>
            mostOf(pool) === pool.maxSessions ? (
              pool.maxSessions
            ) : (
              <span title={words.learnedText}>{t.words.of(String(mostOf(pool)), String(pool.maxSessions))}</span>
            ),
        },
        {
          head: words.waiting,
          align: 'end',
          cell: ({ waiting }) =>
            waiting === 0 ? (
              '0'
            ) : (
              <span title={words.waitingText}>
                <Badge tone="bad">{waiting}</Badge>
              </span>
            ),
        },
      ]}
    />
  );
}

function Shares({ shares }: { shares: readonly ShareState[] }): ReactElement {
  const format = ({ name }: ShareState, amount: number): string =>
    name === 'memoryBytes' ? formatBytes(amount) : formatNumber(amount);
  return (
    <Panel title={words.shares}>
      <Table
        label={words.shares}
        rows={shares}
        rowKey={({ name }) => name}
        columns={[
          { head: t.words.what, cell: ({ name }) => words.names[name] },
          {
            head: words.yours,
            cell: ({ name, used, capacity }) => (
              <Progress value={used} max={capacity} label={words.part(words.names[name])} tone="info" />
            ),
          },
          {
            head: words.inUseColumn,
            align: 'end',
            cell: (share) => t.words.of(format(share, share.used), format(share, share.capacity)),
          },
          {
            head: words.refused,
            align: 'end',
            cell: ({ refused }) => (refused === 0 ? '0' : <Badge tone="warn">{formatNumber(refused)}</Badge>),
          },
        ]}
      />
    </Panel>
  );
}

function Ready(): ReactElement {
  const ready = useQuery({
    queryKey: ['/readyz'],
    refetchInterval: EVERY_MS,
    retry: false,
    queryFn: async () => {
      const response = await fetch('/readyz');
      const { error } = (await response.json()) as { error?: string };
      return response.ok ? '' : (error ?? words.status(response.status));
    },
  });
  const isWell = ready.data === '';
  return (
    <Notice
      tone={ready.isPending || isWell ? 'good' : 'bad'}
      title={ready.isPending ? words.asking : isWell ? words.ready : words.notReady}
    >
      {isWell || ready.isPending ? words.readyText : (ready.data ?? words.unreachable)}
    </Notice>
  );
}

/** Whether the server can be reached, how fast it answers, when it could not be, and what is about to expire. */
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'wouter';
import { segment } from '../../api/client.ts';
import { useRead } from '../../api/hooks.ts';
import type { ConnectionHealth, Outage } from '../../api/types.ts';
import { formatDay, formatDuration, formatHour, formatPercent, formatShortTime } from '../../format.ts';
import { Badge, Facts, Notice, Panel, Pending, Table, Time } from '../../ui/basics.tsx';

const EVERY_MS = 30_000;
const SOON_MS = 14 * 86_400_000;
const MOST_SHOWN = 20;

export function Health({ id }: { readonly id: string }): ReactElement {
  const read = useRead<ConnectionHealth>(`/manage/connections/${segment(id)}/health`, { everyMs: EVERY_MS });
  if (read.data === undefined) {
    return (
      <Panel title="Health">
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      </Panel>
    );
  }
  const { state, downSince, checkedAt, watchedSince, error, outages } = read.data;
  return (
    <Panel title="Health">
      <div className="panel-body stack tight">
        <p className="row">
          {state === 'up' && <Badge tone="good">Up</Badge>}
          {state === 'down' && <Badge tone="bad">Down</Badge>}
          {state === 'unknown' && <Badge>Not known</Badge>}
          {checkedAt === null ? (
            <span className="muted">{watchedSince === null ? 'Nobody looks at it.' : 'Nobody has looked yet.'}</span>
          ) : (
            <span className="muted">
              Looked at <Time iso={checkedAt} isLong />
            </span>
          )}
        </p>
        {downSince !== null && (
          <Notice tone="bad" title={`Down since ${formatShortTime(downSince)}`}>
            <p>{error ?? outages[0]?.error}</p>
          </Notice>
        )}
        {downSince === null && error !== null && (
          <Notice tone="warn" title="The last look failed">
            <p>{error}</p>
          </Notice>
        )}
        {checkedAt !== null && <Windows health={read.data} />}
        <Expiring health={read.data} />
        {outages.length > 0 && <Outages outages={outages} />}
      </div>
    </Panel>
  );
}

function Windows({ health }: { readonly health: ConnectionHealth }): ReactElement {
  const rows = [
    ['24 hours', health.last24Hours],
    ['7 days', health.last7Days],
    ['90 days', health.last90Days],
  ] as const;
  return (
    <Table
      label="Availability"
      rows={rows}
      rowKey={([name]) => name}
      columns={[
        { head: 'Last', cell: ([name]) => name },
        {
          head: 'Available',
          align: 'end',
          cell: ([, { availability }]) => (availability === null ? '–' : formatPercent(availability)),
        },
        { head: 'Connect', align: 'end', cell: ([, { connectMs }]) => timeOf(connectMs) },
        { head: 'First byte', align: 'end', cell: ([, { firstByteMs }]) => timeOf(firstByteMs) },
      ]}
    />
  );
}

/** 95 of 100 took no longer. */
function timeOf(ms: number | null): ReactNode {
  return ms === null ? '–' : formatDuration(ms);
}

function Expiring({ health }: { readonly health: ConnectionHealth }): ReactElement | null {
  const { certificate, hostKey, expiringKeys, checkedAt } = health;
  const items: (readonly [string, ReactNode])[] = [];
  if (certificate !== null) {
    const { subject, issuer, validTo } = certificate;
    const isSoon = validTo !== null && Date.parse(validTo) - Date.parse(checkedAt ?? validTo) < SOON_MS;
    items.push([
      'Certificate',
      <>
        {subject}, by {issuer}
        {validTo !== null && (
          <>
            , until <Time iso={validTo} /> {isSoon && <Badge tone="warn">ends soon</Badge>}
          </>
        )}
      </>,
    ]);
  }
  if (hostKey !== null) {
    items.push([
      'Host key',
      <>
        {hostKey.algorithm}, seen since <Time iso={hostKey.since} />
      </>,
    ]);
  }
  if (expiringKeys.length > 0) {
    items.push([
      'API keys that end soon',
      expiringKeys.map(({ id, name, expiresAt }) => (
        <div key={id}>
          <Link href="/keys">{name}</Link>, <Time iso={expiresAt} />
        </div>
      )),
    ]);
  }
  return items.length === 0 ? null : <Facts items={items} />;
}

function Outages({ outages }: { readonly outages: readonly Outage[] }): ReactElement {
  return (
    <details open>
      <summary>Outages of the last 90 days</summary>
      <ul className="stack tight" aria-label="Outages">
        {outages.slice(0, MOST_SHOWN).map((outage) => (
          <li key={outage.from}>
            {wordsOf(outage)}
            {outage.error !== null && <div className="small muted">{outage.error}</div>}
          </li>
        ))}
      </ul>
      {outages.length > MOST_SHOWN && <p className="small muted">The last {MOST_SHOWN} are shown.</p>}
    </details>
  );
}

function wordsOf({ from, to }: Outage): string {
  if (to === null) return `Down since ${formatShortTime(from)}`;
  const took = formatDuration(Date.parse(to) - Date.parse(from));
  if (formatDay(from) !== formatDay(to))
    return `Down from ${formatShortTime(from)} to ${formatShortTime(to)} (${took})`;
  return `${formatDay(from)}: down from ${formatHour(from)} to ${formatHour(to)} (${took})`;
}

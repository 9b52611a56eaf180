/** The connection's health: availability, response times, outages, and expiring certificates or keys. */
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'wouter';
import { segment } from '../../api/client.ts';
import { useRead } from '../../api/hooks.ts';
import type { ConnectionHealth, Outage } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { formatDay, formatDuration, formatHour, formatPercent, formatShortTime } from '../../format.ts';
import { Badge, Facts, Notice, Panel, Pending, Table, Time } from '../../ui/basics.tsx';
import { ConnectionBadge, type ConnectionStatus } from '../../ui/connection-status.tsx';
import { Reason } from '../../ui/reason.tsx';
import { TestConnection } from '../../ui/test-connection.tsx';
import { Trouble } from '../../ui/trouble.tsx';
import { DAY_MS } from '../../../../contract/units.ts';

const words = t.connection.health;
const EVERY_MS = 30_000;
const SOON_MS = 14 * DAY_MS;
const MOST_SHOWN = 20;
const LONGEST_WINDOW_DAYS = 90;

export function Health(props: { readonly id: string; readonly status: ConnectionStatus | undefined }): ReactElement {
  const { id, status } = props;
  const read = useRead(`/manage/connections/${segment(id)}/health`, { everyMs: EVERY_MS });
  if (read.data === undefined) {
    return (
      <Panel title={words.title}>
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      </Panel>
    );
  }
  const { downSince, checkedAt, watchedSince, error, errorCode, outages } = read.data;
  return (
    <Panel title={words.title}>
      <div className="panel-body stack tight">
        <p className="row">
          <ConnectionBadge status={status} />
          {checkedAt === null ? (
            <span className="muted">{watchedSince === null ? words.unwatched : words.notYet}</span>
          ) : (
            <span className="muted">
              {words.lookedAt} <Time iso={checkedAt} form="long" />
            </span>
          )}
        </p>
        {downSince !== null && (
          <Trouble
            title={words.downSince(formatShortTime(downSince))}
            code={errorCode ?? outages[0]?.errorCode ?? null}
            text={error ?? outages[0]?.error ?? null}
          >
            <TestConnection id={id}>{t.common.trouble.test}</TestConnection>
          </Trouble>
        )}
        {downSince === null && error !== null && (
          <Notice tone="warn" title={words.lookFailed}>
            <p>
              <Reason code={errorCode} text={error} />
            </p>
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
    [words.hours24, health.last24Hours],
    [words.days7, health.last7Days],
    [words.days90, health.last90Days],
  ] as const;
  const since = health.watchedSince;
  return (
    <>
      <Table
        label={words.availability}
        rows={rows}
        rowKey={([name]) => name}
        columns={[
          { head: words.last, cell: ([name]) => name },
          {
            head: words.available,
            align: 'end',
            cell: ([, { availability }]) => (availability === null ? '–' : formatPercent(availability)),
          },
          { head: words.connect, align: 'end', cell: ([, { connectMs }]) => timeOf(connectMs) },
          { head: words.firstByte, align: 'end', cell: ([, { firstByteMs }]) => timeOf(firstByteMs) },
        ]}
      />
      {since !== null && Date.parse(since) > Date.parse(health.checkedAt ?? since) - LONGEST_WINDOW_DAYS * DAY_MS && (
        <p className="hint">{words.monitored(formatShortTime(since))}</p>
      )}
    </>
  );
}

/** The 95th percentile. */
function timeOf(ms: number | null): ReactNode {
  return ms === null ? '–' : formatDuration(ms);
}

function Expiring({ health }: { readonly health: ConnectionHealth }): ReactElement | null {
  const { certificate, hostKey, expiringKeys, checkedAt } = health;
  if (certificate === null && hostKey === null && expiringKeys.length === 0) return null;
  const validTo = certificate?.validTo ?? null;
  const isSoon = validTo !== null && Date.parse(validTo) - Date.parse(checkedAt ?? validTo) < SOON_MS;
  return (
    <Facts
      of={{
        [words.certificate]: certificate !== null && (
          <>
            {words.certificateOf(certificate.subject, certificate.issuer)}
            {validTo !== null && (
              <>
                {words.until} <Time iso={validTo} /> {isSoon && <Badge tone="warn">{words.endsSoon}</Badge>}
              </>
            )}
          </>
        ),
        [words.hostKey]: hostKey !== null && (
          <>
            {words.seenSince(hostKey.algorithm)} <Time iso={hostKey.since} />
          </>
        ),
        [words.keysEnding]:
          expiringKeys.length > 0 &&
          expiringKeys.map(({ id, name, expiresAt }) => (
            <div key={id}>
              <Link href="/keys">{name}</Link>, <Time iso={expiresAt} />
            </div>
          )),
      }}
    />
  );
}

function Outages({ outages }: { readonly outages: readonly Outage[] }): ReactElement {
  return (
    <details open>
      <summary>{words.outages}</summary>
      <ul className="stack tight" aria-label={words.outageList}>
        {outages.slice(0, MOST_SHOWN).map((outage) => (
          <li key={outage.from}>
            {wordsOf(outage)}
            {outage.error !== null && (
              <div className="small muted">
                <Reason code={outage.errorCode} text={outage.error} isShort />
              </div>
            )}
          </li>
        ))}
      </ul>
      {outages.length > MOST_SHOWN && <p className="small muted">{words.lastShown(MOST_SHOWN)}</p>}
    </details>
  );
}

function wordsOf({ from, to }: Outage): string {
  if (to === null) return words.downSince(formatShortTime(from));
  const took = formatDuration(Date.parse(to) - Date.parse(from));
  if (formatDay(from) !== formatDay(to)) return words.downFromTo(formatShortTime(from), formatShortTime(to), took);
  return words.dayDownFromTo(formatDay(from), formatHour(from), formatHour(to), took);
}

/** The last 90 days of every connection. Connections that are down come first. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { segment, withQuery } from '../api/client.ts';
import { useRead } from '../api/hooks.ts';
import type { HealthOfConnection } from '../api/types.ts';
import { formatDay, formatDuration, formatPercent, formatShortTime } from '../format.ts';
import { timeZone } from '../preferences.ts';
import { t } from '../texts/texts.ts';
import { Ago, Empty, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { ConnectionBadge, type ConnectionStatus, useConnectionStatus } from '../ui/connection-status.tsx';
import { Server } from '../ui/icons.tsx';
import { Reason } from '../ui/reason.tsx';
import { HEALTH_DAYS } from '../../../contract/figures.ts';
import { DAY_MS } from '../../../contract/units.ts';

const EVERY_MS = 30_000;
const SHORT_PART = 0.01;
const words = t.health;

type Day = HealthOfConnection['days'][number];
type DayState = keyof typeof words.legend;

export default function Health(): ReactElement {
  const path = withQuery('/manage/health', { days: HEALTH_DAYS, timeZone });
  const read = useRead(path, { everyMs: EVERY_MS });
  const statusOf = useConnectionStatus();
  const order = { down: 0, up: 1, unknown: 2 } as const;
  const connections = [...(read.data?.connections ?? [])].sort(
    (a, b) => order[a.state] - order[b.state] || (a.availability.last90Days ?? 2) - (b.availability.last90Days ?? 2),
  );
  return (
    <Page title={t.places.health} lead={words.lead(timeZone)}>
      {read.data === undefined ? (
        <Panel>
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        </Panel>
      ) : connections.length === 0 ? (
        <Panel>
          <Empty
            icon={Server}
            title={t.connections.none}
            action={<LinkButton href="/connections/new">{words.add}</LinkButton>}
          >
            {words.noneText}
          </Empty>
        </Panel>
      ) : (
        <Panel>
          <ul className="health-rows">
            {connections.map((connection) => (
              <Row key={connection.id} connection={connection} status={statusOf(connection)} />
            ))}
          </ul>
          <p className="panel-body chart-legend">
            {(Object.keys(words.legend) as DayState[]).map((state) => (
              <span key={state}>
                <span className={`swatch day-${state}`} aria-hidden /> {words.legend[state]}
              </span>
            ))}
          </p>
        </Panel>
      )}
    </Page>
  );
}

function Row(props: {
  readonly connection: HealthOfConnection;
  readonly status: ConnectionStatus | undefined;
}): ReactElement {
  const { connection, status } = props;
  const { id, name, downSince, checkedAt, error, errorCode, days, watchedSince, certificate } = connection;
  return (
    <li>
      <div className="row spread">
        <span className="row">
          <Link href={`/connections/${segment(id)}`}>{name}</Link>
          <ConnectionBadge status={status} />
          {downSince !== null && <span className="small bad-text">{words.downSince(formatShortTime(downSince))}</span>}
        </span>
        <span className="muted small">{shareOf(connection)}</span>
      </div>
      <ol className="health-strip" aria-label={words.strip(name)}>
        {days.map((day) => (
          <li key={day.from} className={`day-${stateOf(day)}`} title={textOf(day, watchedSince)}>
            <span className="visually-hidden">{textOf(day, watchedSince)}</span>
          </li>
        ))}
      </ol>
      <div className="row spread muted small">
        <span>{words.ago}</span>
        <span>{words.today}</span>
      </div>
      <p className="muted small">
        {checkedAt !== null && (
          <>
            {words.lookedAt} <Ago iso={checkedAt} />
          </>
        )}
        {error !== null && (
          <>
            {' · '}
            <span className="bad-text">
              <Reason code={errorCode} text={error} isShort />
            </span>
          </>
        )}
        {typeof certificate?.validTo === 'string' && <> · {words.certificate(formatDay(certificate.validTo))}</>}
      </p>
    </li>
  );
}

/** The availability in the monitored time. Before it nothing is known. */
function shareOf({ availability: { last90Days }, watchedSince }: HealthOfConnection): string {
  if (last90Days === null || watchedSince === null) return t.words.notChecked;
  const share = formatPercent(last90Days);
  const isShort = Date.parse(watchedSince) > Date.now() - HEALTH_DAYS * DAY_MS;
  return isShort ? words.availableSince(share, formatShortTime(watchedSince)) : words.available(share);
}

function stateOf({ availability }: Day): DayState {
  if (availability === null) return 'none';
  if (availability >= 1) return 'good';
  return availability >= 1 - SHORT_PART ? 'warn' : 'bad';
}

function textOf({ from, availability, downSeconds }: Day, watchedSince: string | null): string {
  const day = formatDay(from);
  if (availability === null) return words.dayUnknown(day);
  const part = formatPercent(availability);
  const isPart = watchedSince !== null && watchedSince > from;
  const text = downSeconds === 0 ? words.day(day, part) : words.dayDown(day, part, formatDuration(downSeconds * 1_000));
  return isPart ? words.dayFrom(text, formatShortTime(watchedSince)) : text;
}

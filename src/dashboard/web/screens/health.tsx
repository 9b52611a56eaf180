/** Every connection's last 90 days at a glance, those that are down first. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { segment, withQuery } from '../api/client.ts';
import { useRead } from '../api/hooks.ts';
import type { HealthOfConnection } from '../api/types.ts';
import { formatDay, formatDuration, formatPercent, formatShortTime } from '../format.ts';
import { timeZone } from '../preferences.ts';
import { t } from '../texts/texts.ts';
import { Ago, Badge, Empty, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { Server } from '../ui/icons.tsx';

const EVERY_MS = 30_000;
const DAYS = 90;
/** Down for longer than that part of a day is drawn as bad. */
const SHORT_PART = 0.01;
const words = t.health;

type Day = HealthOfConnection['days'][number];
type Look = keyof typeof words.legend;

export default function Health(): ReactElement {
  const path = withQuery('/manage/health', { days: DAYS, timeZone });
  const read = useRead<{ connections: HealthOfConnection[] }>(path, { everyMs: EVERY_MS });
  const order = { down: 0, up: 1, unknown: 2 } as const;
  const connections = [...(read.data?.connections ?? [])].sort(
    (a, b) => order[a.state] - order[b.state] || (a.availability.last90Days ?? 2) - (b.availability.last90Days ?? 2),
  );
  return (
    <Page title={words.title} lead={words.lead(timeZone)}>
      {read.data === undefined ? (
        <Panel>
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        </Panel>
      ) : connections.length === 0 ? (
        <Panel>
          <Empty icon={Server} title={words.none} action={<LinkButton href="/connections/new">{words.add}</LinkButton>}>
            {words.noneText}
          </Empty>
        </Panel>
      ) : (
        <Panel>
          <ul className="health-rows">
            {connections.map((connection) => (
              <Row key={connection.id} connection={connection} />
            ))}
          </ul>
          <p className="panel-body chart-legend">
            {(Object.keys(words.legend) as Look[]).map((look) => (
              <span key={look}>
                <span className={`swatch day-${look}`} aria-hidden /> {words.legend[look]}
              </span>
            ))}
          </p>
        </Panel>
      )}
    </Page>
  );
}

function Row({ connection }: { readonly connection: HealthOfConnection }): ReactElement {
  const { id, name, isActive, state, downSince, checkedAt, error, availability, days, certificate } = connection;
  return (
    <li>
      <div className="row spread">
        <span className="row">
          <Link href={`/connections/${segment(id)}`}>{name}</Link>
          {state === 'up' && <Badge tone="good">{words.up}</Badge>}
          {state === 'down' && <Badge tone="bad">{words.down}</Badge>}
          {state === 'unknown' && <Badge>{isActive ? words.unknown : words.off}</Badge>}
          {downSince !== null && <span className="small bad-text">{words.downSince(formatShortTime(downSince))}</span>}
        </span>
        <span className="muted small">
          {availability.last90Days === null ? words.never : words.available(formatPercent(availability.last90Days))}
        </span>
      </div>
      <ol className="health-strip" aria-label={words.strip(name)}>
        {days.map((day) => (
          <li key={day.from} className={`day-${lookOf(day)}`} title={textOf(day)}>
            <span className="visually-hidden">{textOf(day)}</span>
          </li>
        ))}
      </ol>
      <div className="row spread muted small">
        <span>{words.ago}</span>
        <span>
          {checkedAt !== null && (
            <>
              {words.lookedAt} <Ago iso={checkedAt} />
            </>
          )}
          {error !== null && <span className="bad-text"> {error}</span>}
          {typeof certificate?.validTo === 'string' && <> · {words.certificate(formatDay(certificate.validTo))}</>}
        </span>
        <span>{words.today}</span>
      </div>
    </li>
  );
}

function lookOf({ availability }: Day): Look {
  if (availability === null) return 'none';
  if (availability >= 1) return 'good';
  return availability >= 1 - SHORT_PART ? 'warn' : 'bad';
}

function textOf({ from, availability, downSeconds }: Day): string {
  const day = formatDay(from);
  if (availability === null) return words.dayUnknown(day);
  const part = formatPercent(availability);
  return downSeconds === 0 ? words.day(day, part) : words.dayDown(day, part, formatDuration(downSeconds * 1_000));
}

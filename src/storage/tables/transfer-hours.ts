/**
 * Sums of each account and hour (UTC), written by the statement that writes the history: charts over a million rows
 * read some hundred. A row is an hour and a slot of durations, so the slots of any span add up to its quantiles.
 */
import type { PendingQuery, Row } from 'postgres';
import { LOOKUPS } from '../../contract/transfer.js';
import { columnOf } from '../postgres/column-names.js';
import type { Database } from '../postgres/database.js';
import { addedTo, isOneOf, type Queryable, selected, templateIn } from '../postgres/sql.js';
import { quantile } from './time-slots.js';

/** Slot 1 ends before the first of these milliseconds, slot 2 before the second. */
const ENDS = [
  ...[5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 500, 750],
  ...[1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000, 20_000, 60_000],
  ...[300_000, 1_800_000, 7_200_000],
];
/**
 * Read-only operations count toward no month and would hide the transfers: slot 0 holds them all, long and
 * short ones.
 */
export const LOOKUP_SLOT = 0;
const LONGEST_MS = 86_400_000;
const KEPT_DAYS = 92;
const MIDDLE = 0.5;
const HIGH = 0.95;

export interface TransferSums {
  /** All ended transfers, including look-ups and failed ones. */
  readonly transfers: number;
  readonly failed: number;
  /** Lists, look-ups and polls among these. */
  readonly lookups: number;
  readonly failedLookups: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** For successful transfers that are not look-ups; null if there are none. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** The sums of a row: of transfers, each with the `sign` 1 or -1. */
const SUMS = {
  transfers: 'sum(sign)',
  failed: "coalesce(sum(sign) filter (where status = 'failed'), 0)",
  bytesIn: "coalesce(sum(sign * file_size) filter (where direction = 'inbound'), 0)",
  bytesOut: "coalesce(sum(sign * file_size) filter (where direction = 'outbound'), 0)",
};
const SUM_NAMES = Object.keys(SUMS) as (keyof typeof SUMS)[];
// Built once: each fragment of a statement is an object that lives until a full garbage collection.
const ADDING = templateIn(`
  insert into transfer_hours as h ${selected({
    accountId: 'account_id',
    hour: "date_trunc('hour', created_at, 'UTC')",
    slot: `case when ${isOneOf('type', LOOKUPS)} then ${LOOKUP_SLOT}
      else 1 + width_bucket(duration_ms, '{${ENDS.join(',')}}'::bigint[]) end`,
    ...SUMS,
  })}
  from (?) moved group by 1, 2, 3 order by 1, 2, 3
  on conflict (account_id, hour, slot) do update set ${addedTo('h', SUM_NAMES, 'excluded')}`);
const SUMMED = templateIn(
  SUM_NAMES.map(columnOf)
    .map((name) => `sum(${name})::bigint as ${name}`)
    .join(', '),
);

type SlotRow = Readonly<Record<keyof typeof SUMS, number>> & {
  /** The number of the span, from 1. */
  readonly span: number;
  readonly slot: number;
};

/**
 * Adds `rows` to their hours; `sign` is 1 or -1. Hours are locked in key order, like the other totals, so that two
 * nodes wait for each other instead of dead-locking.
 */
export function addingHours(sql: Queryable, rows: PendingQuery<Row[]>) {
  return sql(ADDING, rows);
}

/** For each span between two neighbours in `starts`, and for the one from the last of them on. */
export async function sumsOf(
  database: Database,
  accountId: string,
  starts: readonly Date[],
): Promise<readonly TransferSums[]> {
  const rows = await database.run(
    (sql) => sql<SlotRow[]>`
      select width_bucket(hour, ${sql.types.times(starts)}) as span, slot, ${sql(SUMMED)}
      from transfer_hours where account_id = ${accountId} and hour >= ${starts[0] ?? new Date()} group by 1, 2`,
  );
  return starts.map((_, index) => added(rows.filter(({ span }) => span === index + 1)));
}

/** Deletes hours that no chart shows. */
export async function deleteOldHours(sql: Queryable): Promise<void> {
  await sql`delete from transfer_hours where hour < now() - make_interval(days => ${KEPT_DAYS}::int)`;
}

function added(rows: readonly SlotRow[]): TransferSums {
  const sum = (of: (row: SlotRow) => number, among = rows): number => among.reduce((total, row) => total + of(row), 0);
  const lookups = rows.filter(({ slot }) => slot === 0);
  const slots = Array.from({ length: ENDS.length + 1 }, (_, index) =>
    sum(
      ({ transfers, failed }) => transfers - failed,
      rows.filter(({ slot }) => slot === index + 1),
    ),
  );
  const time = (part: number): number | null => {
    const ms = quantile(slots, part, { ends: ENDS, longestMs: LONGEST_MS });
    return ms === null ? null : Math.round(ms * 10) / 10;
  };
  return {
    transfers: sum((row) => row.transfers),
    failed: sum((row) => row.failed),
    lookups: sum((row) => row.transfers, lookups),
    failedLookups: sum((row) => row.failed, lookups),
    bytesIn: sum((row) => row.bytesIn),
    bytesOut: sum((row) => row.bytesOut),
    p50Ms: time(MIDDLE),
    p95Ms: time(HIGH),
  };
}

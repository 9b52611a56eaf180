/** The filter of lists by time. */
import type { PendingQuery, Row } from 'postgres';
import { DAY_MS } from '../../contract/units.js';
import { firstIdAt } from './clock.js';
import type { Queryable } from './sql.js';

/** Both ends are exclusive. */
export interface Period {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** The first millisecond of the period. Times in the database are finer, and are shown in milliseconds. */
export function startOf({ since }: Period): Date | undefined {
  return since === undefined ? undefined : new Date(since.getTime() + 1);
}

/** Ids carry the time of the node that made them, and the column that of the database. */
const CLOCKS_DIFFER_MS = DAY_MS;

/** The condition on a column of times. The bounds on the ids, which order the list, keep the rows few that are read. */
export function isWithin(sql: Queryable, time: PendingQuery<Row[]>, id: PendingQuery<Row[]>, period: Period) {
  const { until } = period;
  const start = startOf(period);
  const boundAt = (at: Date, shift: number): string => firstIdAt(new Date(at.getTime() + shift));
  return sql`
    ${start === undefined ? sql`` : sql`and ${time} >= ${start} and ${id} >= ${boundAt(start, -CLOCKS_DIFFER_MS)}`}
    ${until === undefined ? sql`` : sql`and ${time} < ${until} and ${id} < ${boundAt(until, CLOCKS_DIFFER_MS)}`}`;
}

/** The health of connections, for their owners: over the last day, week and 90 days. */
import { keptAnswer } from '../../base/kept-answer.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import type { Database } from '../postgres/database.js';
import { columnsOf } from '../postgres/sql.js';
import { added, quantile } from './time-slots.js';

export interface ConnectionState extends RowOf<typeof checkedFields> {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly isActive: boolean;
  /** The start of the current outage. */
  readonly downSince: Date | null;
  readonly certificate: {
    readonly fingerprint: string;
    readonly subject: string;
    readonly issuer: string;
    readonly validTo: Date | null;
  } | null;
  readonly hostKey: { readonly fingerprint: string; readonly algorithm: string; readonly since: Date } | null;
  /** Fractions of 1, in the order of WINDOW_DAYS; null = never checked. */
  readonly availability: readonly (number | null)[];
}

export interface WindowFigures {
  readonly days: number;
  readonly availability: number | null;
  readonly checks: number;
  readonly failedChecks: number;
  /** The 95th percentile, in milliseconds. */
  readonly connectMs: number | null;
  readonly firstByteMs: number | null;
}

interface Outage {
  readonly from: Date;
  /** null = it continues. */
  readonly to: Date | null;
  readonly error: string | null;
  readonly errorCode: string | null;
}

interface ConnectionFacts {
  readonly state: ConnectionState;
  readonly windows: readonly WindowFigures[];
  /** The last ones, newest first. */
  readonly outages: readonly Outage[];
  readonly expiringKeys: readonly { readonly id: string; readonly name: string; readonly expiresAt: Date }[];
}

const WINDOW_DAYS = [1, 7, 90];
const DAY_SECONDS = 86_400;
const MOST_OUTAGES = 200;
const PERCENTILE = 0.95;
/** For certificates; the same as in the metric. */
const EXPIRING_DAYS = 14;
const COUNTS_KEPT_MS = 2000;

/** The columns of the last check. */
const checkedFields = {
  /** Since when its outages are recorded; null = never checked. */
  watchedSince: hidden<Date | null>(),
  checkedAt: hidden<Date | null>(),
  reachedAt: hidden<Date | null>(),
  /** The error of the last check, if it failed. */
  error: hidden<string | null>(),
  errorCode: hidden<string | null>(),
};
const shownFields = {
  certificate: hidden<string | null>(),
  subject: hidden<string | null>({ column: 'certificateSubject' }),
  issuer: hidden<string | null>({ column: 'certificateIssuer' }),
  validTo: hidden<Date | null>({ column: 'certificateValidTo' }),
  hostKey: hidden<string | null>(),
  algorithm: hidden<string | null>({ column: 'hostKeyAlgorithm' }),
  hostKeySince: hidden<Date | null>(),
};

interface StateRow
  extends Omit<ConnectionState, 'certificate' | 'hostKey' | 'availability'>, RowOf<typeof shownFields> {
  readonly watchedSeconds: number | null;
  readonly down1: number;
  readonly down2: number;
  readonly down3: number;
}

interface SpeedRow {
  readonly unit: 'hour' | 'day';
  readonly ageDays: number;
  readonly checks: number;
  readonly failed: number;
  readonly connect: readonly number[];
  readonly answer: readonly number[];
}

interface Counts {
  readonly down: number;
  readonly expiring: number;
  readonly databaseBytes: number;
}

export class ConnectionFigures {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** All connections of the account. */
  async list(accountId: string): Promise<readonly ConnectionState[]> {
    return this.#states(accountId, null);
  }

  /** Downtime in seconds, by connection, for each span between two neighbours in `bounds`. */
  async downSeconds(accountId: string, bounds: readonly Date[]): Promise<ReadonlyMap<string, readonly number[]>> {
    const rows = await this.#database.run((sql) => {
      const { times } = sql.types;
      return sql<{ id: string; day: number; seconds: number }[]>`
        select c.id, d.day, sum(extract(epoch from least(coalesce(o.until, now()), d.ends) - greatest(o.since, d.starts)))::float8
          as seconds
        from connections c join connection_outages o on o.connection_id = c.id
        join unnest(${times(bounds.slice(0, -1))}, ${times(bounds.slice(1))}) with ordinality d (starts, ends, day)
          on o.since < d.ends and coalesce(o.until, now()) > d.starts
        where c.account_id = ${accountId} group by 1, 2`;
    });
    const found = new Map<string, number[]>();
    for (const { id, day, seconds } of rows) {
      const days = found.get(id) ?? bounds.slice(1).map(() => 0);
      days[day - 1] = seconds;
      found.set(id, days);
    }
    return found;
  }

  async find(accountId: string, id: string, keysUntil: Date): Promise<ConnectionFacts | undefined> {
    const [[state], speeds, outages, expiringKeys] = await Promise.all([
      this.#states(accountId, id),
      this.#database.all<SpeedRow>`
        select unit, (extract(epoch from now() - starts_at) / ${DAY_SECONDS}::int)::float8 as age_days, checks, failed,
          connect_counts::bigint[] as connect, answer_counts::bigint[] as answer
        from connection_speeds where connection_id = ${id} and account_id = ${accountId}`,
      this.#database.all<Outage>`
        select since as from, until as to, error, error_code from connection_outages
        where connection_id = ${id} and account_id = ${accountId}
          and coalesce(until, now()) > now() - make_interval(days => ${WINDOW_DAYS.at(-1) ?? 0}::int)
        order by since desc limit ${MOST_OUTAGES}`,
      this.#database.all<ConnectionFacts['expiringKeys'][number]>`
        select id, name, expires_at from api_keys
        where account_id = ${accountId} and revoked_at is null and expires_at > now() and expires_at < ${keysUntil}
          and (connection_ids = '{}' or ${id} = any (connection_ids)) order by expires_at, id`,
    ]);
    if (state === undefined) return undefined;
    const windows = WINDOW_DAYS.map((days, index) => windowOf(days, state.availability[index] ?? null, speeds));
    return { state, windows, outages: [...outages], expiringKeys: [...expiringKeys] };
  }

  /**
   * Counts over all accounts, for metrics: connections that are down, certificates that expire soon, and the size of
   * the database.
   */
  readonly counts = keptAnswer(COUNTS_KEPT_MS, () => this.#count());

  async #count(): Promise<Counts> {
    const row = await this.#database.first<Counts>`
      select (select count(*) from connection_outages where until is null) as down,
        (select count(*) from connection_checks k join connections c on c.id = k.connection_id
         where c.is_active and k.certificate_valid_to < now() + make_interval(days => ${EXPIRING_DAYS}::int)) as expiring,
        pg_database_size(current_database())::bigint as database_bytes`;
    return row ?? { down: 0, expiring: 0, databaseBytes: NaN };
  }

  /** Whether each connection is reachable, for metrics: at most `most`, the oldest ones. */
  async reachable(most: number): Promise<readonly { readonly id: string; readonly isUp: boolean }[]> {
    return this.#database.all<{ id: string; isUp: boolean }>`
      select c.id, not exists (
        select from connection_outages o where o.connection_id = c.id and o.until is null) as is_up
      from connections c join connection_checks k on k.connection_id = c.id
      where c.is_active and k.checked_at is not null order by c.ordinal limit ${most}`;
  }

  async #states(accountId: string, id: string | null): Promise<ConnectionState[]> {
    const [day, week, quarter] = WINDOW_DAYS;
    const rows = await this.#database.run((sql) => {
      const down = (days: number | undefined) => sql`
        coalesce(sum(extract(epoch from coalesce(o.until, now()) - greatest(o.since, now() - make_interval(days => ${days ?? 0}::int))))
          filter (where coalesce(o.until, now()) > now() - make_interval(days => ${days ?? 0}::int)), 0)::float8`;
      return sql<StateRow[]>`
        select c.id, c.name, c.type, c.is_active,
          ${columnsOf(sql, { ...checkedFields, ...shownFields }, { table: 'k' })},
          extract(epoch from now() - k.watched_since)::float8 as watched_seconds, d.*
        from connections c left join connection_checks k on k.connection_id = c.id
        cross join lateral (
          select max(o.since) filter (where o.until is null) as down_since,
            ${down(day)} as down1, ${down(week)} as down2, ${down(quarter)} as down3
          from connection_outages o where o.connection_id = c.id and o.account_id = c.account_id
        ) d
        where c.account_id = ${accountId} and (${id}::text is null or c.id = ${id}) order by c.ordinal`;
    });
    return rows.map(stateOf);
  }
}

function stateOf(row: StateRow): ConnectionState {
  const { certificate, subject, issuer, validTo, hostKey, algorithm, hostKeySince, watchedSeconds, ...others } = row;
  const { down1, down2, down3, ...known } = others;
  const availability = [down1, down2, down3].map((down, index) => {
    // The downtime cannot be longer than the time since the first check.
    const seconds = Math.min(watchedSeconds ?? 0, (WINDOW_DAYS[index] ?? 0) * DAY_SECONDS);
    return seconds <= 0 || row.checkedAt === null ? null : Math.max(0, 1 - down / seconds);
  });
  return {
    ...known,
    certificate:
      certificate === null ? null : { fingerprint: certificate, subject: subject ?? '', issuer: issuer ?? '', validTo },
    hostKey:
      hostKey === null || hostKeySince === null
        ? null
        : { fingerprint: hostKey, algorithm: algorithm ?? '', since: hostKeySince },
    availability,
  };
}

/**
 * The figures of a day and a week are computed from the hours, of which the first is partial; longer ones from the
 * days.
 */
function windowOf(days: number, availability: number | null, speeds: readonly SpeedRow[]): WindowFigures {
  const unit = days <= 7 ? 'hour' : 'day';
  const rows = speeds.filter((row) => row.unit === unit && row.ageDays <= days);
  const sum = (of: (row: SpeedRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const times = (of: (row: SpeedRow) => readonly number[]): number | null => {
    const ms = quantile(
      rows.reduce<readonly number[]>((total, row) => added(total, of(row)), []),
      PERCENTILE,
    );
    return ms === null ? null : Math.round(ms * 10) / 10;
  };
  return {
    days,
    availability,
    checks: sum(({ checks }) => checks),
    failedChecks: sum(({ failed }) => failed),
    connectMs: times(({ connect }) => connect),
    firstByteMs: times(({ answer }) => answer),
  };
}

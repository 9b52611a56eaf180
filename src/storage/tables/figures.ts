/** Sums of the history: days, hours, what needs a person. Days come from the counts that are kept beside the rows. */
import type { Database } from '../postgres/database.js';
import { firstIdAt } from '../postgres/clock.js';

export interface DayFigures {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly actions: number;
  readonly failed: number;
}

export interface HourFigures {
  readonly from: Date;
  readonly transfers: number;
  readonly failed: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface Trouble {
  readonly connectionId: string;
  readonly name: string;
  readonly error: string | null;
}

const HOUR_MS = 3_600_000;
const HOURS = 24;
/** Looking does not count toward the month (see operations/operation.ts). */
const FREE_TYPES = ['list', 'exists', 'poll'];

export class Figures {
  constructor(private readonly database: Database) {}

  /** Days of a month (UTC) that have any, in order. */
  async days(accountId: string, month: string): Promise<readonly DayFigures[]> {
    return this.database.run(
      (sql) => sql<DayFigures[]>`
        select to_char(day, 'YYYY-MM-DD') as day, sum(items)::bigint as actions,
               coalesce(sum(items) filter (where status = 'failed'), 0)::bigint as failed
        from transfer_counts
        where account_id = ${accountId} and day >= ${`${month}-01`}::date
          and day < ${`${month}-01`}::date + interval '1 month' and type <> all(${sql.types.texts(FREE_TYPES)})
        group by day order by day`,
    );
  }

  /** The last 24 hours, and whatever of today lies before them: oldest first, whole hours of UTC. */
  async hours(accountId: string, now: Date): Promise<readonly HourFigures[]> {
    const first = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS);
    const rows = await this.database.all<HourFigures>`
      select date_trunc('hour', created_at) as from, count(*) as transfers,
             count(*) filter (where status = 'failed') as failed,
             coalesce(sum(file_size) filter (where direction = 'inbound'), 0)::bigint as "bytesIn",
             coalesce(sum(file_size) filter (where direction = 'outbound'), 0)::bigint as "bytesOut"
      from transfers where account_id = ${accountId} and id >= ${firstIdAt(first)} group by 1`;
    const known = new Map(rows.map((row) => [row.from.getTime(), row]));
    return Array.from({ length: HOURS }, (_, index) => {
      const from = new Date(first.getTime() + index * HOUR_MS);
      return known.get(from.getTime()) ?? { from, transfers: 0, failed: 0, bytesIn: 0, bytesOut: 0 };
    });
  }

  async pending(accountId: string): Promise<number> {
    const row = await this.database.first<{ count: number }>`
      select count(*) from transfers where account_id = ${accountId} and status = 'pending'`;
    return row?.count ?? 0;
  }

  /** Active connections whose last three operations of the last day failed, or whose last test did. */
  async failingConnections(accountId: string, now: Date): Promise<readonly Trouble[]> {
    const dayAgo = firstIdAt(new Date(now.getTime() - HOURS * HOUR_MS));
    return this.database.all<Trouble>`
      select c.id as "connectionId", c.name, coalesce(l.error, t.error) as error
      from connections c
      left join connection_tests t on t.connection_id = c.id and not t.is_ok
      left join lateral (
        select count(*) filter (where status = 'failed') as failed, max(created_at) as last_at,
               (array_agg(error_message order by id desc))[1] as error
        from (select id, status, error_message, created_at from transfers
              where connection_id = c.id and id >= ${dayAgo} and status <> 'pending'
              order by id desc limit 3) last
      ) l on true
      where c.account_id = ${accountId} and c.is_active and (l.failed = 3
        or (t.connection_id is not null and (l.last_at is null or l.last_at < t.tested_at)))
      order by c.ordinal`;
  }

  /** Watched folders whose every check has failed for a while, how many events nobody took, and files not copied within a day. */
  async watchTrouble(
    accountId: string,
    now: Date,
  ): Promise<{
    readonly failing: readonly { readonly id: string; readonly name: string; readonly error: string | null }[];
    readonly deadLetters: number;
    readonly failedCopies: number;
  }> {
    const dayAgo = firstIdAt(new Date(now.getTime() - HOURS * HOUR_MS));
    return this.database.run(async (sql) => {
      const failing = await sql<{ id: string; name: string; error: string | null }[]>`
        select id, name, error_message as error from watched_folders
        where account_id = ${accountId} and is_active and failing_since is not null order by name`;
      const [dead] = await sql<{ count: number }[]>`
        select count(*) from webhook_events where account_id = ${accountId} and state = 'dead'`;
      const [copies] = await sql<{ failed: number }[]>`
        select coalesce(sum(copies_failed), 0)::bigint as failed from webhook_events
        where account_id = ${accountId} and id >= ${dayAgo} and copies_failed > 0`;
      return { failing: [...failing], deadLetters: dead?.count ?? 0, failedCopies: copies?.failed ?? 0 };
    });
  }

  /** Schedules that stopped by themselves, with the reason; nobody has switched them off. */
  async stoppedSchedules(
    accountId: string,
  ): Promise<readonly { readonly id: string; readonly name: string; readonly error: string }[]> {
    return this.database.all<{ id: string; name: string; error: string }>`
      select id, name, error_message as error from schedules
      where account_id = ${accountId} and not is_active and error_message is not null order by id`;
  }

  /** Schedules whose run was due before that time, and has not begun. */
  async lateSchedules(
    accountId: string,
    before: Date,
  ): Promise<readonly { readonly id: string; readonly name: string; readonly dueAt: Date }[]> {
    return this.database.all<{ id: string; name: string; dueAt: Date }>`
      select id, name, next_run_at as "dueAt" from schedules
      where account_id = ${accountId} and is_active and next_run_at < ${before} order by next_run_at`;
  }

  /** Active connections whose server shows a certificate that ends before `until`. */
  async expiringCertificates(
    accountId: string,
    until: Date,
  ): Promise<readonly { readonly id: string; readonly name: string; readonly expiresAt: Date }[]> {
    return this.database.all<{ id: string; name: string; expiresAt: Date }>`
      select c.id, c.name, k.certificate_valid_to as "expiresAt"
      from connections c join connection_checks k on k.connection_id = c.id
      where c.account_id = ${accountId} and c.is_active and k.certificate_valid_to < ${until}
      order by k.certificate_valid_to`;
  }

  /** Active connections with host keys that were announced, and neither accepted nor rejected. */
  async waitingHostKeys(
    accountId: string,
  ): Promise<readonly { readonly id: string; readonly name: string; readonly count: number }[]> {
    return this.database.all<{ id: string; name: string; count: number }>`
      select c.id, c.name, count(*) from connections c join announced_host_keys k on k.connection_id = c.id
      where c.account_id = ${accountId} and c.is_active and k.rejected_at is null
        and not k.fingerprint = any (c.host_keys)
      group by c.id order by c.ordinal`;
  }

  /** Living keys that end before `until`. */
  async expiringKeys(
    accountId: string,
    until: Date,
  ): Promise<readonly { readonly id: string; readonly name: string; readonly expiresAt: Date }[]> {
    return this.database.all<{ id: string; name: string; expiresAt: Date }>`
      select id, name, expires_at as "expiresAt" from api_keys
      where account_id = ${accountId} and revoked_at is null and expires_at > now() and expires_at < ${until}
      order by expires_at`;
  }
}

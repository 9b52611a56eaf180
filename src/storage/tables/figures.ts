/**
 * Sums of the history: days, hours, and what needs a person. Days come from the counts that are stored beside the rows.
 */
import type { Database } from '../postgres/database.js';
import { UNREACHED } from '../../base/errors.js';
import { firstIdAt } from '../postgres/clock.js';
import { REACHING_STEPS } from '../../contract/advice.js';
import { LOOKUPS } from '../../contract/transfer.js';
import { sumsOf, type TransferSums } from './transfer-hours.js';
import { HOUR_MS } from '../../contract/units.js';

export interface DayFigures {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly actions: number;
  readonly failed: number;
}

interface DeliverySums {
  readonly delivered: number;
  readonly dead: number;
}

interface Failing {
  readonly name: string;
  readonly error: string | null;
  readonly errorCode: string | null;
}

const HOURS = 24;
/** How many of a connection's newest operations are read, and how many of them must agree. */
const LATEST = 50;
const TELLING = 3;

export class Figures {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The days of a month (UTC) with actions, in order. */
  async days(accountId: string, month: string): Promise<readonly DayFigures[]> {
    return this.#database.run(
      (sql) => sql<DayFigures[]>`
        select to_char(day, 'YYYY-MM-DD') as day, sum(items)::bigint as actions,
               coalesce(sum(items) filter (where status = 'failed'), 0)::bigint as failed
        from transfer_counts
        where account_id = ${accountId} and day >= ${`${month}-01`}::date
          and day < ${`${month}-01`}::date + interval '1 month' and type <> all(${sql.types.texts(LOOKUPS)})
        group by day order by day`,
    );
  }

  /** For each span between two neighbours in `starts`, and for the one from the last of them on. */
  async sums(accountId: string, starts: readonly Date[]): Promise<readonly TransferSums[]> {
    return sumsOf(this.#database, accountId, starts);
  }

  /** Webhook events, in spans as above: delivered ones, and dead letters. */
  async deliveries(accountId: string, starts: readonly Date[]): Promise<readonly DeliverySums[]> {
    const first = starts[0] ?? new Date();
    const rows = await this.#database.run(
      (sql) => sql<(DeliverySums & { readonly span: number })[]>`
        select width_bucket(created_at, ${sql.types.times(starts)}) as span,
          count(*) filter (where state = 'delivered') as delivered, count(*) filter (where state = 'dead') as dead
        from deliveries where account_id = ${accountId} and id >= ${firstIdAt(first)} and created_at >= ${first}
        group by 1`,
    );
    const known = new Map(rows.map(({ span, delivered, dead }) => [span, { delivered, dead }]));
    return starts.map((_, index) => known.get(index + 1) ?? { delivered: 0, dead: 0 });
  }

  /** How many transfers run: all, and those that began at `midnight` or later. */
  async pending(accountId: string, midnight: Date): Promise<{ readonly all: number; readonly today: number }> {
    const row = await this.#database.first<{ all: number; today: number }>`
      select count(*) as all, count(*) filter (where id >= ${firstIdAt(midnight)}) as today
      from transfers where account_id = ${accountId} and status = 'pending'`;
    return row ?? { all: 0, today: 0 };
  }

  /**
   * Active connections that are down, or that were unreachable in the last three conclusive operations of the last day,
   * or in their last test or check. A later success clears them; other errors say nothing about the server.
   */
  async failingConnections(
    accountId: string,
    now: Date,
  ): Promise<readonly (Failing & { readonly connectionId: string })[]> {
    const dayAgo = firstIdAt(new Date(now.getTime() - HOURS * HOUR_MS));
    return this.#database.run(
      (sql) => sql<(Failing & { connectionId: string })[]>`
        select c.id as connection_id, c.name,
          coalesce(case when l.is_failing then l.error end, o.error, t.error) as error,
          case when l.is_failing and l.error is not null then l.error_code
            when o.error is not null then o.error_code else t.error_code end as error_code
        from connections c
        left join connection_outages o on o.connection_id = c.id and o.until is null
        left join connection_checks k on k.connection_id = c.id
        left join connection_tests t on t.connection_id = c.id and t.failed_step = any(${sql.types.texts(REACHING_STEPS)})
        left join lateral (
          select count(*) = ${TELLING} and bool_and(status = 'failed') as is_failing,
                 max(created_at + duration_ms * interval '1 ms') as failed_at,
                 max(created_at + duration_ms * interval '1 ms') filter (where status = 'success') as reached_at,
                 (array_agg(error_message order by id desc))[1] as error,
                 (array_agg(error_code order by id desc))[1] as error_code
          from (select * from (
            select id, status, error_code, error_message, created_at, duration_ms, stages from transfers
            where connection_id = c.id and id >= ${dayAgo} and status <> 'pending' order by id desc limit ${LATEST}) latest
            where status = 'success'
              -- With a url it may be the server of that which could not be reached.
              or (error_code = any(${sql.types.texts([...UNREACHED])}) and coalesce(stages, '') not like '%"fetch"%')
            order by id desc limit ${TELLING}) last
        ) l on true
        where c.account_id = ${accountId} and c.is_active and (o.since is not null
          or (l.is_failing and coalesce(k.reached_at < l.failed_at, true))
          or (t.connection_id is not null and t.tested_at > greatest(l.reached_at, k.reached_at, '-infinity')))
        order by c.ordinal`,
    );
  }

  /**
   * Watched folders whose checks have all failed for a while, the number of dead letters, and files not copied within a
   * day.
   */
  async watchTrouble(
    accountId: string,
    now: Date,
  ): Promise<{
    readonly failing: readonly (Failing & { readonly id: string })[];
    readonly deadLetters: number;
    readonly failedCopies: number;
  }> {
    const dayAgo = firstIdAt(new Date(now.getTime() - HOURS * HOUR_MS));
    return this.#database.run(async (sql) => {
      const failing = await sql<(Failing & { id: string })[]>`
        select id, name, error_message as error, error_code from watched_folders
        where account_id = ${accountId} and is_active and deleted_at is null and failing_since is not null
        order by name`;
      const [dead] = await sql<{ count: number }[]>`
        select count(*) from deliveries where account_id = ${accountId} and state = 'dead'`;
      const [copies] = await sql<{ failed: number }[]>`
        select coalesce(sum(copies_failed), 0)::bigint as failed from deliveries
        where account_id = ${accountId} and id >= ${dayAgo} and copies_failed > 0`;
      return { failing: [...failing], deadLetters: dead?.count ?? 0, failedCopies: copies?.failed ?? 0 };
    });
  }

  /** Running jobs that wait for the hours of their connections. */
  async jobsWaitingForHours(accountId: string): Promise<number> {
    const row = await this.#database.first<{ count: number }>`
      select count(*) from jobs where account_id = ${accountId} and state = 'running' and waits_until > now()`;
    return row?.count ?? 0;
  }

  /** Watched folders whose next check waits for the hours of their connections. */
  async foldersWaitingForHours(accountId: string): Promise<number> {
    const row = await this.#database.first<{ count: number }>`
      select count(*) from watched_folders
      where account_id = ${accountId} and is_active and deleted_at is null
        and waits_until = next_check_at and waits_until > now()`;
    return row?.count ?? 0;
  }

  /** Schedules that stopped because of an error, with the reason; not those that an owner has switched off. */
  async stoppedSchedules(accountId: string): Promise<readonly (Failing & { readonly id: string })[]> {
    return this.#database.all<Failing & { id: string }>`
      select id, name, error_message as error, error_code from schedules
      where account_id = ${accountId} and not is_active and error_message is not null order by id`;
  }

  /** Schedules whose run was due before that time and has not begun. */
  async lateSchedules(
    accountId: string,
    before: Date,
  ): Promise<readonly { readonly id: string; readonly name: string; readonly dueAt: Date }[]> {
    return this.#database.all<{ id: string; name: string; dueAt: Date }>`
      select id, name, next_run_at as due_at from schedules
      where account_id = ${accountId} and is_active and next_run_at < ${before} order by next_run_at`;
  }

  /** Active connections whose server presents a certificate that expires before `until`. */
  async expiringCertificates(
    accountId: string,
    until: Date,
  ): Promise<readonly { readonly id: string; readonly name: string; readonly expiresAt: Date }[]> {
    return this.#database.all<{ id: string; name: string; expiresAt: Date }>`
      select c.id, c.name, k.certificate_valid_to as expires_at
      from connections c join connection_checks k on k.connection_id = c.id
      where c.account_id = ${accountId} and c.is_active and k.certificate_valid_to < ${until}
      order by k.certificate_valid_to`;
  }

  /**
   * Active connections with announced host keys that are neither accepted nor rejected. One item per server, with its
   * first connection, because it announces the same keys to all of them.
   */
  async waitingHostKeys(
    accountId: string,
  ): Promise<readonly { readonly id: string; readonly name: string; readonly count: number }[]> {
    return this.#database.all<{ id: string; name: string; count: number }>`
      select (array_agg(c.id order by c.ordinal))[1] as id, (array_agg(c.name order by c.ordinal))[1] as name,
        count(distinct k.fingerprint) as count
      from connections c join announced_host_keys k on k.connection_id = c.id
      where c.account_id = ${accountId} and c.is_active and k.rejected_at is null and not k.is_first
        and not k.fingerprint = any (c.host_keys)
      group by lower(c.settings ->> 'host'), c.settings ->> 'port' order by min(c.ordinal)`;
  }

  /** Valid keys that expire before `until`. */
  async expiringKeys(
    accountId: string,
    until: Date,
  ): Promise<readonly { readonly id: string; readonly name: string; readonly expiresAt: Date }[]> {
    return this.#database.all<{ id: string; name: string; expiresAt: Date }>`
      select id, name, expires_at from api_keys
      where account_id = ${accountId} and revoked_at is null and expires_at > now() and expires_at < ${until}
      order by expires_at`;
  }
}

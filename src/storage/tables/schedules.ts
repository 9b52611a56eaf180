/** Schedules: rows that start jobs when they are due, on the first node that finds them due. */
import { setImmediate as turn } from 'node:timers/promises';
import { DAY_MS } from '../../contract/units.js';
import { type GatewayError, hasCode, refusal } from '../../base/errors.js';
import { FIRST_ID, uuidv7 } from '../../base/uuid.js';
import { type Schedule, scheduleFields, type ScheduleSettings } from '../../contract/schedule.js';
import type { Database } from '../postgres/database.js';
import { columnsOf, type Queryable, rowOf, storable, type Transaction } from '../postgres/sql.js';
import { type Actor, recordAudit } from './audit-log.js';
import { IS_OPEN, type Job, type JobHolder } from './job.js';
import type { JobLimits, Jobs } from './jobs.js';
import { HOLDER, holdersOf } from './key-records.js';

export interface DueSchedule extends Schedule, JobHolder {
  /** By the database's clock. */
  readonly now: Date;
}

/** The decision about a due schedule: it runs, and then again at `next`; or it stops, with the reason. */
type Verdict = { readonly next: Date | null } | { readonly stop: GatewayError };

/** The result for a due schedule. */
export interface Fired {
  readonly schedule: DueSchedule;
  readonly outcome: 'begun' | 'skipped' | 'stopped';
  readonly reason: string | null;
}

interface FiringResult {
  /** By the database's clock. */
  readonly now: Date;
  readonly fired: Fired | undefined;
}

interface ScheduleFigures {
  readonly late: number;
  readonly overdue: number;
  readonly stopped: number;
}

/** The first due time after `time`. */
type NextRun = (settings: ScheduleSettings, time: Date) => Date | null;

const RECALLED_AT_ONCE = 200;

const HOLDERS = holdersOf('s');
const STILL_RUNS = 'the run before had not ended';
/** A decided time that is further ahead came from a wrong clock: waiting for it would stop the schedule. */
const TRUSTED_AHEAD_MS = DAY_MS;

export class Schedules {
  readonly #database: Database;
  readonly #jobs: Pick<Jobs, 'createIn'>;

  constructor(database: Database, jobs: Pick<Jobs, 'createIn'>) {
    this.#database = database;
    this.#jobs = jobs;
  }

  /** @throws GatewayError share_exceeded */
  async create(
    actor: Actor,
    keyId: string | null,
    settings: ScheduleSettings,
    nextRun: NextRun,
    limit: number,
  ): Promise<Schedule> {
    const { accountId } = actor;
    return this.#database.transaction(async (tx) => {
      // The account's row is the lock: of two simultaneous creations, the second one counts the first.
      const [account] = await tx<{ now: Date; count: number }[]>`
        select now() as now from accounts where id = ${accountId} for no key update`;
      const [room] = await tx<{ taken: number }[]>`
        select count(*) as taken from schedules where account_id = ${accountId}`;
      if ((room?.taken ?? 0) >= limit) {
        throw refusal('share_exceeded', `this account has ${limit} schedules already; delete some first`);
      }
      const id = uuidv7();
      const now = account?.now ?? new Date();
      const next = nextRun(settings, now);
      const row = rowOf(tx, scheduleFields, { ...settings, id, accountId, keyId, nextRunAt: next });
      await tx`insert into schedules ${tx(row)}`;
      this.#announceDue(tx, now, next);
      await recordAudit(tx, actor, {
        action: 'schedule.create',
        target: target(id, settings.name),
        details: detailsOf(settings),
      });
      return (await findIn(tx, accountId, id)) as Schedule;
    });
  }

  async list(accountId: string): Promise<readonly Schedule[]> {
    return this.#database.all<Schedule>`
      select ${columns} from schedules s where s.account_id = ${accountId} order by s.id`;
  }

  /** undefined if unknown or of another account. */
  async find(accountId: string, id: string): Promise<Schedule | undefined> {
    return this.#database.run((sql) => findIn(sql, accountId, id));
  }

  /** The editor becomes responsible for the schedule. Resolves to the changed schedule; undefined = unknown. */
  async edit(
    actor: Actor,
    keyId: string | null,
    id: string,
    changes: Partial<ScheduleSettings>,
    nextRun: NextRun,
  ): Promise<Schedule | undefined> {
    const { accountId } = actor;
    return this.#database.transaction(async (tx) => {
      const former = await lock(tx, accountId, id);
      if (former === undefined) return undefined;
      const settings = { ...former, ...changes };
      const { name, cron, timeZone, isActive } = settings;
      const isSameTime = former.isActive && isActive && former.cron === cron && former.timeZone === timeZone;
      // The error stays when only the name changes: an owner who switches the schedule on or off has seen it.
      const isSwitched = changes.isActive === true || (former.isActive && !isActive);
      const next = isSameTime ? former.nextRunAt : nextRun(settings, undecidedFrom(former));
      const ended = isSwitched ? { error: null, errorCode: null } : {};
      const row = rowOf(tx, scheduleFields, { ...changes, ...ended, keyId, nextRunAt: next });
      await tx`update schedules set ${tx(row)} where id = ${id}`;
      this.#announceDue(tx, former.now, next);
      const details = { ...detailsOf(settings), fields: Object.keys(changes) };
      await recordAudit(tx, actor, { action: 'schedule.update', target: target(id, name), details });
      return findIn(tx, accountId, id);
    });
  }

  /** Jobs that it has started continue. False = unknown. */
  async remove(actor: Actor, id: string): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      const [gone] = await tx<{ name: string }[]>`
        delete from schedules where id = ${id} and account_id = ${actor.accountId} returning name`;
      if (gone === undefined) return false;
      await recordAudit(tx, actor, { action: 'schedule.delete', target: target(id, gone.name) });
      return true;
    });
  }

  /** Runs it now, outside its times. undefined = unknown. @throws GatewayError in_use, share_exceeded */
  async run(accountId: string, keyId: string | null, id: string, limits: JobLimits): Promise<Job | undefined> {
    return this.#database.transaction(async (tx) => {
      const schedule = await lock(tx, accountId, id);
      if (schedule === undefined) return undefined;
      if (await isRunning(tx, id)) throw refusal('in_use', `schedule ${id}: ${STILL_RUNS}`);
      return this.#begin(tx, { ...schedule, keyId }, null, limits);
    });
  }

  /**
   * Starts the job of the schedule that has waited longest, and moves the schedule on, in one transaction: after a
   * crash either both have happened or neither. Missed runs are merged into this one. `fired` is undefined if none is
   * due.
   */
  async fireNext(verdictOn: (due: DueSchedule) => Verdict, limits: JobLimits): Promise<FiringResult> {
    return this.#database.transaction(async (tx) => {
      const [schedule] = await tx<DueSchedule[]>`
        select ${columns(tx)}, ${tx(HOLDER)}, now() as now from schedules s ${tx(HOLDERS)}
        where s.next_run_at <= now() order by s.next_run_at limit 1 for update of s skip locked`;
      const { now } = schedule ?? (await timeOf(tx));
      if (schedule === undefined) return { now, fired: undefined };
      const verdict = verdictOn(schedule);
      if ('stop' in verdict) {
        const { code, clientText } = verdict.stop;
        await tx`
          update schedules set is_active = false, next_run_at = null, error_message = ${storable(clientText)},
            error_code = ${code}
          where id = ${schedule.id}`;
        return { now, fired: { schedule, outcome: 'stopped', reason: clientText } };
      }
      const refused = await this.#tryToBegin(tx, schedule, limits);
      const reason = refused?.clientText ?? null;
      await tx`
        update schedules set next_run_at = ${verdict.next}, error_message = ${storable(reason)},
          error_code = ${refused?.code ?? null}, decided_due_at = greatest(decided_due_at, ${schedule.nextRunAt}),
          last_skipped_at = case when ${reason !== null} then now() else last_skipped_at end
        where id = ${schedule.id}`;
      const { next } = verdict;
      if (next !== null) this.#database.notices.announceHere(tx, 'schedules', next.getTime() - now.getTime());
      return { now, fired: { schedule, outcome: reason === null ? 'begun' : 'skipped', reason } };
    });
  }

  #announceDue(tx: Transaction, now: Date, next: Date | null): void {
    if (next !== null) this.#database.notices.announce(tx, 'schedules', next.getTime() - now.getTime());
  }

  /**
   * After the clock of the database was ahead: moves schedules that wait for later times than their crons give.
   * Resolves to their number.
   */
  async recallEarly(nextRun: NextRun): Promise<number> {
    let recalled = 0;
    for (let after = FIRST_ID; ;) {
      const page = await this.#database.all<Schedule & { readonly now: Date }>`
        select ${columns}, now() as now from schedules s where s.next_run_at > now() and s.id > ${after}
        order by s.id limit ${RECALLED_AT_ONCE}`;
      for (const schedule of page) {
        after = schedule.id;
        const { id, nextRunAt } = schedule;
        const next = nextRun(schedule, undecidedFrom(schedule));
        // Computing the times of a rare cron takes milliseconds.
        await turn();
        if (next === null || nextRunAt === null || next >= nextRunAt) continue;
        const { count } = await this.#database.all`
          update schedules set next_run_at = ${next} where id = ${id} and next_run_at = ${nextRunAt}`;
        recalled += count;
      }
      if (page.length < RECALLED_AT_ONCE) return recalled;
    }
  }

  /** Resolves to the reason why it did not begin; undefined = it has begun. */
  async #tryToBegin(tx: Transaction, schedule: Schedule, limits: JobLimits): Promise<GatewayError | undefined> {
    if (await isRunning(tx, schedule.id)) return refusal('in_use', STILL_RUNS);
    try {
      await this.#begin(tx, schedule, schedule.nextRunAt, limits);
      return undefined;
    } catch (error) {
      // Nothing was written in this case.
      if (hasCode(error, 'share_exceeded')) return error;
      throw error;
    }
  }

  /**
   * In seconds: the greatest delay of a run in the last hour, and how long a due run has waited; and the number of
   * schedules that stopped because of an error.
   */
  async figures(): Promise<ScheduleFigures> {
    const row = await this.#database.first<ScheduleFigures>`
      select coalesce(max(extract(epoch from last_run_at - last_due_at))
          filter (where last_run_at > now() - interval '1 hour'), 0)::float8 as late,
        greatest(coalesce(extract(epoch from now() - min(next_run_at)), 0), 0)::float8 as overdue,
        count(*) filter (where not is_active and error_message is not null) as stopped
      from schedules`;
    return row ?? { late: 0, overdue: 0, stopped: 0 };
  }

  async #begin(tx: Transaction, schedule: Schedule, dueAt: Date | null, limits: JobLimits): Promise<Job> {
    const { id, accountId, keyId, jobName, name, definition } = schedule;
    const row = { accountId, keyId, scheduleId: id, name: jobName ?? name, definition };
    const job = await this.#jobs.createIn(tx, row, limits);
    await tx`update schedules set last_run_at = now(), last_due_at = ${dueAt}, last_job_id = ${job.id} where id = ${id}`;
    return job;
  }
}

/** Moves the schedules of a key to the key that replaces it. */
export async function handOver(tx: Transaction, formerKeyId: string, keyId: string): Promise<void> {
  await tx`update schedules set key_id = ${keyId} where key_id = ${formerKeyId}`;
}

async function lock(tx: Transaction, accountId: string, id: string): Promise<(Schedule & { now: Date }) | undefined> {
  const [row] = await tx<(Schedule & { now: Date })[]>`
    select ${columns(tx)}, now() as now from schedules s where s.id = ${id} and s.account_id = ${accountId} for update`;
  return row;
}

/**
 * The time after which due times are undecided. If the clock is set back a little, decided times come again, and none
 * of them runs twice.
 */
function undecidedFrom({ now, decidedDueAt }: Schedule & { readonly now: Date }): Date {
  const aheadMs = decidedDueAt === null ? 0 : decidedDueAt.getTime() - now.getTime();
  return decidedDueAt !== null && aheadMs > 0 && aheadMs <= TRUSTED_AHEAD_MS ? decidedDueAt : now;
}

async function timeOf(sql: Queryable): Promise<{ readonly now: Date }> {
  const [time] = await sql<{ now: Date }[]>`select now() as now`;
  return time ?? { now: new Date() };
}

async function isRunning(tx: Transaction, id: string): Promise<boolean> {
  const [open] = await tx`
    select from jobs where schedule_id = ${id} and ${tx(IS_OPEN)} limit 1`;
  return open !== undefined;
}

async function findIn(sql: Queryable, accountId: string, id: string): Promise<Schedule | undefined> {
  const [row] = await sql<Schedule[]>`
    select ${columns(sql)} from schedules s where s.id = ${id} and s.account_id = ${accountId}`;
  return row;
}

function target(id: string, name: string) {
  return { kind: 'schedule', id, name };
}

function detailsOf({ cron, timeZone, isActive }: ScheduleSettings) {
  return { cron, timeZone, isActive };
}

function columns(sql: Queryable) {
  const lastJob = sql`
    (select jsonb_build_object('id', j.id, 'state', j.state, 'failed', j.failed, 'error', j.error_message,
        'errorCode', j.error_code)
      from jobs j where j.id = s.last_job_id)`;
  return columnsOf(sql, scheduleFields, { table: 's', made: { lastJob } });
}

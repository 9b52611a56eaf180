/** Schedules: their calls for the API, and the timer that begins their jobs. */
import { type Caller, apiKeyIdOf, mayUse } from '../base/caller.js';
import { GatewayError, toGatewayError, unknown } from '../base/errors.js';
import type { EndSignal } from '../base/ending.js';
import { isUuid } from '../base/uuid.js';
import { WokenWork } from '../base/woken-work.js';
import type { Schedule, ScheduleSettings } from '../contract/schedule.js';
import type {
  Actor,
  Agenda,
  DueSchedule,
  Fired,
  Job,
  JobLimits,
  Schedules,
  StorageOptions,
} from '../storage/storage.js';
import { recurrenceOf, timesFrom } from './cron.js';
import { connectionsOf, type JobOrder, type JobService } from './service.js';

interface ScheduleServiceOptions {
  readonly rows: Schedules;
  readonly agenda: Agenda;
  readonly jobs: JobService;
  readonly limits: JobLimits;
  /** How many schedules one account may have. */
  readonly most: number;
  readonly log: StorageOptions['log'];
}

interface ScheduleFields {
  readonly name?: string | undefined;
  readonly cron?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly job?: JobOrder | undefined;
}

type NewSchedule = { readonly [Name in keyof ScheduleFields]-?: NonNullable<ScheduleFields[Name]> };

const SHOWN_RUNS = 5;
const CLOCK_SLACK_MS = 2_000;

export class ScheduleService {
  readonly #options: ScheduleServiceOptions;
  readonly #due = new WokenWork(
    () => this.#fireDue(),
    (error) => this.#complain(error),
  );
  #stopListening: readonly (() => void)[] = [];
  /** The database's clock minus this machine's monotonic one; nothing is known before the start. */
  #clockAhead = Infinity;

  constructor(options: ScheduleServiceOptions) {
    this.#options = options;
  }

  /** Errors: those of a new job; bad_request for a cron that never runs; share_exceeded. */
  async create(actor: Actor, caller: Caller, fields: NewSchedule, signal: EndSignal): Promise<Schedule> {
    const { rows, most } = this.#options;
    const { name, cron, timeZone, isActive, job } = fields;
    recurrenceOf(cron, timeZone);
    const definition = await this.#options.jobs.define(caller, job, signal);
    const settings = { name, cron, timeZone, isActive, jobName: job.name, definition };
    return rows.create(actor, apiKeyIdOf(caller), settings, nextRunOf, most);
  }

  async list(caller: Caller): Promise<readonly Schedule[]> {
    const schedules = await this.#options.rows.list(caller.accountId);
    return schedules.filter(({ definition }) => mayUse(caller, connectionsOf(definition)));
  }

  /** @throws GatewayError unknown_item, even if it exists but the key may not use its connections */
  async get(caller: Caller, id: string): Promise<Schedule> {
    const schedule = isUuid(id) ? await this.#options.rows.find(caller.accountId, id) : undefined;
    if (schedule !== undefined && mayUse(caller, connectionsOf(schedule.definition))) return schedule;
    throw unknown('schedule', id);
  }

  /**
   * The caller must be allowed to do everything that the schedule does. Errors: those of `create` except the last;
   * unknown_item
   */
  async edit(actor: Actor, caller: Caller, id: string, fields: ScheduleFields, signal: EndSignal): Promise<Schedule> {
    const { rows, jobs } = this.#options;
    const former = await this.get(caller, id);
    const { job, ...others } = fields;
    const changes: Partial<ScheduleSettings> = {
      ...(Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined)) as typeof others),
      ...(job === undefined ? {} : { jobName: job.name, definition: await jobs.define(caller, job, signal) }),
    };
    recurrenceOf(changes.cron ?? former.cron, changes.timeZone ?? former.timeZone);
    jobs.checkRights(caller, changes.definition ?? former.definition);
    const edited = await rows.edit(actor, apiKeyIdOf(caller), id, changes, nextRunOf);
    if (edited === undefined) throw unknown('schedule', id);
    return edited;
  }

  /** @throws GatewayError unknown_item */
  async remove(actor: Actor, caller: Caller, id: string): Promise<void> {
    await this.get(caller, id);
    if (!(await this.#options.rows.remove(actor, id))) throw unknown('schedule', id);
  }

  /**
   * Runs it now, even if it is switched off. @throws GatewayError unknown_item; plan_required, scope_missing; in_use,
   * share_exceeded
   */
  async run(caller: Caller, id: string): Promise<Job> {
    const { rows, jobs, limits } = this.#options;
    const { definition } = await this.get(caller, id);
    jobs.checkRights(caller, definition);
    const job = await rows.run(caller.accountId, apiKeyIdOf(caller), id, limits);
    if (job === undefined) throw unknown('schedule', id);
    return job;
  }

  start(): void {
    const { agenda } = this.#options;
    this.#stopListening = [
      agenda.on('schedules', () => this.#due.wake()),
      agenda.onClock(({ now }) => void this.#watchClock(now).catch((error: unknown) => this.#complain(error))),
    ];
    this.#due.wake();
  }

  async stop(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    await this.#due.stop();
  }

  #complain(error: unknown): void {
    this.#options.log('debug', 'due schedules could not be looked up', { reason: toGatewayError(error).message });
  }

  async #fireDue(): Promise<void> {
    const { rows, limits } = this.#options;
    while (!this.#due.isStopped) {
      const { now, fired } = await rows.fireNext((due) => this.#verdictOn(due), limits);
      await this.#watchClock(now);
      if (fired === undefined) return;
      this.#report(fired);
    }
  }

  /** Times computed while the clock was ahead would wait until it gets there again. */
  async #watchClock(now: Date): Promise<void> {
    const { rows, log } = this.#options;
    const ahead = now.getTime() - performance.now();
    if (ahead < this.#clockAhead - CLOCK_SLACK_MS) {
      const recalled = await rows.recallEarly(nextRunOf);
      if (recalled > 0) log('warn', 'schedules waited for a clock that was ahead', { schedules: recalled });
    }
    this.#clockAhead = ahead;
  }

  #verdictOn(due: DueSchedule): { readonly next: Date | null } | { readonly stop: GatewayError } {
    try {
      this.#options.jobs.checkHolder(due, due.definition, 'change it with another key');
      return { next: recurrenceOf(due.cron, due.timeZone).nextAfter(due.now) };
    } catch (error) {
      if (error instanceof GatewayError) return { stop: error };
      throw error;
    }
  }

  #report({ schedule, outcome, reason }: Fired): void {
    const { log } = this.#options;
    if (outcome === 'begun') return;
    const facts = { scheduleId: schedule.id, accountId: schedule.accountId, reason };
    log('warn', outcome === 'skipped' ? 'a run of a schedule is skipped' : 'a schedule has stopped', facts);
  }
}

/**
 * The times at which it would run after that moment. @throws GatewayError bad_request for a cron that never runs, an
 * unknown zone
 */
export function runsAfter(now: Date, cron: string, timeZone: string): readonly Date[] {
  const recurrence = recurrenceOf(cron, timeZone);
  const first = recurrence.nextAfter(now);
  return first === null ? [] : timesFrom(recurrence, first, SHOWN_RUNS);
}

/** As many as are shown; none while it is switched off. */
export function nextRunsOf({ cron, timeZone, nextRunAt }: Schedule): readonly Date[] {
  return nextRunAt === null ? [] : timesFrom(recurrenceOf(cron, timeZone), nextRunAt, SHOWN_RUNS);
}

function nextRunOf({ isActive, cron, timeZone }: ScheduleSettings, now: Date): Date | null {
  return isActive ? recurrenceOf(cron, timeZone).nextAfter(now) : null;
}

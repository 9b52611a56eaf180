/** Jobs: started, paused, ended, and assigned to nodes slot by slot. A slot runs one slice of a job at a time. */
import { uuidv7 } from '../../base/uuid.js';
import { refusal } from '../../base/errors.js';
import { jobFields, type JobFileState, type JobState, type JobType } from '../../contract/job.js';
import type { ClaimedTask, Queue } from '../queue/queue.js';
import type { Database } from '../postgres/database.js';
import type { NamedSecrets } from '../secrets/sealed-rows.js';
import { isWithin, type Period } from '../postgres/period.js';
import { FAILED, hasEnded, OPEN } from '../../contract/job-states.js';
import { columnsOf, isOneOf, type Queryable, templateIn, type Transaction } from '../postgres/sql.js';
import {
  IS_OPEN,
  type Job,
  type JobFileItem,
  jobFileItemFields,
  type JobHolder,
  type NewJobRow,
  type RunningJob,
} from './job.js';
import { type JobEnd, keepSourceFiles, nextPhase } from './job-phases.js';
import { type WorkerSlot, workerSlotTasks, workerSlotsOf, workerSlotsWorth } from './job-slots.js';
import { URL_NAME } from './history-statements.js';
import { HOLDER, holdersOf } from './key-records.js';
import { movingOf } from './running-transfers.js';
import type { Outbox } from './outbox.js';
import {
  countRows,
  insertJob,
  narrow,
  purgeEnded,
  REQUESTS_FIRST,
  sampleRunning,
  setPhase,
  setState,
  setWait,
  startQueued,
} from './job-tree.js';

export interface JobLimits {
  /** Limits of one account. */
  readonly running: number;
  readonly waiting: number;
}

/** What happens when jobs end. */
export interface JobEnding extends JobLimits {
  /** The event for receivers of the job's end. */
  readonly eventOf: (job: Job, at: Date) => { readonly type: string; readonly body: string };
}

export interface StoredRows {
  readonly job: number;
  readonly account: number;
  readonly all: number;
}

export interface JobFilter extends Period {
  readonly state?: JobState | undefined;
  readonly type?: JobType | undefined;
  readonly scheduleId?: string | undefined;
  readonly limit: number;
  /** The last id of the previous page. */
  readonly cursor?: string | undefined;
  /** Connections that the key may use; undefined = all. */
  readonly connections?: readonly string[] | undefined;
}

/** The current state of a job. */
export type JobNow = Pick<Job, 'state' | 'errorCode' | 'errorMessage'>;

export class Jobs {
  readonly #database: Database;
  readonly #queue: Queue;
  readonly #secrets: NamedSecrets;
  readonly #outbox: Pick<Outbox, 'add'>;

  constructor(database: Database, queue: Queue, secrets: NamedSecrets, outbox: Pick<Outbox, 'add'>) {
    this.#database = database;
    this.#queue = queue;
    this.#secrets = secrets;
    this.#outbox = outbox;
  }

  /** Starts a job, or queues it if the maximum number of jobs runs. @throws GatewayError share_exceeded */
  async create(row: NewJobRow, limits: JobLimits): Promise<Job> {
    const make = (tx: Transaction): Promise<Job> => this.createIn(tx, row, limits);
    return this.#database.turns.run(row.accountId, () => this.#database.transaction(make), REQUESTS_FIRST);
  }

  /**
   * The same within a transaction; `fill` adds its work. Nothing is written if it is refused. @throws GatewayError
   * share_exceeded
   */
  async createIn(
    tx: Transaction,
    row: NewJobRow,
    limits: JobLimits,
    fill?: (id: string) => Promise<void>,
  ): Promise<Job> {
    const { accountId } = row;
    // Sent together, executed in this order; the same below.
    const [, [open]] = await Promise.all([
      lockAccount(tx, accountId),
      tx<{ running: number; waiting: number }[]>`
        select count(*) filter (where state = 'running') as running,
          count(*) filter (where state <> 'running') as waiting
        from jobs where account_id = ${accountId} and ${tx(IS_OPEN)}`,
    ]);
    const { running, waiting } = open ?? { running: 0, waiting: 0 };
    if (running >= limits.running && waiting >= limits.waiting) {
      throw refusal('share_exceeded', `${waiting} jobs of this account wait or are paused already; let some end first`);
    }
    const { id = uuidv7(), url } = row;
    await insertJob(tx, id, row);
    this.#database.notices.announce(tx, 'jobs');
    if (url !== undefined) await this.#secrets.put(tx, id, URL_NAME, url);
    await fill?.(id);
    await this.#startNext(tx, accountId, limits.running);
    return (await this.#findIn(tx, id)) as Job;
  }

  /** A new job with the files that an ended one failed on or never reached. @throws GatewayError share_exceeded */
  async createRetry(former: Job, keyId: string | null, limits: JobLimits): Promise<Job> {
    const make = async (tx: Transaction): Promise<Job> => {
      const url = await this.#secrets.find(tx, former.id, URL_NAME);
      const row = { ...former, id: undefined, keyId, ...(url !== undefined && { url }) };
      // Files that the source lacked must be looked for again, not deleted because of a former listing.
      const isNarrow = former.type !== 'upload' && former.errorCode !== 'source_suspicious';
      const fill = (id: string): Promise<void> => narrow(tx, former.id, id).then(() => countRows(tx, id));
      return this.createIn(tx, row, limits, isNarrow ? fill : undefined);
    };
    return this.#database.turns.run(former.accountId, () => this.#database.bulk(make), REQUESTS_FIRST);
  }

  /** undefined if unknown or of another account. */
  async find(accountId: string, id: string): Promise<Job | undefined> {
    return this.#database.first<Job>`
      select ${columns} from jobs j where j.id = ${id} and j.account_id = ${accountId}`;
  }

  /** Newest first. */
  async list(accountId: string, filter: JobFilter): Promise<readonly Job[]> {
    const { state, type, scheduleId, limit, cursor, connections } = filter;
    return this.#database.run(
      (sql) => sql<Job[]>`
        select ${columns(sql)} from jobs j where j.account_id = ${accountId}
          ${state === undefined ? sql`` : sql`and j.state = ${state}`}
          ${type === undefined ? sql`` : sql`and j.type = ${type}`}
          ${scheduleId === undefined ? sql`` : sql`and j.schedule_id = ${scheduleId}`}
          ${isWithin(sql, sql`j.created_at`, sql`j.id`, filter)}
          ${cursor === undefined ? sql`` : sql`and j.id < ${cursor}`}
          ${connections === undefined ? sql`` : reachable(sql, connections)}
        order by j.id desc limit ${limit}`,
    );
  }

  /** In the order in which they were found; `after` is the last ordinal of the previous page. */
  async files(
    id: string,
    {
      state,
      after,
      limit,
    }: { readonly state?: JobFileState | undefined; readonly after: number; readonly limit: number },
  ): Promise<readonly JobFileItem[]> {
    return this.#database.run(
      (sql) => sql<JobFileItem[]>`
        select ${columnsOf(sql, jobFileItemFields)} from job_files
        where job_id = ${id} and ordinal > ${after}
          ${state === undefined ? sql`` : state === 'failed' ? sql`and state = 'failed'` : sql`and state = ${state}`}
        order by ordinal limit ${limit}`,
    );
  }

  /**
   * Files that ended after the file with this end number (0 = from the beginning), and the last end number among them.
   */
  async ends(
    id: string,
    after: number,
    limit: number,
  ): Promise<{ readonly files: readonly JobFileItem[]; readonly last: number }> {
    const rows = await this.#database.all<JobFileItem & { readonly number: number }>`
      select ${(sql) => columnsOf(sql, jobFileItemFields)}, end_number as number from job_files
      where job_id = ${id} and end_number > ${after} order by end_number limit ${limit}`;
    return { files: rows, last: rows.at(-1)?.number ?? after };
  }

  /** The end number of the file that ended last. */
  async lastEnd(id: string): Promise<number> {
    const row = await this.#database.first<{ last: number | null }>`
      select max(end_number) as last from job_files where job_id = ${id}`;
    return row?.last ?? 0;
  }

  /** For a slice of the job; undefined if it has nothing more to do. */
  async running(id: string): Promise<RunningJob | undefined> {
    return this.#database.first<RunningJob>`
      select ${columns}, a.plan from jobs j join accounts a on a.id = j.account_id
      where j.id = ${id} and j.state = 'running'`;
  }

  /** Until when a running job waits for the hours of its connections; null = it does not. */
  async noteWait(id: string, until: Date | null): Promise<void> {
    await this.#database.run((sql) => setWait(sql, id, until));
  }

  /** The URL that an upload fetches. */
  async urlOf(id: string): Promise<string | undefined> {
    return this.#database.run((sql) => this.#secrets.find(sql, id, URL_NAME));
  }

  /** The current states of jobs; deleted ones are missing. */
  async states(ids: readonly string[]): Promise<ReadonlyMap<string, JobNow>> {
    const rows = await this.#database.all<JobNow & { readonly id: string }>`
      select id, state, error_code, error_message from jobs
      where id = any(${(sql) => sql.types.uuids(ids)})`;
    return new Map(rows.map(({ id, ...now }) => [id, now]));
  }

  /** Unfinished jobs whose key would not be allowed to start them now. */
  async forsaken(limit: number): Promise<readonly (Job & JobHolder)[]> {
    return this.#database.run((sql) => {
      const [from, to] = [
        sql`j.definition->'source'->>'connectionId'`,
        sql`j.definition->'destination'->>'connectionId'`,
      ];
      return sql<(Job & JobHolder)[]>`
        select ${columns(sql)}, ${sql(HOLDER)} from jobs j ${sql(HOLDERS)}
        where ${sql(IS_OPEN)} and j.key_id is not null
          and (k.id is null or not 'write' = any(k.scopes)
            or (not 'read' = any(k.scopes) and (j.type in ('copy', 'sync') or (j.type = 'move' and ${from} <> ${to})))
            or (cardinality(k.connection_ids) > 0
              and not k.connection_ids @> array_remove(array[${from}, ${to}], null)))
        order by j.id limit ${limit}`;
    });
  }

  /** Samples the progress of running jobs from time to time; their speed is computed from it. */
  async sample(ids: readonly string[]): Promise<void> {
    await this.#database.run((sql) => sampleRunning(sql, ids));
  }

  /** Files under way end, and no other file begins. Resolves to the job before the change; undefined = unknown. */
  async pause(accountId: string, id: string, limits: JobLimits): Promise<Job | undefined> {
    return this.#change(accountId, id, async (tx, { state }) => {
      if (state !== 'running' && state !== 'queued') return;
      await setState(tx, id, 'paused');
      await this.#startNext(tx, accountId, limits.running);
    });
  }

  async resume(accountId: string, id: string, limits: JobLimits): Promise<Job | undefined> {
    return this.#change(accountId, id, async (tx, { state }) => {
      if (state !== 'paused') return;
      await setState(tx, id, 'queued');
      await this.#startNext(tx, accountId, limits.running);
    });
  }

  async cancel(accountId: string, id: string, limits: JobEnding): Promise<Job | undefined> {
    return this.#change(accountId, id, async (tx, job) => {
      if (hasEnded(job)) return;
      await setState(tx, id, 'cancelled');
      await this.#addEndedEvent(tx, job, limits);
      await this.#startNext(tx, accountId, limits.running);
    });
  }

  async #change(
    accountId: string,
    id: string,
    act: (tx: Transaction, job: Job) => Promise<void>,
  ): Promise<Job | undefined> {
    const change = async (tx: Transaction): Promise<Job | undefined> => {
      const job = await this.#lock(tx, accountId, id);
      if (job?.accountId !== accountId) return undefined;
      await act(tx, job);
      return job;
    };
    return this.#database.turns.run(accountId, () => this.#database.transaction(change), REQUESTS_FIRST);
  }

  /** Ends a running job with the error that stops all of it. */
  async fail(job: Job, error: JobEnd, limits: JobEnding): Promise<void> {
    await this.#failIn(['running'], job, error, limits);
  }

  /** Ends it, whether it has begun or not. */
  async stop(job: Job, error: JobEnd, limits: JobEnding): Promise<void> {
    await this.#failIn(OPEN, job, error, limits);
  }

  async #failIn(states: readonly JobState[], job: Job, error: JobEnd, limits: JobEnding): Promise<void> {
    const write = async (tx: Transaction): Promise<void> => {
      const now = await this.#lock(tx, job.accountId, job.id);
      if (now !== undefined && states.includes(now.state)) await this.#end(tx, now, error, limits);
    };
    await this.#database.turns.run(job.accountId, () => this.#database.transaction(write));
  }

  /**
   * A slot without work gives up its task, unless new work has arrived: then it resolves to the time of that work. The
   * last slot of a phase begins the next phase, or ends the job.
   */
  async leave(
    claimed: ClaimedTask,
    jobId: string,
    slot: WorkerSlot,
    limits: JobEnding,
  ): Promise<'done' | { readonly again: Date }> {
    const { account } = claimed;
    const write = async (tx: Transaction): Promise<'done' | { readonly again: Date }> => {
      const finish = (): Promise<void> => this.#queue.finish(slot.kind, [claimed], tx);
      const job = await this.#lock(tx, account, jobId);
      if (job?.state !== 'running') {
        await finish();
        return 'done';
      }
      const [next] = await tx<{ at: Date | null }[]>`${nextOf(tx, job, slot)}`;
      if (next !== undefined && next.at !== null) return { again: next.at };
      await finish();
      const step = await nextPhase(tx, job);
      if (step === undefined) return 'done';
      if (step.phase === undefined) {
        await this.#end(tx, job, step.error, limits);
      } else {
        await setPhase(tx, jobId, step.phase);
        const kind = step.phase === 2 ? 'job-files' : 'job-list';
        await this.#queue.send(kind, workerSlotTasks(kind, { ...job, phase: step.phase }), tx);
      }
      return 'done';
    };
    return this.#database.turns.run(account, () => this.#database.transaction(write));
  }

  /** Removes the rows of jobs that ended long ago, in small steps. Resolves to whether there is more. */
  async purge(keepDays: number): Promise<boolean> {
    return this.#database.bulk((tx) => purgeEnded(tx, keepDays));
  }

  /** Removes a part of the account's job that ended first. Resolves to whether there was one. */
  async purgeOldest(accountId: string): Promise<boolean> {
    return this.#database.bulk((tx) => purgeEnded(tx, { accountId }));
  }

  /** Rows written by this job, by the account's jobs, and by all jobs; each job itself counts as one row. */
  async storedRows(accountId: string, jobId: string | null): Promise<StoredRows> {
    const row = await this.#database.first<StoredRows>`
      select coalesce(sum(stored_rows) filter (where id = ${jobId}), 0)::bigint as job,
        coalesce(sum(1 + stored_rows) filter (where account_id = ${accountId}), 0)::bigint as account,
        coalesce(sum(1 + stored_rows), 0)::bigint as "all" from jobs`;
    return row ?? { job: 0, account: 0, all: 0 };
  }

  /** For the metrics. */
  async counts(): Promise<{ readonly running: number; readonly waiting: number; readonly failed: number }> {
    const row = await this.#database.first<{ running: number; waiting: number; failed: number }>`
      select count(*) filter (where state = 'running') as running,
        count(*) filter (where state = 'queued') as waiting,
        count(*) filter (where ${(sql) => sql(HAVE_FAILED)} and finished_at > now() - interval '1 day') as failed
      from jobs where state in ('queued', 'running') or finished_at > now() - interval '1 day'`;
    return row ?? { running: 0, waiting: 0, failed: 0 };
  }

  async #end(tx: Transaction, job: Job, error: JobEnd | undefined, limits: JobEnding): Promise<void> {
    const [left] = await tx<{ troubled: boolean }[]>`
      select exists (select from job_folders where job_id = ${job.id} and state = 'failed') as troubled`;
    const isWhole = error === undefined && job.failed === 0 && left?.troubled !== true;
    const hasDone = job.done + job.skipped + job.deleted > 0;
    if (error === undefined) await keepSourceFiles(tx, job);
    await setState(tx, job.id, isWhole ? 'succeeded' : hasDone ? 'partly_failed' : 'failed', error);
    // A successful upload is never retried.
    if (isWhole && job.type === 'upload') await this.#secrets.put(tx, job.id, URL_NAME, null);
    await this.#addEndedEvent(tx, job, limits);
    await this.#startNext(tx, job.accountId, limits.running);
  }

  /** The event is written in the transaction of the end: neither exists without the other. */
  async #addEndedEvent(tx: Transaction, { id, definition }: Job, { eventOf }: JobEnding): Promise<void> {
    const { webhookUrl, source, destination } = definition;
    const connectionIds = [
      ...new Set([source.connectionId, ...(destination === null ? [] : [destination.connectionId])]),
    ];
    const job = (await this.#findIn(tx, id)) as Job;
    const receiver = webhookUrl === null ? undefined : { jobId: id, webhookUrl };
    const event = eventOf(job, job.finishedAt ?? new Date());
    await this.#outbox.add(tx, [{ ...event, accountId: job.accountId, connectionIds, receiver }]);
  }

  /** Starts waiting jobs, oldest first, up to the limit of running ones. */
  async #startNext(tx: Transaction, accountId: string, limit: number): Promise<void> {
    const ids = await startQueued(tx, accountId, limit);
    if (ids.length === 0) return;
    const started = await tx<(Job & { readonly folders: number; readonly hasFiles: boolean })[]>`
      select ${columns(tx)},
        (select count(*) from (select from job_folders f where f.job_id = j.id and f.state = 'waiting' limit 2) w) as folders,
        exists (select from job_files f where f.job_id = j.id and f.phase = j.phase and f.state = 'waiting') as has_files
      from jobs j where j.id = any(${tx.types.uuids(ids)}) order by j.id`;
    for (const job of started) {
      const { phase, type, folders, hasFiles } = job;
      // At least one slot, which ends a job without work; slots that find more work send tasks for the others.
      const lists = phase !== 2 && type !== 'upload';
      if (lists) await this.#queue.send('job-list', workerSlotTasks('job-list', job, Math.max(1, folders)), tx);
      if (!lists || hasFiles)
        await this.#queue.send('job-files', workerSlotTasks('job-files', job, workerSlotsWorth(job)), tx);
    }
  }

  /** Also locks the account; every transaction locks it before the job. */
  async #lock(tx: Transaction, accountId: string, id: string): Promise<Job | undefined> {
    const account = lockAccount(tx, accountId);
    const locked = tx`select from jobs where id = ${id} for no key update`.execute();
    const [, , job] = await Promise.all([account, locked, this.#findIn(tx, id)]);
    return job;
  }

  async #findIn(sql: Queryable, id: string): Promise<Job | undefined> {
    const [job] = await sql<Job[]>`select ${columns(sql)} from jobs j where j.id = ${id}`;
    return job;
  }
}

const HOLDERS = holdersOf('j');
const HAVE_FAILED = templateIn(isOneOf('state', FAILED));

/** The name among the sealed values of a job. */

/** Only one transaction at a time decides how many jobs of an account run. */
function lockAccount(tx: Transaction, accountId: string): PromiseLike<unknown> {
  return tx`select pg_advisory_xact_lock(hashtextextended('jobs ' || ${accountId}::text, 0))`.execute();
}

/** When a slot has work next; null = never, as far as is known. */
function nextOf(sql: Queryable, { id, definition, phase }: Job, slot: WorkerSlot) {
  const slots = workerSlotsOf(slot.kind, { definition, phase });
  const mine = sql`(seat is null or seat = ${slot.number} or seat >= ${slots})`;
  if (slot.kind === 'job-files') {
    return sql`
      select min(next_try_at) as at from job_files
      where job_id = ${id} and phase = ${phase} and state = 'waiting' and ${mine}`;
  }
  // Folders are removed level by level, by one slot.
  const isRemoving = phase === 3 && slot.number === 0;
  return sql`
    select min(next_try_at) as at from job_folders where job_id = ${id} and ${mine}
      and ${
        phase === 1
          ? sql`state = 'waiting'`
          : sql`state = 'listed' and is_removed and ${isRemoving}
        and not exists (select from job_folders where job_id = ${id} and state = 'waiting')`
      }`;
}

function reachable(sql: Queryable, connections: readonly string[]) {
  const ids = sql.types.texts([...connections]);
  return sql`
    and j.definition->'source'->>'connectionId' = any(${ids})
    and coalesce(j.definition->'destination'->>'connectionId' = any(${ids}), true)`;
}

function columns(sql: Queryable) {
  const made = {
    scheduleId: sql`(select s.id from schedules s where s.id = j.schedule_id)`,
    moving: movingOf(sql),
    sample: sql`
      case when j.sampled_at is not null then json_build_object('bytes', coalesce(j.earlier_bytes, j.sampled_bytes),
        'agoMs', (extract(epoch from now() - coalesce(j.earlier_at, j.sampled_at)) * 1000)::bigint) end`,
    activeMs: sql`(j.active_ms + coalesce((extract(epoch from now() - j.active_since) * 1000)::bigint, 0))`,
    isListed: sql`not exists (select from job_folders f where f.job_id = j.id and f.state = 'waiting')`,
  };
  return columnsOf(sql, jobFields, { table: 'j', made });
}

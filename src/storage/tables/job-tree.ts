/** Rows of jobs, their folders and files: the findings of listings, the work that slices claim, and how each ended. */
import type { ErrorCode } from '../../base/errors.js';
import type { JobState } from '../../contract/job.js';
import type { QueueSender } from '../queue/queue.js';
import type { Database } from '../postgres/database.js';
import { columnOf } from '../postgres/column-names.js';
import {
  addedTo,
  asTheyAre,
  columnsOf,
  isOneOf,
  letGo,
  listed,
  type Queryable,
  rowOf,
  selected,
  storable,
  tableOf,
  templateIn,
  type Transaction,
  valuesOf,
} from '../postgres/sql.js';
import { type ListingFindings, forgetTexts, TEXT_COLUMNS } from './found-files.js';
import {
  foundFields,
  IS_OPEN,
  type Job,
  JOB_COUNTS,
  type JobCounts,
  type JobFile,
  type JobFileEnd,
  jobFileFields,
  type JobFolder,
  jobFolderFields,
  newFolderFields,
  type NewJobRow,
} from './job.js';
import { isFiltered, jobFields } from '../../contract/job.js';
import { FINISHED_FILE, hasEnded, UNDONE_FILE } from '../../contract/job-states.js';
import type { JobEnd } from './job-phases.js';
import { type WorkerSlot, workerSlotTasks, workerSlotsOf, workerSlotsWorth } from './job-slots.js';
import { movingOf } from './running-transfers.js';

/** The columns of a new folder, with the types of their values; bytes are in hexadecimal. */
const FOLDER_TYPES = {
  path: 'texts',
  depth: 'bigints',
  isExtra: 'booleans',
  isRemoved: 'booleans',
  above: 'texts',
} as const satisfies Partial<Record<keyof JobFolder, string>>;
// Built once: each fragment of a statement is an object that lives until a full garbage collection.
const ADD_FOLDERS = templateIn(`
  insert into job_folders ${selected({
    jobId: '?::uuid',
    ...asTheyAre(Object.keys(FOLDER_TYPES)),
    path: "decode(path, 'hex')",
    above: "decode(above, 'hex')",
    state: "'waiting'",
  })} from ? on conflict do nothing`);
const ERRORS = ['errorCode', 'errorMessage'];
const ADD_FILES = templateIn(`
  insert into job_files ${selected({
    jobId: '?::uuid',
    ...Object.fromEntries(Object.entries(TEXT_COLUMNS).map(([name, type]) => [name, `${columnOf(name)}::${type}`])),
    ...asTheyAre(ERRORS),
  })}
  from unnest(${Object.keys(TEXT_COLUMNS)
    .map(() => "string_to_array(?, ',')")
    .join(', ')}, ?, ?)
    as t (${listed([...Object.keys(TEXT_COLUMNS), ...ERRORS])})
  on conflict do nothing returning action, phase, state, size`);
/** The columns of a folder or file that a job copies from another one. */
const FOLDER = templateIn(listed(Object.keys(newFolderFields)));
const BEGUN_FOLDER = templateIn(listed(['isBegun', 'above', ...Object.keys(newFolderFields)]));
const FILE = templateIn(listed(['phase', ...Object.keys(foundFields)]));
const FAILED_FILE = templateIn(listed(['phase', 'state', ...ERRORS, ...Object.keys(foundFields)]));
const FILE_F = templateIn(listed(['phase', ...Object.keys(foundFields)], 'f'));

const COUNTS = templateIn(listed(JOB_COUNTS, 'j'));
const ADDED_COUNTS = templateIn(addedTo('j', ['failed', 'done', 'deleted', 'bytes', 'bytesTotal'], 't'));
const ENDED_COUNTS = templateIn(addedTo('j', ['done', 'deleted', 'skipped', 'failed', 'bytes'], 't'));
const FAILED_COUNTS = templateIn(addedTo('j', ['found', 'failed'], 't'));
const SKIPPED_COUNTS = templateIn(addedTo('j', ['found', 'skipped'], 't'));

const IS_UNDONE = templateIn(isOneOf('state', UNDONE_FILE));
const IS_UNDONE_D = templateIn(isOneOf('d.state', UNDONE_FILE));
const IS_FINISHED_F = templateIn(isOneOf('f.state', FINISHED_FILE));
const IS_FINISHED = templateIn(isOneOf('state', FINISHED_FILE));
/** The folder is to be listed or removed. */
const IS_OPEN_FOLDER = templateIn(isOneOf('state', ['waiting', 'listed']));

const PURGE_ROWS = 5000;
/** Larger writes do not queue with the short transactions. */
const FEW_ROWS = 100;
/**
 * The slot of a former job, which no slice has now: a slice that claims its files knows that they may have been done.
 */
const FORMER_SLOT = 32_767;

/** Priorities among an account's writes: requests overtake the work of jobs, but not finished records. */
export const REQUESTS_FIRST = 1;
export const RECORDS_FIRST = 2;

type Owned = Pick<Job, 'id' | 'accountId' | 'definition' | 'phase'>;

export class JobTree {
  readonly #database: Database;
  readonly #queue: QueueSender;

  constructor(database: Database, queue: QueueSender) {
    this.#database = database;
    this.#queue = queue;
  }

  /** Folders for a slot: unfinished ones of its last run, and others. */
  async claimFolders(job: Owned, slot: WorkerSlot, limit: number): Promise<readonly JobFolder[]> {
    const { id, phase } = job;
    const slots = workerSlotsOf(slot.kind, job);
    return this.#database.run(
      (sql) => sql<JobFolder[]>`
        with picked as (
          select path from job_folders
          where job_id = ${id} and next_try_at <= now()
            and (seat is null or seat = ${slot.number} or seat >= ${slots})
            and ${phase === 3 ? deepest(sql, id) : sql`state = 'waiting'`}
          order by depth, path limit ${limit} for update skip locked)
        update job_folders f set seat = ${slot.number} from picked p
        where f.job_id = ${id} and f.path = p.path
        returning ${columnsOf(sql, jobFolderFields, { table: 'f' })}`,
    );
  }

  /** The same for files: at most `limit`; more than one only up to `bytes` together. */
  async claimFiles(job: Owned, slot: WorkerSlot, limit: number, bytes: number): Promise<readonly JobFile[]> {
    const { id, phase } = job;
    return this.#database.run(
      (sql) => sql<JobFile[]>`
        with picked as (
          select path, ordinal, size, seat is not null or tries > 0 as was_taken from job_files
          where job_id = ${id} and phase = ${phase} and state = 'waiting' and next_try_at <= now()
            and (seat is null or seat = ${slot.number} or seat >= ${workerSlotsOf(slot.kind, job)})
          order by ordinal limit ${limit} for update skip locked),
        summed as (
          select path, ordinal, was_taken, sum(size) over (order by ordinal) as bytes, min(ordinal) over () as first
          from picked),
        taken as (
          update job_files f set seat = ${slot.number} from summed s
          where f.job_id = ${id} and f.path = s.path and (s.bytes <= ${bytes}::bigint or s.ordinal = s.first)
          returning f.*, s.was_taken)
        select ${columnsOf(sql, jobFileFields)}, was_taken from taken order by ordinal`,
    );
  }

  /**
   * Writes the findings of a listing, and adds `rows` to the job's row count. Existing files and folders are not
   * changed: a folder that is listed again after a crash counts nothing twice.
   */
  async add(job: Owned, findings: ListingFindings, rows: number): Promise<void> {
    const write = (tx: Transaction): Promise<void> => this.#addIn(tx, job, findings, rows);
    const isLarge = findings.files.count + findings.folders.length > FEW_ROWS;
    await this.#database.turns.run(job.accountId, () =>
      isLarge ? this.#database.bulk(write) : this.#database.transaction(write),
    );
    forgetTexts(findings.files);
  }

  async #addIn(tx: Transaction, job: Owned, findings: ListingFindings, rows: number): Promise<void> {
    const { id } = job;
    const { files, folders, listed, left, begun, unchanged } = findings;
    const { texts } = tx.types;
    const paths = (all: readonly Buffer[]) => tx`
        (select decode(t.path, 'hex') from unnest(${texts(all.map((path) => path.toString('hex')))}) as t (path))`;
    if (!(await lockGoing(tx, id))) return;
    // Sent together, executed in this order.
    const steps: PromiseLike<unknown>[] = [];
    if (folders.length > 0) {
      const rows = folders.map((folder) => {
        return { ...folder, path: folder.path.toString('hex'), above: folder.above.toString('hex') };
      });
      steps.push(tx(ADD_FOLDERS, id, tableOf(tx, rows, FOLDER_TYPES)));
    }
    const values = Object.values(files.texts);
    const errors = [files.errorCodes, files.errorMessages.map((message) => storable(message))].map(texts);
    const adding = tx(ADD_FILES, id, ...values, ...errors);
    const counting = tx<JobCounts[]>`
        with added as (${adding})
        update jobs j set found = j.found + t.found + ${unchanged}, stored_rows = j.stored_rows + ${rows},
          skipped = j.skipped + t.skipped + ${unchanged},
          ${tx(ADDED_COUNTS)}
        from (select count(*) filter (where phase = 1) as found,
          count(*) filter (where state = 'failed') as failed, count(*) filter (where state = 'skipped') as skipped,
          count(*) filter (where state = 'planned' and action <> 'delete') as done,
          count(*) filter (where state in ('planned', 'done') and action = 'delete') as deleted,
          coalesce(sum(size) filter (where state = 'planned' and action <> 'delete'), 0) as bytes,
          coalesce(sum(size) filter (where state <> 'failed' and action <> 'delete'), 0) as bytes_total from added) t
        where j.id = ${id}
        returning ${tx(COUNTS)}`;
    steps.push(counting);
    if (begun.length > 0) {
      steps.push(tx`update job_folders set is_begun = true where job_id = ${id} and path in ${paths(begun)}`);
    }
    if (left.length > 0) {
      steps.push(tx`update job_folders set is_removed = false where job_id = ${id} and path in ${paths(left)}`);
    }
    if (listed.length > 0) {
      steps.push(tx`
          update job_folders set state = 'listed', seat = null where job_id = ${id} and path in ${paths(listed)}
            and state = 'waiting'`);
    }
    await Promise.all(steps);
    for (const ended of [adding, counting]) letGo(ended);
    if (folders.length > 0) await this.#queue.send('job-list', workerSlotTasks('job-list', job), tx);
    if (files.haveWork) {
      const [counts] = await counting;
      await this.#queue.send('job-files', workerSlotTasks('job-files', job, counts && workerSlotsWorth(counts)), tx);
    }
  }

  /** The paths, in hexadecimal, that the job already has. */
  async known(jobId: string, paths: readonly Buffer[]): Promise<ReadonlySet<string>> {
    const rows = await this.#database.all<{ path: string }>`
      select t.path from unnest(${(sql) => sql.types.texts(paths.map((path) => path.toString('hex')))}) as t (path)
      where exists (select from job_files where job_id = ${jobId} and path = decode(t.path, 'hex'))
        or exists (select from job_folders where job_id = ${jobId} and path = decode(t.path, 'hex'))`;
    return new Set(rows.map(({ path }) => path));
  }

  /** A folder to list or remove again after `afterMs`. */
  async retryFolder(jobId: string, path: Buffer, afterMs: number): Promise<void> {
    await this.#database.all`
      update job_folders set tries = tries + 1, seat = null,
        next_try_at = now() + make_interval(secs => ${afterMs / 1000}::double precision)
      where job_id = ${jobId} and path = decode(${path.toString('hex')}, 'hex') and ${(sql) => sql(IS_OPEN_FOLDER)}`;
  }

  /** A folder that turned out not to be empty is listed once more before it is removed. */
  async listAgain(jobId: string, path: Buffer): Promise<void> {
    await this.#database.all`
      update job_folders set state = 'waiting', tries = tries + 1, seat = null, is_begun = true
      where job_id = ${jobId} and path = decode(${path.toString('hex')}, 'hex') and state = 'listed'`;
  }

  /**
   * A folder that cannot be listed or removed. Unless it is the root, it counts and appears as one of the job's
   * failures.
   */
  async failFolder(job: Owned, path: Buffer, code: ErrorCode, message: string): Promise<void> {
    const hex = path.toString('hex');
    const write = async (tx: Transaction): Promise<void> => {
      if (!(await lockGoing(tx, job.id))) return;
      const { count } = await tx`
        update job_folders set state = 'failed', seat = null, error_code = ${code}, error_message = ${storable(message)}
        where job_id = ${job.id} and path = decode(${hex}, 'hex') and ${tx(IS_OPEN_FOLDER)}`;
      if (count === 0 || hex === '') return;
      const failure = {
        jobId: job.id,
        path: tx`decode(${hex}, 'hex')`,
        action: 'list',
        phase: 1,
        state: 'failed',
        size: 0,
        modifiedMs: 0,
        errorCode: code,
        errorMessage: storable(message),
      };
      await tx`
        with added as (
          insert into job_files ${valuesOf(tx, failure)} on conflict do nothing returning 1)
        update jobs set found = found + (select count(*) from added), failed = failed + (select count(*) from added)
        where id = ${job.id}`;
    };
    await this.#database.turns.run(job.accountId, () => this.#database.transaction(write));
  }

  /** Folders that were removed, or that are kept because they are not empty. */
  async endRemovals(jobId: string, removed: readonly Buffer[], kept: readonly Buffer[]): Promise<void> {
    const [gone, left] = [removed, kept].map((paths) => paths.map((path) => path.toString('hex')));
    await this.#database.run(
      (sql) => sql`
        update job_folders f set state = t.state, seat = null from (
          select decode(path, 'hex') as path, 'removed' as state from unnest(${sql.types.texts(gone ?? [])}) as g (path)
          union all select decode(path, 'hex'), 'kept' from unnest(${sql.types.texts(left ?? [])}) as k (path)) t
        where f.job_id = ${jobId} and f.path = t.path and f.state = 'listed'`,
    );
  }

  /** Files that end without an item of the history. */
  async end({ id, accountId }: Owned, ends: readonly JobFileEnd[]): Promise<void> {
    if (ends.length === 0) return;
    const rows = ends.map(({ path, state, errorCode: code, errorMessage }) => {
      return { path: path.toString('hex'), state, code, message: storable(errorMessage) };
    });
    const write = (sql: Queryable) => sql`
      with i as (
        select ${id}::uuid as job_id, decode(path, 'hex') as path, state, 0::bigint as file_size, code, message,
          null::uuid as id
        from ${tableOf(sql, rows, { path: 'texts', state: 'texts', code: 'texts', message: 'texts' })}),
      ${endingFiles(sql)}
      select from outcome`;
    await this.#database.turns.run(accountId, () => this.#database.apart(write), RECORDS_FIRST);
  }

  /** A file to try again after `afterMs`. */
  async retryFile(
    jobId: string,
    path: Buffer,
    afterMs: number,
    error: { code: ErrorCode; message: string },
  ): Promise<void> {
    await this.#database.all`
      update job_files set tries = tries + 1, seat = null, error_code = ${error.code},
        error_message = ${storable(error.message)},
        next_try_at = now() + make_interval(secs => ${afterMs / 1000}::double precision)
      where job_id = ${jobId} and path = decode(${path.toString('hex')}, 'hex') and state = 'waiting'`;
  }

  /**
   * For a move: the copy is complete, from a source with this size and time. From now on only the source has to be
   * deleted.
   */
  async markCopied(jobId: string, path: Buffer, size: number, modifiedMs: number): Promise<void> {
    await this.#database.all`
      update job_files set is_copied = true, modified_ms = ${Math.trunc(modifiedMs)}
      where job_id = ${jobId} and path = decode(${path.toString('hex')}, 'hex') and state = 'waiting'
        and ${size}::bigint >= 0`;
  }
}

/**
 * Locks the job; every writer does so before it locks its files. False if the job has ended: its counts were already
 * reported.
 */
async function lockGoing(tx: Transaction, jobId: string): Promise<boolean> {
  const { count } = await tx`
    select from jobs where id = ${jobId} and ${tx(IS_OPEN)} for no key update`;
  return count > 0;
}

/** The condition for the folders that are removed next: the deepest ones. */
function deepest(sql: Queryable, jobId: string) {
  return sql`
    state = 'listed' and is_removed and depth = (
      select max(depth) from job_folders where job_id = ${jobId} and state = 'listed' and is_removed)
    -- What is listed once more comes first.
    and not exists (select from job_folders where job_id = ${jobId} and state = 'waiting')`;
}

/**
 * CTEs that end the unfinished files of `i (job_id, path, state, file_size, code, message, id)` and count them;
 * `outcome` has the files that did end, and those that the end of their job has cancelled: they remain waiting, as the
 * event of the end has counted them. Jobs are locked first, in the order of their ids, so that batches do not dead-lock.
 */
export function endingFiles(sql: Queryable) {
  return sql`
    locked as (
      select id, ${sql(IS_OPEN)} as is_going
      from jobs where id in (select job_id from i) order by id for no key update
    ),
    endings as (
      select i.*, not is_going and code = 'cancelled' as is_taken_back from i join locked on locked.id = i.job_id
    ),
    outcome as (
      update job_files f set state = case when is_taken_back then f.state else i.state end, seat = null,
        error_code = i.code, error_message = i.message,
        end_number = case when is_taken_back then null else nextval('job_file_ends') end
      from endings i where f.job_id = i.job_id and f.path = i.path
        -- Written so that no index of all waiting files is taken for the few that end.
        and f.state || '' = 'waiting'
      returning f.job_id, f.action, f.state, f.size, i.file_size, i.id
    ),
    tally as (
      update jobs j set ${sql(ENDED_COUNTS)}, bytes_total = j.bytes_total + t.grown
      from (select job_id, count(*) filter (where state = 'done' and action <> 'delete') as done,
        count(*) filter (where state = 'done' and action = 'delete') as deleted,
        count(*) filter (where state = 'skipped') as skipped, count(*) filter (where state = 'failed') as failed,
        coalesce(sum(file_size) filter (where state = 'done' and action <> 'delete'), 0) as bytes,
        coalesce(sum(case when state = 'done' then file_size - size else -size end)
          filter (where action <> 'delete' and ${sql(IS_FINISHED)}), 0) as grown
        from outcome group by job_id) t
      where j.id = t.job_id
    )`;
}

/** A waiting job, with its root folder or its only file to do. */
export async function insertJob(tx: Transaction, id: string, row: NewJobRow): Promise<void> {
  const { accountId, keyId, scheduleId, name, definition } = row;
  const { type } = definition;
  const job = rowOf(tx, jobFields, { id, accountId, keyId, scheduleId, type, name, state: 'queued', definition });
  await tx`insert into jobs ${tx(job)}`;
  const place = { jobId: id, path: Buffer.alloc(0), state: 'waiting' };
  if (type === 'upload') {
    const file = { ...place, action: 'upload', phase: 1, size: 0, modifiedMs: 0 };
    await tx`insert into job_files ${tx(file)}`;
    await tx`update jobs set found = 1 where id = ${id}`;
    return;
  }
  const folder = { ...place, depth: 0, isExtra: false, isRemoved: goesWhole(row) };
  await tx`insert into job_folders ${tx(folder)}`;
}

/**
 * Whether the folder itself is also removed. A deletion without filters leaves nothing, and neither does a move, except
 * that the next run of a schedule needs the same folder.
 */
function goesWhole({ definition, scheduleId }: NewJobRow): boolean {
  const { type, source } = definition;
  if (isFiltered(definition) || source.path === '/') return false;
  return type === 'delete' || (type === 'move' && scheduleId === null);
}

/**
 * Limits a new job to the entries that a former one failed on or never reached. In folders that are listed again,
 * finished files are copied to the new job as skipped. Files that failed by their name when they were found fail again.
 */
export async function narrow(tx: Transaction, formerId: string, id: string): Promise<void> {
  await tx`delete from job_folders where job_id = ${id}`;
  await tx`
    insert into job_folders (job_id, state, ${tx(BEGUN_FOLDER)})
    select ${id}::uuid, 'waiting', ${tx(BEGUN_FOLDER)} from job_folders
    where job_id = ${formerId} and ${tx(IS_UNDONE)}`;
  // They may be empty then.
  await tx`
    insert into job_folders (job_id, state, ${tx(FOLDER)}) select ${id}::uuid, 'listed', ${tx(FOLDER)} from job_folders
    where job_id = ${formerId} and state in ('kept', 'listed') and is_removed`;
  await tx`
    with taken as (
      insert into job_files (job_id, state, is_copied, ${tx(FILE)}, seat)
      select ${id}::uuid, 'waiting', is_copied, ${tx(FILE)},
        case when tries > 0 or seat is not null or state = 'failed' then ${FORMER_SLOT}::smallint end from job_files
      where job_id = ${formerId} and ${tx(IS_UNDONE)} and action <> 'list' and not ${isFailedByName(tx)}
      returning phase, action, size)
    update jobs set found = t.found, bytes_total = t.bytes
    from (select count(*) filter (where phase = 1) as found,
      coalesce(sum(size) filter (where action <> 'delete'), 0) as bytes from taken) t where id = ${id}`;
  await tx`
    with failed as (
      insert into job_files (job_id, ${tx(FAILED_FILE)}) select ${id}::uuid, ${tx(FAILED_FILE)} from job_files f
      where job_id = ${formerId} and ${isFailedByName(tx)}
        and not exists (select from job_folders d where d.job_id = f.job_id and d.path = f.path)
      returning phase)
    update jobs j set ${tx(FAILED_COUNTS)}
    from (select count(*) filter (where phase = 1) as found, count(*) as failed from failed) t where j.id = ${id}`;
  await tx`
    with left_alone as (
      insert into job_files (job_id, state, error_message, ${tx(FILE)})
      select ${id}::uuid, 'skipped', 'done by the job before', ${tx(FILE_F)}
      from job_folders d join job_files f on f.job_id = d.job_id and ${tx(IS_FINISHED_F)}
        and f.path >= ${start(tx)} and f.path < ${start(tx)} || decode('ffff', 'hex')
        and position('/'::bytea in substring(f.path from length(${start(tx)}) + 1)) = 0
      where d.job_id = ${formerId} and ${tx(IS_UNDONE_D)} and d.is_begun
      returning phase)
    update jobs j set ${tx(SKIPPED_COUNTS)}
    from (select count(*) filter (where phase = 1) as found, count(*) as skipped from left_alone) t where j.id = ${id}`;
}

/** Sets the row count of a job that was filled with another job's files. */
export async function countRows(tx: Transaction, id: string): Promise<void> {
  await tx`
    update jobs set stored_rows = (select count(*) from job_files where job_id = ${id})
      + (select count(*) from job_folders where job_id = ${id}) where id = ${id}`;
}

/** Failed when it was found: no slice has tried it. */
function isFailedByName(sql: Queryable) {
  return sql`(state = 'failed' and end_number is null)`;
}

/** The prefix of the paths of all entries in folder `d`. */
function start(sql: Queryable) {
  return sql`(case when d.path = '' then ''::bytea else d.path || '/'::bytea end)`;
}

export async function setState(tx: Transaction, id: string, state: JobState, error?: JobEnd): Promise<void> {
  await tx`
    update jobs set state = ${state}, error_code = ${error?.code ?? null}, error_message = ${storable(error?.message ?? null)},
      finished_at = case when ${hasEnded({ state })} then now() end,
      active_ms = active_ms + coalesce((extract(epoch from now() - active_since) * 1000)::bigint, 0), active_since = null
    where id = ${id}`;
}

export async function setPhase(tx: Transaction, id: string, phase: number): Promise<void> {
  await tx`update jobs set phase = ${phase} where id = ${id}`;
}

/** Until when it waits for the hours of its connections; null = it does not. */
export async function setWait(sql: Queryable, id: string, until: Date | null): Promise<void> {
  await sql`update jobs set waits_until = ${until} where id = ${id}`;
}

/** Starts waiting jobs, oldest first, up to the limit of running ones; resolves to their ids. */
export async function startQueued(tx: Transaction, accountId: string, limit: number): Promise<readonly string[]> {
  const started = await tx<{ id: string }[]>`
    with next as (
      select id from jobs where account_id = ${accountId} and state = 'queued' order by id
      limit greatest(0, ${limit}::bigint
        - (select count(*) from jobs where account_id = ${accountId} and state = 'running')))
    update jobs j set state = 'running', started_at = coalesce(started_at, now()), active_since = now(),
      sampled_at = now(), sampled_bytes = bytes, earlier_at = null, earlier_bytes = null
    from next where j.id = next.id returning j.id`;
  return started.map(({ id }) => id);
}

/** The displayed speed is measured since the sample before the last one: over once to twice this time. */
const SAMPLE_SECONDS = 10;

/** Rows that others have locked are left for the next time. */
export async function sampleRunning(sql: Queryable, ids: readonly string[]): Promise<void> {
  await sql`
    with due as (
      select id from jobs where id = any(${sql.types.uuids(ids)}) and state = 'running'
        and sampled_at < now() - make_interval(secs => ${SAMPLE_SECONDS}) for no key update skip locked)
    update jobs j set earlier_at = sampled_at, earlier_bytes = sampled_bytes,
      sampled_at = now(), sampled_bytes = bytes + (${movingOf(sql)}->>'bytes')::bigint
    from due where j.id = due.id`;
}

/** Moves the unfinished jobs of a key to the key that replaces it. */
export async function handOverJobs(tx: Transaction, formerKeyId: string, keyId: string): Promise<void> {
  await tx`
    with own as (
      select id from jobs where key_id = ${formerKeyId} and ${tx(IS_OPEN)}
      order by id for no key update)
    update jobs j set key_id = ${keyId} from own where j.id = own.id`;
}

/**
 * Removes a part of the rows of one job that ended this many days ago, or of the account's job that ended first.
 * Resolves to whether there is more.
 */
export async function purgeEnded(tx: Transaction, which: number | { readonly accountId: string }): Promise<boolean> {
  const isMeant =
    typeof which === 'number'
      ? tx`finished_at < now() - make_interval(days => ${which})`
      : tx`finished_at is not null and account_id = ${which.accountId}`;
  const [job] = await tx<{ id: string }[]>`
    select id from jobs where ${isMeant} order by finished_at limit 1 for update skip locked`;
  if (job === undefined) return false;
  const { count } = await tx`
    delete from job_files where job_id = ${job.id} and path in (
      select path from job_files where job_id = ${job.id} limit ${PURGE_ROWS})`;
  if (count < PURGE_ROWS) await tx`delete from jobs where id = ${job.id}`;
  return true;
}

/** How nodes share running transfers: progress for watchers, and requests to cancel. */
import type { Database } from '../postgres/database.js';
import { BEGUN } from '../../contract/job-states.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import { inColumns } from '../postgres/column-names.js';
import { columnsOf, fromExcluded, isOneOf, listed, type Queryable, templateIn } from '../postgres/sql.js';
import type { JobReference } from './transfer.js';

const changingFields = {
  bytes: hidden<number>(),
  totalBytes: hidden<number | null>(),
  bytesPerSecond: hidden<number>(),
  step: hidden<string>(),
  facts: hidden<Readonly<Record<string, string>>>(),
};
const rowFields = { id: hidden<string>(), accountId: hidden<string>(), ...changingFields };
const COLUMNS = templateIn(listed([...Object.keys(rowFields), 'nodeId', 'jobId', 'jobPath']));
const CHANGES = templateIn(fromExcluded(Object.keys(changingFields)));

/** A transfer that has run for a moment. */
export interface RunningRow extends RowOf<typeof rowFields> {
  readonly job: JobReference | null;
}

/** A row that was not renewed for this long belongs to a dead node. */
const STALE_SECONDS = 15;
/** Shorter than the time after which another node starts its file again. */
const STALE_FILE_SECONDS = 5;

export class RunningTransfers {
  readonly #database: Database;
  readonly #nodeId: string;

  constructor(database: Database, nodeId: string) {
    this.#database = database;
    this.#nodeId = nodeId;
  }

  /**
   * Writes the transfers that run here and deletes those that do not any more; resolves to the ids with a request to
   * cancel.
   */
  async publish(rows: readonly RunningRow[]): Promise<readonly string[]> {
    const input = rows.map(({ job, ...row }) => {
      const place = job === null ? {} : { jobId: job.id, jobPath: `\\x${job.path}` };
      return inColumns({ ...row, ...place, nodeId: this.#nodeId });
    });
    return this.#database.run(async (sql) => {
      await sql`
        delete from running_transfers where updated_at < now() - make_interval(secs => ${STALE_SECONDS})
          or (node_id = ${this.#nodeId} and id <> all(${sql.types.uuids(rows.map(({ id }) => id))}))`;
      if (rows.length === 0) return [];
      const wanted = await sql<{ id: string; cancelAsked: boolean }[]>`
        insert into running_transfers (${sql(COLUMNS)}) select ${sql(COLUMNS)}
        from jsonb_populate_recordset(null::running_transfers, ${JSON.stringify(input)}::text::jsonb)
        on conflict (id) do update set ${sql(CHANGES)}, updated_at = now()
        returning id, cancel_asked`;
      return wanted.filter(({ cancelAsked: isAsked }) => isAsked).map(({ id }) => id);
    });
  }

  /** Transfers on other nodes. */
  async elsewhere(accountIds: readonly string[]): Promise<readonly RunningRow[]> {
    return this.#database.all<RunningRow>`
      select ${(sql) => columnsOf(sql, rowFields)},
        case when job_id is not null then json_build_object('id', job_id, 'path', encode(job_path, 'hex')) end as job
      from running_transfers
      where account_id = any(${(sql) => sql.types.uuids(accountIds)}) and node_id <> ${this.#nodeId}
        and updated_at > now() - make_interval(secs => ${STALE_SECONDS}) order by id`;
  }

  /** Whether another node runs it and will receive the request. The row of one that ended here may be a second old. */
  async askCancel(accountId: string, id: string): Promise<boolean> {
    const rows = await this.#database.all`
      update running_transfers set cancel_asked = true
      where id = ${id} and account_id = ${accountId} and node_id <> ${this.#nodeId}
        and updated_at > now() - make_interval(secs => ${STALE_SECONDS}) returning id`;
    return rows.length > 0;
  }
}

const HAS_BEGUN = templateIn(isOneOf('j.state', BEGUN));

/**
 * For the job `j`: the bytes transferred of unfinished files, and how much larger than listed they turn out to be. A
 * file that ends is counted with its end, and then no longer here.
 */
export function movingOf(sql: Queryable) {
  return sql`
    (select json_build_object('bytes', coalesce(sum(r.bytes), 0),
        'grown', coalesce(sum(greatest(coalesce(r.total_bytes, r.bytes) - f.size, 0)), 0))
      from running_transfers r join job_files f on f.job_id = r.job_id and f.path = r.job_path and f.state = 'waiting'
      where r.job_id = j.id and ${sql(HAS_BEGUN)}
        and r.updated_at > now() - make_interval(secs => ${STALE_FILE_SECONDS}))`;
}

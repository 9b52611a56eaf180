/** Which failed transfers can be repeated from the history, and their repetitions. */
import type { TransferStatus, TransferType } from '../../contract/transfer.js';
import { INCOMPLETE } from '../../contract/job-states.js';
import { isOneOf, type Queryable, templateIn } from '../postgres/sql.js';

/** A transfer as far as its repetition needs it. */
export interface Repetition {
  readonly isRepeatable: boolean;
  readonly type: TransferType;
  readonly status: TransferStatus;
  readonly connectionId: string;
  readonly path: string;
  readonly jobId: string | null;
  /** As JSON. */
  readonly request: string | null;
  readonly url: string | undefined;
  /** The transfer or the job that repeated it last. */
  readonly againId: string | null;
}

const isRunningOrDone = (table: string): string => `(
  exists (select from transfers r where r.id = ${table}.again_id and r.status <> 'failed')
  or exists (select from jobs j where j.id = ${table}.again_id
    and not ${isOneOf('j.state', INCOMPLETE)}))`;

/**
 * A folder needs only its path, so nothing else is kept of `mkdir`. The file of a job is repeated by its job.
 * Deletions and commands are never repeated: what they meet by now may be something else.
 */
const repeatable = (table: string): string =>
  `(${table}.status = 'failed' and ${table}.job_id is null and ${table}.link_id is null
    and (${table}.request is not null or ${table}.type = 'mkdir') and not ${isRunningOrDone(table)})`;

const EXPRESSIONS = { t: templateIn(repeatable('t')), w: templateIn(repeatable('w')) } as const;

/** The expression for rows of `transfers`, under this alias. */
export function isRepeatable(sql: Queryable, table: keyof typeof EXPRESSIONS) {
  return sql(EXPRESSIONS[table]);
}

export async function findRequest(
  sql: Queryable,
  accountId: string,
  id: string,
): Promise<Omit<Repetition, 'url'> | undefined> {
  const [row] = await sql<Omit<Repetition, 'url'>[]>`
    select ${isRepeatable(sql, 't')} as is_repeatable, type, status, connection_id, path, job_id, request, again_id
    from transfers t where id = ${id} and account_id = ${accountId}`;
  return row;
}

/**
 * The requirements of the gateway for its database and its rights; checked at each start, so that a mistake ends the
 * start at once.
 */
import { randomInt } from 'node:crypto';
import { StartupError } from '../startup.js';
import type { Database } from './database.js';

const OLDEST_MAJOR = 15;
const ANSWER_WITHIN_MS = 15_000;

interface Facts {
  readonly version: number;
  readonly name: string;
  readonly role: string;
  /** Null if no schema of the search path can be used. */
  readonly schema: string | null;
  readonly mayCreateTables: boolean | null;
  /** The schema of the queue exists or can be created. */
  readonly mayCreateSchema: boolean;
  /** Without this right a full disk is noticed late. */
  readonly mayTry: boolean;
}

/** Rejects with a StartupError of one line that names what is missing and how to correct it. */
export async function checkRequirements(database: Database): Promise<void> {
  await requireSessions(database);
  const facts = await database.first<Facts>`
    select current_setting('server_version_num')::int as version, current_database() as name, current_user as role,
      current_schema() as schema, has_schema_privilege(current_schema(), 'create') as may_create_tables,
      has_database_privilege(current_database(), 'create')
        or exists (select from pg_namespace where nspname = current_schema() || '_jobs') as may_create_schema,
      has_database_privilege(current_database(), 'temporary') as may_try`;
  const problem = facts && problemOf(facts);
  if (problem !== undefined) throw new StartupError(`the database ${database.label} cannot be used: ${problem}`);
}

function problemOf({ version, name, role, schema, ...may }: Facts): string | undefined {
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_MAJOR) return `it is PostgreSQL ${major}; PostgreSQL ${OLDEST_MAJOR} or newer is needed`;
  if (schema === null || may.mayCreateTables !== true) {
    return `the user ${role} may create no tables; grant create, usage on schema ${schema ?? 'public'} to ${role}`;
  }
  const missing = [...(may.mayCreateSchema ? [] : ['create']), ...(may.mayTry ? [] : ['temporary'])].join(', ');
  if (missing === '') return undefined;
  return `the user ${role} lacks ${missing} on the database; grant ${missing} on database ${name} to ${role}`;
}

/**
 * Session locks need a connection with its own session. A pooler in transaction mode gives each statement another one:
 * then two nodes hold the same lock.
 */
async function requireSessions(database: Database): Promise<void> {
  if (await database.keepsSessions(randomInt(2 ** 47), ANSWER_WITHIN_MS)) return;
  throw new StartupError(
    `the database ${database.label} cannot be used: a pooler before it gives each statement another session (transaction or statement pooling); use session pooling (PgBouncer: pool_mode = session), or connect to the server itself`,
  );
}

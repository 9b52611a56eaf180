import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MINUTE_MS } from '../../contract/units.js';
import Postgrator from 'postgrator';
import { inPackage } from '../../base/package-root.js';
import type { Database } from './database.js';
import { withColumnNames } from './column-names.js';
import type { Transaction } from './sql.js';
import { StartupError } from '../startup.js';

const VERSION_TABLE = 'schema_version';
/** Any number, but the same in every version of the program. */
const MIGRATION_LOCK = 4_702_111_234_001;
/** A big migration may take minutes, and other nodes wait for it. */
const PATIENCE_MS = 15 * MINUTE_MS;
/** Nodes of the former version go on working, and may lock the same tables in another order. */
const MOST_CONFLICTS = 10;

/**
 * Migrates the schema to the version of this program: all steps or none, one node at a time. A database that a newer
 * program has migrated is refused with a StartupError.
 */
export async function migrate(database: Database, folder = migrationsFolder()): Promise<void> {
  const work = async (tx: Transaction): Promise<void> => {
    await tx`set local statement_timeout = 0`;
    await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`;
    const [row] = await tx<{ schema: string | null }[]>`select current_schema() as schema`;
    if (row === undefined || row.schema === null) {
      throw new StartupError('the database user has no schema to create tables in; grant it CREATE on one');
    }
    const postgrator = new Postgrator({
      driver: 'pg',
      schemaTable: VERSION_TABLE,
      currentSchema: row.schema,
      newline: 'LF',
      // Glob patterns use only forward slashes, even on Windows.
      migrationPattern: `${folder.replaceAll(path.sep, '/')}/*.sql`,
      execQuery: async (query) => ({ rows: withColumnNames(await tx.unsafe(query)) }),
    });
    const known = await postgrator.getMaxVersion();
    const found = await postgrator.getDatabaseVersion();
    if (found > known) {
      throw new StartupError(
        `the database is at schema version ${found}, this program knows up to ${known}: start the newer program, or restore a backup`,
      );
    }
    await postgrator.migrate();
  };
  await database.transaction(work, PATIENCE_MS, MOST_CONFLICTS);
}

/** The .sql files lie beside the sources. */
function migrationsFolder(): string {
  const folder = fileURLToPath(inPackage('src/storage/migrations'));
  if (!existsSync(folder)) {
    throw new StartupError('the folder of database migrations is missing from the installation');
  }
  return folder;
}

/** A gateway without clients. It fails if a loop polls the database for work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startPostgres } from '../servers/postgres.js';
import { withSql } from '../storage/databases.js';
import { startGateway } from '../support/gateway.js';

const MEASURED_MS = 30_000;
/**
 * Twice the expected number. Checks of connections and accounts run once a minute; a single poll each half second would
 * send 60.
 */
const MOST = 80;

test('at rest it sends few statements', { timeout: 900_000 }, async (context) => {
  const postgres = await startPostgres();
  const gateway = await startGateway({ config: { sandbox: true, database: { url: postgres.url } } });
  const count = (): Promise<number> =>
    withSql(postgres.url, async (sql) => {
      const [row] = await sql<{ count: string }[]>`
        select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()`;
      return Number(row?.count);
    });
  try {
    // The first checks, which are spread over a minute, and the statements of the start itself.
    await delay(MEASURED_MS / 3);
    const before = await count();
    await delay(MEASURED_MS);
    const sent = (await count()) - before;
    context.diagnostic(`${sent} transactions in ${MEASURED_MS / 1000} s`);
    assert.ok(sent < MOST, `${sent} transactions in ${MEASURED_MS / 1000} s`);
  } finally {
    await gateway.stop();
    await postgres.stop();
  }
});

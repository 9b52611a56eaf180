/** Conditions that are made from the states of the contract have the form of the partial indexes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { IS_OPEN } from '../../src/storage/tables/job.js';
import { IS_UNDELIVERED } from '../../src/storage/tables/webhook-events.js';
import { openTest, startSystemServer, type TestServer, withSql } from './databases.js';

const ID = "'00000000-0000-0000-0000-000000000000'";

describe('partial indexes', () => {
  let server: TestServer;
  let url: string;
  before(async () => {
    server = await startSystemServer();
    url = await server.createDatabase();
    await (await openTest(url)).close();
  });
  after(() => server?.stop());

  const STATEMENTS = {
    jobs_open: `select id from jobs where account_id = ${ID} and ${IS_OPEN.join('')}`,
    jobs_schedule_open: `select from jobs where schedule_id = ${ID} and ${IS_OPEN.join('')} limit 1`,
    deliveries_undelivered: `select count(*) from deliveries where account_id = ${ID} and ${IS_UNDELIVERED.join('')}`,
  };
  for (const [index, statement] of Object.entries(STATEMENTS)) {
    it(`${index} is used`, async () => {
      const plan = await withSql(url, (sql) =>
        sql.begin(async (tx) => {
          // A small table is read whole, and other indexes have the same first column.
          await tx`set local enable_seqscan = off`;
          const others = await tx<{ name: string }[]>`
            select indexname as name from pg_indexes
            where tablename in ('jobs', 'deliveries') and indexdef not like '% WHERE %' and indexdef not like '%UNIQUE%'`;
          for (const { name } of others) await tx`drop index ${tx(name)}`;
          const lines = await tx.unsafe<{ 'QUERY PLAN': string }[]>(`explain ${statement}`);
          return lines.map((line) => line['QUERY PLAN']).join('\n');
        }),
      );
      assert.match(plan, new RegExp(`using ${index} |on ${index} `));
    });
  }
});

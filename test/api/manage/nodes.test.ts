/** Two gateways on one database: a transfer of one is seen and cancelled from the other. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { expectError, field, startDatabase, startManagedOn, withSql } from './support.js';
import { eventually } from '../../support/eventually.js';

const FIRST = 'first-node';

test('a transfer of one node is seen and cancelled from another, and disappears when its node dies', async () => {
  const database = await startDatabase();
  const url = await database.createDatabase();
  // The name by which the database knows the backends of the first one.
  const first = await startManagedOn(`${url}${url.includes('?') ? '&' : '?'}application_name=${FIRST}`);
  // The second one to start owns the sandbox that both are connected to.
  const second = await startManagedOn(url);
  try {
    const [here, there] = [await first.browser(), await second.browser()];
    const slow = () => {
      const body = new PassThrough();
      const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': '1000000' };
      const target = '/api/upload/sandbox?filename=far.bin';
      const answered = here.send(target, { method: 'POST', body, headers });
      answered.catch(() => undefined);
      body.write(Buffer.alloc(1000));
      return { body, answered };
    };
    const seen = async () =>
      field<{ id: string; filename: string; live: { bytes: number } }[]>(
        await there.get('/manage/transfers/live'),
        'transfers',
      )[0];

    const cancelled = slow();
    await eventually(async () => (await seen())?.live.bytes === 1000, 'the other node shows the progress');
    const id = (await seen())?.id ?? '';
    assert.equal((await there.post(`/manage/transfers/${id}/cancel`)).status, 202);
    expectError(await cancelled.answered, 409, 'cancelled');
    cancelled.body.destroy();
    await eventually(async () => (await seen()) === undefined, 'it is taken off the board');

    const killed = slow();
    await eventually(async () => (await seen()) !== undefined, 'the next one shows');
    const backends = () =>
      withSql(url, (sql) => sql`select pid from pg_stat_activity where application_name = ${FIRST}`);
    assert.notEqual((await backends()).length, 0, 'the first node has backends');
    await first.kill();
    killed.body.destroy();
    // Bytes that it had sent before it died may still be written.
    await eventually(async () => (await backends()).length === 0, 'the statements of the dead node are through');
    // As if a node had been silent until it counts as dead.
    await withSql(url, (sql) => sql`update running_transfers set updated_at = now() - interval '1 minute'`);
    assert.equal(await seen(), undefined);
  } finally {
    await first.stop();
    await second.stop();
    await database.stop();
  }
});

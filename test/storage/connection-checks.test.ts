/**
 * Checks of connections, shared between all nodes, and the figures from them. A failure shows as two nodes that check
 * one connection, a claim that ends with its node, an account that delays the others, or a wrong figure.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { CheckBefore, CheckFound, Storage } from '../../src/storage/storage.js';
import { quantile, slotOf } from '../../src/storage/tables/time-slots.js';
import { DATABASES, openTest, type TestServer, until, withSql } from './databases.js';
import { ACCOUNT, accountOf } from './provisioned.js';

const QUEUE = 'connection-check';
const NOBODY = { accounts: [], groups: [] };
const OTHERS = Array.from({ length: 30 }, (_, index) => ({
  ...ACCOUNT.connections[0],
  id: `other-${index}`,
  name: `Other ${index}`,
}));

const found = (connectionId: string, changes: Partial<CheckFound> = {}): CheckFound => ({
  connectionId,
  outcome: 'reached',
  error: undefined,
  tookMs: 0,
  connectMs: 42,
  answerMs: 3,
  nextMs: 60_000,
  hostKey: undefined,
  certificate: undefined,
  server: undefined,
  ...changes,
});

test('a slot of the histogram includes its upper end, and a quantile lies in its slot', () => {
  assert.equal(slotOf(undefined), undefined);
  assert.deepEqual([slotOf(0), slotOf(1), slotOf(1.01), slotOf(20_000), slotOf(1e9)], [1, 1, 2, 22, 23]);
  assert.equal(quantile([], 0.95), null);
  const counts: number[] = [];
  for (let ms = 1; ms <= 1000; ms += 1) {
    const slot = (slotOf(ms) ?? 0) - 1;
    counts[slot] = (counts[slot] ?? 0) + 1;
  }
  const p95 = quantile(counts, 0.95) ?? 0;
  assert.ok(p95 >= 900 && p95 <= 1000, String(p95));
});

for (const kind of DATABASES) {
  describe(`checks of connections, ${kind.name}`, { timeout: 900_000 }, () => {
    let server: TestServer;
    let url: string;
    let one: Storage;
    let two: Storage;
    let accountId: string;

    before(async () => {
      server = await kind.start();
      url = await server.createDatabase();
      [one, two] = await Promise.all([openTest(url), openTest(url)]);
      await one.provision([
        ACCOUNT,
        { ...ACCOUNT, email: 'many@example.com', apiKeys: [], connections: OTHERS as typeof ACCOUNT.connections },
      ]);
      ({ accountId } = await accountOf(one));
      await one.checks.enrol(0);
    });
    after(async () => {
      await Promise.all([one?.close(), two?.close()]);
      await server?.stop();
    });

    const allDue = () => withSql(url, (sql) => sql`update connection_checks set due_at = now(), claimed_by = null`);

    test('each is claimed once, account by account, and busy ones are skipped', async () => {
      await allDue();
      const first = await one.checks.fetch(QUEUE, 4, NOBODY);
      assert.equal(first.filter(({ account }) => account === accountId).length, 2, 'not those of one account alone');
      const claims = await Promise.all([one, two, one, two].map(({ checks }) => checks.fetch(QUEUE, 100, NOBODY)));
      const ids = [...first, ...claims.flat()].map(({ key }) => key);
      assert.equal(new Set(ids).size, ids.length, 'claimed twice');
      // Rows that another claim locked at that time are left for the next one.
      for (let round = 0; ids.length < 32 && round < 10; round += 1) {
        ids.push(...(await two.checks.fetch(QUEUE, 100, NOBODY)).map(({ key }) => key));
      }
      assert.equal(new Set(ids).size, 32);
      await allDue();
      const [other] = (await one.checks.fetch(QUEUE, 100, { accounts: [accountId], groups: [] })) ?? [];
      assert.equal(other?.group, 'sftp.example.com');
      await allDue();
      const left = await one.checks.fetch(QUEUE, 100, {
        accounts: [],
        groups: [{ account: other?.account ?? '', group: 'sftp.example.com' }],
      });
      assert.deepEqual(new Set(left.map(({ account }) => account)), new Set([accountId]));
    });

    test('a claim that is not renewed lapses, and later results of its node do not count', async () => {
      await allDue();
      const mine = await one.checks.fetch(QUEUE, 100, NOBODY);
      assert.deepEqual(await two.checks.fetch(QUEUE, 100, NOBODY), []);
      await withSql(url, (sql) => sql`update connection_checks set due_at = now() where connection_id = 'warehouse'`);
      const [taken] = await two.checks.fetch(QUEUE, 100, NOBODY);
      assert.equal(taken?.key, 'warehouse');
      await one.checks.renew(QUEUE, mine);
      await one.checks.found(found('warehouse', { outcome: 'failed' }));
      assert.equal((await one.management.health.list(accountId))[0]?.checkedAt, null);
      await two.checks.found(found('warehouse'));
      assert.ok((await one.management.health.list(accountId))[0]?.checkedAt instanceof Date);
      await one.checks.giveBack(QUEUE, mine);
      assert.equal((await two.checks.fetch(QUEUE, 100, NOBODY)).length, 31);
    });

    test('the next check receives the failure, which ends with a successful check', async () => {
      const look = async (changes: Partial<CheckFound>): Promise<CheckBefore> => {
        await allDue();
        const job = (await one.checks.fetch(QUEUE, 100, NOBODY)).find(({ key }) => key === 'warehouse');
        await one.checks.found(found('warehouse', changes));
        return job?.data as CheckBefore;
      };
      assert.deepEqual(await look({}), { failures: 0, failingMs: null });
      const error = { code: 'unreachable', text: 'nobody\0there' };
      await look({ outcome: 'failed', error, tookMs: 5000 });
      await look({ outcome: 'unknown' });
      const before = await look({ outcome: 'failed', error });
      assert.equal(before.failures, 1);
      assert.ok((before.failingMs ?? 0) >= 5000);
      const state = await one.management.health.find(accountId, 'warehouse', new Date());
      assert.equal(state?.state.error, 'nobody\ufffdthere');
      assert.equal((await look({})).failures, 2);
      assert.deepEqual(await look({}), { failures: 0, failingMs: null });
    });

    test('times are stored by the hour and by the day, with the part that failed', async () => {
      await withSql(url, (sql) => sql`delete from connection_speeds`);
      for (let index = 0; index < 20; index += 1) {
        await allDue();
        await one.checks.fetch(QUEUE, 100, NOBODY);
        const isFailed = index % 5 === 4;
        await one.checks.found(
          found('warehouse', {
            outcome: isFailed ? 'failed' : 'reached',
            ...(isFailed
              ? { connectMs: undefined, answerMs: undefined }
              : { connectMs: index < 10 ? 4 : 180, answerMs: 9 }),
            hostKey: { fingerprint: index < 10 ? 'SHA256:one' : 'SHA256:two', algorithm: 'ssh-ed25519' },
            certificate: { fingerprint: 'ab', subject: 's', issuer: 'i', validTo: new Date(NaN) },
          }),
        );
      }
      const facts = await one.management.health.find(accountId, 'warehouse', new Date());
      for (const window of facts?.windows ?? []) {
        const { checks, failedChecks, connectMs, firstByteMs } = window;
        assert.deepEqual([checks, failedChecks], [20, 4]);
        assert.ok((connectMs ?? 0) > 150 && (connectMs ?? 0) <= 200, String(connectMs));
        assert.ok((firstByteMs ?? 0) > 5 && (firstByteMs ?? 0) <= 10, String(firstByteMs));
      }
      assert.equal(facts?.state.hostKey?.fingerprint, 'SHA256:two');
      assert.equal(facts?.state.certificate?.validTo, null);
      const [rows] = await withSql(url, (sql) => sql`select count(*)::int as count from connection_speeds`);
      assert.ok(rows?.['count'] <= 4, 'a row for each look');
      const stranger = '00000000-0000-7000-8000-000000000000';
      assert.equal(await one.management.health.find(stranger, 'warehouse', new Date()), undefined);
      assert.deepEqual(await one.management.health.list(stranger), []);
    });

    test('availability is the monitored time without the outages', async () => {
      await withSql(url, async (sql) => {
        await sql`update connection_checks set watched_since = now() - interval '10 days'`;
        await sql`delete from connection_outages`;
        const add = (from: string, to: string | null) => sql`
          insert into connection_outages (connection_id, account_id, since, until)
          values ('warehouse', ${accountId}, now() - ${from}::interval,
            ${to === null ? null : sql`now() - ${to}::interval`})`;
        await add('100 days', '99 days');
        await add('9 days', '8 days');
        await add('30 hours', '18 hours');
        await add('1 hour', null);
      });
      const facts = await one.management.health.find(accountId, 'warehouse', new Date());
      const near = (value: number | null | undefined, expected: number): void =>
        assert.ok(Math.abs((value ?? -1) - expected) < 0.001, `${value}, not ${expected}`);
      near(facts?.windows[0]?.availability, 1 - 7 / 24);
      near(facts?.windows[1]?.availability, 1 - 13 / (7 * 24));
      near(facts?.windows[2]?.availability, 1 - 37 / (10 * 24));
      assert.equal(facts?.outages.length, 3);
      assert.equal(facts?.outages[0]?.to, null);
      assert.ok(facts?.state.downSince instanceof Date);
      const { down, expiring, databaseBytes } = await one.management.health.counts();
      assert.deepEqual({ down, expiring }, { down: 1, expiring: 0 });
      assert.ok(databaseBytes > 1e6, String(databaseBytes));
      await one.checks.deleteOld();
      const [left] = await withSql(url, (sql) => sql`select count(*)::int as count from connection_outages`);
      assert.equal(left?.['count'], 3);
    });

    test('a changed connection is checked soon; an inactive one is not checked, and not down', async () => {
      const id = 'warehouse';
      await withSql(url, async (sql) => {
        await sql`update connection_checks set due_at = now() + interval '1 hour', checked_at = now(), claimed_by = null`;
        await sql`update connections set updated_at = now() + interval '1 second' where id = ${id}`;
      });
      await one.checks.enrol(60);
      const job = await until(async () => (await one.checks.fetch(QUEUE, 100, NOBODY))[0], 'the look');
      assert.equal(job.key, id);
      await withSql(url, (sql) => sql`update connections set is_active = false where id = ${id}`);
      await one.checks.enrol(60);
      await allDue();
      assert.ok(!(await one.checks.fetch(QUEUE, 100, NOBODY)).some(({ key }) => key === id));
      const state = (await one.management.health.list(accountId)).find((each) => each.id === id);
      assert.equal(state?.downSince, null);
    });

    test('a connection that is deleted during a check takes all its rows along', async () => {
      await allDue();
      await one.checks.fetch(QUEUE, 100, NOBODY);
      const deleting = withSql(url, (sql) => sql`delete from connections where id = 'other-1'`);
      await Promise.all([deleting, ...['other-1', 'other-2'].map((id) => one.checks.found(found(id)))]);
      const [row] = await withSql(
        url,
        (sql) => sql`
          select (select count(*) from connection_speeds where connection_id = 'other-1')::int as gone,
            (select count(*) from connection_speeds where connection_id = 'other-2')::int as kept`,
      );
      assert.deepEqual({ ...row }, { gone: 0, kept: 2 });
    });
  });
}

/** A database whose clock is set, as by NTP or a failover: nothing runs twice, and no living node loses anything. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { recurrenceOf } from '../../src/jobs/cron.js';
import { openStorage } from '../../src/storage/open.js';
import type { Storage } from '../../src/storage/storage.js';
import type { OrderDefinition } from '../../src/contract/job.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { eventually } from '../support/eventually.js';
import { openTest, testOptions, withSql } from './databases.js';
import { ACCOUNT, accountOf } from './provisioned.js';
import { JOB_OPTIONS } from '../support/job-options.js';

const AHEAD_MS = 40_000;
const BACK_SECONDS = [3, 8, 90];
/** The timing of real nodes, so that no heartbeat comes between the jump and the check. */
const REAL_TIMING = { heartbeatMs: 5_000, deadAfterMs: 20_000 };
const JOB_LIMITS = { running: 5, waiting: 100 };
const UPLOAD_LIMITS = { unfinished: 10, expireHours: 24 };

const DEFINITION: OrderDefinition = {
  type: 'copy',
  source: { connectionId: 'warehouse', path: '/a' },
  destination: { connectionId: 'warehouse', path: '/b' },
  ...JOB_OPTIONS,
};

interface Times {
  readonly isActive: boolean;
  readonly cron: string;
  readonly timeZone: string;
}
const nextRun = ({ isActive, cron, timeZone }: Times, time: Date): Date | null =>
  isActive ? recurrenceOf(cron, timeZone).nextAfter(time) : null;

describe('a database whose clock is set', () => {
  let server: PostgresServer;
  let one: Storage;
  let two: Storage;
  let accountId: string;
  before(async () => {
    server = await startPostgres({ clock: true });
    one = await openStorage(testOptions(server.url), REAL_TIMING);
    two = await openStorage(testOptions(server.url), REAL_TIMING);
    await one.provision([ACCOUNT]);
    ({ accountId } = await accountOf(one));
  });
  after(async () => {
    await Promise.all([one?.close(), two?.close()]);
    await server.stop();
  });

  it('ahead by 40 s: a claimed job stays with its node while the clock is ahead, and lapses once it is back', async () => {
    const queue = 'after-delivery';
    await one.jobs.queue.send(queue, [{ key: 'k', account: accountId, group: 'g', data: {} }]);
    const [job] = await one.jobs.queue.fetch(queue, 1, { accounts: [], groups: [] });
    assert.equal(job?.key, 'k');
    await server.setClock(AHEAD_MS);
    // The engines poll every three seconds.
    for (const until = performance.now() + 7_000; performance.now() < until; await delay(250)) {
      assert.deepEqual(await two.jobs.queue.fetch(queue, 1, { accounts: [], groups: [] }), []);
    }
    await server.setClock(0);
    const lapsed = async (): Promise<boolean> => {
      const found = await two.jobs.queue.fetch(queue, 1, { accounts: [], groups: [] });
      return found.some(({ key }) => key === 'k');
    };
    await eventually(lapsed, 'back, and not renewed any more: another node has it, without waiting for the clock');
  });

  /** The due times that are decided by now, as a check of the clock decides them. */
  const fire = async (id: string): Promise<readonly string[]> => {
    const fired: string[] = [];
    for (;;) {
      const { schedules } = one.jobs;
      const look = await schedules.fireNext((due) => ({ next: nextRun(due, due.now) }), JOB_LIMITS);
      if (look.fired === undefined) return fired;
      const { schedule, outcome } = look.fired;
      assert.equal(schedule.id, id);
      fired.push(`${outcome} ${schedule.nextRunAt?.toISOString()}`);
      await withSql(server.url, (sql) => sql`update jobs set state = 'succeeded' where schedule_id = ${id}`);
    }
  };

  for (const seconds of BACK_SECONDS) {
    it(`back by ${seconds} s after a run: a daily schedule runs once for its due time, also when it is switched off and on`, async () => {
      const due = new Date(Math.ceil((Date.now() + 1_000) / 60_000) * 60_000);
      const clockAt = (ms: number): Promise<void> => server.setClock(due.getTime() + ms - Date.now());
      const actor = { accountId, kind: 'anonymous', id: null, email: 'x', address: '', requestId: 'r' } as const;
      await clockAt(-30_000);
      const { id } = await one.jobs.schedules.create(
        actor,
        null,
        {
          name: `back ${seconds}`,
          cron: `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`,
          timeZone: 'UTC',
          isActive: true,
          jobName: null,
          definition: DEFINITION,
        },
        nextRun,
        30,
      );
      await clockAt(500);
      assert.deepEqual(await fire(id), [`begun ${due.toISOString()}`]);
      await clockAt(-seconds * 1_000);
      await one.jobs.schedules.recallEarly(nextRun);
      for (const isActive of [false, true]) {
        await one.jobs.schedules.edit(actor, null, id, { isActive }, nextRun);
      }
      await clockAt(1_500);
      assert.deepEqual(await fire(id), [], 'the same due time again');
      const schedule = await one.jobs.schedules.find(accountId, id);
      assert.equal(schedule?.nextRunAt?.getTime(), due.getTime() + 24 * 3_600_000);
      await one.jobs.schedules.remove(actor, id);
      await server.setClock(0);
    });
  }

  it('back by 90 s: the requests of a key are not refused until the clock has caught up', async () => {
    const rates = one.shared?.rates ?? assert.fail();
    const key = randomUUID();
    assert.equal((await rates.take(key, 10, 10)).granted, 10);
    await server.setClock(-90_000);
    assert.equal((await rates.take(key, 10, 10)).granted, 10, 'a second that ends in 90 s');
    await server.setClock(0);
  });

  it('ahead by 40 s: living nodes keep their leases and claims', async () => {
    await one.leftovers.expectFolder('warehouse', '/upload');
    const claim = await one.idempotency.claim(accountId, 'ahead', 'print');
    assert.equal(claim.state, 'mine');
    const transfer = one.history.begin({
      accountId,
      connectionId: 'warehouse',
      keyId: undefined,
      requestId: 'r',
      type: 'upload',
      direction: 'outbound',
      filename: 'a',
      path: '/a',
      countsAction: true,
    } as const);
    const sessions = one.shared?.sessions ?? assert.fail();
    const held = { waiting: 0, sessions: 4, atOnce: 1, since: Date.now(), isRequest: true, isFresh: false };
    await sessions.claim('login', { ...held, held: 3 }, () => 3);
    const uploadId = randomUUID();
    const row = {
      id: uploadId,
      accountId,
      keyId: null,
      linkId: null,
      connectionId: 'warehouse',
      path: '/a',
      hidden: '/.a',
    };
    await one.uploads.create(
      {
        ...row,
        metadata: '',
        overwrite: true,
        modifiedAt: null,
        length: 10,
        wantsDigest: false,
        checksum: null,
        hashStates: null,
        layout: null,
      },
      randomUUID(),
      UPLOAD_LIMITS,
    );
    await transfer.recordPending();

    await server.setClock(AHEAD_MS);
    assert.deepEqual(await two.leftovers.claimDead(), [], 'the hidden files of a node that lives');
    assert.equal((await two.idempotency.claim(accountId, 'ahead', 'print')).state, 'running');
    let seen = 0;
    await two.shared?.sessions.claim('login', { ...held, held: 1 }, (claims) => {
      seen = claims.reduce((sum, { held: one }) => sum + one, 0);
      return 1;
    });
    assert.equal(seen, 4, 'the sessions of both');
    const wanted = { writer: randomUUID(), keyId: 'key', lapsedAt: undefined };
    const taken = await two.uploads.take({ ...row, id: uploadId }, wanted, UPLOAD_LIMITS);
    assert.ok(taken !== undefined && 'held' in taken, 'the lease of a running upload');
    // A new node has not seen any of them beat.
    const three = await openTest(server.url);
    assert.deepEqual(await three.leftovers.claimDead(), []);
    assert.equal((await three.history.find(accountId, transfer.id))?.status, 'pending');
    await three.close();
    await transfer.finish({ status: 'success', fileSize: 1, errorMessage: null, errorCode: null });
    await server.setClock(0);
  });
});

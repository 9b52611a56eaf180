import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Storage, StoredAnswer } from '../../src/storage/storage.js';
import { DATABASES, openTest, startChild, type TestServer, until, withSql } from './databases.js';
import { ACCOUNT, accountOf } from './provisioned.js';

const ANSWER: StoredAnswer = { status: 200, headers: { 'X-A': 'b' }, body: '{"success":true,"name":"ä\\u0000"}' };
/** A signal that is never aborted. */
const never = (): AbortSignal => new AbortController().signal;

for (const kind of DATABASES) {
  describe(`several nodes on ${kind.name}`, () => {
    let server: TestServer;
    let url: string;
    let one: Storage;
    let two: Storage;
    let accountId: string;
    before(async () => {
      server = await kind.start();
      url = await server.createDatabase();
      [one, two] = await Promise.all([openTest(url), openTest(url)]);
      await one.provision([ACCOUNT]);
      ({ accountId } = await accountOf(one));
    });
    after(async () => {
      await Promise.all([one.close(), two.close()]);
      await server.stop();
    });

    describe('idempotency keys', () => {
      it('are claimed once, run, and return the first answer again on any node', async () => {
        const claims = await Promise.all(
          Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? one : two).idempotency.claim(accountId, 'a', 'print')),
        );
        const [mine, ...others] = claims.filter((claim) => claim.state === 'mine');
        assert.equal(others.length, 0);
        assert.equal(claims.filter((claim) => claim.state === 'running').length, 9);
        await mine?.complete(ANSWER);
        assert.deepEqual(await two.idempotency.claim(accountId, 'a', 'print'), { state: 'done', answer: ANSWER });
      });

      it('refuse another request, while the first one runs and later', async () => {
        const claim = await one.idempotency.claim(accountId, 'b', 'print');
        assert.deepEqual(await two.idempotency.claim(accountId, 'b', 'other'), { state: 'mismatch' });
        assert.ok(claim.state === 'mine');
        await claim.complete(ANSWER);
        assert.deepEqual(await two.idempotency.claim(accountId, 'b', 'other'), { state: 'mismatch' });
      });

      it('belong to their account', async () => {
        const claim = await one.idempotency.claim('00000000-0000-7000-8000-000000000000', 'a', 'print');
        assert.equal(claim.state, 'mine');
      });

      it('are limited per account, and a repeated request still gets its answer', async () => {
        const small = await openTest(url, { idempotencyKeys: 8 });
        try {
          const account = '00000000-0000-7000-8000-000000000001';
          for (let number = 0; number < 8; number++) {
            const claim = await small.idempotency.claim(account, `key ${number}`, 'print');
            assert.ok(claim.state === 'mine');
            await claim.complete(ANSWER);
          }
          const more = small.idempotency.claim(account, 'one more', 'print');
          await assert.rejects(more, { code: 'share_exceeded' });
          const again = await small.idempotency.claim(account, 'key 3', 'print');
          assert.deepEqual(again, { state: 'done', answer: ANSWER });
          assert.equal((await small.idempotency.claim(accountId, 'of another', 'print')).state, 'mine');
        } finally {
          await small.close();
        }
      });

      it('that had begun when their node died have no owner until they expire', async () => {
        const transferId = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001';
        const claim = await one.idempotency.claim(accountId, 'left', 'print');
        assert.ok(claim.state === 'mine');
        await claim.begin(transferId);
        assert.deepEqual(await two.idempotency.claim(accountId, 'left', 'print'), { state: 'running' });
        await claim.abandon();
        for (const node of [one, two]) {
          assert.deepEqual(await node.idempotency.claim(accountId, 'left', 'print'), { state: 'unknown', transferId });
        }
        assert.deepEqual(await two.idempotency.claim(accountId, 'left', 'other'), { state: 'mismatch' });
      });

      it('that another node has taken over cannot begin any more', async () => {
        const claim = await one.idempotency.claim(accountId, 'over', 'print');
        assert.ok(claim.state === 'mine');
        await withSql(url, (sql) => sql`update idempotency_keys set node_id = gen_random_uuid() where key = 'over'`);
        assert.equal((await two.idempotency.claim(accountId, 'over', 'print')).state, 'mine');
        await assert.rejects(claim.begin('0199c2f4-6f5e-7c1a-9a51-0d2f64b1c002'), { code: 'idempotency_in_progress' });
      });

      it('are free again after a release, and after 24 hours', async () => {
        const claim = await one.idempotency.claim(accountId, 'c', 'print');
        assert.ok(claim.state === 'mine');
        await claim.release();
        const second = await two.idempotency.claim(accountId, 'c', 'other');
        assert.ok(second.state === 'mine');
        await second.complete(ANSWER);
        await second.release();
        assert.equal((await one.idempotency.claim(accountId, 'c', 'other')).state, 'done', 'an answer is not released');
        await withSql(
          url,
          (sql) => sql`update idempotency_keys set expires_at = expires_at - interval '24 hours 1 second'`,
        );
        assert.equal((await one.idempotency.claim(accountId, 'c', 'third')).state, 'mine');
      });
    });

    it("a killed node's notes lapse: its claim, its folders, its uploads", async () => {
      const child = startChild('claim', { url }, accountId, 'warehouse');
      const tag = (await child.line((line) => line.startsWith('mine '))).slice('mine '.length);
      assert.equal((await one.idempotency.claim(accountId, 'key-of-the-dead', 'print')).state, 'running');
      assert.deepEqual(await one.leftovers.claimDead(), []);
      child.process.kill('SIGKILL');
      await child.exit;

      const found = await until(async () => {
        const dead = await one.leftovers.claimDead();
        return dead.length > 0 ? dead : undefined;
      }, 'the leftovers of the dead node');
      assert.deepEqual(
        found.map(({ id: _id, ...rest }) => rest).sort((a, b) => (a.kind < b.kind ? -1 : 1)),
        [
          { kind: 'folder', accountId, connectionId: 'warehouse', folder: '/upload', tag },
          { kind: 'multipart', accountId, connectionId: 'warehouse', path: '/big.bin', uploadId: 'upload-1' },
        ],
      );
      // Each node watches by its own clock: the other one may need another heartbeat.
      await until(async () => {
        const { state } = await two.idempotency.claim(accountId, 'key-of-the-dead', 'print');
        return state === 'mine' ? true : undefined;
      }, 'the other node to find it dead, too');
      assert.deepEqual(await two.leftovers.claimDead(), [], 'claimed by one node alone');

      const [first, second] = found;
      assert.ok(first !== undefined && second !== undefined);
      await one.leftovers.settle(first);
      assert.deepEqual(
        (await one.leftovers.claimDead()).map((leftover) => leftover.id),
        [second.id],
        'not settled yet',
      );
      await one.leftovers.settle(second);
      await until(async () => {
        const rows = await withSql(url, (sql) => sql`select from nodes where tag = ${tag}`);
        return rows.length === 0 ? true : undefined;
      }, 'the dead node to be forgotten');
    });

    it('a node that stops leaves its notes to the others at once', async () => {
      const third = await openTest(url);
      const { tag } = third.leftovers;
      await Promise.all([
        third.leftovers.expectFolder('warehouse', '/x'),
        third.leftovers.expectFolder('warehouse', '/x'),
      ]);
      const note = await third.leftovers.expectMultipart('lake', '/key', 'upload-2');
      await third.leftovers.forget(note);
      await third.close();
      const dead = await one.leftovers.claimDead();
      assert.deepEqual(
        dead.map((leftover) => leftover.kind === 'folder' && [leftover.folder, leftover.tag]),
        [['/x', tag]],
      );
      for (const leftover of dead) await one.leftovers.settle(leftover);
    });

    describe('locks', () => {
      it('admit one holder at a time, over all nodes, and other names pass', async () => {
        let inside = 0;
        let most = 0;
        await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            (i % 2 === 0 ? one : two).locks.withLock('name', never(), async () => {
              most = Math.max(most, ++inside);
              await delay(2);
              inside -= 1;
            }),
          ),
        );
        assert.equal(most, 1);
        const both = await one.locks.withLock('a', never(), () => one.locks.withLock('b', never(), async () => 'both'));
        assert.equal(both, 'both');
      });

      it('block no other name, however many are held', async () => {
        let release = (): void => undefined;
        const gate = new Promise<void>((resolve) => (release = resolve));
        let held = 0;
        const all = Array.from({ length: 50 }, (_, i) =>
          one.locks.withLock(`held-${i}`, never(), async () => {
            if (++held === 50) release();
            await gate;
          }),
        );
        await Promise.all(all);
      });

      it('return the result or the error of the work, and open again after either', async () => {
        assert.equal(await one.locks.withLock('x', never(), async () => 5), 5);
        await assert.rejects(
          one.locks.withLock('x', never(), async () => Promise.reject(new Error('inside'))),
          /inside/,
        );
        assert.equal(await two.locks.withLock('x', never(), async () => 6), 6);
      });

      it('a caller that gives up leaves the queue, here and on another node, and blocks no caller behind it', async () => {
        let release = (): void => undefined;
        const gate = new Promise<void>((resolve) => (release = resolve));
        let entered = (): void => undefined;
        const inside = new Promise<void>((resolve) => (entered = resolve));
        const holder = one.locks.withLock('y', never(), async () => {
          entered();
          await gate;
        });
        await inside;
        const patience = new AbortController();
        const reason = new Error('the client left');
        const waiters = [one, one, two].map((node) => node.locks.withLock('y', patience.signal, async () => undefined));
        const behind = one.locks.withLock('y', never(), async () => 'behind');
        patience.abort(reason);
        for (const waiter of await Promise.allSettled(waiters)) {
          assert.equal(waiter.status, 'rejected');
          assert.equal(waiter.reason, reason);
        }
        release();
        await holder;
        assert.equal(await behind, 'behind');
        await assert.rejects(
          one.locks.withLock('y', patience.signal, async () => undefined),
          /the client left/,
        );
      });
    });
  });
}

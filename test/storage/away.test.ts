import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import type { IdempotencyClaim, Storage } from '../../src/storage/storage.js';
import { startPostgres } from '../servers/postgres.js';
import { DATABASES, openTest, SUCCESS, type TestServer, until, upload } from './databases.js';
import { atOnce } from '../support/at-once.js';
import { earlierThan } from '../support/earlier.js';
import { PATIENCE_MS } from '../support/eventually.js';
import { startProxy } from '../support/proxy.js';
import { ACCOUNT, accountOf } from './provisioned.js';

function isAway(error: unknown): boolean {
  assert.ok(error instanceof GatewayError, String(error));
  assert.equal(error.code, 'database_away');
  assert.ok((error.retryAfterMs ?? 0) > 0);
  assert.ok(!JSON.stringify(error).includes('password') && !String(error.stack).includes('test-password'));
  return true;
}

async function untilBack(storage: Storage): Promise<void> {
  await until(
    async () =>
      storage.ready().then(
        () => true,
        () => undefined,
      ),
    'the database to be back',
  );
}

// Each on a database of its own, most of the time waiting.
describe('side by side', { concurrency: true }, () => {
  for (const kind of DATABASES) {
    describe(`${kind.name} away and back`, { concurrency: 1 }, () => {
      let server: TestServer;
      let storage: Storage;
      let accountId: string;
      const said: string[] = [];
      before(async () => {
        server = await kind.start();
        const log = (_level: string, message: string): void => void said.push(message);
        storage = await openTest(await server.createDatabase(), { log });
        await storage.provision([ACCOUNT]);
        ({ accountId } = await accountOf(storage));
      });
      after(async () => {
        await storage.close();
        await server.stop();
      });

      it('operations fail fast while it is away, rows are written when it is back, nothing acknowledged is lost', async (t) => {
        const acknowledged: string[] = [];
        const refused: string[] = [];
        let writing = true;
        t.after(() => (writing = false));
        const writers = Array.from({ length: 8 }, async () => {
          while (writing) {
            const transfer = storage.history.begin(upload(accountId));
            await transfer.finish(SUCCESS).then(
              () => acknowledged.push(transfer.id),
              (error: unknown) => isAway(error) && refused.push(transfer.id),
            );
          }
        });
        await until(async () => (acknowledged.length > 100 ? true : undefined), 'some items');
        await server.kill();
        // The embedded server restarts within a moment: it may never be found away.
        if (kind.name !== 'embedded PostgreSQL') {
          await until(async () => said.includes('the database is away') || undefined, 'the database to be found away');
          const operations: Readonly<Record<string, () => Promise<unknown>>> = {
            list: () => storage.connections.list(accountId),
            claim: () => storage.idempotency.claim(accountId, 'k', 'f'),
            quota: () => storage.quota.take(accountId, 10),
            leftover: () => storage.leftovers.expectFolder('warehouse', '/a'),
            lock: () => storage.locks.withLock('l', AbortSignal.timeout(PATIENCE_MS), async () => undefined),
            key: () => storage.keys.findKey(`ftg_${'y'.repeat(30)}`),
          };
          for (const [what, ask] of Object.entries(operations)) await assert.rejects(atOnce(ask(), what), isAway);
          // One whole round of writers gives up before the database is back.
          await until(async () => (refused.length >= 8 ? true : undefined), 'refused callers');
        }
        await server.revive();
        await untilBack(storage);
        const before = acknowledged.length;
        await until(async () => (acknowledged.length > before + 100 ? true : undefined), 'items after the return');
        writing = false;
        await Promise.all(writers);
        const total = acknowledged.length + refused.length;
        // Refused items are written as well: their operations did take place.
        await until(async () => ((await storage.history.count(accountId)) === total ? true : undefined), 'all items');
        const { total: listed } = await storage.history.list(accountId, { limit: 1, offset: 0, status: 'success' });
        assert.equal(listed, total);
        assert.equal((await storage.connections.list(accountId)).length, 3);
        assert.equal(await storage.locks.withLock('l', AbortSignal.timeout(PATIENCE_MS), async () => 'held'), 'held');
        if (kind.name !== 'embedded PostgreSQL') assert.ok(said.includes('the database is back'));
      });
    });
  }

  describe('a database behind a network that drops everything', { concurrency: true }, () => {
    it('unwritten changes of idempotency keys are written when it is back: none stays running for ever', async () => {
      const server = await startPostgres();
      const proxy = await startProxy(server.port);
      const storage = await openTest(server.url.replace(`:${server.port}/`, `:${proxy.port}/`));
      const accountId = randomUUID();
      const claim = async (key: string): Promise<Extract<IdempotencyClaim, { state: 'mine' }>> => {
        const made = await storage.idempotency.claim(accountId, key, 'print');
        return made.state === 'mine' ? made : assert.fail(`${key} is ${made.state}`);
      };
      const [failed, done] = [await claim('failed'), await claim('done')];
      proxy.isSilent = true;
      // Sent, and perhaps done: the answer is lost.
      await assert.rejects(storage.idempotency.claim(accountId, 'unknown', 'print'), isAway);
      await failed.release();
      await assert.rejects(done.complete({ status: 200, headers: {}, body: 'taken' }), isAway);
      proxy.isSilent = false;
      await untilBack(storage);
      const settled = async (key: string): Promise<IdempotencyClaim | undefined> => {
        const again = await storage.idempotency.claim(accountId, key, 'print');
        return again.state === 'running' ? undefined : again;
      };
      assert.equal((await until(() => settled('failed'), 'the released key')).state, 'mine');
      assert.equal((await until(() => settled('unknown'), 'the key of a lost answer')).state, 'mine');
      const stored = await until(() => settled('done'), 'the answer');
      assert.deepEqual(stored, { state: 'done', answer: { status: 200, headers: {}, body: 'taken' } });
      await storage.close();
      await proxy.stop();
      await server.stop();
    });

    it('is detected by its silence, and found again when it answers', async () => {
      const server = await startPostgres();
      const proxy = await startProxy(server.port);
      const storage = await openTest(server.url.replace(`:${server.port}/`, `:${proxy.port}/`));
      const accountId = randomUUID();
      await storage.history.begin(upload(accountId)).finish(SUCCESS);
      proxy.isSilent = true;
      await assert.rejects(earlierThan(4_000, storage.ready(), 'the deadline of ready(), two seconds'), isAway);
      const finished = storage.history.begin(upload(accountId)).finish(SUCCESS);
      await assert.rejects(earlierThan(10_000, finished, 'a caller is refused after five seconds'), isAway);
      proxy.isSilent = false;
      await untilBack(storage);
      await until(async () => ((await storage.history.count(accountId)) === 2 ? true : undefined), 'the late item');
      await storage.close();
      await proxy.stop();
      await server.stop();
    });
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import type { IdempotencyClaim, Storage } from '../../src/storage/storage.js';
import { startPostgres } from '../servers/postgres.js';
import { DATABASES, openTest, SUCCESS, type TestServer, until, upload } from './databases.js';
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
          const began = performance.now();
          await assert.rejects(storage.connections.list(accountId), isAway);
          await assert.rejects(storage.idempotency.claim(accountId, 'k', 'f'), isAway);
          await assert.rejects(storage.quota.take(accountId, 10), isAway);
          await assert.rejects(storage.leftovers.expectFolder('warehouse', '/a'), isAway);
          await assert.rejects(
            storage.locks.withLock('l', AbortSignal.timeout(5000), async () => undefined),
            isAway,
          );
          await assert.rejects(storage.keys.findKey(`ftg_${'y'.repeat(30)}`), isAway);
          assert.ok(performance.now() - began < 500, 'at once');
          // One whole round of writers gives up before the database is back.
          await until(async () => (refused.length >= 8 ? true : undefined), 'callers to be told');
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
      const began = performance.now();
      await assert.rejects(storage.ready(), isAway);
      assert.ok(performance.now() - began < 2500, 'the deadline of ready()');
      await assert.rejects(storage.history.begin(upload(accountId)).finish(SUCCESS), isAway);
      assert.ok(performance.now() - began < 9000, 'a caller is told after five seconds');
      proxy.isSilent = false;
      await untilBack(storage);
      await until(async () => ((await storage.history.count(accountId)) === 2 ? true : undefined), 'the late item');
      await storage.close();
      await proxy.stop();
      await server.stop();
    });
  });
});

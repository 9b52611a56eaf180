/** Rows of read-only operations: they are written a moment after their answer, and none is lost. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TransferType } from '../../src/contract/transfer.js';
import type { Storage } from '../../src/storage/storage.js';
import { atOnce } from '../support/at-once.js';
import { startProxy } from '../support/proxy.js';
import { startPostgres } from '../servers/postgres.js';
import { DATABASES, FAILURE, openTest, SUCCESS, type TestServer, until, upload, withSql } from './databases.js';

/** More rows than may be unwritten. */
const MANY = 1100;

interface Held {
  /** Nothing is written to the history until it is called. */
  release(): void;
  readonly released: Promise<unknown>;
}

async function holdWrites(url: string): Promise<Held> {
  let release = (): void => undefined;
  const until = new Promise<void>((done) => (release = done));
  return new Promise((held, failed) => {
    const released = withSql(url, (sql) =>
      sql.begin(async (tx) => {
        await tx`lock table transfers in exclusive mode`;
        held({ release, released });
        await until;
      }),
    );
    released.catch(failed);
  });
}

/** Whether it settles without the database. */
function isSettled(promise: Promise<unknown>): Promise<boolean> {
  return atOnce(promise, 'for the database').then(
    () => true,
    () => false,
  );
}

for (const kind of DATABASES) {
  describe(`rows that are written after their answer on ${kind.name}`, () => {
    let server: TestServer;
    let url: string;
    let storage: Storage;
    const commits: number[] = [];
    before(async () => {
      server = await kind.start();
      url = await server.createDatabase();
      // Room beside the statements that wait for the one that holds the table.
      storage = await openTest(url, { poolSize: 10, onHistoryCommit: (rows) => commits.push(rows) });
    });
    after(async () => {
      await storage.close();
      await server.stop();
    });

    const finish = (accountId: string, type: TransferType, outcome = SUCCESS): Promise<unknown> =>
      storage.history.begin(upload(accountId, { type, countsAction: false })).finish(outcome);
    const counted = (accountId: string, count: number): Promise<true> =>
      until(async () => ((await storage.history.count(accountId)) === count ? true : undefined), `${count} rows`);

    it('exists and list are answered while the commit is held, all others wait for it', async () => {
      const accountId = randomUUID();
      const held = await holdWrites(url);
      try {
        const waiting = finish(accountId, 'delete');
        assert.equal(await isSettled(waiting), false, 'a deletion waits');
        await finish(accountId, 'exists');
        await finish(accountId, 'list', FAILURE);
        assert.equal(await storage.history.count(accountId), 0);
        held.release();
        await waiting;
      } finally {
        held.release();
        await held.released;
      }
      await counted(accountId, 3);
      const { total } = await storage.history.list(accountId, { limit: 1, offset: 0, status: 'failed' });
      assert.equal(total, 1);
    });

    it('rows after their answer share a commit, with any rows that are written a moment before or after', async () => {
      const accountId = randomUUID();
      commits.length = 0;
      for (let i = 0; i < 20; i++) await finish(accountId, i % 2 === 0 ? 'exists' : 'list');
      await counted(accountId, 20);
      assert.ok(commits.length <= 3, `${commits.length} commits for 20 rows`);
      commits.length = 0;
      await finish(accountId, 'exists');
      await finish(accountId, 'upload');
      assert.deepEqual(commits, [2], 'with the row that is waited for');
    });

    it('no more rows wait than memory should keep: the next operations wait as all others do', async () => {
      const accountId = randomUUID();
      const held = await holdWrites(url);
      try {
        const finished = Array.from({ length: MANY }, () => finish(accountId, 'exists'));
        assert.deepEqual(await Promise.all([finished[0], finished.at(-1)].map((one) => isSettled(one!))), [
          true,
          false,
        ]);
        held.release();
        await Promise.all(finished);
      } finally {
        held.release();
        await held.released;
      }
      await counted(accountId, MANY);
    });

    it('an orderly stop loses none', async () => {
      const accountId = randomUUID();
      const stopped = await openTest(url);
      for (let i = 0; i < 50; i++) {
        await stopped.history.begin(upload(accountId, { type: 'exists', countsAction: false })).finish(SUCCESS);
      }
      await stopped.close();
      assert.equal(await storage.history.count(accountId), 50);
    });
  });
}

describe('a database that is away', () => {
  it('allows no late rows: exists waits for its row and is refused, and the row is written when it is back', async () => {
    const server = await startPostgres();
    const proxy = await startProxy(server.port);
    const said: string[] = [];
    const log = (_level: string, message: string): void => void said.push(message);
    const storage = await openTest(server.url.replace(`:${server.port}/`, `:${proxy.port}/`), { log });
    const accountId = randomUUID();
    const exists = (): Promise<unknown> =>
      storage.history.begin(upload(accountId, { type: 'exists', countsAction: false })).finish(SUCCESS);
    try {
      proxy.isSilent = true;
      await until(async () => said.includes('the database is away') || undefined, 'the database to be found away');
      await assert.rejects(exists(), { code: 'database_away' });
      proxy.isSilent = false;
      await until(async () => said.includes('the database is back') || undefined, 'its return');
      await until(async () => ((await storage.history.count(accountId)) === 1 ? true : undefined), 'the late item');
    } finally {
      proxy.isSilent = false;
      await storage.close();
      await proxy.stop();
      await server.stop();
    }
  });
});

/** Completions of one upload at once, on two nodes: the first one is held at the server. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { Ending } from '../../src/base/ending.js';
import type { Completed } from '../../src/uploads/completion.js';
import { OPENSSH, type TestServer } from '../servers/catalogue.js';
import { DATABASES, type TestServer as Database } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { withSql } from '../support/sql.js';
import { type PartNode, startPartNode } from './multipart-node.js';

const MIB = 1024 * 1024;
const isCode = (code: string) => (error: unknown) => (error as { code?: string }).code === code;

suite('repeated completions', { concurrency: 1 }, () => {
  let server: TestServer;
  let database: Database;
  let url: string;
  let proxy: Proxy;
  let first: PartNode;
  let second: PartNode;

  before(async () => {
    const [kind] = DATABASES;
    assert.ok(OPENSSH[0] !== undefined && kind !== undefined);
    [server, database] = await Promise.all([OPENSSH[0].start(), kind.start()]);
    url = await database.createDatabase();
    proxy = await startProxy(Number(server.connection['port']));
    first = await startPartNode(url, { ...server.connection, port: proxy.port });
    second = await startPartNode(url, server.connection);
  });
  after(async () => {
    proxy?.release();
    await Promise.all([first?.stop(), second?.stop()]);
    await Promise.all([proxy?.stop(), server?.stop(), database?.stop()]);
  });

  async function upload(name: string) {
    const file = `${server.base ?? ''}/${name}/file.bin`;
    const id = await first.begin(file);
    const contents = [randomBytes(5 * MIB), randomBytes(1_234)];
    const parts = await Promise.all(contents.map((content, at) => first.write(id, at + 1, content)));
    const complete = async (node: PartNode, list: typeof parts, changes = {}): Promise<Completed> =>
      node.multipart.complete(await node.request(changes), id, list, { exclusive: false });
    /** Its server does not answer until the proxy is released. */
    const hold = (changes = {}): Promise<Completed> => {
      void proxy.hold(1);
      const running = complete(first, parts, changes);
      running.catch(() => undefined);
      return running;
    };
    const hasBegun = (): Promise<void> =>
      eventually(
        () =>
          withSql(url, async (sql) => {
            const found = await sql`select from uploads where id = ${id} and completing <> ''`;
            return found.length === 1;
          }),
        'it runs',
      );
    const isWhole = async (): Promise<boolean> => (await server.disk.read(file)).equals(Buffer.concat(contents));
    return { parts, complete, hold, hasBegun, isWhole };
  }

  /** A request with another key of the account. */
  async function byAnotherKey() {
    const { caller } = await second.request();
    return { caller: { ...caller, keyId: '00000000-0000-4000-8000-000000000000' } };
  }

  test('one on another node, or of another key, waits for the first and has its result', async () => {
    const { parts, complete, hold, hasBegun, isWhole } = await upload('same');
    const running = hold();
    await hasBegun();
    const again = [complete(first, parts), complete(second, parts, await byAnotherKey())];
    await assert.rejects(complete(second, parts.slice(0, 1), await byAnotherKey()), isCode('upload_locked'));
    proxy.release();
    const done = await running;
    for (const one of await Promise.all(again)) {
      assert.deepEqual([one.transferId, one.etag, one.parts], [done.transferId, done.etag, 2]);
    }
    assert.ok(await isWhole());
    await assert.rejects(complete(second, parts.slice(0, 1)), isCode('upload_locked'));
  });

  test('one that waits goes on where the client of the first has left', async () => {
    const { parts, complete, hold, hasBegun, isWhole } = await upload('left');
    const signal = new Ending();
    const running = hold({ signal });
    await hasBegun();
    const again = complete(second, parts);
    signal.abort(new Error('the client has left'));
    const done = await again;
    proxy.release();
    await running.catch(() => undefined);
    assert.equal(done.parts, 2);
    assert.ok(await isWhole());
  });
});

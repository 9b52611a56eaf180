/**
 * A node is killed when files have been copied and none of it could be recorded: the next node recognises the copies.
 * None is written a second time, none is reported as an existing file, and all are counted.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { PROTOCOLS, startServers } from '../faults/rig.js';
import { startSystemServer, TEST_KEY, type TestServer } from '../storage/databases.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { openJobLock } from './cluster.js';
import { begin, ended, history, look } from './support.js';
import { startTogether } from '../support/together.js';

const FILES = 120;
const BYTES = 3_000;

// Each has its own node and database, and its own folders on the servers.
describe('files that were copied and not recorded', { concurrency: true, timeout: 900_000 }, () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let databases: TestServer;
  const contents = new Map<string, Buffer>();

  const startNode = (url: string): Promise<TestGateway> =>
    startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      config: {
        database: { url },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [{ name: 'test', key: KEY }],
            connections: PROTOCOLS.map((id) => ({ id, name: id, ...servers[id].connection })),
          },
        ],
      },
    });

  before(async () => {
    [servers, databases] = await startTogether([startServers(), startSystemServer()]);
    for (let number = 0; number < FILES; number++) contents.set(`${number % 7}/${number}.bin`, randomBytes(BYTES));
  });
  after(async () => {
    await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
    await databases?.stop();
  });

  for (const [type, from, to, onConflict] of [
    ['copy', 'sftp', 'ftp', 'fail'],
    ['copy', 'sftp', 's3', 'skip'],
    ['copy', 's3', 'sftp', 'rename'],
    ['move', 'ftp', 'sftp', 'replace'],
    ['sync', 'ftp', 's3', 'replace'],
  ] as const) {
    test(`a ${type} from ${from} to ${to}, onConflict ${onConflict}`, async (t) => {
      const [source, target] = [servers[from].disk, servers[to].disk];
      const root = `/${type}-${onConflict}`;
      const url = await databases.createDatabase();
      let gateway = await startNode(url);
      t.after(() => gateway.stop());
      for (const [name, content] of contents) await source.write(`${root}/${name}`, content);
      const place = `${root}-copied`;
      const row = await openJobLock({ url });
      const { id } = await begin(gateway.api, {
        // So that it is killed half way.
        bytesPerSecond: (FILES * BYTES) / 5,
        type,
        onConflict: type === 'sync' ? undefined : onConflict,
        source: { connectionId: from, path: root },
        destination: { connectionId: to, path: place },
      });
      const isListed = async (): Promise<boolean> => {
        const { counts } = await look(gateway.api, id);
        return counts.found === FILES && counts.done > 3;
      };
      await eventually(isListed, 'all files are found, and some done');
      // Records of ended files wait for the job's row.
      await row.lock(id);
      const recorded = (await look(gateway.api, id)).counts.done;
      const standing = await untilQuiet(() => shown(place));
      await kill(gateway);
      await row.unlock();
      const before = new Map(
        await Promise.all(standing.map(async (file) => [file, await target.version(file)] as const)),
      );
      gateway = await startNode(url);
      const job = await ended(gateway.api, id);
      assert.deepEqual(
        [job.state, job.counts.done, job.counts.skipped, job.counts.failed],
        ['succeeded', FILES, 0, 0],
        JSON.stringify(job),
      );
      assert.equal(job.counts.bytes, FILES * BYTES);
      assert.deepEqual(await shown(place), [...contents.keys()].map((name) => `${place}/${name}`).sort());
      const again: string[] = [];
      for (const [file, version] of before) if ((await target.version(file)) !== version) again.push(file);
      t.diagnostic(
        `${recorded} recorded, ${standing.length} standing when it was killed, ${again.length} copied again`,
      );
      assert.ok(standing.length < FILES, 'it was killed on the way');
      assert.ok(standing.length > recorded, 'there are copies that are not recorded');
      assert.deepEqual(again, []);
      for (const [name, content] of contents) assert.ok((await target.read(`${place}/${name}`)).equals(content), name);
      const items = (await history(gateway.api, { connection_id: to })).filter(({ path }) =>
        path.startsWith(`${place}/`),
      );
      assert.deepEqual([items.length, new Set(items.map(({ path }) => path)).size], [FILES, FILES]);
      assert.ok(items.every(({ status, fileSize }) => status === 'success' && fileSize === BYTES));

      async function shown(folder: string): Promise<string[]> {
        return (await target.files(folder)).filter((file) => !file.includes('/.ftg-')).sort();
      }
    });
  }
});

/** Once it has been the same for many times as long as a file takes. */
async function untilQuiet(look: () => Promise<string[]>): Promise<string[]> {
  let found = await look();
  for (let quiet = 0; quiet < 5;) {
    await delay(200);
    const now = await look();
    quiet = now.length === found.length ? quiet + 1 : 0;
    found = now;
  }
  return found;
}

async function kill(node: TestGateway): Promise<void> {
  await node.kill();
  node.api.close();
}

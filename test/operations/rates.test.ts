/** The rate of a connection holds for everything that a client asks for, and over all threads of a node. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { run } from '../jobs/support.js';
import { PROTOCOLS, startServers } from '../faults/rig.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { Tus } from '../uploads/support.js';

const KIB = 1024;
const RATE = 300 * KIB;
/** Passes at once. */
const BURST_MS = 100;
const CONTENT = randomBytes(300 * KIB);

describe('the rate of a connection, over HTTP', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let gateway: TestGateway;

  before(async () => {
    servers = await startServers();
    gateway = await startGateway({
      config: { server: { threads: 2 } },
      connections: PROTOCOLS.flatMap((id) => [
        { id, name: id, ...servers[id].connection, bytesPerSecond: RATE },
        { id: `${id}-free`, name: `${id}, without a limit`, ...servers[id].connection },
      ]),
    });
    for (const id of PROTOCOLS) await servers[id].disk.write('/rates/source.bin', CONTENT);
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
  });

  /** Each use of a connection pays for the bytes of the former ones, so only whole rounds are measured. */
  async function takesAsLongAs(bytes: number, work: () => Promise<void>): Promise<void> {
    const from = performance.now();
    await work();
    const ms = performance.now() - from;
    assert.ok(ms >= (bytes * 1000) / RATE - BURST_MS - 50, `${bytes} bytes in ${ms} ms`);
  }

  const upload = async (client = gateway.api, id = 'sftp', filename = 'sent.bin'): Promise<void> => {
    const query = { filename, path: '/rates', overwrite: 'true' };
    const { status, text } = await client.send(`/api/upload/${id}`, {
      method: 'POST',
      query,
      body: CONTENT,
      headers: { 'Content-Type': 'application/octet-stream' },
    });
    assert.equal(status, 200, text);
  };
  const download = async (id: string, path = '/rates/source.bin'): Promise<void> => {
    const { status, bytes } = await gateway.api.get(`/api/download/${id}`, { query: { path } });
    assert.equal(status, 200);
    assert.ok(bytes.equals(CONTENT));
  };

  for (const id of PROTOCOLS) {
    test(`${id}: an upload and a download`, () =>
      takesAsLongAs(2 * CONTENT.length, async () => {
        await upload(gateway.api, id);
        await download(id, '/rates/sent.bin');
      }));

    test(`${id}: the pieces of a resumable upload`, () =>
      takesAsLongAs(CONTENT.length, async () => {
        const tus = new Tus(gateway.api, id);
        const url = await tus.begin({ filename: 'pieces.bin', path: '/rates' }, CONTENT.length);
        const half = CONTENT.length / 2;
        for (const at of [0, half]) {
          const { status, text } = await tus.patch(url, at, CONTENT.subarray(at, at + half));
          assert.equal(status, 204, text);
        }
        assert.ok((await servers[id].disk.read('/rates/pieces.bin')).equals(CONTENT));
      }));
  }

  test('a copy obeys the limits of both of its connections', async () => {
    const copy = async (source: string, target: string, to: string): Promise<void> => {
      const job = await run(gateway.api, {
        type: 'copy',
        source: { connectionId: source, path: '/rates/source.bin' },
        destination: { connectionId: target, path: to },
      });
      assert.equal(job.state, 'succeeded', JSON.stringify(job));
      assert.ok((await servers[target.split('-')[0] as 'sftp'].disk.read(to)).equals(CONTENT));
    };
    await takesAsLongAs(2 * CONTENT.length, async () => {
      await copy('sftp', 'ftp-free', '/rates/one');
      await copy('sftp', 'ftp-free', '/rates/two');
    });
    await takesAsLongAs(2 * CONTENT.length, async () => {
      await copy('s3-free', 'ftp', '/rates/three');
      await copy('s3-free', 'ftp', '/rates/four');
    });
    await takesAsLongAs(2 * CONTENT.length, () => copy('sftp', 'sftp', '/rates/five'));
  });

  test('an append', () =>
    takesAsLongAs(CONTENT.length, async () => {
      const { status, text } = await gateway.api.post('/api/append/ftp', {
        path: '/rates/source.bin',
        content: CONTENT.toString('base64'),
        encoding: 'base64',
      });
      assert.equal(status, 200, text);
      await servers.ftp.disk.write('/rates/source.bin', CONTENT);
    }));

  test('the threads of a node share it', async () => {
    const clients = Array.from({ length: 4 }, () => gateway.client());
    // Connections are handed out in turn: each thread has two of these clients.
    for (const client of clients) await client.get('/api/me');
    await takesAsLongAs(clients.length * CONTENT.length, async () => {
      await Promise.all(clients.map((client, index) => upload(client, 'sftp', `thread-${index}.bin`)));
    });
  });
});

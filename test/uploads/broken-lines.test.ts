/**
 * The unmodified tus-js-client, over a connection that breaks at random bytes, to gateways that are killed: another
 * node continues. Nothing is visible before the end, the digest is right, and hardly more bytes are sent than the file
 * has. Measured with RESUMABLE_BYTES=2147483648 RESUMABLE_CUTS=20 RESUMABLE_KILLS=3.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, test } from 'node:test';
import { Upload } from 'tus-js-client';
import { OPENSSH, PURE_FTPD, S3_SERVERS, type ServerEntry, type TestServer, VSFTPD } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { freePort } from '../support/ports.js';
import { startProxy } from '../support/proxy.js';
import { held } from '../support/reliability.js';
import { TEST_KEY } from '../storage/databases.js';
import { WANTED } from './support.js';

const MIB = 1024 * 1024;
const BYTES = Number(process.env['RESUMABLE_BYTES'] ?? 96 * MIB);
const CUTS = Number(process.env['RESUMABLE_CUTS'] ?? 6);
const KILLS = Number(process.env['RESUMABLE_KILLS'] ?? 1);
const PART_BYTES = 5 * MIB;
/**
 * In addition to a share of the file: the bytes in the buffers of a connection that breaks, and those that a killed
 * node had not passed on.
 */
const LOST_BY_CUT = 1.5 * MIB;
const LOST_BY_KILL = 4 * PART_BYTES;

const servers = [OPENSSH[1], VSFTPD[1], PURE_FTPD[0], S3_SERVERS[0]].filter((entry) => entry !== undefined);

describe('resumable uploads over broken lines', { concurrency: 1 }, () => {
  let database: PostgresServer;
  let folder: string;
  let file: string;
  let sent: string;

  before(async () => {
    database = await startPostgres();
    folder = await mkdtemp(path.join(tmpdir(), 'ftg-resumable-'));
    file = path.join(folder, 'content.bin');
    const hash = createHash('sha256');
    const handle = await open(file, 'w');
    for (let left = BYTES; left > 0; left -= 8 * MIB) {
      const block = randomBytes(Math.min(left, 8 * MIB));
      hash.update(block);
      await handle.write(block);
    }
    await handle.close();
    sent = hash.digest('hex');
  });
  after(async () => {
    await database?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(entry: ServerEntry, tell: (text: string) => void): Promise<void> {
    const server = await entry.start();
    const ports = [await freePort(), await freePort()] as const;
    const nodes: [TestGateway, TestGateway] = [await startNode(server, ports[0]), await startNode(server, ports[1])];
    const proxy = await startProxy(ports[0]);
    try {
      const target = `${server.base ?? ''}/broken-${servers.indexOf(entry)}`;
      const starting: Promise<unknown>[] = [];
      let at = 0;
      const kill = (): void => {
        const [dead, other] = [at, 1 - at];
        nodes[dead as 0 | 1].process.kill('SIGKILL');
        proxy.target = ports[other as 0 | 1];
        at = other;
        const again = startNode(server, ports[dead as 0 | 1]).then((node) => (nodes[dead as 0 | 1] = node));
        starting.push(again);
      };
      const seen: string[] = [];
      const breaks = randomBreaks();
      const next = (): void => {
        const one = breaks.shift();
        if (one === undefined) return;
        proxy.after('up', one.after, () => {
          if (one.kills) kill();
          proxy.fail('reset');
          void server.disk.files(target).then((files) => {
            seen.push(...files.filter((name) => !name.includes('/.') && !name.endsWith('?upload')));
          });
          next();
        });
      };
      next();
      const startedAt = performance.now();
      const { transferId, reprDigest } = await upload(`http://127.0.0.1:${proxy.port}`, target);
      const seconds = (performance.now() - startedAt) / 1000;
      await Promise.all(starting);
      assert.deepEqual([breaks.length, seen], [0, []]);
      const left = await server.disk.files(target);
      assert.deepEqual(left, [`${target}/content.bin`]);
      const hash = createHash('sha256');
      await pipeline(await server.disk.stream(`${target}/content.bin`), hash);
      assert.equal(hash.digest('hex'), sent);
      const ratio = proxy.upBytes / BYTES;
      assert.equal(reprDigest, `sha-256=:${Buffer.from(sent, 'hex').toString('base64')}:`);
      const { json } = await nodes[at as 0 | 1].api.get(`/api/transfers/${transferId}`);
      const { digest, digestReadBytes } = json['transfer'] as { digest: string; digestReadBytes: number };
      assert.equal(digest, `sha-256:${sent}`);
      tell(`${digestReadBytes} bytes of the digest were read back`);
      tell(`${(BYTES / MIB).toFixed(0)} MiB in ${seconds.toFixed(1)} s, ${ratio.toFixed(3)} of its bytes sent`);
      assert.ok(proxy.upBytes <= BYTES * 1.01 + CUTS * LOST_BY_CUT + KILLS * LOST_BY_KILL, `${ratio} of its bytes`);
      const history = await nodes[at as 0 | 1].api.get('/api/transfers', { query: { type: 'upload', limit: '100' } });
      const items = (
        history.json['transfers'] as { id: string; status: string; path: string; fileSize: number }[]
      ).filter((item) => item.path === `${target}/content.bin`);
      assert.deepEqual(
        items.map(({ id, status, fileSize }) => [id, status, fileSize]),
        [[transferId, 'success', BYTES]],
      );
      held({
        area: 'Faults',
        what: 'the line breaks under a resumable upload, and nodes are killed (SIGKILL)',
        done: 'tus-js-client over a proxy that resets it at random bytes, to two nodes of which one is killed, on SFTP, FTP and S3',
        held: 'the other node continues after the last stored byte, nothing is seen before the end, the file is whole and its digest right, hardly more bytes are sent than it has, one item in the history',
        tries: CUTS,
      });
    } finally {
      await proxy.stop();
      await Promise.all(nodes.map((node) => node.stop()));
      await server.stop();
    }
  }

  /** Resolves with the id of its transfer, and the digest in the gateway's answer. */
  function upload(url: string, target: string): Promise<{ readonly transferId: string; readonly reprDigest: string }> {
    return new Promise((resolve, reject) => {
      const one = new Upload(createReadStream(file), {
        endpoint: `${url}/api/uploads/c1`,
        headers: { Authorization: `Bearer ${KEY}`, ...WANTED },
        metadata: { filename: 'content.bin', path: target },
        retryDelays: Array.from({ length: 200 }, () => 50),
        onError: reject,
        onAfterResponse: (_request, response) => {
          transferId = response.getHeader('X-Transfer-Id') ?? transferId;
          reprDigest = response.getHeader('Repr-Digest') ?? reprDigest;
        },
        onSuccess: () => resolve({ transferId, reprDigest }),
      });
      let [transferId, reprDigest] = ['', ''];
      one.start();
    });
  }

  function startNode(server: TestServer, port: number): Promise<TestGateway> {
    return startGateway({
      connections: [{ id: 'c1', name: 'Server', ...server.connection }],
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      config: { server: { port }, database: { url: database.url }, streams: { s3PartBytes: PART_BYTES } },
    });
  }

  for (const entry of servers) {
    test(`${entry.name}: cut, killed, taken over`, { timeout: 1_200_000 }, (t) =>
      run(entry, (text) => t.diagnostic(text)),
    );
  }
});

interface Break {
  /** Bytes after the previous one. */
  readonly after: number;
  readonly kills: boolean;
}

function randomBreaks(): Break[] {
  const places = Array.from({ length: CUTS }, () => randomInt(1000, Math.floor(BYTES * 0.98))).sort((a, b) => a - b);
  const killing = new Set(Array.from({ length: KILLS }, (_, at) => Math.floor(((at + 0.5) * CUTS) / KILLS)));
  return places.map((place, at) => ({ after: place - (places[at - 1] ?? 0), kills: killing.has(at) }));
}

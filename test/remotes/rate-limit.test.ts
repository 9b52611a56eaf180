/** The rate of a connection, over the real servers: it holds, nothing stalls because of it, and nothing waits after an end. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import type { Connection } from '../../src/connections/connection.js';
import { pump } from '../../src/operations/pump.js';
import type { Commit, Remote } from '../../src/remotes/remote.js';
import { putWhole, streamOf } from '../../src/remotes/whole.js';
import { NodeRates } from '../../src/shares/byte-rates.js';
import { PROTOCOLS, startServers } from '../faults/rig.js';
import { at, chunked, connectionOf, get, openSeam, type Seam } from '../support/seam.js';
import { despiteStalls } from '../support/stalls.js';

const KIB = 1024;
const RATE = 200 * KIB;
const NEVER = new AbortController().signal;
/** What may pass at once. */
const BURST_MS = 100;
/** A stalled server would be noticed before the limit lets the first byte pass. */
const STALL_MS = 3_000;
const DEBT_MS = 5_000;

async function write(
  remote: Remote,
  path: string,
  content: Buffer,
  signal = NEVER,
  check?: Commit['check'],
): Promise<void> {
  const writer = await remote.write(at(path), { size: content.length, isChecked: check !== undefined });
  try {
    await pump(chunked(content), writer, { signal });
    await writer.commit({ size: content.length, check });
  } catch (error) {
    await writer.abort(error as Error);
    throw error;
  }
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function requireSlow(ms: number, bytes: number): void {
  assert.ok(ms >= (bytes * 1000) / RATE - BURST_MS - 50, `${bytes} bytes in ${ms} ms`);
}

describe('the rate of a connection', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  before(async () => {
    servers = await startServers();
  });
  after(() => Promise.all(Object.values(servers ?? {}).map((server) => server.stop())));

  const limited = (protocol: (typeof PROTOCOLS)[number]): Connection => ({
    ...connectionOf(servers[protocol].connection),
    bytesPerSecond: RATE,
  });
  const content = randomBytes(300 * KIB);

  for (const protocol of PROTOCOLS) {
    test(`${protocol}: what is written and read together`, async () => {
      const seam = openSeam(limited(protocol));
      try {
        const ms = await took(async () => {
          await seam.use((remote) => write(remote, '/rate.bin', content));
          assert.ok((await seam.use((remote) => get(remote, '/rate.bin'))).equals(content));
        });
        requireSlow(ms, 2 * content.length);
      } finally {
        seam.close();
      }
    });

    test(`${protocol}: short files, too`, async () => {
      const seam = openSeam(limited(protocol));
      const short = randomBytes(60 * KIB);
      try {
        const ms = await took(async () => {
          for (let round = 0; round < 3; round++) {
            await seam.use((remote) => putWhole(remote, at('/short.bin'), short));
            assert.ok((await seam.use((remote) => get(remote, '/short.bin'))).equals(short));
          }
        });
        // Nothing waits after the last byte.
        requireSlow(ms, 5 * short.length);
      } finally {
        seam.close();
      }
    });

    test(`${protocol}: what is read again to be verified`, async () => {
      const seam = openSeam(limited(protocol));
      let read = 0;
      const check: Commit['check'] = async (open) => {
        for await (const chunk of streamOf(await open())) read += (chunk as Buffer).length;
      };
      try {
        const ms = await took(() => seam.use((remote) => write(remote, '/checked.bin', content, NEVER, check)));
        assert.equal(read, content.length);
        requireSlow(ms, 2 * content.length);
      } finally {
        seam.close();
      }
    });

    test(`${protocol}: a wait for the limit is no stall`, async () => {
      const rates = new NodeRates();
      const connection = { ...limited(protocol), pool: { stallTimeoutMs: STALL_MS } };
      const seam = openSeam(connection, { rates });
      try {
        const send = (): Promise<void> => seam.use((remote) => write(remote, '/patient.bin', content));
        const inDebt = (): Promise<void> => rates.take('a1/c1', 'other', (RATE * DEBT_MS) / 1000, RATE);
        await despiteStalls(send);
        await despiteStalls(async () => {
          await inDebt();
          assert.ok((await took(send)) > STALL_MS);
        });
        await despiteStalls(async () => {
          await inDebt();
          assert.ok((await seam.use((remote) => get(remote, '/patient.bin'))).equals(content));
        });
      } finally {
        seam.close();
      }
    });

    test(`${protocol}: the end of an operation ends its wait`, async () => {
      const rates = new NodeRates();
      const seam = openSeam(limited(protocol), { rates });
      try {
        await seam.use((remote) => write(remote, '/ended.bin', content));
        await rates.take('a1/c1', 'other', RATE * 3_600, RATE);
        for (const work of [
          (remote: Remote, signal: AbortSignal) => write(remote, '/ended-too.bin', content, signal),
          async (remote: Remote, signal: AbortSignal) => {
            const { body } = await remote.read(at('/ended.bin'));
            assert.ok(body);
            signal.addEventListener('abort', () => body.destroy(signal.reason as Error));
            await body.toArray();
          },
          (remote: Remote) => putWhole(remote, at('/ended-short.bin'), Buffer.alloc(1000)),
        ]) {
          const ending = new AbortController();
          const use = (seam: Seam): Promise<unknown> =>
            seam.use(
              async (remote) => {
                setImmediate(() => ending.abort(new GatewayError('cancelled', 'it was ended')));
                await work(remote, ending.signal);
              },
              { signal: ending.signal },
            );
          await assert.rejects(use(seam), /it was ended/);
        }
      } finally {
        seam.close();
      }
    });
  }

  test('a source that is faster than the limit is not read ahead', async () => {
    const seam = openSeam(limited('sftp'));
    let given = 0;
    const source = new Readable({
      read() {
        given += 64 * KIB;
        this.push(given > 1024 * KIB ? null : Buffer.alloc(64 * KIB));
      },
    });
    try {
      await seam.use(async (remote) => {
        const writer = await remote.write(at('/held.bin'), {});
        let most = 0;
        const size = await pump(source, writer, {
          signal: NEVER,
          onBytes: (moved) => (most = Math.max(most, given - moved)),
        });
        await writer.commit({ size });
        assert.ok(most <= 384 * KIB, `${most} bytes ahead`);
      });
    } finally {
      seam.close();
    }
  });
});

/**
 * A server that moves no byte for stallTimeoutMs is given up then, and not later: on every protocol, up and down, with
 * 504. A former defect: over SFTP it took twice as long, and then looked like a lost connection.
 */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { newest } from '../api/support.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import {
  behindProxy,
  MIB,
  PROTOCOLS,
  startServers,
  TITLES,
  type ProtocolName,
  type Remote,
  type Servers,
} from './rig.js';
import { eventually } from '../support/eventually.js';

/** Longer ones are tried manually: STALL_MS=30000. */
const STALL_MS = Number(process.env['STALL_MS'] ?? 6_000);
/** For what has been counted a moment before it passed. */
const EARLY_MS = 1_500;
/** For a busy machine; the former defect took as long again. */
const LATE_MS = STALL_MS * 0.8;
const KINDS = {
  freezes: 'takes and sends nothing more',
  swallows: 'takes everything, and does and says nothing',
} as const;
type Kind = keyof typeof KINDS;
const CONTENT = 64 * MIB;

// Each waits on a separate connection.
describe('stalls', { concurrency: 7 }, () => {
  let servers: Servers;
  let gateway: TestGateway;
  const lanes = new Map<string, Remote>();
  const idOf = (protocol: ProtocolName, kind: Kind, direction: string): string => `${protocol}-${kind}-${direction}`;

  before(async () => {
    servers = await startServers();
    for (const protocol of PROTOCOLS) {
      await servers[protocol].disk.write('/big.bin', Buffer.alloc(CONTENT, 'x'));
      for (const kind of Object.keys(KINDS) as Kind[]) {
        for (const direction of ['up', 'down', 'trickle']) {
          const id = idOf(protocol, kind, direction);
          lanes.set(id, await behindProxy(servers[protocol], id));
        }
      }
    }
    gateway = await startGateway({
      connections: [...lanes.values()].map(({ connection }) => connection),
      config: { pools: { default: { stallTimeoutMs: STALL_MS } } },
    });
  });

  after(async () => {
    await gateway?.stop();
    for (const { proxy } of lanes.values()) await proxy.stop();
    for (const server of Object.values(servers ?? {})) await server.stop();
  });

  /** Resolves with the time of the last piece that passed. */
  async function stall({ proxy }: Remote, kind: Kind, at: number): Promise<number> {
    if (kind === 'freezes') {
      await proxy.hold(at);
    } else {
      proxy.arm('stall', at);
      await eventually(() => proxy.hasFailed, 'the server falls silent');
    }
    return performance.now();
  }

  function inTime(id: string, since: number): void {
    const tookMs = performance.now() - since;
    console.log(`${id}: ${Math.round(tookMs)} ms`);
    const isInTime = tookMs >= STALL_MS - EARLY_MS && tookMs <= STALL_MS + LATE_MS;
    assert.ok(isInTime, `${id}: ${Math.round(tookMs)} ms in place of ${STALL_MS}`);
  }

  for (const protocol of PROTOCOLS) {
    for (const kind of Object.keys(KINDS) as Kind[]) {
      test(`${TITLES[protocol]}: a server that ${kind} in the middle of an upload`, async () => {
        const id = idOf(protocol, kind, 'up');
        const lane = lanes.get(id) ?? assert.fail();
        const stalled = stall(lane, kind, 60);
        const answer = gateway.api.send(`/api/upload/${id}`, {
          method: 'POST',
          query: { path: '/', filename: 'up.bin' },
          headers: { 'Content-Type': 'application/octet-stream', 'Content-Length': String(CONTENT) },
          body: Readable.from(pieces()),
        });
        const since = await stalled;
        const { status, headers, text } = await answer;
        // Swallowed bytes count as moved, because the loss cannot be seen; over SFTP each piece has an answer, which is
        // missing.
        inTime(id, protocol === 'sftp' ? since : lane.proxy.lastContentAt);
        assert.deepEqual([status, headers['x-error-code']], [504, 'stall_timeout'], text);
        lane.proxy.release();
      });

      test(`${TITLES[protocol]}: a server that ${kind} in the middle of a download`, async () => {
        const id = idOf(protocol, kind, 'down');
        const lane = lanes.get(id) ?? assert.fail();
        const stalled = stall(lane, kind, 60);
        const response = await gateway.api.open(`/api/download/${id}`, { query: { path: '/big.bin' } });
        assert.equal(response.statusCode, 200);
        response.on('error', () => undefined);
        response.resume();
        const closed = new Promise((done) => response.once('close', done));
        const since = await stalled;
        await closed;
        inTime(id, since);
        assert.equal(response.complete, false);
        const [item] = (await newest(gateway.api, 50)).filter(({ connectionId }) => connectionId === id);
        assert.equal(item?.status, 'failed');
        assert.match(item.errorMessage ?? '', new RegExp(`(?:nothing|no byte) .*for ${STALL_MS} ms`));
        lane.proxy.release();
      });
    }
  }

  test('SFTP: a client that slowly continues to send does not hide it', async () => {
    const id = idOf('sftp', 'freezes', 'trickle');
    const lane = lanes.get(id) ?? assert.fail();
    const trickle = new Readable({ read: () => undefined });
    const timer = setInterval(() => trickle.push(Buffer.alloc(1_000)), 50);
    try {
      const answer = gateway.api.send(`/api/upload/${id}`, {
        method: 'POST',
        query: { path: '/', filename: 'slow.bin' },
        headers: { 'Content-Type': 'application/octet-stream', 'Content-Length': String(CONTENT) },
        body: trickle,
      });
      await eventually(() => lane.proxy.pieces > 40, 'some of it has gone');
      const since = await stall(lane, 'freezes', 1);
      const { headers, text } = await answer;
      inTime(id, since);
      assert.equal(headers['x-error-code'], 'stall_timeout', text);
    } finally {
      clearInterval(timer);
      lane.proxy.release();
    }
    held({
      area: 'Faults',
      what: 'the server falls silent',
      done: `in the middle of uploads and downloads on every protocol: it ${Object.values(KINDS).join('; or it ')}`,
      held: '504 stall_timeout, or a cut download, in its time, not in twice that',
      tries: PROTOCOLS.length * 4 + 1,
    });
  });

  function* pieces(): Generator<Buffer> {
    const piece = Buffer.alloc(64 * 1024, 'x');
    for (let sent = 0; sent < CONTENT; sent += piece.length) {
      yield piece;
    }
  }
});

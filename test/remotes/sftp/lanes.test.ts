/** How many sessions a file on a long line gets, by the gain that each brings. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { Lanes } from '../../../src/remotes/sftp/files/lanes.js';
import { type SftpMemory, unknownServer } from '../../../src/remotes/sftp/memory.js';
import type { SftpChannel } from '../../../src/remotes/sftp/session/channel.js';
import type { SftpLease } from '../../../src/remotes/sftp/session/session.js';

const ROUND_TRIP_MS = 50;
const MUCH = 1 << 30;

interface Line {
  readonly memory: SftpMemory;
  /** Sessions that are open besides the file's own. */
  readonly open: () => number;
  /** Transfers a file for this many round trips; `rateOf` gives the bytes that move in one. */
  run(roundTrips: number, rateOf: (sessions: number) => number): Promise<number>;
  pass(ms: number): void;
}

function lineOf(t: TestContext, most: number, there = most): Line {
  let now = 1_000;
  t.mock.method(performance, 'now', () => now);
  const memory = unknownServer();
  let open = 0;
  const channelOf = (): SftpChannel =>
    ({ shortestReplyMs: ROUND_TRIP_MS, alive: true, close: async () => undefined }) as unknown as SftpChannel;
  const leaseOf = (): SftpLease =>
    ({
      session: { fingerprint: 'SHA256:x', queuedBytes: 0 },
      channel: async () => channelOf(),
    }) as unknown as SftpLease;
  const more = {
    most,
    take: async () => {
      if (open === there) return undefined;
      open += 1;
      return { item: leaseOf(), onRecall: () => undefined, release: () => void (open -= 1) };
    },
  };
  const handle = Buffer.alloc(4);
  return {
    memory,
    open: () => open,
    pass: (ms) => void (now += ms),
    run: async (roundTrips, rateOf) => {
      const own = { channel: channelOf(), handle };
      const plan = { more, lease: leaseOf(), direction: 'up', memory, channels: 0, open: async () => handle } as const;
      const lanes = new Lanes(own, { queuedBytes: 0 }, plan);
      let most = 0;
      for (let at = 0; at < roundTrips; at++) {
        lanes.consider(MUCH, () => undefined);
        await turn();
        now += ROUND_TRIP_MS;
        lanes.moved(lanes.own, rateOf(lanes.sessions));
        most = Math.max(most, lanes.sessions);
      }
      const used = lanes.sessions;
      await lanes.release(false);
      assert.ok(used <= most);
      return used;
    },
  };
}

test('another session for as long as each makes it faster, and as many at once next time', async (t) => {
  const line = lineOf(t, 3);
  assert.equal(await line.run(80, (sessions) => 1000 * (1 + sessions)), 3);
  assert.equal(line.memory.usefulSessions.up?.count, 3);
  assert.equal(line.memory.usefulSessions.down, undefined);
  assert.equal(line.open(), 0);
  assert.equal(await line.run(1, () => 1000), 3);
});

test('one that brings nothing is returned, and not tried again for a while', async (t) => {
  const line = lineOf(t, 3);
  const narrow = (sessions: number): number => 1000 * Math.min(2, 1 + sessions);
  assert.equal(await line.run(80, narrow), 1);
  assert.equal(line.memory.usefulSessions.up?.count, 1);
  assert.equal(await line.run(80, () => 1000), 1);
  line.pass(61_000);
  assert.equal(await line.run(80, () => 1000), 0);
  line.pass(61_000);
  assert.equal(await line.run(80, (sessions) => 1000 * (1 + sessions)), 3);
});

test('as many as there are to spare', async (t) => {
  const line = lineOf(t, 3, 1);
  assert.equal(await line.run(80, (sessions) => 1000 * (1 + sessions)), 1);
  assert.equal(line.open(), 0);
});

test('none if one connection for each file is configured', async (t) => {
  assert.equal(await lineOf(t, 0).run(80, (sessions) => 1000 * (1 + sessions)), 0);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { equalPartBytes, growingPartBytes } from '../../../src/remotes/s3/files/multipart.js';
import { SocketGate } from '../../../src/remotes/s3/client/socket-gate.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const TIB = 1024 ** 4;

describe('s3 part plan', () => {
  test('a known total makes few parts, none larger than a store takes', () => {
    for (const total of [5 * GIB + 1, 300 * GIB, TIB, 5 * TIB]) {
      const part = equalPartBytes(total);
      assert.ok(part <= 5 * GIB && Math.ceil(total / part) <= 1024, `${total}: ${part}`);
    }
  });

  test('an unknown total reaches 5 TiB in 10,000 parts and starts small', () => {
    let total = 0;
    for (let number = 1; number <= 10_000; number += 1) {
      const part = growingPartBytes(number, 8 * MIB, false);
      assert.ok(part >= growingPartBytes(number - 1 || 1, 8 * MIB, false) && part <= 5 * GIB);
      total += part;
    }
    assert.ok(total >= 5 * TIB);
    assert.equal(growingPartBytes(1_000, 8 * MIB, false), 8 * MIB);
    assert.equal(growingPartBytes(10_001, 8 * MIB, false), 0);
    assert.equal(growingPartBytes(9_999, 8 * MIB, true), 8 * MIB);
    assert.equal(growingPartBytes(1, 1, false), 5 * MIB);
  });
});

describe('s3 socket gate', () => {
  const never = new AbortController().signal;
  const turn = (): Promise<void> => new Promise((done) => setImmediate(() => setImmediate(done)));

  test('every lease is guaranteed one request; additional ones share the rest', async () => {
    const gate = new SocketGate(3);
    const [busy, idle] = [gate.openLease(), gate.openLease()];
    const first = await busy.enter(never);
    await busy.enter(never);
    let third = false;
    void busy.enter(never).then(() => (third = true));
    await turn();
    assert.equal(third, false, 'the last place is kept for the idle lease');
    const mine = await idle.enter(never);
    mine();
    await turn();
    assert.equal(third, false);
    first();
    await turn();
    assert.equal(third, true);
    idle.close();
    const fourth = await busy.enter(never);
    fourth();
  });

  test('if the gateway has no place left, a lease continues with its guaranteed request', async () => {
    let places = 1;
    const gate = new SocketGate(8, () => {
      if (places === 0) return undefined;
      places--;
      return { release: () => void places++ };
    });
    const lease = gate.openLease();
    const [first, second] = [await lease.enter(never), await lease.enter(never)];
    let isThird = false;
    const third = lease.enter(never).then((leave) => {
      isThird = true;
      return leave;
    });
    await turn();
    assert.deepEqual([places, isThird], [0, false]);
    second();
    (await third)();
    first();
    await turn();
    assert.deepEqual([places, lease.underWay], [1, 0]);
  });

  test('a request that waits leaves the queue when its operation ends', async () => {
    const gate = new SocketGate(1);
    const lease = gate.openLease();
    const leave = await lease.enter(never);
    const ender = new AbortController();
    const waiting = lease.enter(ender.signal);
    ender.abort(new Error('ended'));
    await assert.rejects(waiting, /ended/);
    leave();
    leave();
    await turn();
    assert.equal(lease.underWay, 0);
    await lease.enter(never);
  });
});

/**
 * Time limits and abort signals. A failure is work that never ends, or a signal that gathers listeners until
 * its process has no memory left.
 */
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import net from 'node:net';
import { after, before, suite, test } from 'node:test';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { onAbort, orAbort, pause, StallTimer, waitFor, withDeadline, within } from '../../src/base/deadline.js';
import { eventually } from '../support/eventually.js';

const SHORT_MS = 20;
/** Far beyond any test: a timer with this time that remains is seen in `timers()`. */
const LONG_MS = 3_600_000;

const gone = new Error('the client left');
const tooLate = new Error('too late');
const late = (): Error => tooLate;
const never = (): Promise<never> => new Promise(() => undefined);

const listeners = ({ signal }: AbortController): number => getEventListeners(signal, 'abort').length;
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Runs `work`, which may fail, and finds no additional timer and no listener on the signal. */
async function leavesNothing(work: (client: AbortController) => Promise<unknown>): Promise<void> {
  const client = new AbortController();
  const before = timers();
  await work(client).catch(() => undefined);
  assert.equal(listeners(client), 0, 'a listener is left');
  assert.ok(timers() <= before, 'a timer is left');
}

suite('onAbort', () => {
  test('reports the reason once, and nothing after it was removed', () => {
    const client = new AbortController();
    const reasons: Error[] = [];
    onAbort(client.signal, (reason) => reasons.push(reason));
    const stop = onAbort(client.signal, () => assert.fail('taken back'));
    stop();
    stop();
    client.abort(gone);
    assert.deepEqual(reasons, [gone]);
    assert.equal(listeners(client), 0);
  });

  test('reports at once if the signal has aborted before', () => {
    const reasons: Error[] = [];
    onAbort(AbortSignal.abort(gone), (reason) => reasons.push(reason));
    assert.deepEqual(reasons, [gone]);
  });
});

suite('waitFor', () => {
  test('settles as its work does, and cleans up once', async () => {
    const cleaned: unknown[] = [];
    const clean = (error: Error | undefined): number => cleaned.push(error);
    await leavesNothing(async ({ signal }) => {
      const value = waitFor<number>({ signal, ms: LONG_MS, late }, (done, fail) => {
        setImmediate(() => {
          done(1);
          done(2);
          fail(gone);
        });
        return clean;
      });
      assert.equal(await value, 1);
    });
    await leavesNothing(async ({ signal }) => {
      const failed = waitFor({ signal, ms: LONG_MS, late }, (_, fail) => {
        setImmediate(() => fail(gone));
        return clean;
      });
      await assert.rejects(failed, gone);
    });
    assert.deepEqual(cleaned, [undefined, gone]);
  });

  test('cleans up even if it settles before its work has begun to wait', async () => {
    const cleaned: unknown[] = [];
    await leavesNothing(({ signal }) =>
      waitFor<void>({ signal, ms: LONG_MS, late }, (done) => {
        done();
        return (error) => cleaned.push(error);
      }),
    );
    await leavesNothing(({ signal }) =>
      waitFor({ signal, ms: LONG_MS, late }, () => {
        throw gone;
      }),
    );
    assert.deepEqual(cleaned, [undefined]);
  });

  test('ends with the reason of its signal, or late', async () => {
    await leavesNothing(async (client) => {
      const failures: unknown[] = [];
      const waiting = waitFor(
        { signal: client.signal, ms: LONG_MS, late },
        () => (error: Error | undefined) => failures.push(error),
      );
      client.abort(gone);
      assert.deepEqual(failures, [gone], 'it cleans up in the moment of the abort');
      await assert.rejects(waiting, gone);
    });
    await leavesNothing(async ({ signal }) => {
      await assert.rejects(
        waitFor({ signal, ms: SHORT_MS, late }, () => undefined),
        tooLate,
      );
    });
  });

  test('starts nothing for a signal that has aborted', async () => {
    const waiting = waitFor({ signal: AbortSignal.abort(gone) }, () => assert.fail('started'));
    await assert.rejects(waiting, gone);
  });
});

suite('orAbort', () => {
  test('settles as the work, or as soon as the signal aborts', async () => {
    await leavesNothing(async ({ signal }) => assert.equal(await orAbort(Promise.resolve(1), signal), 1));
    await leavesNothing(({ signal }) => assert.rejects(orAbort(Promise.reject(gone), signal), gone));
    await leavesNothing(async (client) => {
      const waiting = orAbort(never(), client.signal);
      client.abort(gone);
      await assert.rejects(waiting, gone);
    });
  });
});

suite('within', () => {
  test('settles as the work that is in time', async () => {
    await leavesNothing(async () => assert.equal(await within(Promise.resolve(1), LONG_MS, () => 2), 1));
    await leavesNothing(() => assert.rejects(within(Promise.reject(gone), LONG_MS, late), gone));
  });

  test('returns or throws the replacement for late work', async () => {
    assert.equal(await within(never(), SHORT_MS, () => 'late'), 'late');
    const failing = within(never(), SHORT_MS, () => {
      throw tooLate;
    });
    await assert.rejects(failing, tooLate);
  });

  test('handles work that fails after its time', async () => {
    // An unhandled rejection would end this test.
    const work = delay(2 * SHORT_MS).then(() => Promise.reject(gone));
    assert.equal(await within(work, SHORT_MS, () => 'late'), 'late');
    await assert.rejects(work, gone);
  });
});

suite('withDeadline', () => {
  const obedient = (signal: AbortSignal): Promise<never> =>
    orAbort(never(), signal).catch(() => Promise.reject(new Error('what the work made of it')));

  test('settles as work that is in time', async () => {
    await leavesNothing(async ({ signal }) => {
      assert.equal(await withDeadline({ signal, ms: LONG_MS, late }, async () => 1), 1);
    });
    await leavesNothing(({ signal }) =>
      assert.rejects(
        withDeadline({ signal, ms: LONG_MS, late }, () => Promise.reject(gone)),
        gone,
      ),
    );
  });

  test('throws the reason of the abort, regardless of the result of the work', async () => {
    await leavesNothing(({ signal }) =>
      assert.rejects(
        withDeadline({ signal, ms: SHORT_MS, late }, (limit) => obedient(limit.signal)),
        tooLate,
      ),
    );
    await leavesNothing(async (client) => {
      const ended = withDeadline({ signal: client.signal, ms: LONG_MS, late }, (limit) => obedient(limit.signal));
      client.abort(gone);
      await assert.rejects(ended, gone);
    });
  });

  test('waits until the work has ended', async () => {
    let hasCleanedUp = false;
    const ended = withDeadline({ ms: SHORT_MS, late }, async (signal) => {
      await orAbort(never(), signal).catch(() => delay(SHORT_MS));
      hasCleanedUp = true;
      return 'done after all';
    });
    assert.equal(await ended, 'done after all');
    assert.ok(hasCleanedUp);
  });
});

suite('pause', () => {
  test('ends in time, or with the signal', async () => {
    await leavesNothing(({ signal }) => pause(SHORT_MS, signal));
    await leavesNothing(async (client) => {
      const paused = pause(LONG_MS, client.signal);
      client.abort(gone);
      await assert.rejects(paused, gone);
    });
  });
});

suite('a stall timer', () => {
  const STALL_MS = 100;

  test('fires when nothing has moved for its time, and reports how long', async () => {
    const stalled = await new Promise((done) => new StallTimer(STALL_MS, done).restart());
    assert.equal(stalled, STALL_MS);
    const longer = await new Promise((done) => new StallTimer(LONG_MS, done).restart(STALL_MS));
    assert.equal(longer, STALL_MS);
  });

  test('does not fire while bytes move, while it is our turn, or once it is stopped', async () => {
    const before = timers();
    const moving = new StallTimer(STALL_MS, () => assert.fail('bytes moved'));
    const paused = new StallTimer(STALL_MS, () => assert.fail('we were at turn'));
    const stopped = new StallTimer(STALL_MS, () => assert.fail('it was stopped'));
    paused.restart();
    paused.pause();
    stopped.restart();
    stopped.stop();
    for (let round = 0; round < 20; round++) {
      moving.restart();
      await delay(STALL_MS / 10);
    }
    moving.stop();
    assert.ok(timers() <= before, 'a timer is left');
  });

  test('fires again after a pause that was longer than its time', async () => {
    let stalls = 0;
    const timer = new StallTimer(SHORT_MS, () => stalls++);
    timer.restart();
    timer.pause();
    await delay(3 * SHORT_MS);
    assert.equal(stalls, 0);
    timer.restart();
    await eventually(() => stalls === 1, 'the stall');
  });

  test('creates no timer per chunk', async () => {
    const timer = new StallTimer(LONG_MS, () => undefined);
    timer.restart();
    const before = timers();
    for (let chunk = 0; chunk < 1_000; chunk++) {
      timer.pause();
      timer.restart();
    }
    assert.equal(timers(), before);
    timer.stop();
  });
});

suite('limits that pass while the process does not run', () => {
  const LIMIT_MS = 100;
  const fail = (): never => assert.fail('the bytes were there');
  let server: net.Server;
  let near: net.Socket;
  let far: net.Socket;

  before(async () => {
    server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    near = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
    [far] = (await once(server, 'connection')) as [net.Socket];
  });
  after(() => {
    near.destroy();
    far.destroy();
    server.close();
  });

  /** The system has a byte for this process, whose timers are due before it can read it. */
  function missLimits(): void {
    far.write('a');
    for (const until = performance.now() + 4 * LIMIT_MS; performance.now() < until;);
  }

  for (const [what, wait] of [
    ['within', (arrived) => within(arrived, LIMIT_MS, fail)],
    ['waitFor', (arrived) => waitFor({ ms: LIMIT_MS, late }, (done) => void arrived.then(done))],
    ['withDeadline', (arrived) => withDeadline({ ms: LIMIT_MS, late }, (limit) => orAbort(arrived, limit))],
    [
      'a stall timer',
      async (arrived) => {
        const timer = new StallTimer(LIMIT_MS, fail);
        timer.restart();
        await arrived;
        timer.restart();
        timer.stop();
      },
    ],
  ] as const satisfies readonly (readonly [string, (arrived: Promise<unknown>) => Promise<unknown>])[])
    test(`${what}: what has arrived meanwhile is in time`, async () => {
      // From here, timers come before sockets.
      await turn();
      const waiting = wait(once(near, 'data'));
      missLimits();
      await waiting;
    });

  test('what has not arrived ends them nevertheless', async () => {
    const waiting = within(never(), LIMIT_MS, () => 'late');
    const stalled = new Promise((done) => new StallTimer(LIMIT_MS, done).restart());
    missLimits();
    assert.deepEqual(await Promise.all([waiting, stalled]), ['late', LIMIT_MS]);
  });
});

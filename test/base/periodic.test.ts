import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Periodic } from '../../src/base/periodic.js';

describe('periodic work', () => {
  test('runs after each interval while it is started, even if it is started again', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let runs = 0;
    const periodic = new Periodic(() => void runs++, 100);
    t.mock.timers.tick(500);
    assert.equal(runs, 0);
    assert.equal(periodic.start().start(), periodic);
    assert.ok(periodic.isStarted);
    t.mock.timers.tick(99);
    assert.equal(runs, 0);
    t.mock.timers.tick(201);
    assert.equal(runs, 3);
    void periodic.stop();
    assert.ok(!periodic.isStarted);
    t.mock.timers.tick(500);
    assert.equal(runs, 3);
    periodic.start();
    t.mock.timers.tick(100);
    assert.equal(runs, 4);
    void periodic.stop();
  });

  test('skips intervals that end during a run, and stops once that has ended', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let runs = 0;
    let end = (): void => undefined;
    const periodic = new Periodic(() => {
      runs++;
      return new Promise<void>((resolve) => (end = resolve));
    }, 100).start();
    t.mock.timers.tick(500);
    assert.equal(runs, 1);
    end();
    await new Promise(setImmediate);
    t.mock.timers.tick(100);
    assert.equal(runs, 2);
    let hasStopped = false;
    const stopped = periodic.stop().then(() => (hasStopped = true));
    await new Promise(setImmediate);
    assert.ok(!hasStopped);
    end();
    await stopped;
    t.mock.timers.tick(500);
    assert.equal(runs, 2);
  });
});

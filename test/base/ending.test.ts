import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { onAbort, orAbort, waitFor } from '../../src/base/deadline.js';
import { abortSignalOf, Ending } from '../../src/base/ending.js';

suite('the end of a piece of work', () => {
  test('is reported once, with the first reason, to the remaining listeners', () => {
    const ending = new Ending();
    const heard: string[] = [];
    onAbort(ending, ({ message }) => heard.push(`first ${message}`));
    const stop = onAbort(ending, () => heard.push('never'));
    stop();
    stop();
    assert.equal(ending.aborted, false);
    ending.throwIfAborted();
    ending.abort(new Error('left'));
    ending.abort(new Error('again'));
    onAbort(ending, ({ message }) => heard.push(`late ${message}`));
    assert.deepEqual(heard, ['first left', 'late left']);
    assert.throws(() => ending.throwIfAborted(), /left/);
  });

  test('a listener may remove the others, or itself', () => {
    const ending = new Ending();
    const heard: number[] = [];
    const stops = [1, 2, 3].map((each) =>
      onAbort(ending, () => {
        heard.push(each);
        for (const stop of stops) stop();
      }),
    );
    ending.abort(new Error('over'));
    assert.deepEqual(heard, [1]);
  });

  test('its AbortSignal says the same, made before or after', () => {
    const [before, after] = [new Ending(), new Ending()];
    const { signal } = before;
    assert.equal(abortSignalOf(before), signal);
    assert.equal(abortSignalOf(signal), signal);
    const reason = new Error('left');
    before.abort(reason);
    after.abort(reason);
    assert.deepEqual([signal.reason, after.signal.aborted, after.signal.reason], [reason, true, reason]);
  });

  test('ends waits like an AbortSignal', async () => {
    const ending = new Ending();
    const waits = [orAbort(new Promise(() => undefined), ending), waitFor({ signal: ending }, () => undefined)];
    assert.equal(await orAbort(Promise.resolve('done'), ending), 'done');
    ending.abort(new Error('left'));
    for (const wait of [...waits, orAbort(Promise.resolve(), ending)]) await assert.rejects(wait, /left/);
  });
});

/**
 * A server of a test that does not start must not leave others running: they would keep the test's process for ever.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTogether } from '../support/together.js';

test('if one does not start the others are stopped, also a later one, and its error is reported', async () => {
  const stopped: string[] = [];
  const start = async (name: string): Promise<{ stop(): Promise<void> }> => {
    await new Promise((over) => setImmediate(over));
    return { stop: () => Promise.resolve(void stopped.push(name)) };
  };
  const late = new Promise((over) => setTimeout(over, 20)).then(() => start('late'));
  const refused = Promise.reject(new Error('the port is taken'));
  await assert.rejects(startTogether([start('early'), refused, late]), /the port is taken/);
  assert.deepEqual(stopped.sort(), ['early', 'late']);
  const [one] = await startTogether([start('one')]);
  assert.equal(typeof one.stop, 'function');
});

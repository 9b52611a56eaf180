/** Waits of tests end, and say why. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { eventually } from '../support/eventually.js';
import { startGateway } from '../support/gateway.js';

test('a look that does not end ends the wait', async () => {
  const never = new Promise<boolean>(() => undefined);
  await assert.rejects(
    eventually(() => never, 'an answer', 50),
    /not within 50 ms: an answer: the last look did not end/,
  );
});

test('a gateway is killed once; one that has ended by itself is reported', async () => {
  const gateway = await startGateway();
  await gateway.kill();
  assert.equal(gateway.process.signalCode, 'SIGKILL');
  await assert.rejects(gateway.kill(), /had ended by itself:\n/);
  await gateway.stop();

  const other = await startGateway();
  const exited = once(other.process, 'exit');
  other.process.kill('SIGTERM');
  await exited;
  await assert.rejects(other.kill(), /had ended by itself:\n[^]*stopp/);
  await other.stop();
});

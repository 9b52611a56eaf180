/** Lines that wait for others. A failure is lines out of order, or missing last lines of a process. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gatherLines } from '../../src/observe/gather.js';

const LOG = fileURLToPath(new URL('../../src/observe/log.js', import.meta.url));

test('lines of one turn are one write; a line that must not wait includes those before it', async () => {
  const writes: string[] = [];
  const { now, soon } = gatherLines({ write: (text) => void writes.push(text) });
  soon.write('a\n');
  soon.write('b\n');
  assert.deepEqual(writes, []);
  await turn();
  assert.deepEqual(writes, ['a\nb\n']);
  soon.write('c\n');
  now.write('d\n');
  assert.deepEqual(writes.slice(1), ['c\n', 'd\n']);
  await turn();
  assert.equal(writes.length, 3);
});

test('the number of waiting lines is bounded', () => {
  const writes: string[] = [];
  const { soon } = gatherLines({ write: (text) => void writes.push(text) });
  for (let sent = 0; sent <= 64 * 1024; sent += 1024) soon.write('x'.repeat(1024));
  assert.equal(writes.length, 1);
});

const ENDS = {
  'exits in the same turn': 'process.exit(0)',
  'fails in the same turn': 'throw new Error("unexpected")',
  'comes to its end': '',
};
for (const [name, end] of Object.entries(ENDS)) {
  test(`a process that ${name} has written every line, in order`, async () => {
    const program = `
      const { createLogger } = await import(${JSON.stringify(LOG)});
      const logger = createLogger({ level: 'info', pretty: false });
      logger.gathered.info({ n: 1 }); logger.clean.info({ n: 2 }); logger.child({ of: 'child' }).gathered.info({ n: 3 }); ${end}`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    const { stdout } = await run.catch((error: unknown) => error as { readonly stdout: string });
    const lines = stdout.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { n: number }).n),
      [1, 2, 3],
    );
  });
}

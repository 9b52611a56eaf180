import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

/** In milliseconds. */
interface Delays {
  readonly p99: number;
}

test('8 uploads and 8 downloads at once do not block the event loop', async (t) => {
  const server = fork(new URL('./support/loop-server.js', import.meta.url), { serialization: 'json' });
  t.after(() => server.kill());
  const [port] = (await once(server, 'message')) as [number];
  const url = `http://127.0.0.1:${port}/`;
  // curl in separate processes: their work must not count.
  const commands = Array.from({ length: 8 }, () => [
    `head -c 64M /dev/zero | curl -sf -H Expect: -T - -X POST -o /dev/null ${url}`,
    `curl -sf -o /dev/null ${url}`,
  ]).flat();
  const codes = await Promise.all(
    commands.map(async (command) => ((await once(spawn('sh', ['-c', command]), 'close')) as [number])[0]),
  );
  assert.deepEqual(codes, Array<number>(16).fill(0));
  server.send('delays');
  const [delays] = (await once(server, 'message')) as [Delays];
  assert.ok(delays.p99 < 20, `the loop worked for ${delays.p99} ms on end`);
});

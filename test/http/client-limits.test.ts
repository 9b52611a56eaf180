/** Slow and silent clients: our limits apply, not the native timers of 10 seconds. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { hasCode } from '../../src/base/errors.js';
import { ClientPace } from '../../src/http/client-pace.js';
import { MiB, source } from './support/bytes.js';
import { startFrontEnd, untilGone } from './support/front-end.js';
import { RawClient } from './support/raw-client.js';

describe('client limits', { concurrency: true }, () => {
  test('a client that becomes silent in the middle of a body is cut', async (t) => {
    let why: unknown;
    const front = await startFrontEnd(
      t,
      (request) => {
        request.body.resume();
        request.signal.addEventListener('abort', () => {
          why = request.signal.reason;
        });
        return untilGone(request);
      },
      { idleTimeoutMs: 1_500 },
    );
    const client = await RawClient.open(front.port);
    const startedAt = performance.now();
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhello');
    await client.closed;
    const elapsed = performance.now() - startedAt;
    assert.ok(elapsed > 1_400, `${elapsed} ms`);
    assert.equal((await front.over(1)).isComplete, false);
    assert.match(String(why), /the client moved no byte for 1500 ms/);
  });

  test('a client that does not read is cut', async (t) => {
    const body = source(64 * MiB);
    const { port } = await startFrontEnd(
      t,
      async () => ({ status: 200, body: { stream: body.stream, length: 64 * MiB } }),
      { idleTimeoutMs: 1_500 },
    );
    const client = await RawClient.open(port);
    client.socket.pause();
    const failed = new Promise((resolve) => body.stream.once('error', resolve));
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.ok(hasCode(await failed, 'client_gone'));
    client.socket.destroy();
  });

  test('time that the gateway takes does not count against the client', async (t) => {
    const { port } = await startFrontEnd(
      t,
      async ({ body }) => {
        await setTimeout(4_000);
        body.resume();
        await new Promise((resolve) => body.once('end', resolve));
        return { status: 200, body: 'patience' };
      },
      { idleTimeoutMs: 1_000 },
    );
    const client = await RawClient.open(port);
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello');
    assert.equal((await client.answer()).body.toString(), 'patience');
    client.socket.destroy();
  });

  test('a slow but steady client is served, up and down, and a reader may pause, beyond the native timers', async (t) => {
    const size = 24 * MiB;
    const front = await startFrontEnd(t, async (request) => {
      if (request.method === 'GET') return { status: 200, body: { stream: source(size).stream, length: size } };
      let received = 0;
      for await (const chunk of request.body as AsyncIterable<Buffer>) received += chunk.length;
      return { status: 200, body: String(received) };
    });
    const sender = await RawClient.open(front.port);
    sender.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 28000\r\n\r\n');
    const reader = await RawClient.open(front.port);
    reader.socket.pause();
    reader.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    for (let turn = 0; turn < 28; turn++) {
      await setTimeout(500);
      sender.send(Buffer.alloc(1_000));
    }
    assert.equal((await sender.answer()).body.toString(), '28000');
    reader.socket.resume();
    assert.equal((await reader.answer()).body.length, size);
    sender.socket.destroy();
    reader.socket.destroy();
  });

  test('an early answer to an unfinished upload ends its connection by the native timer', async (t) => {
    const { port } = await startFrontEnd(t, async () => ({ status: 413, body: 'too large' }));
    const client = await RawClient.open(port);
    client.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${64 * MiB}\r\n\r\n`);
    source(64 * MiB).stream.pipe(client.socket);
    const answer = await client.answer();
    assert.deepEqual([answer.status, answer.field('connection')], [413, 'close']);
    await client.closed;
  });

  /** Idle connections of Node.js that paused for the 8 s announced then were reset under the next request. */
  test('an idle connection is kept two seconds longer than its answer announces', async (t) => {
    const { port } = await startFrontEnd(t, async () => ({ status: 200 }));
    // The native timer ticks every four seconds.
    const rests = Array.from({ length: 4 }, async (_, second) => {
      await setTimeout(second * 1_000);
      const client = await RawClient.open(port);
      const askedAt = performance.now();
      const answer = await client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n').answer();
      const reported = Number(/^timeout=(\d+)$/.exec(answer.field('keep-alive') ?? '')?.[1]);
      await client.closed;
      const rested = (performance.now() - askedAt) / 1_000;
      assert.ok(rested > reported + 2, `${rested} s of ${reported}`);
    });
    await Promise.all(rests);
  });

  test('answers announce how long a connection may be idle, as configured', async (t) => {
    const { port } = await startFrontEnd(t, async () => ({ status: 200 }), { keepAliveSeconds: 2 });
    const client = await RawClient.open(port);
    const answer = await client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n').answer();
    assert.equal(answer.field('keep-alive'), 'timeout=2');
    client.socket.destroy();
  });

  test('the rate is measured over ten seconds of the client being at turn', () => {
    const pace = new ClientPace({ idleTimeoutMs: 60_000, minBytesPerSecond: 100 }, 0);
    assert.equal(pace.check(true, 0, 9_000), undefined);
    assert.equal(pace.check(true, 1_000, 10_000), undefined);
    // Not at turn: the window begins again.
    assert.equal(pace.check(false, 1_000, 15_000), undefined);
    assert.equal(pace.check(true, 1_500, 24_000), undefined);
    assert.match(pace.check(true, 1_900, 25_000) ?? '', /fewer than 100 bytes a second/);
  });

  test('silence counts from the last byte, also while a rate is required', () => {
    const pace = new ClientPace({ idleTimeoutMs: 2_000, minBytesPerSecond: 1 }, 0);
    assert.equal(pace.check(true, 5_000, 1_000), undefined);
    assert.equal(pace.check(true, 5_000, 3_000), undefined);
    assert.match(pace.check(true, 5_000, 3_001) ?? '', /no byte for 2000 ms/);
    const off = new ClientPace({ idleTimeoutMs: 0, minBytesPerSecond: 0 }, 0);
    assert.equal(off.check(true, 0, 1e9), undefined);
  });
});

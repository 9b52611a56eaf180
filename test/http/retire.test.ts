/**
 * A node that is about to stop behind a load balancer: it serves on, asks for the close of every connection that still
 * brings a request, and counts itself free only when none has come for a moment.
 */
import assert from 'node:assert/strict';
import { pipeline } from 'node:stream/promises';
import { describe, test } from 'node:test';
import { hasCode } from '../../src/errors.js';
import { errorAnswer } from '../../src/http/answer.js';
import type { HttpHandler } from '../../src/http/types.js';
import { MiB, Sink, source } from './support/bytes.js';
import { startFrontEnd, untilGone } from './support/front-end.js';
import { RawClient } from './support/raw-client.js';
import { until } from './support/until.js';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** As long as the front end waits for a further request. */
const QUIET_MS = 500;
const BEHIND_PROXY = { trustedProxies: ['127.0.0.1'] };

const digest: HttpHandler = async (request) => {
  const sink = new Sink(1);
  await pipeline(request.body, sink);
  return { status: 200, body: sink.digest() };
};

/** Milliseconds until it settles. */
async function timeOf(promise: Promise<void>): Promise<number> {
  const since = performance.now();
  await promise;
  return performance.now() - since;
}

describe('retire', () => {
  test('resting and new connections are served once more, with the close, until none asks any longer', async (t) => {
    let lastAt = 0;
    const stamped: HttpHandler = (request) => {
      lastAt = performance.now();
      return digest(request);
    };
    const { port, server } = await startFrontEnd(t, stamped, BEHIND_PROXY);
    const resting = [await RawClient.open(port), await RawClient.open(port)];
    for (const client of resting) assert.equal((await client.send(GET).answer()).field('connection'), undefined);

    let isRetired = false;
    const retired = server.retire(20).then(() => (isRetired = true));
    for (const client of [...resting, await RawClient.open(port)]) {
      const last = await client.send(GET).answer();
      assert.deepEqual([last.status, last.field('connection')], [200, 'close']);
      await client.closed;
      assert.equal(isRetired, false);
    }
    await retired;
    const quietMs = performance.now() - lastAt;
    assert.ok(quietMs > QUIET_MS - 100, `free ${quietMs} ms after the last request`);
    // Still no connection is lost: the listener goes with drain() alone.
    const late = await (await RawClient.open(port)).send(GET).answer();
    assert.deepEqual([late.status, late.field('connection')], [200, 'close']);
  });

  test('a request under way is no reason to wait, and goes on', async (t) => {
    const { port, server } = await startFrontEnd(t, digest, BEHIND_PROXY);
    const body = source(2 * MiB);
    const busy = await RawClient.open(port);
    busy.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 * MiB}\r\n\r\n`);
    await until('the upload', () => server.running === 1);
    await server.retire(20);
    assert.equal(server.running, 1);
    const drained = server.drain(20);
    body.stream.pipe(busy.socket, { end: false });
    const answer = await busy.answer();
    assert.deepEqual([answer.status, answer.field('connection')], [200, 'close']);
    assert.equal(answer.body.toString(), body.hash.digest('hex'));
    await Promise.all([drained, busy.closed]);
  });

  test('a stream of requests that does not end holds it up for the given seconds alone', async (t) => {
    const { port, server } = await startFrontEnd(t, digest, BEHIND_PROXY);
    let isOver = false;
    const ask = async (): Promise<void> => {
      assert.equal((await (await RawClient.open(port)).send(GET).answer()).status, 200);
    };
    await ask();
    const keepAsking = async (): Promise<void> => {
      while (!isOver) await ask();
    };
    // Several, so that one of them is always on its way to the server, wherever this process is held up.
    const asking = Promise.all(Array.from({ length: 4 }, keepAsking));
    const elapsed = await timeOf(server.retire(1));
    isOver = true;
    await asking;
    assert.ok(elapsed > 900 && elapsed < 3_000, `${elapsed} ms`);
  });

  test('the time that a node may take to stop begins with it', async (t) => {
    const { port, server } = await startFrontEnd(
      t,
      (request) =>
        untilGone(request).catch((error: unknown) => {
          assert.ok(hasCode(error, 'draining'));
          return errorAnswer(error);
        }),
      BEHIND_PROXY,
    );
    const waiting = (await RawClient.open(port)).send(GET);
    await until('the request', () => server.running === 1);
    const elapsed = await timeOf(
      (async () => {
        await server.retire(1);
        await server.drain(1);
      })(),
    );
    assert.equal((await waiting.answer()).field('x-error-code'), 'draining');
    assert.ok(elapsed < 3_000, `${elapsed} ms`);
  });

  test('without a proxy nobody waits, but every answer asks for the close', async (t) => {
    const { port, server } = await startFrontEnd(t, digest);
    const client = await RawClient.open(port);
    await client.send(GET).answer();
    const elapsed = await timeOf(server.retire(20));
    assert.ok(elapsed < QUIET_MS / 2, `${elapsed} ms`);
    const last = await client.send(GET).answer();
    assert.deepEqual([last.status, last.field('connection')], [200, 'close']);
    await client.closed;
  });
});

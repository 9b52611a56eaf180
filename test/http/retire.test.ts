/**
 * A node that is about to stop behind a load balancer: it continues to serve for a given time, asks for the close of
 * every connection that still sends a request, and only then closes its listener.
 */
import assert from 'node:assert/strict';
import { pipeline } from 'node:stream/promises';
import { describe, test } from 'node:test';
import { hasCode } from '../../src/base/errors.js';
import { answerOfError } from '../../src/http/answer.js';
import type { HttpHandler } from '../../src/http/types.js';
import { MiB, Sink, source } from './support/bytes.js';
import { startFrontEnd, untilGone } from './support/front-end.js';
import { RawClient, type RawAnswer } from './support/raw-client.js';
import { eventually } from '../support/eventually.js';
import { atOnce } from '../support/at-once.js';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** Long enough for a few requests on a busy machine. */
const RETIRE_MS = 10_000;

const digest: HttpHandler = async (request) => {
  const sink = new Sink(1);
  await pipeline(request.body, sink);
  return { status: 200, body: sink.digest() };
};

/** Undefined if the listener closed first. The system then resets what is connected and not yet accepted. */
async function lateAnswer(port: number): Promise<RawAnswer | undefined> {
  try {
    const client = await RawClient.open(port);
    return await client.send(GET).answer();
  } catch {
    return undefined;
  }
}

/** Milliseconds until it settles. */
async function timeOf(promise: Promise<void>): Promise<number> {
  const since = performance.now();
  await promise;
  return performance.now() - since;
}

describe('retire', () => {
  test('idle and new connections are served, with the close, until the time is over, even without requests', async (t) => {
    const { port, server } = await startFrontEnd(t, digest);
    const resting = [await RawClient.open(port), await RawClient.open(port)];
    for (const client of resting) assert.equal((await client.send(GET).answer()).field('connection'), undefined);

    const since = performance.now();
    const drained = server.retire(RETIRE_MS).then(() => server.drain(20));
    for (const client of [...resting, await RawClient.open(port)]) {
      const last = await client.send(GET).answer();
      assert.deepEqual([last.status, last.field('connection')], [200, 'close']);
      await client.closed;
    }
    // It waits even without requests: a balancer that asks every second or two has not noticed yet.
    let last = await lateAnswer(port);
    let servedUntil = performance.now();
    while (last !== undefined) {
      assert.deepEqual([last.status, last.field('connection')], [200, 'close']);
      await new Promise((resolve) => setTimeout(resolve, 100));
      last = await lateAnswer(port);
      servedUntil = performance.now();
    }
    assert.ok(servedUntil - since >= RETIRE_MS - 10);
    await drained;
    await assert.rejects(RawClient.open(port), { code: 'ECONNREFUSED' });
  });

  test('a request under way continues, and so does one that arrives meanwhile', async (t) => {
    const { port, server } = await startFrontEnd(t, digest);
    const body = source(2 * MiB);
    const drained = server.retire(RETIRE_MS).then(() => server.drain(20));
    const busy = await RawClient.open(port);
    busy.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 * MiB}\r\n\r\n`);
    await eventually(() => server.running === 1, 'the upload');
    await server.retire(0);
    assert.equal(server.running, 1);
    body.stream.pipe(busy.socket, { end: false });
    const answer = await busy.answer();
    assert.deepEqual([answer.status, answer.field('connection')], [200, 'close']);
    assert.equal(answer.body.toString(), body.hash.digest('hex'));
    await Promise.all([drained, busy.closed]);
  });

  test('the time to drain begins when it is over; a second call changes nothing', async (t) => {
    const { port, server } = await startFrontEnd(t, (request) =>
      untilGone(request).catch((error: unknown) => {
        assert.ok(hasCode(error, 'draining'));
        return answerOfError(error);
      }),
    );
    const waiting = (await RawClient.open(port)).send(GET);
    await eventually(() => server.running === 1, 'the request');
    const elapsed = await timeOf(
      (async () => {
        void server.retire(1_000);
        await server.retire(3_600_000);
        await server.drain(1);
      })(),
    );
    assert.equal((await waiting.answer()).field('x-error-code'), 'draining');
    assert.ok(elapsed >= 1_990, `${elapsed} ms`);
  });

  test('with zero time there is no wait, but every answer asks for the close', async (t) => {
    const { port, server } = await startFrontEnd(t, digest);
    const client = await RawClient.open(port);
    await client.send(GET).answer();
    await atOnce(server.retire(0), 'for a time of 0');
    const last = await client.send(GET).answer();
    assert.deepEqual([last.status, last.field('connection')], [200, 'close']);
    await client.closed;
  });
});

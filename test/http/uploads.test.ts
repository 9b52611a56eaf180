/** Request bodies through the real front end: complete or destroyed, and never more of them in memory than wanted. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';
import { pipeline } from 'node:stream/promises';
import { GatewayError, hasCode } from '../../src/base/errors.js';
import type { HttpAnswer, HttpHandler, HttpRequest } from '../../src/http/types.js';
import { MiB, Sink, source } from './support/bytes.js';
import { curl } from './support/curl.js';
import { startFrontEnd, untilGone } from './support/front-end.js';
import { RawClient } from './support/raw-client.js';
import { eventually } from '../support/eventually.js';
import { FRONT_END } from '../support/front-end.js';

const MAX_HELD_BYTES = 4 * MiB;

/** Reads the body through `sink` and answers its digest; watches how much of it waits in memory. */
function swallow(pauseMs: number): { handler: HttpHandler; held: () => number } {
  let held = 0;
  const handler = async (request: HttpRequest): Promise<HttpAnswer> => {
    const sink = new Sink(pauseMs);
    const watch = setInterval(() => (held = Math.max(held, request.body.readableLength)), 1);
    try {
      await pipeline(request.body, sink, { signal: request.signal });
    } finally {
      clearInterval(watch);
    }
    return { status: 200, body: `${sink.size} ${sink.digest()}` };
  };
  return { handler, held: () => held };
}

/** Records how each body ended. */
function observe(): { handler: HttpHandler; ends: (string | undefined)[]; requests: HttpRequest[] } {
  const ends: (string | undefined)[] = [];
  const requests: HttpRequest[] = [];
  const handler = async (request: HttpRequest): Promise<HttpAnswer> => {
    requests.push(request);
    let text = '';
    try {
      for await (const chunk of request.body as AsyncIterable<Buffer>) text += chunk.toString('latin1');
      ends.push('ended');
    } catch (error) {
      ends.push(error instanceof GatewayError ? error.code : String(error));
      throw error;
    }
    return { status: 200, body: text };
  };
  return { handler, ends, requests };
}

describe('bodies arrive completely', () => {
  for (const framing of ['Content-Length', 'chunked'] as const) {
    test(`64 MiB with ${framing} through a slow handler, little of it in memory`, async (t) => {
      const { handler, held } = swallow(2);
      const { port } = await startFrontEnd(t, handler);
      const size = 64 * MiB + 12_345;
      const sent = source(size);
      const headers = framing === 'Content-Length' ? { 'Content-Length': size } : { 'Transfer-Encoding': 'chunked' };
      const text = await new Promise<string>((resolve, reject) => {
        const request = http.request({ port, method: 'POST', headers }, (response) => {
          let body = '';
          response.on('data', (chunk: Buffer) => (body += chunk.toString()));
          response.on('end', () => resolve(body));
        });
        request.on('error', reject);
        sent.stream.pipe(request);
      });
      assert.equal(text, `${size} ${sent.hash.digest('hex')}`);
      assert.ok(held() > 0 && held() < MAX_HELD_BYTES, `${held()} bytes were held`);
    });
  }

  test('a handler that never reads holds a bounded part of what its client sends', async (t) => {
    let body: HttpRequest['body'] | undefined;
    const { port } = await startFrontEnd(t, (request) => {
      body = request.body;
      return untilGone(request);
    });
    const client = await RawClient.open(port);
    client.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${64 * MiB}\r\n\r\n`);
    const pushed = source(64 * MiB);
    pushed.stream.pipe(client.socket);
    await eventually(() => body !== undefined, 'the request');
    let [last, still] = [-1, 0];
    await eventually(() => {
      still = pushed.given === last ? still + 1 : 0;
      last = pushed.given;
      return still > 50;
    }, 'the client stops');
    assert.ok((body?.readableLength ?? 0) < MAX_HELD_BYTES, `${body?.readableLength} bytes were held`);
    assert.ok(pushed.given < 32 * MiB, `${pushed.given} bytes were taken off the client`);
    client.socket.destroy();
  });

  test('curl with Expect: 100-continue', async (t) => {
    const { handler } = swallow(0);
    const { port } = await startFrontEnd(t, handler);
    const sent = source(3 * MiB);
    const url = `http://127.0.0.1:${port}/`;
    const result = await curl(['-H', 'Expect: 100-continue', '-T', '-', '-X', 'POST', url], sent.stream);
    assert.deepEqual([result.exitCode, result.stdout], [0, `${3 * MiB} ${sent.hash.digest('hex')}`]);
  });

  test('no body, Content-Length 0 and an empty chunked body end at once', async (t) => {
    const { handler, ends, requests } = observe();
    const { port } = await startFrontEnd(t, handler);
    const client = await RawClient.open(port);
    const answer = async (head: string): Promise<number> =>
      (await client.send(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n`).answer()).status;
    assert.equal(await answer(''), 200);
    assert.equal(await answer('Content-Length: 0\r\n'), 200);
    assert.equal(await answer('Content-Length: 000\r\n'), 200);
    assert.equal(await answer('Transfer-Encoding: chunked\r\n\r\n0\r\n'), 200);
    assert.deepEqual(ends, ['ended', 'ended', 'ended', 'ended']);
    const lengths = requests.map(({ contentLength, hasBody }) => [contentLength, hasBody]);
    assert.deepEqual(lengths, [
      [undefined, false],
      [0, false],
      [0, false],
      [undefined, true],
    ]);
    client.socket.destroy();
  });

  test('one byte at a time, in length and in chunks', async (t) => {
    const { handler } = observe();
    const { port } = await startFrontEnd(t, handler);
    const client = await RawClient.open(port);
    client.socket.setNoDelay(true);
    for (const request of [
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello',
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n',
    ]) {
      for (const byte of request) {
        client.send(byte);
        await new Promise(setImmediate);
      }
      assert.equal((await client.answer()).body.toString(), 'hello');
    }
    client.socket.destroy();
  });
});

describe('an incomplete body is destroyed and never ends', () => {
  const cuts: Record<string, string> = {
    'a short body': 'Content-Length: 100\r\n\r\nonly this',
    'a chunk that is short': 'Transfer-Encoding: chunked\r\n\r\n64\r\nonly this',
    'chunks without the last one': 'Transfer-Encoding: chunked\r\n\r\n4\r\nonly\r\n',
    'a declared body of which nothing comes': 'Content-Length: 100\r\n\r\n',
  };
  for (const [name, tail] of Object.entries(cuts)) {
    for (const leave of ['resetAndDestroy', 'end'] as const) {
      test(`${name} (${leave})`, async (t) => {
        const { handler, ends, requests } = observe();
        const front = await startFrontEnd(t, handler);
        const client = await RawClient.open(front.port);
        client.send(`POST / HTTP/1.1\r\nHost: x\r\n${tail}`);
        await eventually(() => requests.length === 1, 'the request');
        client.socket[leave]();
        const record = await front.over(1);
        await eventually(() => ends.length === 1, 'the end of the body');
        assert.deepEqual(ends, ['client_gone']);
        assert.ok(hasCode(requests[0]?.signal.reason, 'client_gone'));
        assert.equal(record.isComplete, false);
      });
    }
  }

  test('a chunk size that is not a number', async (t) => {
    const { handler, ends, requests } = observe();
    const { port } = await startFrontEnd(t, handler, { idleTimeoutMs: 1_000 });
    const client = await RawClient.open(port);
    client.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nonly\r\n0\r\n\r\n');
    await client.closed;
    await eventually(() => ends.length === requests.length, 'the end of the body');
    assert.ok(!ends.includes('ended'), ends.join());
  });

  const TRAILED = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nonly\r\n0\r\nX-Sum: 1\r\n\r\n';

  test('trailers: node:http reads and drops them, and the next request is served; too many end the connection', async (t) => {
    const { port } = await startFrontEnd(
      t,
      async ({ body, headers }) => {
        let text = '';
        for await (const chunk of body as AsyncIterable<Buffer>) text += chunk.toString();
        return { status: 200, body: text + String(headers.get('x-sum')) };
      },
      { frontEnd: 'node' },
    );
    const client = await RawClient.open(port);
    for (let turn = 0; turn < 2; turn++) {
      const answer = await client.send(TRAILED).answer();
      assert.deepEqual([answer.status, answer.body.toString()], [200, 'onlyundefined']);
    }
    client.send(TRAILED.replace('X-Sum: 1', `X-Sum: ${'1'.repeat(100_000)}`));
    await client.closed;
    assert.ok(!client.received.toString('latin1').startsWith('HTTP/1.1 2'));
  });

  test('trailers: uWebSockets.js has whole chunks, but refuses the request', async (t) => {
    if (FRONT_END === 'node') return;
    let signal: AbortSignal | undefined;
    const { port } = await startFrontEnd(t, (request) => {
      signal = request.signal;
      request.body.resume();
      return untilGone(request);
    });
    const client = await RawClient.open(port);
    client.send(TRAILED);
    await client.closed;
    assert.ok(!client.received.toString('latin1').startsWith('HTTP/1.1 2'));
    assert.ok(signal === undefined || signal.aborted);
  });

  test('a client that leaves while the handler does not read is noticed', async (t) => {
    let signal: AbortSignal | undefined;
    const { port } = await startFrontEnd(t, (request) => {
      signal = request.signal;
      return new Promise((_resolve, reject) =>
        request.signal.addEventListener('abort', () => reject(new Error('gone'))),
      );
    });
    const client = await RawClient.open(port);
    client.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${MiB}\r\n\r\n`, Buffer.alloc(1_000));
    await eventually(() => signal !== undefined, 'the request');
    client.socket.resetAndDestroy();
    await eventually(() => signal?.aborted === true, 'the abort');
    assert.ok(hasCode(signal?.reason, 'client_gone'));
  });
});

describe('an answer before the body has arrived', () => {
  const refuse: HttpHandler = async () => ({
    status: 413,
    headers: { 'X-Error-Code': 'too_large' },
    body: 'too large',
  });

  for (const framing of [[], ['-H', 'Content-Length:']] as const) {
    test(`reaches curl and ends its upload (${framing.length === 0 ? 'file' : 'chunked'})`, async (t) => {
      const { port, records } = await startFrontEnd(t, refuse);
      const url = `http://127.0.0.1:${port}/`;
      const args = ['-H', 'Expect:', '-T', '-', '-X', 'POST', '-w', ' %{http_code}', ...framing, url];
      const result = await curl(args, source(64 * MiB).stream);
      assert.equal(result.stdout, 'too large 413');
      assert.ok((records[0]?.bytesIn ?? 0) < 8 * MiB);
    });
  }

  test('reaches a client that only writes at first, and its connection closes', async (t) => {
    const { port } = await startFrontEnd(t, refuse);
    for (let turn = 0; turn < 20; turn++) {
      const { status, close } = await new Promise<{ status: number | undefined; close: string | undefined }>(
        (resolve, reject) => {
          const request = http.request({ port, method: 'POST', headers: { 'Content-Length': 16 * MiB } });
          request.once('response', (response) => {
            response.resume();
            resolve({ status: response.statusCode, close: response.headers.connection });
          });
          request.once('error', reject);
          source(16 * MiB).stream.pipe(request);
        },
      );
      assert.deepEqual([status, close], [413, 'close']);
    }
  });

  test('a streamed one leaves nothing paused behind', async (t) => {
    const sent = source(MiB);
    const front = await startFrontEnd(t, async () => ({ status: 200, body: { stream: sent.stream, length: MiB } }));
    const client = await RawClient.open(front.port);
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhello');
    const answer = await client.answer();
    assert.equal(answer.field('connection'), 'close');
    assert.equal(answer.body.length, MiB);
    assert.equal((await front.over(1)).isComplete, true);
    client.socket.end();
    await client.closed;
  });
});

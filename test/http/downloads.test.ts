/** Answers through the real front end: digests at both ends, under back-pressure, and failures that are visible. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { Readable } from 'node:stream';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError, hasCode } from '../../src/base/errors.js';
import type { HttpHandler } from '../../src/http/types.js';
import { MiB, Sink, source, type Source } from './support/bytes.js';
import { startFrontEnd } from './support/front-end.js';
import { RawClient } from './support/raw-client.js';
import { eventually } from '../support/eventually.js';
import { assertFlatMemory } from '../support/memory.js';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** What the kernel buffers for a client that does not read, and a little of our own. */
const MAX_AHEAD_BYTES = 16 * MiB;

function serving(body: Source, length: number | undefined): HttpHandler {
  return async () => ({ status: 200, body: { stream: body.stream, length } });
}

/** Reads an answer 1 KiB at a time for `slowBytes`, with pauses, then at full speed. */
async function readSlowly(
  port: number,
  slowBytes: number,
  passed: (bytes: number) => void = () => undefined,
): Promise<{ size: number; digest: string }> {
  const request = http.get({ port, agent: false });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const sink = new Sink();
  let slow = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sink.write(chunk);
    for (let at = 0; at < chunk.length && slow < slowBytes; at += 1_024, slow += 1_024) {
      if (slow % (256 * 1_024) === 0) await sleep(30);
      else await new Promise(setImmediate);
    }
    passed(chunk.length);
  }
  return { size: sink.size, digest: sink.digest() };
}

describe('answers arrive whole', () => {
  for (const isAnnounced of [true, false]) {
    const how = isAnnounced ? 'with Content-Length' : 'chunked';
    const arrives = async (t: TestContext, size: number, block: number, passed?: (bytes: number) => void) => {
      const body = source(size, { block });
      const front = await startFrontEnd(t, serving(body, isAnnounced ? size : undefined));
      const got = await readSlowly(front.port, 2 * MiB, passed);
      assert.deepEqual(got, { size, digest: body.hash.digest('hex') });
      const record = await front.over(1);
      assert.deepEqual([record.isComplete, record.bytesOut], [true, size]);
    };
    for (const block of [64 * 1024, 3 * MiB + 17]) {
      test(`128 MiB ${how} in pieces of ${block}, through a slow reader, in flat memory`, (t) =>
        assertFlatMemory(128 * MiB, (bytes, passed) => arrives(t, bytes + 12_345, block, passed)));
    }
    test(`6 MiB ${how} in pieces of 1,000, through a slow reader`, (t) => arrives(t, 6 * MiB + 1, 1_000));
  }

  for (const isAnnounced of [true, false]) {
    test(`a reader that pauses slows down the source (${isAnnounced ? 'length' : 'chunked'})`, async (t) => {
      const size = 64 * MiB;
      const body = source(size);
      const { port } = await startFrontEnd(t, serving(body, isAnnounced ? size : undefined));
      const client = await RawClient.open(port);
      client.socket.pause();
      client.send(GET);
      let [last, still] = [-1, 0];
      await eventually(() => {
        still = body.given === last && last > 0 ? still + 1 : 0;
        last = body.given;
        return still > 50;
      }, 'the source waits');
      assert.ok(body.given < MAX_AHEAD_BYTES, `${body.given} bytes were read ahead`);
      const gone = new Promise((resolve) => body.stream.once('close', resolve));
      client.socket.destroy();
      await gone;
    });
  }

  test('a long text held in memory, through a slow reader', async (t) => {
    const text = 'ä'.repeat(8 * MiB);
    const front = await startFrontEnd(t, async () => ({ status: 200, body: text }));
    const got = await readSlowly(front.port, MiB);
    assert.deepEqual(got, { size: 16 * MiB, digest: createHash('sha256').update(text).digest('hex') });
    assert.equal((await front.over(1)).bytesOut, 16 * MiB);
  });

  test('a chunked source that pauses between its pieces', async (t) => {
    const pieces = Array.from({ length: 40 }, (_, index) => Buffer.alloc(index * 997, index));
    const { port } = await startFrontEnd(t, async () => {
      const stream = Readable.from(
        (async function* () {
          for (const piece of pieces) {
            await sleep(2);
            yield piece;
          }
        })(),
      );
      return { status: 200, body: { stream, length: undefined } };
    });
    const client = await RawClient.open(port);
    assert.deepEqual((await client.send(GET).answer()).body, Buffer.concat(pieces));
    client.socket.destroy();
  });

  test('zero bytes: announced, chunked and as text', async (t) => {
    const lengths = [0, undefined];
    const { port } = await startFrontEnd(t, async ({ path }) =>
      path === '/text'
        ? { status: 200, body: '' }
        : { status: 200, body: { stream: Readable.from([]), length: lengths.shift() } },
    );
    const client = await RawClient.open(port);
    const known = await client.send(GET).answer();
    assert.deepEqual([known.field('content-length'), known.body.length], ['0', 0]);
    client.send('GET /text HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.equal((await client.answer()).field('content-length'), '0');
    client.socket.destroy();
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.equal((await response.arrayBuffer()).byteLength, 0);
  });
});

describe('an answer that fails never looks whole', () => {
  const broken = new GatewayError('connection_lost', 'the remote server cut the transfer', { step: 'transfer' });
  const SIZE = MiB;

  const sources: Record<string, () => { body: Source; length: number | undefined }> = {
    'fails midway, announced': () => ({ body: source(SIZE / 2, { failure: broken }), length: SIZE }),
    'fails midway, chunked': () => ({ body: source(SIZE / 2, { failure: broken }), length: undefined }),
    'fails after its last byte, announced': () => ({ body: source(SIZE, { failure: broken }), length: SIZE }),
    'ends short': () => ({ body: source(SIZE - 1), length: SIZE }),
    'gives one byte too many': () => ({ body: source(SIZE + 1), length: SIZE }),
    'gives far too many': () => ({ body: source(SIZE * 4), length: SIZE }),
  };
  for (const [name, make] of Object.entries(sources)) {
    test(`a source that ${name}: the connection is cut`, async (t) => {
      const { body, length } = make();
      const front = await startFrontEnd(t, serving(body, length));
      const client = await RawClient.open(front.port);
      client.send(GET);
      await client.closed;
      const text = client.received.toString('latin1');
      assert.match(text, /^HTTP\/1\.1 200 /);
      const headLength = text.indexOf('\r\n\r\n') + 4;
      if (length === undefined) assert.ok(!text.endsWith('\r\n0\r\n\r\n'));
      else assert.ok(client.received.length - headLength < length);
      assert.equal((await front.over(1)).isComplete, false);
      assert.equal(body.stream.destroyed, true);
    });
  }

  test('one that fails before its first byte becomes an error answer', async (t) => {
    const front = await startFrontEnd(t, async () => {
      const { stream } = source(0, { failure: broken });
      return { status: 200, headers: { 'X-Request-Id': 'mine' }, body: { stream, length: SIZE } };
    });
    const client = await RawClient.open(front.port);
    const answer = await client.send(GET).answer();
    assert.deepEqual(JSON.parse(answer.body.toString()), { error: broken.message });
    assert.deepEqual(
      [answer.status, answer.field('x-error-code'), answer.field('x-request-id')],
      [502, 'connection_lost', 'mine'],
    );
    assert.equal((await client.send(GET).answer()).status, 502);
    client.socket.destroy();
  });

  test('one that was dead before it was passed on becomes an error answer', async (t) => {
    const { port } = await startFrontEnd(t, async () => {
      const stream = new Readable({ read: () => undefined });
      stream.on('error', () => undefined).destroy(broken);
      await once(stream, 'close');
      return { status: 200, body: { stream, length: undefined } };
    });
    const client = await RawClient.open(port);
    assert.equal((await client.send(GET).answer()).status, 502);
    client.socket.destroy();
  });

  for (const isAnnounced of [true, false]) {
    test(`a client that leaves destroys the source at once (${isAnnounced ? 'length' : 'chunked'})`, async (t) => {
      const size = 64 * MiB;
      const body = source(size);
      const front = await startFrontEnd(t, serving(body, isAnnounced ? size : undefined));
      const client = await RawClient.open(front.port);
      client.send(GET);
      await client.until((received) => received.length > 100_000);
      const gone = once(body.stream, 'error');
      client.socket.resetAndDestroy();
      const [error] = (await gone) as [Error];
      assert.ok(hasCode(error, 'client_gone'));
      assert.equal((await front.over(1)).isComplete, false);
    });
  }
});

describe('answers without a body', () => {
  test('HEAD: the length of every kind of answer, no byte of it', async (t) => {
    const file = source(10);
    const { port } = await startFrontEnd(t, async ({ path }) => {
      if (path === '/length') return { status: 200, headLength: 5_000_000_000 };
      if (path === '/text') return { status: 404, body: '{"error":"ü"}' };
      if (path === '/file') return { status: 200, body: { stream: file.stream, length: 10 } };
      return { status: 200, body: 'next' };
    });
    const client = await RawClient.open(port);
    const lengthOf = async (path: string): Promise<string | undefined> => {
      client.send(`HEAD ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      return (await client.answer({ isHead: true })).field('content-length');
    };
    assert.deepEqual(
      [await lengthOf('/length'), await lengthOf('/text'), await lengthOf('/file')],
      ['5000000000', '14', '10'],
    );
    assert.equal(file.stream.destroyed, true);
    assert.equal((await client.send(GET).answer()).body.toString(), 'next');
    client.socket.destroy();
  });

  test('304 and 204 have no body and no length, and the connection continues', async (t) => {
    const statuses = [304, 204, 304];
    const { port } = await startFrontEnd(t, async () => ({
      status: statuses.shift() ?? 200,
      headers: { ETag: '"a"' },
    }));
    const client = await RawClient.open(port);
    for (const status of [304, 204, 304, 200]) {
      const answer = await client.send(GET).answer();
      assert.equal(answer.status, status);
      assert.equal(answer.field('content-length'), status === 200 ? '0' : undefined);
    }
    client.socket.destroy();
  });
});

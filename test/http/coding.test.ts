/** Long answers are sent as gzip to clients that accept it, on both front ends; all other answers are unchanged. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { createGunzip, gunzipSync } from 'node:zlib';
import { compressed, takesCoding } from '../../src/http/coding.js';
import { allowOrigins } from '../../src/http/cors.js';
import type { HttpAnswer, HttpHandler } from '../../src/http/types.js';
import { eventually } from '../support/eventually.js';
import { startFrontEnd, testBudgets } from './support/front-end.js';

const LINE = '{"name":"report.pdf","path":"/upload/report.pdf"},';
const TEXT = LINE.repeat(20_000);
const TAKES = { 'Accept-Encoding': 'gzip, deflate, br' };

const streamed = (stream: Readable): HttpAnswer => ({
  status: 200,
  headers: { 'Content-Type': 'application/json', Vary: 'Accept' },
  body: { stream, length: undefined },
});
const long = (): HttpAnswer => streamed(Readable.from(pieces(), { objectMode: false }));

function* pieces(): Generator<Buffer> {
  for (let at = 0; at < TEXT.length; at += 65_536) yield Buffer.from(TEXT.slice(at, at + 65_536));
}

async function ask(port: number, headers: Record<string, string> = {}): Promise<http.IncomingMessage> {
  const [response] = (await once(http.get({ port, agent: false, headers }), 'response')) as [http.IncomingMessage];
  return response;
}

test('a coding is used if it is named and not refused', () => {
  for (const accepted of ['gzip', 'br, GZIP;q=0.5', ' deflate , gzip ; q=1'])
    assert.ok(takesCoding(accepted, 'gzip'), accepted);
  for (const accepted of [undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.00', 'xgzip', 'identity'])
    assert.ok(!takesCoding(accepted, 'gzip'), accepted);
});

for (const frontEnd of ['uws', 'node'] as const) {
  describe(`answers as gzip, ${frontEnd}`, { concurrency: true }, () => {
    test('a long one is a fraction of its size, and unpacks to the same bytes', async (t) => {
      const front = await startFrontEnd(t, async (request) => compressed(request, long()), { frontEnd });
      const response = await ask(front.port, TAKES);
      const bytes = await buffer(response);
      assert.equal(response.headers['content-encoding'], 'gzip');
      assert.equal(response.headers['vary'], 'Accept, Accept-Encoding');
      assert.ok(bytes.length < TEXT.length / 10, `${bytes.length} bytes`);
      assert.equal(gunzipSync(bytes).toString(), TEXT);
      const record = await front.over(1);
      assert.deepEqual([record.isComplete, record.bytesOut], [true, bytes.length]);
    });

    test('without the field, or with a refusal in it, the bytes are unchanged', async (t) => {
      const front = await startFrontEnd(t, async (request) => compressed(request, long()), { frontEnd });
      for (const headers of [undefined, { 'Accept-Encoding': 'gzip;q=0, br' }]) {
        const response = await ask(front.port, headers);
        assert.equal(response.headers['content-encoding'], undefined);
        assert.equal(response.headers['vary'], 'Accept, Accept-Encoding');
        assert.equal((await buffer(response)).toString(), TEXT);
      }
    });

    test('a short one is sent unchanged', async (t) => {
      const short: HttpAnswer = { status: 200, body: '{"success":true}' };
      const front = await startFrontEnd(t, async (request) => compressed(request, short), { frontEnd });
      const response = await ask(front.port, TAKES);
      assert.equal(response.headers['content-encoding'], undefined);
      assert.equal((await buffer(response)).toString(), '{"success":true}');
    });

    test('one that fails while it is sent is cut and never looks complete', async (t) => {
      const source = new PassThrough();
      source.on('error', () => undefined);
      const front = await startFrontEnd(t, async (request) => compressed(request, streamed(source), true), {
        frontEnd,
      });
      source.write(LINE);
      const response = await ask(front.port, TAKES);
      const ended = new Promise<unknown>((resolve) => {
        response.once('error', resolve).once('end', () => resolve('a good end'));
      });
      response.once('data', () => source.destroy(new Error('the server broke')));
      assert.equal(((await ended) as { code?: string }).code, 'ECONNRESET');
    });

    test('an error before its first byte is answered plainly', async (t) => {
      const source = new PassThrough();
      source.on('error', () => undefined);
      const front = await startFrontEnd(t, async (request) => compressed(request, streamed(source), true), {
        frontEnd,
      });
      setImmediate(() => source.destroy(new Error('the server broke')));
      const response = await ask(front.port, TAKES);
      assert.equal(response.statusCode, 500);
      assert.equal(response.headers['content-encoding'], undefined);
      assert.match((await buffer(response)).toString(), /^\{"error":/);
    });

    test('what arrives piece by piece is sent piece by piece, and its source ends with the client', async (t) => {
      const source = new PassThrough();
      source.on('error', () => undefined);
      const front = await startFrontEnd(t, async (request) => compressed(request, streamed(source), true), {
        frontEnd,
      });
      source.write(LINE);
      const request = http.get({ port: front.port, agent: false, headers: TAKES });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      const opened = response.pipe(createGunzip());
      const [first] = (await once(opened, 'data')) as [Buffer];
      assert.equal(first.toString(), LINE);
      request.on('error', () => undefined).destroy();
      await eventually(() => source.destroyed, 'the source is ended');
    });

    test('it is sent unpacked if memory is short', async (t) => {
      const budgets = testBudgets({ memoryBytes: 256 * 1024 });
      const front = await startFrontEnd(t, async (request) => compressed(request, long()), { frontEnd, budgets });
      const response = await ask(front.port, TAKES);
      assert.equal(response.headers['content-encoding'], undefined);
      assert.equal((await buffer(response)).toString(), TEXT);
    });

    test('for pages of other origins the answer says that it varies by both', async (t) => {
      const handler: HttpHandler = async (request) => compressed(request, long());
      const front = await startFrontEnd(t, allowOrigins(handler, ['*']), { frontEnd });
      const [response] = (await once(
        http.get({
          port: front.port,
          path: '/api/x',
          agent: false,
          headers: { ...TAKES, Origin: 'https://a.example' },
        }),
        'response',
      )) as [http.IncomingMessage];
      assert.equal(response.headers['vary'], 'Accept, Accept-Encoding, Origin');
      response.resume();
    });
  });
}

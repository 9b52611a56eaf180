import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, afterEach, before, describe, test } from 'node:test';
import { limitOverhead, limitOverheadOf } from '../../src/base/http-overhead.js';
import { shortRequest } from '../../src/base/short-request.js';
import { Liar } from '../attacks/support/liar.js';

/** The limit is passed within one read of a socket, which Node.js gives 64 KiB. */
const MOST_READ = (64 << 10) + (64 << 10);

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const flood = (block: string, times: number, first = ''): Liar['behave'] =>
  Liar.flood(Buffer.from(block.repeat(times)), Buffer.from(first));
const LIES: readonly (readonly [what: string, behave: Liar['behave']])[] = [
  ['a chunk size', flood('0', 16_384, CHUNKED)],
  ['a chunk extension', flood('e', 16_384, `${CHUNKED}5;`)],
  ['extensions of chunks of one byte', flood(`1;${'e'.repeat(8_000)}\r\nx\r\n`, 2, CHUNKED)],
  ['trailers', flood('T: t\r\n', 1_000, `${CHUNKED}0\r\n`)],
  ['informational answers', flood('HTTP/1.1 100 Continue\r\n\r\n', 100)],
];

let liar: Liar;
before(async () => {
  liar = await Liar.start();
});
after(() => liar.stop());
afterEach(() => {
  liar.behave = Liar.silent;
});

/** Sends it and reads the whole answer. */
async function ask(request: http.ClientRequest): Promise<{ readonly content: number; readonly read: number }> {
  let read = 0;
  const count = (bytes: Buffer): void => void (read += bytes.length);
  request.once('socket', (socket) => socket.on('data', count));
  const closed = new Promise((done) => request.once('close', done));
  // Those of its answer reach the request as well.
  request.on('error', () => undefined);
  let content = 0;
  try {
    const [response] = (await once(request.end(), 'response')) as [http.IncomingMessage];
    for await (const chunk of response as AsyncIterable<Buffer>) content += chunk.length;
  } catch (error) {
    await closed;
    throw Object.assign(error as Error, { read });
  } finally {
    request.socket?.off('data', count);
  }
  return { content, read };
}

function isBounded(error: Error & { read?: number }): true {
  const { read = 0 } = error;
  assert.ok(read > 0 && read <= MOST_READ, `${read} bytes were read: ${error.message}`);
  return true;
}

describe('bytes without end that are no content', { timeout: 900_000 }, () => {
  const options = (): http.RequestOptions => ({ host: '127.0.0.1', port: liar.port });

  for (const [what, behave] of LIES) {
    test(`${what}: a request`, async () => {
      liar.behave = behave;
      const request = http.request(options());
      limitOverhead(request, (words) => new Error(`the server: ${words}`));
      await assert.rejects(ask(request), isBounded);
    });

    test(`${what}: a request of an agent`, async () => {
      liar.behave = behave;
      const agent = new http.Agent({ keepAlive: true });
      limitOverheadOf(agent);
      await assert.rejects(ask(http.request({ ...options(), agent })), isBounded);
      agent.destroy();
    });

    test(`${what}: a short request`, async () => {
      liar.behave = behave;
      const url = new URL(`http://127.0.0.1:${liar.port}/`);
      const limit = new AbortController().signal;
      const maxAnswerBytes = 1 << 20;
      await assert.rejects(shortRequest(url, { method: 'GET', headers: {}, maxAnswerBytes, limit }), {
        code: /^HPE_/,
      });
    });
  }
});

test('chunks of one byte with long sizes are read to their end', async () => {
  liar.behave = Liar.once(Buffer.from(`${CHUNKED}${'0000000001\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`), true);
  const request = http.request({ host: '127.0.0.1', port: liar.port });
  limitOverhead(request);
  assert.equal((await ask(request)).content, 20_000);
});

test('each request of a kept connection is counted by itself', async () => {
  const extension = 'e'.repeat(10_000);
  liar.behave = Liar.each(Buffer.from(`${CHUNKED}1;${extension}\r\nx\r\n0;${extension}\r\n\r\n`));
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  limitOverheadOf(agent);
  const before = liar.connections;
  const listeners = new Set<number>();
  for (let index = 0; index < 10; index++) {
    const request = http.request({ host: '127.0.0.1', port: liar.port, agent });
    request.once('response', ({ socket }) => listeners.add(socket.listenerCount('data')));
    assert.equal((await ask(request)).content, 1);
    await new Promise(setImmediate);
  }
  assert.deepEqual([liar.connections - before, listeners.size], [1, 1]);
  agent.destroy();
});

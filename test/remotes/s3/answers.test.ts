/** How a store's answers reach the SDK: bounded, and long ones one at a time. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { after, before, suite, test } from 'node:test';
import { BoundedHandler } from '../../../src/remotes/s3/client/bounded-handler.js';

type Request = Parameters<BoundedHandler['handle']>[0];

suite('answers of a store', () => {
  const KIB = 1024;
  const held: http.ServerResponse[] = [];
  const server = http.createServer((_request, response) => void held.push(response));
  const handler = new BoundedHandler();
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    handler.destroy();
    server.close();
  });

  async function ask(method: string, count: number): Promise<Readable[]> {
    const { port } = server.address() as AddressInfo;
    const request = { method, protocol: 'http:', hostname: '127.0.0.1', port, path: '/', headers: {}, query: {} };
    const arrived = once(server, 'request');
    const answers = Array.from({ length: count }, () => handler.handle(request as unknown as Request));
    while (held.length < count) await arrived.then(() => new Promise(setImmediate));
    for (const response of held) response.writeHead(200, method === 'HEAD' ? { 'Content-Length': 9e12 } : {});
    for (const response of held) response.flushHeaders();
    return (await Promise.all(answers)).map(({ response }) => response.body as Readable);
  }

  function send(bytes: number): void {
    for (const response of held.splice(0)) response.end(Buffer.alloc(bytes, 'x'));
  }

  test('those that take long to parse complete in different turns of the event loop', async () => {
    const bodies = await ask('GET', 5);
    let turn = 0;
    const count = (): void => {
      turn += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const ends = bodies.map(async (body) => {
      await once(body.resume(), 'end');
      return turn;
    });
    send(100 * KIB);
    const turns = await Promise.all(ends);
    clearImmediate(timer);
    assert.equal(new Set(turns).size, 5, turns.join(' '));
  });

  test('an endless one is given up', async () => {
    const [body] = await ask('GET', 1);
    send(9 * KIB * KIB);
    await assert.rejects(body?.toArray() ?? Promise.resolve(), { code: 'protocol_error' });
  });

  test('the length in a HEAD answer belongs to no body', async () => {
    const [body] = await ask('HEAD', 1);
    send(0);
    assert.deepEqual(await body?.toArray(), []);
  });
});

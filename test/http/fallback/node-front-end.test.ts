/** What only node:http has: its timers, its lenient parser, its handling of an early answer. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { MiB, source } from '../support/bytes.js';
import { startFrontEnd, untilGone } from '../support/front-end.js';
import { RawClient } from '../support/raw-client.js';
import { eventually } from '../../support/eventually.js';

const ON_NODE = { frontEnd: 'node' } as const;
const POST = 'POST / HTTP/1.1\r\nHost: x\r\n';

describe('node:http', { concurrency: true }, () => {
  test('100-continue is sent when the body is wanted, and not before a refusal', async (t) => {
    const { port } = await startFrontEnd(
      t,
      async ({ path, body }) => {
        if (path === '/refused') return { status: 401, body: 'no' };
        await body.resume().toArray();
        return { status: 200, body: 'yes' };
      },
      ON_NODE,
    );
    const head = (path: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`;
    const refused = await RawClient.open(port);
    const answer = await refused.send(head('/refused')).answer();
    assert.deepEqual([answer.status, answer.field('connection')], [401, 'close']);
    refused.socket.destroy();
    const wanted = await RawClient.open(port);
    assert.equal((await wanted.send(head('/')).answer()).status, 100);
    assert.equal((await wanted.send('hello').answer()).status, 200);
    wanted.socket.destroy();
  });

  test('a client whose body was refused reads the whole answer while it still sends, and is then cut', async (t) => {
    const text = 'a'.repeat(60_000);
    const { port } = await startFrontEnd(t, async () => ({ status: 413, body: text }), ON_NODE);
    const client = await RawClient.open(port);
    client.send(`${POST}Content-Length: ${64 * MiB}\r\n\r\n`);
    const pushed = source(64 * MiB);
    pushed.stream.pipe(client.socket);
    assert.equal((await client.answer()).body.length, text.length);
    await client.closed;
    assert.ok(pushed.given < 32 * MiB, `${pushed.given} bytes were taken`);
  });

  test('nothing is read after an answer that ends its connection', async (t) => {
    const paths: string[] = [];
    const { port } = await startFrontEnd(
      t,
      async ({ path }) => {
        paths.push(path);
        return { status: 413, body: 'too large' };
      },
      ON_NODE,
    );
    const client = await RawClient.open(port);
    client.send(`${POST}Content-Length: 5\r\n\r\n`);
    assert.equal((await client.answer()).field('connection'), 'close');
    client.send('hello', 'GET /second HTTP/1.1\r\nHost: x\r\n\r\n');
    await client.closed;
    assert.equal(client.received.length, 0);
    assert.deepEqual(paths, ['/']);
  });

  test('a head that arrives in drips is given up, a body may take its time', async (t) => {
    const { port } = await startFrontEnd(
      t,
      async ({ body }) => {
        await body.resume().toArray();
        return { status: 200 };
      },
      ON_NODE,
    );
    const [head, body] = [await RawClient.open(port), await RawClient.open(port)];
    head.send('GET / HTTP/1.1\r\nHost: x\r\nX: ');
    body.send(`${POST}Content-Length: 14\r\n\r\n`);
    const drip = setInterval(() => head.send('a'), 1_000);
    t.after(() => clearInterval(drip));
    for (let sent = 0; sent < 14; sent++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      body.send('a');
    }
    await head.closed;
    assert.match(head.received.toString(), /^HTTP\/1\.1 408 /);
    assert.equal((await body.answer()).status, 200);
    body.socket.destroy();
  });

  test('NODE_OPTIONS cannot make the parser lenient', async (t) => {
    const server = fork(new URL('../support/loop-server.js', import.meta.url), {
      serialization: 'json',
      env: { ...process.env, TEST_FRONT_END: 'node' },
      execArgv: ['--insecure-http-parser'],
    });
    t.after(() => server.kill());
    const [port] = (await once(server, 'message')) as [number];
    const client = await RawClient.open(port);
    client.send(`${POST}X: a\x01b\r\n\r\n`);
    assert.equal((await client.answer()).status, 400);
    await client.closed;
  });

  test('a client that sends requests and never reads is cut', async (t) => {
    const size = 60_000;
    const { port, records } = await startFrontEnd(t, async () => ({ status: 200, body: 'a'.repeat(size) }), ON_NODE);
    const client = await RawClient.open(port);
    client.socket.pause();
    // Until the buffers of both sides are full, and one answer stays with the server.
    for (let asked = 1, still = 0; still < 100; asked++) {
      client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      for (still = 0; records.length < asked && still < 100; still++) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    client.socket.resume();
    await client.closed;
    assert.ok(client.received.length < records.length * size, `${client.received.length} bytes`);
  });

  test('connections of all kinds end with the server', async (t) => {
    const { port, server } = await startFrontEnd(t, untilGone, ON_NODE);
    const [silent, inHead, inBody] = await Promise.all([1, 2, 3].map(() => RawClient.open(port)));
    inHead?.send('GET / HTTP/1.1\r\n');
    inBody?.send(`${POST}Content-Length: 5\r\n\r\n`);
    await eventually(() => server.running === 1, 'the request');
    server.abandon();
    await Promise.all([silent?.closed, inHead?.closed, inBody?.closed]);
  });
});

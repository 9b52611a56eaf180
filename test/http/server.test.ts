/** The listener: TLS and its reload, one owner of a port, drain. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { describe, test, type TestContext } from 'node:test';
import tls from 'node:tls';
import { hasCode } from '../../src/base/errors.js';
import { answerOfError } from '../../src/http/answer.js';
import type { HttpHandler } from '../../src/http/types.js';
import { MiB, Sink, source } from './support/bytes.js';
import { writeCertificate } from './support/certificate.js';
import { startFrontEnd, untilGone } from './support/front-end.js';
import { RawClient } from './support/raw-client.js';
import { freePort } from '../support/ports.js';
import { eventually } from '../support/eventually.js';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ftg-front-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function commonName(port: number): Promise<string | undefined> {
  const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return subject.CN as string | undefined;
}

async function refused(port: number): Promise<boolean> {
  const socket = net.connect({ host: '127.0.0.1', port });
  const isRefused = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false));
    socket.once('error', () => resolve(true));
  });
  socket.destroy();
  return isRefused;
}

const swallow: HttpHandler = async (request) => {
  const sink = new Sink(1);
  await pipeline(request.body, sink);
  return { status: 200, body: sink.digest() };
};

describe('TLS', () => {
  test('32 MiB up and down at once, digests equal', async (t) => {
    const size = 32 * MiB + 99;
    const down = source(size);
    const { port } = await startFrontEnd(
      t,
      (request) =>
        request.method === 'POST'
          ? swallow(request)
          : Promise.resolve({ status: 200, body: { stream: down.stream, length: size } }),
      { tls: writeCertificate(folderOf(t), 'up-and-down') },
    );
    const up = source(size);
    const ask = async (method: string): Promise<http.IncomingMessage> => {
      const request = https.request({ port, method, rejectUnauthorized: false, agent: false });
      if (method === 'POST') up.stream.pipe(request);
      else request.end();
      return ((await once(request, 'response')) as [http.IncomingMessage])[0];
    };
    const [answer, received] = await Promise.all([
      ask('POST').then(async (response) => {
        let text = '';
        for await (const chunk of response as AsyncIterable<Buffer>) text += chunk.toString();
        return text;
      }),
      ask('GET').then(async (response) => {
        const sink = new Sink();
        await pipeline(response, sink);
        return sink.digest();
      }),
    ]);
    assert.equal(answer, up.hash.digest('hex'));
    assert.equal(received, down.hash.digest('hex'));
  });

  test('a reload shows the new certificate while a transfer on the old connection continues', async (t) => {
    const folder = folderOf(t);
    const size = 8 * MiB;
    const down = source(size);
    const front = await startFrontEnd(t, async () => ({ status: 200, body: { stream: down.stream, length: size } }), {
      tls: writeCertificate(folder, 'before'),
      port: await freePort(),
    });
    assert.equal(await commonName(front.port), 'before');
    const request = https.get({ port: front.port, rejectUnauthorized: false, agent: false });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    assert.ok(down.given < size);
    writeCertificate(folder, 'after');
    front.server.reloadTls();
    assert.equal(await commonName(front.port), 'after');
    const sink = new Sink();
    await pipeline(response, sink);
    assert.equal(sink.digest(), down.hash.digest('hex'));
  });

  test('a bad certificate at a reload keeps the old one in use', async (t) => {
    const folder = folderOf(t);
    const files = writeCertificate(folder, 'good');
    const { port, server } = await startFrontEnd(t, async () => ({ status: 200 }), { tls: files });
    writeFileSync(files.certFile, 'no certificate');
    assert.throws(() => server.reloadTls(), /certificate/);
    assert.equal(await commonName(port), 'good');
  });
});

describe('the port', () => {
  test('a used one is refused in one line, and its owner is not disturbed', async (t) => {
    const first = await startFrontEnd(t, async () => ({ status: 200, body: 'first' }));
    await assert.rejects(
      startFrontEnd(t, async () => ({ status: 200 }), { port: first.port }),
      (error: Error) => {
        assert.match(error.message, new RegExp(`^cannot listen on 127\\.0\\.0\\.1:${first.port}: .*in use`));
        return !error.message.includes('\n');
      },
    );
    const client = await RawClient.open(first.port);
    assert.equal((await client.send(GET).answer()).body.toString(), 'first');
    client.socket.destroy();
  });
});

describe('drain', () => {
  test('a running upload finishes, new connections are refused, idle ones are closed', async (t) => {
    const front = await startFrontEnd(t, swallow);
    const resting = await RawClient.open(front.port);
    assert.equal((await resting.send(GET).answer()).field('connection'), undefined);
    const busy = await RawClient.open(front.port);
    const body = source(2 * MiB);
    busy.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 * MiB}\r\n\r\n`);
    await eventually(() => front.server.running === 1, 'the upload');

    const drained = front.server.drain(20);
    assert.equal(await refused(front.port), true);
    const late = await resting.send(GET).answer();
    assert.deepEqual([late.status, late.field('connection')], [200, 'close']);
    assert.equal(late.headers.filter(([name]) => name === 'connection').length, 1);
    await resting.closed;

    body.stream.pipe(busy.socket, { end: false });
    const answer = await busy.answer();
    assert.deepEqual([answer.status, answer.field('connection')], [200, 'close']);
    assert.equal(answer.body.toString(), body.hash.digest('hex'));
    await drained;
    await busy.closed;
  });

  test('idle connections are closed when it ends', async (t) => {
    const { port, server } = await startFrontEnd(t, async () => ({ status: 200 }));
    const client = await RawClient.open(port);
    await client.send(GET).answer();
    await server.drain(20);
    await client.closed;
  });

  test('operations still running after drainSeconds get draining; waiting clients get that answer', async (t) => {
    const reasons: unknown[] = [];
    const front = await startFrontEnd(t, async (request) => {
      try {
        return await untilGone(request);
      } catch (error) {
        reasons.push(error);
        if (!hasCode(error, 'draining')) throw error;
        return answerOfError(error);
      }
    });
    const waiting = await RawClient.open(front.port);
    waiting.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhello');
    await eventually(() => front.server.running === 1, 'the request');
    const drained = front.server.drain(0.1);
    const answer = await waiting.answer();
    assert.deepEqual(
      [answer.status, answer.field('x-error-code'), answer.field('connection'), answer.field('retry-after')],
      [503, 'draining', 'close', '1'],
    );
    await drained;
    assert.ok(reasons.length === 1 && hasCode(reasons[0], 'draining'));
  });

  test('a download that still runs after drainSeconds is cut', async (t) => {
    const body = source(64 * MiB);
    const front = await startFrontEnd(t, async () => ({
      status: 200,
      body: { stream: body.stream, length: 64 * MiB },
    }));
    const client = await RawClient.open(front.port);
    client.send(GET);
    await client.until((received) => received.length > 1_000);
    client.socket.pause();
    const failed = new Promise((resolve) => body.stream.once('error', resolve));
    await front.server.drain(0.1);
    assert.ok(hasCode(await failed, 'draining'));
    client.socket.resume();
    await client.closed;
    assert.ok(client.received.length < 64 * MiB);
  });

  test('it waits for a handler that cleans up after its client has left', async (t) => {
    let isClean = false;
    const front = await startFrontEnd(t, async (request) => {
      await untilGone(request).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 100));
      isClean = true;
      return { status: 200 };
    });
    const client = await RawClient.open(front.port);
    client.send(GET);
    await eventually(() => front.server.running === 1, 'the request');
    client.socket.destroy();
    await front.over(1);
    await front.server.drain(20);
    assert.equal(isClean, true);
  });
});

/** The gateway's port with clients that violate HTTP, or use it very slowly. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { RawClient } from '../http/support/raw-client.js';
import { KEY, memoryOf, startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { eventually } from '../support/eventually.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31));
const IDLE_MS = 2_000;
/** The front end's own timers end them after some 16 s; a busy machine is late. */
const PATIENCE_MS = 60_000;
/** While they are there. */
const SERVED_MS = 10_000;
const MiB = 1024 * 1024;

let gateway: TestGateway;

before(async () => {
  gateway = await startGateway({ config: { sandbox: true, server: { idleTimeoutMs: IDLE_MS } } });
});
after(() => gateway.stop());

const POST = `POST /api/mkdir/sandbox HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
const JSON_BODY = '{"path":"/made"}';
const SIZE = JSON_BODY.length;
const CHUNKS = `${SIZE.toString(16)}\r\n${JSON_BODY}\r\n0\r\n\r\n`;
/** Appears in the gateway's log if it is taken for a request. */
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

async function exchange(text: string): Promise<{ readonly statuses: number[]; readonly isClosed: boolean }> {
  const client = await RawClient.open(gateway.port);
  client.send(text);
  await Promise.race([client.closed, client.until((bytes) => bytes.includes('\r\n\r\n'))]);
  // By the time another connection was served, a second answer would have been sent.
  await gateway.api.get('/healthz');
  const statuses = [...client.received.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) =>
    Number(code),
  );
  client.socket.destroy();
  return { statuses, isClosed: client.isClosed };
}

const chunked = (size: string, lineEnd = '\r\n'): string =>
  `Transfer-Encoding: chunked\r\n\r\n${size}${lineEnd}${JSON_BODY}\r\n0\r\n\r\n`;

describe('requests with an ambiguous end', { concurrency: 8 }, () => {
  const length = `Content-Length: ${SIZE}`;
  const cases: Readonly<Record<string, string>> = {
    'length and chunks': `${length}\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
    'chunks and a short length': `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${CHUNKS}`,
    'chunked twice': `Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
    'chunked, then identity': `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${CHUNKS}`,
    'chunked twice among other repeated fields': `Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\nHost: y\r\n\r\n${CHUNKS}`,
    'a coding that sounds like chunked': `Transfer-Encoding: xchunked\r\n\r\n${CHUNKS}`,
    'a list that ends in identity': `Transfer-Encoding: chunked, identity\r\n\r\n${CHUNKS}`,
    'a list that ends in chunked': `Transfer-Encoding: gzip, chunked\r\n\r\n${CHUNKS}`,
    'an empty coding': `Transfer-Encoding:\r\n\r\n${CHUNKS}`,
    'a space before the colon of the coding': `Transfer-Encoding : chunked\r\n\r\n${CHUNKS}`,
    'a space before the colon of the length': `Content-Length : ${SIZE}\r\n\r\n${JSON_BODY}`,
    'a vertical tab before the coding': `Transfer-Encoding: \x0bchunked\r\n\r\n${CHUNKS}`,
    'a folded coding': `Transfer-Encoding:\r\n chunked\r\n\r\n${CHUNKS}`,
    'a folded length': `Content-Length:\r\n ${SIZE}\r\n\r\n${JSON_BODY}`,
    'two lengths that differ': `Content-Length: 0\r\n${length}\r\n\r\n${JSON_BODY}`,
    'two lengths that agree': `${length}\r\n${length}\r\n\r\n${JSON_BODY}`,
    'a list of lengths': `Content-Length: ${SIZE}, ${SIZE}\r\n\r\n${JSON_BODY}`,
    'an empty length': `Content-Length:\r\n\r\n${JSON_BODY}`,
    'a length with a sign': `Content-Length: +${SIZE}\r\n\r\n${JSON_BODY}`,
    'a negative length': `Content-Length: -1\r\n\r\n${JSON_BODY}`,
    'a hexadecimal length': `Content-Length: 0x${SIZE.toString(16)}\r\n\r\n${JSON_BODY}`,
    'a length with a space inside': `Content-Length: 1 6\r\n\r\n${JSON_BODY}`,
    'a length beyond all numbers': `Content-Length: 18446744073709551632\r\n\r\n${JSON_BODY}`,
    'a bare line feed that hides a length': `X: a\nContent-Length: 0\r\n${length}\r\n\r\n${JSON_BODY}`,
    'a bare line feed that hides the only length': `X: a\nContent-Length: ${SIZE}\r\n\r\n${JSON_BODY}`,
    'a bare line feed that hides the only coding': `X: a\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
    'a bare line feed that ends the head': `${length}\r\n\n${JSON_BODY}`,
    'a NUL in a value': `X: a\0b\r\n${length}\r\n\r\n${JSON_BODY}`,
    'a NUL in a name': `X\0: a\r\n${length}\r\n\r\n${JSON_BODY}`,
    'a field without a colon': `X\r\n${length}\r\n\r\n${JSON_BODY}`,
    'a chunk size beyond 64 bits': chunked(`ffffffffffffffff${SIZE.toString(16)}`),
    'the largest chunk size': chunked('ffffffffffffffff'),
    'a negative chunk size': chunked(`-${SIZE.toString(16)}`),
    'a chunk size with 0x': chunked(`0x${SIZE.toString(16)}`),
    'a chunk size ended by a line feed': chunked(SIZE.toString(16), '\n'),
    'a chunk without its line end': `Transfer-Encoding: chunked\r\n\r\n${SIZE.toString(16)}\r\n${JSON_BODY}0\r\n\r\n`,
    'a chunk with another line end': `Transfer-Encoding: chunked\r\n\r\n${SIZE.toString(16)}\r\n${JSON_BODY}XX0\r\n\r\n`,
    'fields behind the chunks': `Transfer-Encoding: chunked\r\n\r\n${CHUNKS.slice(0, -2)}Content-Length: 5\r\n\r\n`,
  };

  for (const [what, text] of Object.entries(cases)) {
    test(`${what}: the connection ends, and the rest is not a request`, async () => {
      const { statuses } = await exchange(`${POST}${text}${SMUGGLED}`);
      assert.ok(
        statuses.every((status) => status === 400 || status === 505),
        `answered ${statuses.join(', ')}`,
      );
      assert.ok(statuses.length <= 1, `${statuses.length} answers`);
    });
  }

  after(() => {
    assert.doesNotMatch(gateway.output(), /"route":"unknown"/, 'a hidden request was served');
    held({
      area: 'Attacks',
      what: 'Request smuggling over raw sockets',
      done: 'lengths and codings that repeat, conflict, are folded, signed, padded, hidden or malformed, with a second request after them',
      held: '400, 505 or no answer; the connection ends; the hidden request is never served',
      tries: Object.keys(cases).length,
    });
  });
});

describe('heads and bytes that are not HTTP', () => {
  test('an endless head is refused within its limit', async () => {
    const client = await RawClient.open(gateway.port);
    client.send('GET /healthz HTTP/1.1\r\nHost: x\r\nX: ');
    let sent = 0;
    const block = 'a'.repeat(64 * 1024);
    while (!client.isClosed && sent < 16 * MiB) {
      // Bytes that wait in this process were not taken.
      const isTaken = new Promise<boolean>((resolve) => client.socket.write(block, (error) => resolve(!error)));
      if ((await Promise.race([isTaken, client.closed])) !== true) break;
      sent += block.length;
    }
    await client.closed;
    assert.ok(sent < 16 * MiB, `${sent} bytes were taken`);
    assert.match(client.received.toString('latin1'), /^(HTTP\/1\.1 431 |$)/);
  });

  test(`random bytes (FUZZ_SEED=${SEED}): an error or the end, and the next client is served`, async () => {
    const valid = Buffer.from(`${POST}Content-Length: ${SIZE}\r\n\r\n${JSON_BODY}`);
    const spoiled = fc
      .array(fc.record({ at: fc.nat(valid.length - 1), byte: fc.nat(255) }), { minLength: 1, maxLength: 6 })
      .map((changes) => {
        const bytes = Buffer.from(valid);
        for (const { at, byte } of changes) bytes[at] = byte;
        return bytes;
      });
    const noise = fc.uint8Array({ minLength: 1, maxLength: 3000 }).map((bytes) => Buffer.from(bytes));
    const all = fc.sample(fc.oneof(spoiled, noise), { seed: SEED, numRuns: 1_000 });
    let next = 0;
    const work = async (): Promise<void> => {
      for (let bytes = all[next++]; bytes !== undefined; bytes = all[next++]) {
        const client = await RawClient.open(gateway.port);
        // Half-closed: a wait for more bytes is given up at once.
        client.send(bytes).socket.end();
        await client.until((received) => received.includes('\r\n\r\n'));
        client.socket.destroy();
        assert.match(client.received.toString('latin1'), /^(HTTP\/1\.1 [2-5]\d\d |$)/);
        assert.doesNotMatch(client.received.toString('latin1'), /^HTTP\/1\.1 50[0-4]/);
      }
    };
    await Promise.all(Array.from({ length: 16 }, work));
    assert.equal((await gateway.api.get('/readyz')).status, 200);
    held({
      area: 'Attacks',
      what: 'Bytes that are no HTTP',
      done: 'noise and spoiled requests on raw sockets, a head without end',
      held: 'an error or the end of the connection; the gateway serves on',
      tries: all.length + 1,
    });
  });
});

describe('slow clients', () => {
  test('thousands of idle connections, slow heads and half requests: others are served, and all of them end', async () => {
    const before = descriptors();
    const memory = memoryOf(gateway.pid).now;
    const slowHead = 'GET /healthz HTTP/1.1\r\nHost: x\r\nX: ';
    const halfBody = `${POST}Content-Length: 100000\r\n\r\n{"path":`;
    const halfChunk = `${POST}Transfer-Encoding: chunked\r\n\r\nffff\r\n{`;
    const clients = (
      await Promise.all([
        openMany(2_000, ''),
        openMany(200, slowHead),
        openMany(100, halfBody),
        openMany(100, halfChunk),
      ])
    ).flat();
    const dripping = clients.slice(2_000, 2_200);
    const drip = setInterval(() => {
      for (const client of dripping) if (!client.isClosed) client.send('a');
    }, 500);
    const startedAt = performance.now();
    const { status } = await gateway.api.get('/api/list/sandbox');
    const served = performance.now() - startedAt;
    const grown = memoryOf(gateway.pid).now - memory;
    await Promise.race([
      Promise.all(clients.map(({ closed }) => closed)),
      // Open sockets keep the process alive, if it comes to that.
      new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref()),
    ]);
    clearInterval(drip);
    const left = clients.filter(({ isClosed }) => !isClosed).length;
    for (const { socket } of clients) socket.destroy();
    assert.equal(status, 200);
    assert.ok(served < SERVED_MS, `another client waited ${served} ms`);
    assert.ok(grown < 64 * MiB, `${clients.length} connections took ${grown} bytes`);
    assert.equal(left, 0, `${left} connections were never ended`);
    await eventually(() => descriptors() <= before + 5, 'the descriptors come back');
    held({
      area: 'Attacks',
      what: 'Slowloris, idle connections and half requests',
      done: '2,000 connections that say nothing, 200 that send their head byte by byte, 200 that stop in the body',
      held: 'another client is served at once; every one of them is ended; memory stays bounded and descriptors come back',
      tries: clients.length,
    });
  });
});

async function openMany(count: number, text: string): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  // In batches: the backlog of a listening socket is bounded.
  for (let opened = 0; opened < count; opened += 100) {
    const lot = Array.from({ length: Math.min(100, count - opened) }, () => RawClient.open(gateway.port));
    clients.push(...(await Promise.all(lot)));
  }
  for (const client of clients) client.send(text);
  return clients;
}

function descriptors(): number {
  return readdirSync(`/proc/${gateway.pid}/fd`).length;
}

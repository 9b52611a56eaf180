/** How many connections one address may have open, and all together, regardless of what they send. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ClientConnections, mostConnections, type ConnectionsOptions } from '../../src/http/connections.js';
import { openConnectionsOf } from '../../src/http/native/open-connections.js';
import { freePort } from '../support/ports.js';
import { writeCertificate } from './support/certificate.js';
import { type HttpServerOptions, startFrontEnd } from './support/front-end.js';
import { RawClient } from './support/raw-client.js';
import { eventually } from '../support/eventually.js';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const [CROWDED, OTHER] = ['127.0.0.2', '127.0.0.3'];
const answer: HttpServerOptions['handler'] = async () => ({ status: 200, body: 'here' });

async function openMany(port: number, count: number, localAddress = CROWDED): Promise<RawClient[]> {
  return Promise.all(Array.from({ length: count }, () => RawClient.open(port, { localAddress })));
}

const openOf = (clients: readonly RawClient[]): number => clients.filter(({ isClosed }) => !isClosed).length;

async function isServed(port: number, localAddress: string): Promise<boolean> {
  const client = await RawClient.open(port, { localAddress });
  client.send(GET);
  await client.until((received) => received.includes('here'));
  client.socket.destroy();
  return client.received.includes('here');
}

describe('connections of one address', () => {
  test('only those beyond the bound are closed, at once', async (t) => {
    const frontEnd = await startFrontEnd(t, answer, { connectionsPerAddress: 20 });
    const { port, server, log } = frontEnd;
    const clients = await openMany(port, 60);
    await eventually(() => openOf(clients) <= 20, 'the rest is closed');
    assert.equal(openOf(clients), 20);
    assert.deepEqual(server.refusedConnections, { address: 40, total: 0 });
    assert.equal(log.filter((line) => line.includes('server.connectionsPerAddress')).length, 1);
    assert.equal(await isServed(port, OTHER), true);
    for (const { socket } of clients) socket.destroy();
  });

  test('a place is free again however its connection ended', async (t) => {
    const { port } = await startFrontEnd(t, answer, { connectionsPerAddress: 4 });
    const endings: ((client: RawClient) => Promise<unknown>)[] = [
      // With nothing sent, half a head, half a body; between two requests; with the answer; on a mistake.
      async ({ socket }) => socket.destroy(),
      async (client) => client.send('GET / HT').socket.destroy(),
      async (client) => client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx').socket.destroy(),
      async (client) => {
        await client.send(GET).answer();
        client.socket.destroy();
      },
      (client) => client.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n').closed,
      (client) => client.send('NO HTTP\r\n\r\n').closed,
      async ({ socket }) => socket.resetAndDestroy(),
    ];
    for (const end of endings) {
      const clients = await openMany(port, 4);
      await Promise.all(clients.map(end));
      await Promise.all(clients.map(({ closed }) => closed));
      await eventually(() => isServed(port, CROWDED), `a place is free after ${end.toString()}`);
    }
  });

  test('clients that come and go are not refused, in any number', async (t) => {
    const { port, server } = await startFrontEnd(t, answer, { connectionsPerAddress: 256 });
    for (let round = 0; round < 1_500; round++) assert.equal(await isServed(port, CROWDED), true, `round ${round}`);
    assert.equal(server.refusedConnections.address, 0);
  });

  for (const [what, settings] of [
    ['a trusted proxy has as many as it wants', { connectionsPerAddress: 4, trustedProxies: ['127.0.0.2/32'] }],
    ['0 is any number', { connectionsPerAddress: 0 }],
    ['this machine has any number, unless one is set', { connectionsPerAddress: 'auto' }],
  ] as const) {
    test(what, async (t) => {
      const { port, server } = await startFrontEnd(t, answer, settings);
      const clients = await openMany(port, settings.connectionsPerAddress === 'auto' ? 300 : 50);
      for (const client of clients) assert.equal((await client.send(GET).answer()).status, 200);
      assert.deepEqual(server.refusedConnections, { address: 0, total: 0 });
      for (const { socket } of clients) socket.destroy();
    });
  }

  test('TLS: before the handshake, and over a reload of the certificate', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'ftg-connections-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const tls = writeCertificate(folder, 'localhost');
    const { port, server } = await startFrontEnd(t, answer, { port: await freePort(), connectionsPerAddress: 20, tls });
    const former = await openMany(port, 15);
    server.reloadTls();
    const clients = [...former, ...(await openMany(port, 500))];
    await eventually(() => openOf(clients) <= 20, 'the rest is closed');
    assert.equal(openOf(clients), 20);
    for (const { socket } of clients) socket.destroy();
  });

  test('a head has ten seconds in all, however steadily its bytes arrive', { timeout: 900_000 }, async (t) => {
    const { port } = await startFrontEnd(t, answer);
    await Promise.all(
      ['', GET].map(async (first) => {
        const client = (await RawClient.open(port)).send(first, 'GET / HTTP/1.1\r\nHost: x\r\nX: ');
        const timer = setInterval(() => client.send('a'), 500);
        await client.closed;
        clearInterval(timer);
      }),
    );
  });
});

describe('the count', () => {
  const lines: string[] = [];
  const bounds = (options: Partial<ConnectionsOptions>): ConnectionsOptions => ({
    perAddress: 2,
    total: 100,
    unbounded: [],
    loops: 1,
    log: (_level, message) => lines.push(message),
    ...options,
  });
  const opened = (connections: ClientConnections, addresses: readonly string[]): boolean[] =>
    addresses.map((address) => connections.opened(address));

  test('an IPv6 host is its /64; an IPv4 address in IPv6 notation counts as IPv4', () => {
    const connections = new ClientConnections(bounds({}));
    assert.deepEqual(opened(connections, ['2001:db8::1', '2001:db8::2', '2001:db8::3']), [true, true, false]);
    assert.deepEqual(opened(connections, ['2001:db8:0:1::1', '10.0.0.1', '::ffff:10.0.0.1']), [true, true, true]);
    assert.equal(connections.opened('10.0.0.1'), false);
    connections.closed('2001:db8::4');
    connections.closed('2001:db8::4');
    assert.equal(connections.opened('2001:db8::5'), true);
  });

  test('there is a total bound, of which each loop has its part, and proxies are included', () => {
    const connections = new ClientConnections(bounds({ total: 8, loops: 2, unbounded: ['10.0.0.1'] }));
    const five = Array.from({ length: 5 }, () => connections.opened('10.0.0.1'));
    assert.deepEqual(five, [true, true, true, true, false]);
    assert.deepEqual(connections.refused, { address: 0, total: 1 });
    assert.ok(mostConnections() > 100);
  });

  test('each of several loops counts for all, until it has asked', () => {
    let asked = 0;
    const connections = new ClientConnections(bounds({ perAddress: 8, loops: 4 }), () => {
      asked++;
      return new Map([['10.0.0.1', 3]]);
    });
    assert.deepEqual(opened(connections, Array<string>(3).fill('10.0.0.1')), [true, true, true]);
    assert.equal(asked, 1);
  });

  test('refusals are logged once a minute', (t) => {
    t.mock.timers.enable({ apis: ['Date'] });
    lines.length = 0;
    const connections = new ClientConnections(bounds({ perAddress: 1 }));
    opened(connections, Array<string>(50).fill('10.0.0.1'));
    assert.equal(lines.length, 1);
  });

  test('the kernel shows which clients have connections, without outgoing ones', async (t) => {
    if (process.platform !== 'linux') return;
    const [ours, theirs] = [net.createServer(), net.createServer()];
    const clients: net.Socket[] = [];
    t.after(() => {
      for (const client of clients) client.destroy();
      for (const server of [ours, theirs]) server.close();
    });
    for (const server of [ours, theirs]) await once(server.listen(0), 'listening');
    const portOf = (server: net.Server): number => (server.address() as net.AddressInfo).port;
    for (const [server, localAddress] of [
      [ours, CROWDED],
      [ours, CROWDED],
      [ours, OTHER],
      [theirs, OTHER],
    ] as const) {
      const accepted = once(server, 'connection');
      clients.push(net.connect({ host: '127.0.0.1', port: portOf(server), localAddress: localAddress ?? '' }));
      const [socket] = (await accepted) as [net.Socket];
      clients.push(socket);
    }
    const count = openConnectionsOf(() => portOf(ours));
    assert.deepEqual(
      count?.(),
      new Map([
        ['127.0.0.2', 2],
        ['127.0.0.3', 1],
      ]),
    );
  });
});

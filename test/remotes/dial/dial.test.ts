import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import tls from 'node:tls';
import { GatewayError } from '../../../src/base/errors.js';
import { createDialer, type Dialer } from '../../../src/remotes/dial/dial.js';
import { raceConnects } from '../../../src/remotes/dial/race.js';
import type { Lookup } from '../../../src/resolver/resolver.js';
import { makeCertificate } from '../../servers/ftp.js';
import { withCode } from '../../support/errors.js';
import { eventually } from '../../support/eventually.js';

type NetworkRules = Parameters<typeof createDialer>[0];

type Purpose = Parameters<Dialer['connect']>[2]['purpose'];

const NEVER = new AbortController().signal;
const OPEN: NetworkRules = {
  localAddress: '',
  connections: { allowPrivate: true, deny: [] },
  urlFetch: { allow: [] },
  webhooks: { allow: [] },
};
const closed = (connections: Partial<NetworkRules['connections']>): NetworkRules => ({
  ...OPEN,
  connections: { ...OPEN.connections, ...connections },
});
/** The test's own name service: each look-up takes the next answer, the last one is repeated. */
const names =
  (...answers: readonly (readonly string[])[]): Lookup =>
  async () =>
    (answers.length > 1 ? (answers as string[][]).shift()! : (answers[0] ?? [])).map((address) => ({ address }));

const options = (purpose: Purpose = 'connection', timeoutMs = 5_000) => ({
  purpose,
  owner: 'account',
  signal: NEVER,
  timeoutMs,
});

async function listen(t: TestContext, host: string, port = 0, accept: (socket: net.Socket) => void = () => undefined) {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    accept(socket);
  });
  server.listen(port, host);
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as net.AddressInfo).port;
}

/** Denied addresses are refused without sending a packet, so any port will do. */
async function isDenied(dialer: Dialer, host: string, purpose: Purpose = 'connection'): Promise<void> {
  await assert.rejects(dialer.connect(host, 9, options(purpose)), withCode('address_denied', /network rules/));
}

describe('addresses that are denied to every registered connection', () => {
  const hosts = {
    'the metadata service': [
      ...['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254'],
      ...[
        'fd00:ec2::23',
        'fd20:ce::254',
        'fd00:c1::a9fe:a9fe',
        'fd00:42::42',
        'fd00:a9fe:a9fe::1',
        'fd00:100::100:200',
      ],
    ],
    'link-local': ['169.254.1.1', 'fe80::1', 'fe80::1%lo', '[fe80::1]'],
    unspecified: ['0.0.0.0', '::', '[::]', '0.1.2.3'],
    multicast: ['224.0.0.1', 'ff02::1', '255.255.255.255'],
    'IPv4 mapped into IPv6': ['::ffff:169.254.169.254', '[::ffff:a9fe:a9fe]', '::ffff:0:169.254.169.254'],
    'IPv4-compatible': ['::169.254.169.254'],
    NAT64: ['64:ff9b::169.254.169.254', '64:ff9b:1::10.0.0.1'],
    '6to4': ['2002:a9fe:a9fe::1'],
    Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  };
  for (const [what, list] of Object.entries(hosts)) {
    test(what, async () => {
      const dialer = createDialer(OPEN, () => []);
      for (const host of list) await isDenied(dialer, host);
    });
  }

  test('a name that resolves to one of them', async () => {
    await isDenied(
      createDialer(OPEN, () => [], names(['169.254.169.254'])),
      'metadata.example',
    );
  });

  test('odd notations mean what the resolver reads', async () => {
    const dialer = createDialer(closed({ allowPrivate: false }), () => []);
    for (const host of ['0x7f.1', '2130706433', '127.1', '0177.0.0.1', '0x7f000001', 'localhost']) {
      await isDenied(dialer, host);
    }
  });
});

test('with allowPrivate false a connection reaches public addresses only', async () => {
  const dialer = createDialer(closed({ allowPrivate: false }), () => []);
  const hosts = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '127.0.0.1', '127.9.9.9', '100.64.0.1', '::1', 'fc00::1'];
  for (const host of [...hosts, '::ffff:10.0.0.1', '64:ff9b::10.0.0.1', '2002:0a00:0001::', 'fec0::1']) {
    await isDenied(dialer, host);
  }
});

test("an account's own setting for private addresses overrides the operator's", async (t) => {
  const port = await listen(t, '127.0.0.1');
  const lax = createDialer(OPEN, () => []);
  const refused = lax.connect('127.0.0.1', port, { ...options(), allowPrivate: false });
  await assert.rejects(refused, withCode('address_denied', /loopback/));
  const strict = createDialer(closed({ allowPrivate: false, deny: ['127.0.0.2'] }), () => []);
  (await strict.connect('127.0.0.1', port, { ...options(), allowPrivate: true })).destroy();
  for (const host of ['127.0.0.2', '169.254.169.254']) {
    await assert.rejects(strict.connect(host, 9, { ...options(), allowPrivate: true }), withCode('address_denied'));
  }
  // It applies only to registered connections.
  await assert.rejects(
    lax.connect('127.0.0.1', port, { ...options('url'), allowPrivate: true }),
    withCode('address_denied'),
  );
});

test('a URL and a webhook reach public addresses only, unless an operator allows a block', async (t) => {
  const port = await listen(t, '127.0.0.1');
  const strict = createDialer(OPEN, () => []);
  for (const purpose of ['url', 'webhook'] as const) {
    for (const host of ['127.0.0.1', '10.0.0.1', '::1', '168.63.129.16', '198.18.0.1', '192.0.2.1', '2001:db8::1']) {
      await isDenied(strict, host, purpose);
    }
  }
  const allowing = createDialer({ ...OPEN, urlFetch: { allow: ['127.0.0.0/8'] } }, () => []);
  (await allowing.connect('127.0.0.1', port, options('url'))).destroy();
  (await allowing.connect('::ffff:127.0.0.1', port, options('url'))).destroy();
  await isDenied(allowing, '127.0.0.1', 'webhook');
  await isDenied(allowing, '10.0.0.1', 'url');
});

test('an operator may deny blocks of either family', async (t) => {
  const port = await listen(t, '127.0.0.1');
  const dialer = createDialer(closed({ deny: ['127.0.0.2', '10.0.0.0/8', '64:ff9b::/96'] }), () => []);
  for (const host of ['127.0.0.2', '10.1.2.3', '::ffff:10.1.2.3', '2002:0a01:0203::', '64:ff9b::8.8.8.8']) {
    await isDenied(dialer, host);
  }
  (await dialer.connect('127.0.0.1', port, options())).destroy();
});

test("the gateway's own listener cannot be reached under any name", async (t) => {
  const port = await listen(t, '127.0.0.1');
  const other = await listen(t, '127.0.0.1');
  const rules = { ...OPEN, urlFetch: { allow: ['127.0.0.0/8', '::/0'] } };
  for (const address of ['127.0.0.1', '0.0.0.0', '::', 'a-name-of-this-machine']) {
    const dialer = createDialer(rules, () => [{ address, port }]);
    for (const purpose of ['connection', 'url'] as const) {
      for (const host of ['127.0.0.1', 'localhost', '::ffff:127.0.0.1', '0x7f.1']) {
        const refused = dialer.connect(host, port, options(purpose));
        await assert.rejects(refused, withCode('address_denied', /own address/));
      }
    }
    (await dialer.connect('127.0.0.1', other, options())).destroy();
  }
  const onIpv6 = createDialer(rules, () => [{ address: '::1', port }]);
  for (const host of ['::1', '[::1]', '::1%lo']) {
    await assert.rejects(onIpv6.connect(host, port, options()), withCode('address_denied', /own address/));
  }
});

test('denied addresses are skipped if there are others', async (t) => {
  const port = await listen(t, '127.0.0.1');
  const dialer = createDialer(OPEN, () => [], names(['169.254.169.254', '127.0.0.1']));
  const socket = await dialer.connect('mixed.example', port, options());
  assert.equal(socket.remoteAddress, '127.0.0.1');
  socket.destroy();
});

test('the socket goes to the address that was checked, even if the name resolves to another one next', async (t) => {
  const port = await listen(t, '127.0.0.1');
  let asked = 0;
  const rebinding: Lookup = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '169.254.169.254' }];
  const socket = await createDialer(OPEN, () => [], rebinding).connect('rebinding.example', port, options());
  assert.equal(socket.remoteAddress, '127.0.0.1');
  assert.equal(asked, 1);
  socket.destroy();
});

test('after a refused address the next one is tried', async (t) => {
  const port = await listen(t, '127.0.0.3');
  const dialer = createDialer(OPEN, () => [], names(['127.0.0.1', '::1', '127.0.0.3']));
  const socket = await dialer.connect('several.example', port, options());
  assert.equal(socket.remoteAddress, '127.0.0.3');
  socket.destroy();
  const none = createDialer(OPEN, () => [], names(['127.0.0.1', '127.0.0.2']));
  await assert.rejects(none.connect('none.example', port, options()), withCode('unreachable', /connection refused/));
});

/** A listener whose queue of connections is full: further connections get no answer at all. */
async function silentPort(t: TestContext, host: string, port = 0): Promise<number> {
  const script = `import socket, sys
server = socket.socket()
server.bind((sys.argv[1], int(sys.argv[2])))
server.listen(0)
fillers = []
for _ in range(4):
    filler = socket.socket()
    filler.setblocking(False)
    filler.connect_ex(server.getsockname())
    fillers.append(filler)
print(server.getsockname()[1], flush=True)
sys.stdin.read()`;
  const child = spawn('python3', ['-c', script, host, String(port)], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return Number(line.toString());
}

test('an address that does not answer delays the next one only for a moment', async (t) => {
  const port = await silentPort(t, '127.0.0.2');
  await listen(t, '127.0.0.3', port);
  const dialer = createDialer(OPEN, () => [], names(['127.0.0.2', '127.0.0.3']));
  const dead = createDialer(OPEN, () => [], names(['127.0.0.2']));
  let isWaitedFor = true;
  const silent = assert.rejects(dead.connect('dead.example', port, options())).finally(() => (isWaitedFor = false));
  const socket = await dialer.connect('half-dead.example', port, options());
  assert.equal(socket.remoteAddress, '127.0.0.3');
  assert.ok(isWaitedFor, 'it was given up as late as an address that is the only one');
  socket.destroy();
  await silent;
});

test('no answer in time is a connect_timeout', async (t) => {
  const port = await silentPort(t, '127.0.0.2');
  const dialer = createDialer(OPEN, () => []);
  const attempt = dialer.connect('127.0.0.2', port, options('connection', 300));
  await assert.rejects(attempt, withCode('connect_timeout', /127\.0\.0\.2:\d+ did not answer within 300 ms/));
});

test('an abort ends connecting at once, with its own reason', async (t) => {
  const port = await silentPort(t, '127.0.0.2');
  const controller = new AbortController();
  const attempt = createDialer(OPEN, () => []).connect('127.0.0.2', port, {
    ...options(),
    signal: controller.signal,
  });
  const reason = new GatewayError('client_gone', 'the client left');
  setImmediate(() => controller.abort(reason));
  await assert.rejects(attempt, (error) => error === reason);
  const late = createDialer(OPEN, () => []).connect('127.0.0.1', port, {
    ...options(),
    signal: AbortSignal.abort(reason),
  });
  await assert.rejects(late, (error) => error === reason);
});

test('a name service that never answers, or does not know the name', async () => {
  const silent = createDialer(
    OPEN,
    () => [],
    () => new Promise(() => undefined),
  );
  await assert.rejects(
    silent.connect('silent.example', 1, options('connection', 50)),
    withCode('connect_timeout', /silent\.example/),
  );
  const controller = new AbortController();
  const aborted = silent.connect('silent.example', 1, { ...options(), signal: controller.signal });
  const reason = new GatewayError('draining', 'stop');
  controller.abort(reason);
  await assert.rejects(aborted, (error) => error === reason);
  const empty = createDialer(OPEN, () => [], names([]));
  await assert.rejects(empty.connect('empty.example', 1, options()), withCode('dns_failed', /no such name/));
  const unknown = createDialer(OPEN, () => []);
  await assert.rejects(unknown.connect('nowhere.invalid', 1, options()), withCode('dns_failed', /nowhere\.invalid/));
});

test('every socket leaves from the fixed outbound address', async (t) => {
  const peers: (string | undefined)[] = [];
  const port = await listen(t, '127.0.0.1', 0, (socket) => {
    peers.push(socket.remoteAddress);
    socket.resume();
  });
  const dialer = createDialer({ ...OPEN, localAddress: '127.0.0.2' }, () => [], names(['::1', '127.0.0.1']));
  const socket = await dialer.connect('dual.example', port, options());
  assert.equal(socket.localAddress, '127.0.0.2');
  socket.end();
  await once(socket, 'close');
  assert.deepEqual(peers, ['127.0.0.2']);
  // Another family would leave from another address: it is refused.
  await assert.rejects(dialer.connect('::1', port, options()), withCode('unreachable', /network\.localAddress/));
});

test('sockets carry TCP_NODELAY and keep-alive', async (t) => {
  const port = await listen(t, '127.0.0.1');
  const socket = await createDialer(OPEN, () => []).connect('127.0.0.1', port, options());
  t.after(() => socket.destroy());
  const inKernel = (number: number) => `0100007F:${number.toString(16).toUpperCase().padStart(4, '0')}`;
  const [local, remote] = [inKernel(socket.localPort ?? 0), inKernel(port)];
  // Field 5 of the kernel's list is the timer: 02 is the keep-alive one (proc_net_tcp.txt). The local port alone does
  // not identify a connection: another one, to another server, may have it too.
  const lines = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  assert.match(lines.find((fields) => fields[1] === local && fields[2] === remote)?.[5] ?? '', /^02:/);
  const descriptor = socket as unknown as { readonly [key: symbol]: unknown };
  const flags = Object.getOwnPropertySymbols(socket).map((symbol) => [symbol.description, descriptor[symbol]] as const);
  assert.equal(new Map(flags).get('kSetNoDelay'), true);
});

test('wide reads: every byte is in order, reads are larger, and stop while the reader pauses', async (t) => {
  const content = randomBytes(24 << 20);
  let sent: net.Socket | undefined;
  const port = await listen(t, '127.0.0.1', 0, (socket) => {
    sent = socket;
    socket.end(content);
  });
  const wide = { ...options(), hasWideReads: true };
  const socket = await createDialer(OPEN, () => []).connect('127.0.0.1', port, wide);
  t.after(() => socket.destroy());
  // Kept until the end: a piece that a later read overwrote would differ.
  const pieces: Buffer[] = [];
  for await (const piece of socket) {
    pieces.push(piece as Buffer);
    // Early: twenty pieces of 1 MiB, and the buffers of the system, could be everything.
    if (pieces.length !== 4) continue;
    await eventually(() => {
      const before = socket.bytesRead;
      return turn().then(() => socket.bytesRead === before);
    }, 'reading rests');
    assert.ok(socket.readableLength <= 2 << 20 && (sent?.writableLength ?? 0) > 0);
  }
  assert.ok(Buffer.concat(pieces).equals(content));
  assert.ok(Math.max(...pieces.map(({ length }) => length)) > 65_536);
});

test('nothing is left of an address that lost the race', async (t) => {
  let accepted = 0;
  const port = await listen(t, '127.0.0.1', 0, () => accepted++);
  const dialer = createDialer(OPEN, () => [], names(['127.0.0.1', '127.0.0.1']));
  const socket = await dialer.connect('twice.example', port, options());
  const gone = once(socket, 'close');
  socket.destroy();
  await gone;
  assert.equal(accepted, 1);
});

describe('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ftg-dial-'));
  const certificate = makeCertificate(folder);
  const sockets = new Set<tls.TLSSocket>();
  const servernames: unknown[] = [];
  const server = tls.createServer(
    { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(join(folder, 'cert.pem')) },
    (socket) => {
      servernames.push(socket.servername);
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    },
  );
  let port = 0;
  before(async () => {
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as net.AddressInfo).port;
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  });

  test('sends the name without its trailing dot, and checks the certificate', async () => {
    const dialer = createDialer(OPEN, () => [], names(['127.0.0.1']));
    const accepted = once(server, 'secureConnection');
    const socket = await dialer.connectTls('localhost.', port, { ...options(), tls: { ca: certificate.ca } });
    assert.equal(socket.authorized, true);
    await accepted;
    socket.destroy();
    assert.deepEqual(servernames, ['localhost']);
    await assert.rejects(dialer.connectTls('localhost', port, options()), withCode('certificate_rejected'));
  });

  test('a server that is silent after the connection is a connect_timeout, an abort its own reason', async (t) => {
    const closings: Promise<unknown>[] = [];
    const controller = new AbortController();
    const reason = new GatewayError('draining', 'stop');
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { timeoutMs } = options();
    const mute = await listen(t, '127.0.0.1', 0, (socket) => {
      closings.push(once(socket, 'close'));
      const isFirst = closings.length === 1;
      // The first bytes are those of the handshake.
      socket.once('data', () => (isFirst ? t.mock.timers.tick(timeoutMs) : controller.abort(reason)));
    });
    const dialer = createDialer(OPEN, () => []);
    await assert.rejects(dialer.connectTls('127.0.0.1', mute, options()), withCode('connect_timeout', /TLS/));
    const attempt = dialer.connectTls('127.0.0.1', mute, { ...options(), signal: controller.signal });
    await assert.rejects(attempt, (error) => error === reason);
    await Promise.all(closings);
    assert.equal(closings.length, 2);
  });

  test('a server that hangs up during the handshake is unreachable', async (t) => {
    const rude = await listen(t, '127.0.0.1', 0, (socket) => socket.once('data', () => socket.end()));
    const dialer = createDialer(OPEN, () => []);
    await assert.rejects(dialer.connectTls('127.0.0.1', rude, options()), withCode('unreachable', /TLS handshake/));
  });

  test("an agent's requests go through the same checks", async () => {
    const agentOptions = {
      purpose: 'webhook' as const,
      owner: 'account',
      maxSockets: 2,
      connectTimeoutMs: 1_000,
      idleTimeoutMs: 1_000,
    };
    const { https: agent } = createDialer(OPEN, () => []).agents(agentOptions);
    const request = https.get(`https://127.0.0.1:${port}/`, { agent });
    const [error] = (await once(request, 'error')) as [Error];
    withCode('address_denied')(error);
    agent.destroy();
  });
});

test('a race of addresses whose signal has aborted before it begins ends with the reason', async () => {
  const reason = new GatewayError('client_gone', 'the client left');
  const race = raceConnects(['127.0.0.1', '::1'], 9, '', AbortSignal.abort(reason));
  await assert.rejects(race, (error) => error === reason);
});

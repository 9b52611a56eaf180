/** Connections through jump hosts: OpenSSH, which leads to servers of each protocol. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import ssh2 from 'ssh2';
import type { Connection, SftpConnection } from '../../../src/connections/connection.js';
import { createDialer, onBehalfOf } from '../../../src/remotes/dial/dial.js';
import { parseRemotePath, ROOT } from '../../../src/remotes/path.js';
import { createRemotes, type Remotes, type UseOptions } from '../../../src/remotes/registry.js';
import { createJumps } from '../../../src/remotes/sftp/protocol.js';
import { judgeHostKey, type Trust } from '../../../src/remotes/trust.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { startVsftpd } from '../../servers/ftp.js';
import { S3Stub } from '../../servers/scripted-s3.js';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { withCode } from '../../support/errors.js';
import { eventually } from '../../support/eventually.js';
import { startProxy } from '../../support/proxy.js';
import { ftpConnection, LIMITS, patterned, sftpConnection, testDeps, TestLeftovers } from '../support/harness.js';
import { connectionTo } from '../support/s3-rig.js';
import { entriesOf } from '../../support/seam.js';

const NEVER = new AbortController().signal;
const use: UseOptions = { signal: NEVER, leftovers: () => new TestLeftovers() };

/** The gateway must not look up the names of servers behind a jump host. */
const noLookups = async (name: string): Promise<never> => {
  throw new Error(`${name} was looked up by the gateway`);
};
const network = (proxied?: { allow: string[]; deny: string[] }) => ({
  localAddress: '',
  connections: { allowPrivate: true, deny: [] },
  urlFetch: { allow: [] },
  webhooks: { allow: [] },
  ...(proxied === undefined ? {} : { proxied }),
});

function remotesOf(t: TestContext, trust?: Trust, proxied?: { allow: string[]; deny: string[] }): Remotes {
  const dialer = createDialer(network(proxied), () => [], noLookups);
  const deps = testDeps({ dialer, ...(trust === undefined ? {} : { trust }) });
  const remotes = createRemotes({ ...deps, limits: { default: LIMITS, hosts: {} } });
  t.after(() => remotes.close());
  return remotes;
}

async function sshd(t: TestContext, ...lines: string[]): Promise<TestSshd> {
  const server = await startSshd(lines);
  t.after(() => server.stop());
  return server;
}

const jumpOn = (server: TestSshd, more: Partial<SftpConnection> = {}): SftpConnection =>
  sftpConnection(server, { id: `jump-${server.port}`, ...more });

type Serve = (channel: ssh2.ServerChannel, asked: ssh2.TcpipRequestInfo) => void;

const toServer: Serve = (channel, { destIP, destPort }) => {
  const socket = net.connect(destPort, destIP);
  socket.on('error', () => undefined);
  channel.pipe(socket).pipe(channel);
};

/** A jump host that is no OpenSSH; `serve` gets its side of each connection. */
async function startBastion(t: TestContext, serve: Serve, debug?: (text: string) => void) {
  const { private: hostKey } = ssh2.utils.generateKeyPairSync('ed25519');
  const clients: ssh2.Connection[] = [];
  const bastion = new ssh2.Server({ hostKeys: [hostKey], ...(debug && { debug }) }, (client) => {
    clients.push(client);
    client.on('error', () => undefined);
    client.on('authentication', (context) => context.accept());
    client.on('tcpip', (accept, _reject, asked) => serve(accept(), asked));
  });
  bastion.listen(0, '127.0.0.1');
  await once(bastion, 'listening');
  t.after(() => {
    for (const client of clients) client.end();
    bastion.close();
  });
  const { port } = bastion.address() as net.AddressInfo;
  return { jump: sftpConnection({ port, username: 'u' }, { id: 'bastion', password: 'x' }), clients };
}

/** A connection through it, as protocols get it. */
function connectBehind(t: TestContext, jump: SftpConnection): Promise<net.Socket> {
  const jumps = createJumps(testDeps(), () => LIMITS);
  t.after(() => jumps.close());
  return jumps.connect(jump, 'server.example', 21, { signal: NEVER, timeoutMs: LIMITS.connectTimeoutMs });
}

const through = (jump: SftpConnection) => ({ via: jump.id, jump });

const at = (text: string) => parseRemotePath(text, ROOT, 'path');

/** Stores files at once, reads them back and finds them in the listing. */
async function goesThrough(remotes: Remotes, connection: Connection, folder = '/'): Promise<void> {
  const bytes = Buffer.from('through a jump host\n'.repeat(100_000));
  const names = ['a', 'b', 'c'];
  await Promise.all(
    names.map((name) =>
      remotes.use(connection, use, async (remote) => {
        const path = at(`${folder}${name}`);
        const writer = await remote.write(path, { size: bytes.length });
        await pipeline(Readable.from([bytes], { objectMode: false }), writer);
        await writer.commit({ size: bytes.length });
        assert.deepEqual(await buffer(streamOf(await remote.read(path))), bytes);
      }),
    ),
  );
  await remotes.use(connection, use, async (remote) => {
    const found: string[] = [];
    for await (const { name } of entriesOf(remote.list(at(folder)))) found.push(name);
    for (const name of names) assert.ok(found.includes(name), found.join());
  });
}

describe('through OpenSSH', () => {
  test('SFTP, and all sessions share one connection to the jump host', async (t) => {
    const [jump, target] = [await sshd(t), await sshd(t)];
    const connection = sftpConnection(target, { host: 'localhost', ...through(jumpOn(jump)) });
    await goesThrough(remotesOf(t), connection, `${target.files}/`);
    const log = await jump.log();
    assert.equal(log.match(/Accepted publickey/g)?.length, 1, log);
    // The jump host looked up the name.
    assert.match(await target.log(), /Connection from (127\.0\.0\.1|::1) port/);
  });

  test('FTP with its data connections', async (t) => {
    const [jump, target] = [await sshd(t), await startVsftpd()];
    t.after(() => target.stop());
    await goesThrough(remotesOf(t), ftpConnection(target, { host: 'localhost', ...through(jumpOn(jump)) }));
  });

  test('FTP over TLS with its data connections', async (t) => {
    const [jump, target] = [await sshd(t), await startVsftpd({ tls: 'explicit' })];
    t.after(() => target.stop());
    await goesThrough(remotesOf(t), ftpConnection(target, { host: 'localhost', ...through(jumpOn(jump)) }));
  });

  test('S3', async (t) => {
    const [jump, store] = [await sshd(t), await S3Stub.start()];
    t.after(() => store.stop());
    const endpoint = `http://localhost:${new URL(store.endpoint).port}`;
    await goesThrough(remotesOf(t), { ...connectionTo({ endpoint, bucket: 'bucket' }), ...through(jumpOn(jump)) });
  });

  test('three jump hosts, one behind the other', async (t) => {
    const [first, second, third, target] = [await sshd(t), await sshd(t), await sshd(t), await sshd(t)];
    const second2 = jumpOn(second, through(jumpOn(first)));
    const way = jumpOn(third, through(second2));
    await goesThrough(remotesOf(t), sftpConnection(target, through(way)), `${target.files}/`);
    for (const server of [first, second, third]) assert.match(await server.log(), /Accepted publickey/);
  });

  test('each small packet is answered at once, so that the jump host holds no other one back', async (t) => {
    const target = await sshd(t);
    let ignored = 0;
    // It notes the packets that it has to ignore.
    const debug = (text: string): void => void (text.includes('Received IGNORE') && ignored++);
    const { jump } = await startBastion(t, toServer, debug);
    const remotes = remotesOf(t);
    await remotes.use(sftpConnection(target, through(jump)), use, async (remote) => {
      await remote.stat(at('/'));
      for (let asked = 0; asked < 5; asked += 1) {
        const before = ignored;
        await remote.stat(at('/'));
        await eventually(() => ignored > before, 'the answer is answered');
      }
    });
    remotes.close();
  });

  test('a body larger than all windows arrives whole, both ways', async (t) => {
    const [jump, target] = [await sshd(t), await sshd(t)];
    const connection = sftpConnection(target, through(jumpOn(jump)));
    const size = 48 << 20;
    await remotesOf(t).use(connection, use, async (remote) => {
      const path = at(`${target.files}/large`);
      const { body, digest } = patterned(size);
      const writer = await remote.write(path, { size });
      await pipeline(body, writer);
      await writer.commit({ size });
      const { createHash } = await import('node:crypto');
      const hash = createHash('sha256');
      for await (const chunk of streamOf(await remote.read(path))) hash.update(chunk as Buffer);
      assert.equal(hash.digest('hex'), digest());
    });
  });
});

describe('one connection behind it', () => {
  const CONTENT = 'the last bytes\n'.repeat(100);

  test('connections share as many logins as the jump host may have', async (t) => {
    const { jump, clients } = await startBastion(t, (channel) => channel.resume());
    const jumps = createJumps(testDeps(), () => ({ ...LIMITS, maxSessions: 2 }));
    t.after(() => jumps.close());
    const options = { signal: NEVER, timeoutMs: LIMITS.connectTimeoutMs };
    for (let number = 0; number < 20; number++) {
      const socket = await jumps.connect(jump, 'server.example', 21, options);
      // In the end they are cut.
      socket.on('error', () => undefined);
    }
    assert.equal(clients.length, 2);
  });

  test('a jump host that closes at once: what it has sent waits for a slow reader', async (t) => {
    let closed: Promise<unknown> | undefined;
    const { jump } = await startBastion(t, (channel) => {
      closed = once(channel.resume(), 'close');
      channel.end(CONTENT);
      channel.close();
    });
    const socket = await connectBehind(t, jump);
    await closed;
    assert.equal(await text(socket), CONTENT);
    await eventually(() => socket.destroyed, 'it is closed');
  });

  test('the way to the jump host is cut: that is no end of what a server sends', async (t) => {
    const { jump, clients } = await startBastion(t, (channel) => void channel.write(CONTENT));
    const socket = await connectBehind(t, jump);
    await once(socket, 'readable');
    clients[0]?.end();
    await assert.rejects(text(socket), { code: 'ECONNRESET' });
  });

  test('an HTTP connection that is no longer used is closed', async (t) => {
    let closed: Promise<unknown> | undefined;
    const store = http.createServer((_request, response) => response.end('stored'));
    await once(store.listen(0, '127.0.0.1'), 'listening');
    t.after(() => {
      store.closeAllConnections();
      store.close();
    });
    const { port } = store.address() as net.AddressInfo;
    const { jump } = await startBastion(t, (channel, asked) => {
      closed = once(channel, 'close');
      toServer(channel, asked);
    });
    const jumps = createJumps(testDeps(), () => LIMITS);
    t.after(() => jumps.close());
    const agents = createDialer(network(), () => []).agents({
      ...onBehalfOf({ accountId: 'a1', via: jump.id, jump }, { jumps }),
      maxSockets: 1,
      connectTimeoutMs: LIMITS.connectTimeoutMs,
      idleTimeoutMs: 100,
    });
    const [response] = (await once(http.get({ host: '127.0.0.1', port, agent: agents.http }), 'response')) as [
      http.IncomingMessage,
    ];
    assert.equal(await text(response), 'stored');
    await closed;
  });
});

describe('when it does not work', () => {
  const lists = async (remotes: Remotes, connection: Connection): Promise<void> =>
    remotes.use(connection, use, async (remote) => void (await remote.stat(at('/'))));

  test('the jump host refuses the login: the error names it, and no password', async (t) => {
    const [jump, target] = [await sshd(t), await sshd(t)];
    const wrong = jumpOn(jump, { privateKey: undefined, password: 'wr0ng-word' });
    const failed = await lists(remotesOf(t), sftpConnection(target, through(wrong))).catch((error: unknown) => error);
    withCode(
      'login_refused',
      new RegExp(`^the jump host jump-${jump.port} \\(127.0.0.1:${jump.port}\\): .*refused the login`),
    )(failed);
    assert.ok(!String(failed).includes('wr0ng-word'));
    // The next one logs in again.
    await lists(remotesOf(t), sftpConnection(target, through(jumpOn(jump))));
  });

  test('forwarding is forbidden there', async (t) => {
    const [jump, target] = [await sshd(t, 'AllowTcpForwarding no'), await sshd(t)];
    const connection = sftpConnection(target, through(jumpOn(jump)));
    await assert.rejects(
      lists(remotesOf(t), connection),
      withCode('unreachable', /the jump host .* its rules forbid it/),
    );
  });

  test('nothing listens behind it, and it does not know the name', async (t) => {
    const jump = await sshd(t);
    const closed = sftpConnection({ port: 9, username: 'u' }, through(jumpOn(jump)));
    await assert.rejects(
      lists(remotesOf(t), closed),
      withCode('unreachable', /does not connect to 127.0.0.1:9: it cannot reach it/),
    );
    const unknown = { ...closed, host: 'no-such-name.invalid' };
    await assert.rejects(
      lists(remotesOf(t), unknown),
      withCode('unreachable', /does not connect to no-such-name.invalid:9/),
    );
  });

  test('the jump host itself is silent: the time of the connection behind it ends the wait', async (t) => {
    const silent = net.createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.after(() => silent.close());
    const { port } = silent.address() as net.AddressInfo;
    const jump = sftpConnection({ port, username: 'j' }, { id: 'silent' });
    const connection = sftpConnection(
      { port: 9, username: 'u' },
      { ...through(jump), pool: { connectTimeoutMs: 1500 } },
    );
    const remotes = remotesOf(t);
    await assert.rejects(
      lists(remotes, connection),
      withCode('connect_timeout', /the jump host silent .* did not connect to 127\.0\.0\.1:9 within \d+ ms/),
    );
  });

  test('the server behind it is silent: the time for a login ends it', async (t) => {
    const jump = await sshd(t);
    const silent = net.createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.after(() => silent.close());
    const { port } = silent.address() as net.AddressInfo;
    const connection = sftpConnection(
      { port, username: 'u' },
      // It has begun by then, after a login on the jump host.
      { ...through(jumpOn(jump)), pool: { connectTimeoutMs: 10_000 } },
    );
    await assert.rejects(
      lists(remotesOf(t), connection),
      withCode('connect_timeout', /did not finish the SSH handshake/),
    );
  });

  test('the host keys of both are checked, each for its own connection', async (t) => {
    const [jump, target] = [await sshd(t), await sshd(t)];
    const seen: string[] = [];
    const trust: Trust = {
      checkHostKey: async (connection, fingerprint) => {
        seen.push(connection.id);
        judgeHostKey(connection, fingerprint);
      },
    };
    const pinned = jumpOn(jump);
    await lists(remotesOf(t, trust), sftpConnection(target, through(pinned)));
    assert.deepEqual(seen, [pinned.id, 'c1']);
    const another = { ...pinned, hostKeys: [`SHA256:${'A'.repeat(43)}`] };
    await assert.rejects(
      lists(remotesOf(t, trust), sftpConnection(target, through(another))),
      withCode('host_key_mismatch', new RegExp(pinned.id)),
    );
  });

  test('it dies during a transfer: the upload fails, nothing is stored, and the next one works', async (t) => {
    const [jump, target] = [await sshd(t), await sshd(t)];
    const line = await startProxy(jump.port);
    t.after(() => line.stop());
    const remotes = remotesOf(t);
    const connection = sftpConnection(target, through(jumpOn(jump, { port: line.port })));
    const path = at(`${target.files}/cut`);
    const leftovers = new TestLeftovers();
    const upload = remotes.use(connection, { ...use, leftovers: () => leftovers }, async (remote) => {
      const size = 64 << 20;
      const writer = await remote.write(path, { size });
      let sent = 0;
      const body = new Readable({
        read() {
          if (sent === 8 << 20) line.fail('reset');
          sent += 1 << 20;
          this.push(Buffer.alloc(1 << 20));
        },
      });
      try {
        await pipeline(body, writer);
      } catch (error) {
        await writer.abort(error as Error);
        throw error;
      }
    });
    await assert.rejects(upload, withCode('connection_lost'));
    await remotes.use(connection, use, async (remote) => assert.rejects(remote.stat(path), withCode('not_found')));
  });

  test('the line to it falls silent: the next connection gets another one', async (t) => {
    const [jump, target] = [await sshd(t), await sshd(t)];
    const line = await startProxy(jump.port);
    const jumps = createJumps(testDeps(), () => LIMITS);
    t.after(() => {
      jumps.close();
      return line.stop();
    });
    // Nothing comes after the greeting.
    const greeted = async (timeoutMs: number): Promise<void> => {
      const way = jumpOn(jump, { port: line.port });
      const socket = await jumps.connect(way, '127.0.0.1', target.port, { signal: NEVER, timeoutMs });
      await once(
        socket.on('error', () => undefined),
        'data',
      );
    };
    await greeted(LIMITS.connectTimeoutMs);
    line.fail('stall');
    await assert.rejects(greeted(500), withCode('connect_timeout'));
    await greeted(LIMITS.connectTimeoutMs);
    assert.equal(line.connections, 2);
  });

  test('the connection that `via` names is gone', async (t) => {
    const target = await sshd(t);
    await assert.rejects(
      lists(remotesOf(t), sftpConnection(target, { via: 'bastion' })),
      withCode('unreachable', /no way through the connection bastion/),
    );
  });

  test('the operator’s lists for what lies behind a proxy hold behind a jump host', async (t) => {
    const [jump, target] = [await sshd(t), await sshd(t)];
    const connection = sftpConnection(target, { host: 'localhost', ...through(jumpOn(jump)) });
    const denying = remotesOf(t, undefined, { allow: [], deny: ['localhost'] });
    await assert.rejects(lists(denying, connection), withCode('address_denied', /localhost is no server .* jump host/));
    await lists(remotesOf(t, undefined, { allow: ['localhost'], deny: [] }), connection);
  });

  test('an unused way is closed with the remotes, and its jump host notices', async (t) => {
    const [jump, target] = [await sshd(t), await sshd(t)];
    const remotes = remotesOf(t);
    await lists(remotes, sftpConnection(target, through(jumpOn(jump))));
    remotes.close();
    await eventually(
      async () => /Disconnected from|Connection closed by/.test(await jump.log()),
      'the jump host notices it',
    );
  });
});

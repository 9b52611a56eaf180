import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import { nativeCryptoLoaded } from '../../../src/remotes/sftp/protocol.js';
import type { SftpConnection } from '../../../src/connections/connection.js';
import type { Trust } from '../../../src/remotes/trust.js';
import { get, LIMITS, onSession, openRemote, path, put, sftpConnection, sftpOf, testDeps } from '../support/harness.js';
import { startOddServer } from '../../servers/scripted-sftp.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/ports.js';
import { startProxy } from '../../support/proxy.js';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { makeUnixUser, type UnixUser } from '../../servers/unix-user.js';

const NEVER = new AbortController().signal;

const code =
  (expected: string, words = /^/) =>
  (error: unknown) => {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.code, expected, error.clientText);
    assert.match(error.clientText, words);
    return true;
  };

const fingerprintOf = (publicKeyFile: string): string => {
  const blob = Buffer.from(readFileSync(publicKeyFile, 'utf8').split(' ')[1] ?? '', 'base64');
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
};

/** A server with its own configuration, stopped after the test. */
async function sshd(t: TestContext, ...lines: string[]): Promise<TestSshd> {
  const server = await startSshd(lines);
  t.after(() => server.stop());
  return server;
}

const logIn = (connection: SftpConnection, deps = testDeps(), limits = LIMITS) =>
  sftpOf(deps).openSession(connection, limits, NEVER);

/** A listener that answers every connection in its own way. */
async function listener(t: TestContext, answer: (socket: net.Socket) => void): Promise<number> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    answer(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as net.AddressInfo).port;
}

test("ssh2's native binding is loaded", () => assert.equal(nativeCryptoLoaded(), true));

test('ChaCha is the last cipher if that binding is missing', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ftg-no-binding-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const withoutBinding = join(folder, 'without.cjs');
  writeFileSync(
    withoutBinding,
    `const { prototype } = require('node:module');
    const load = prototype.require;
    prototype.require = function (name) {
      if (name.endsWith('sshcrypto.node')) throw new Error('not built');
      return load.call(this, name);
    };`,
  );
  const module = new URL('../../../src/remotes/sftp/session/algorithms.js', import.meta.url);
  const script = `import { algorithmOffer } from '${module.href}'; console.log(algorithmOffer('default', []).cipher.join());`;
  const offered = (...options: string[]): string[] =>
    execFileSync(process.execPath, [...options, '--input-type=module', '--eval', script], { encoding: 'utf8' })
      .trim()
      .split(',');
  const [gcm, chacha] = ['aes128-gcm@openssh.com', 'chacha20-poly1305@openssh.com'];
  const [first, , third] = offered();
  assert.deepEqual([first, third], [gcm, chacha]);
  const without = offered('--require', withoutBinding);
  assert.deepEqual([without[0], without.at(-1), without.length], [gcm, chacha, 6]);
});

describe('logging in to OpenSSH', () => {
  let user: UnixUser;
  before(() => {
    user = makeUnixUser();
  });
  after(() => user.remove());

  /** The client key is also authorised for the user. */
  async function userServer(t: TestContext, ...lines: string[]): Promise<TestSshd> {
    return sshd(t, 'PasswordAuthentication yes', ...lines);
  }

  test('with a password, and refused with a wrong one', async (t) => {
    const server = await userServer(t);
    const connection = sftpConnection({ port: server.port, username: user.username }, { password: user.password });
    const { remote, session } = await openRemote(connection);
    assert.equal(await remote.home(), user.home);
    session.close();
    const wrong = { ...connection, password: 'not-the-password' };
    await assert.rejects(logIn(wrong), (error) => {
      code('login_refused', /refused the login of .* the server accepts publickey,\s?password/)(error);
      assert.ok(!(error as GatewayError).clientText.includes('not-the-password'));
      return true;
    });
    await assert.rejects(logIn({ ...connection, password: undefined }), code('login_refused'));
  });

  for (const order of ['publickey,password', 'password,publickey']) {
    test(`with key and password together, required as ${order}`, async (t) => {
      const server = await userServer(t, `AuthenticationMethods ${order}`);
      const connection = sftpConnection({ ...server, username: user.username }, { password: user.password });
      (await logIn(connection)).close();
      await assert.rejects(logIn({ ...connection, password: undefined }), code('login_refused'));
      await assert.rejects(logIn({ ...connection, privateKey: undefined }), code('login_refused'));
    });
  }

  test('a home below the root is shown as a path below it, one outside as the root', async (t) => {
    const server = await userServer(t);
    const connection = sftpConnection({ port: server.port, username: user.username }, { password: user.password });
    const below = await openRemote({ ...connection, rootPath: tmpdir() });
    assert.equal(await below.remote.home(), user.home.slice(tmpdir().length));
    const same = await onSession(below.session, { ...connection, rootPath: `${user.home}/` }, testDeps());
    assert.equal(await same.remote.home(), '/');
    const outside = await onSession(below.session, { ...connection, rootPath: '/usr' }, testDeps());
    assert.equal(await outside.remote.home(), '/');
    below.close();
  });

  test('access that the user lacks is permission_denied', async (t) => {
    const server = await userServer(t);
    const secret = join(server.files, 'secret');
    writeFileSync(secret, 'x');
    chmodSync(secret, 0o600);
    chmodSync(server.files, 0o755);
    const connection = sftpConnection({ port: server.port, username: user.username }, { password: user.password });
    const { remote, session } = await openRemote(connection);
    await assert.rejects(remote.read(path(secret)), code('permission_denied', /remote said: 3 Permission denied/));
    await assert.rejects(put(remote, path(`${server.files}/new`), 'x', 1), code('permission_denied'));
    await assert.rejects(remote.remove(path(secret)), code('permission_denied'));
    await assert.rejects(remote.makeFolder(path(`${server.files}/a/b`)), code('permission_denied'));
    session.close();
  });
});

describe('keyboard-interactive', () => {
  test('hidden prompts get the password, shown ones nothing', async (t) => {
    const asked: string[][] = [];
    const server = await startOddServer({
      onAuthentication: (context) => {
        if (context.method !== 'keyboard-interactive') {
          context.reject(['keyboard-interactive']);
          return;
        }
        context.prompt(
          [
            { prompt: 'Password: ', echo: false },
            { prompt: 'Your town: ', echo: true },
          ],
          (answers) => {
            asked.push(answers);
            if (answers[0] === 'right') context.accept();
            else context.reject();
          },
        );
      },
    });
    t.after(() => server.stop());
    (await logIn(sftpConnection(server, { password: 'right' }))).close();
    await assert.rejects(
      logIn(sftpConnection(server, { password: 'wrong' })),
      code('login_refused', /keyboard-interactive/),
    );
    assert.deepEqual(asked, [
      ['right', ''],
      ['wrong', ''],
    ]);
  });
});

describe('host keys', () => {
  const pinning = (wanted: string, seen: string[] = []): Trust => ({
    checkHostKey: async (_connection, fingerprint) => {
      seen.push(fingerprint);
      if (fingerprint !== wanted) throw new GatewayError('host_key_mismatch', `pinned ${wanted}, shown ${fingerprint}`);
    },
  });

  test('the fingerprint is the one that ssh-keygen shows', async (t) => {
    const server = await sshd(t);
    const deps = testDeps();
    (await logIn(sftpConnection(server), deps)).close();
    assert.deepEqual(deps.fingerprints, [fingerprintOf(`${server.hostKeyFile}.pub`)]);
    const [, reported] = execFileSync('ssh-keygen', ['-lf', `${server.hostKeyFile}.pub`], { encoding: 'utf8' }).split(
      ' ',
    );
    assert.equal(deps.fingerprints[0], reported);
  });

  test('another key is refused before any secret is sent', async (t) => {
    const server = await sshd(t);
    const deps = testDeps({ trust: pinning('SHA256:other') });
    await assert.rejects(logIn(sftpConnection(server), deps), code('host_key_mismatch', /pinned SHA256:other/));
    assert.ok(!/Postponed|Accepted|Failed/.test(await server.log()));
  });

  test('a pinned key of a family that the server prefers less is requested, and remembered', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'ftg-keys-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const rsa = join(folder, 'rsa');
    execFileSync('ssh-keygen', ['-q', '-t', 'rsa', '-b', '2048', '-N', '', '-f', rsa]);
    const server = await sshd(t, `HostKey ${rsa}`);
    const seen: string[] = [];
    const deps = testDeps({ trust: pinning(fingerprintOf(`${rsa}.pub`), seen) });
    (await logIn(sftpConnection(server), deps)).close();
    assert.equal(seen.length, 2);
    (await logIn(sftpConnection(server), deps)).close();
    assert.equal(seen.length, 3);
  });

  test('constant renewal of session keys disturbs nothing', async (t) => {
    const server = await sshd(t, 'RekeyLimit 1M');
    const deps = testDeps();
    const { remote, session } = await openRemote(sftpConnection(server), deps);
    const content = Buffer.alloc(12 << 20, 'rekey');
    await put(remote, path(`${server.files}/f`), content, content.length);
    assert.ok((await get(remote, path(`${server.files}/f`))).equals(content));
    assert.equal(deps.fingerprints.length, 1);
    session.close();
  });
});

describe('algorithms', () => {
  test('an old server needs the legacy preset, and the error says so', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'ftg-keys-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const rsa = join(folder, 'rsa');
    execFileSync('ssh-keygen', ['-q', '-t', 'rsa', '-b', '2048', '-N', '', '-f', rsa]);
    const server = await sshd(
      t,
      `HostKey ${rsa}`,
      'HostKeyAlgorithms ssh-rsa',
      'KexAlgorithms diffie-hellman-group14-sha1',
      'Ciphers aes128-cbc',
      'MACs hmac-sha1',
    );
    const words =
      /no key exchange in common: the server has diffie-hellman-group14-sha1.*; the gateway offers curve25519-sha256, .*algorithms: legacy/;
    await assert.rejects(logIn(sftpConnection(server)), code('protocol_error', words));
    const { remote, session } = await openRemote(sftpConnection(server, { algorithms: 'legacy' }));
    await put(remote, path(`${server.files}/f`), 'old', 3);
    session.close();
  });

  test('lists of its own are all that a connection offers, in their order', async (t) => {
    const server = await sshd(t);
    const agreed: (readonly string[])[] = [];
    const deps = testDeps({ observer: { handshaken: (_software, algorithms) => void agreed.push(algorithms) } });
    const algorithms = {
      kex: ['ecdh-sha2-nistp384', 'curve25519-sha256'],
      ciphers: ['aes256-ctr'],
      macs: ['hmac-sha2-512'],
      hostKeys: ['ssh-ed25519'],
    };
    (await logIn(sftpConnection(server, { algorithms }), deps)).close();
    assert.deepEqual(agreed, [['ecdh-sha2-nistp384', 'ssh-ed25519', 'aes256-ctr', 'hmac-sha2-512', 'none']]);
    (await logIn(sftpConnection(server, { algorithms: { ciphers: ['aes192-ctr'] } }), deps)).close();
    assert.equal(agreed[1]?.[0], 'curve25519-sha256');
    assert.ok(agreed[1].includes('aes192-ctr'));
  });

  for (const [kind, line, own, words] of [
    [
      'kex',
      'KexAlgorithms diffie-hellman-group16-sha512',
      'curve25519-sha256',
      /no key exchange in common: the server has diffie-hellman-group16-sha512.*; the gateway offers curve25519-sha256; add diffie-hellman-group16-sha512 to algorithms.kex/,
    ],
    [
      'ciphers',
      'Ciphers aes192-ctr,3des-cbc',
      'aes256-ctr',
      /no cipher in common: the server has aes192-ctr, 3des-cbc; the gateway offers aes256-ctr; add aes192-ctr or 3des-cbc to algorithms.ciphers/,
    ],
    ['macs', 'MACs umac-64@openssh.com\nCiphers aes128-ctr', 'hmac-md5', /no MAC in common.*no setting helps/],
    ['hostKeys', 'HostKeyAlgorithms ssh-ed25519', 'rsa-sha2-256', /no host key algorithm in common.*add ssh-ed25519/],
  ] as const) {
    test(`${kind} without a common one: the error has both lists and the setting that helps`, async (t) => {
      const server = await sshd(t, line);
      const connection = sftpConnection(server, { algorithms: { [kind]: [own] } });
      await assert.rejects(logIn(connection), code('protocol_error', words));
    });
  }
});

describe('channels', () => {
  test('MaxSessions 1: the second lease is refused, the session remembers, a command takes the slot and returns it', async (t) => {
    const server = await sshd(t, 'MaxSessions 1');
    const deps = testDeps();
    const connection = sftpConnection(server);
    const first = await openRemote(connection, deps);
    assert.equal(first.session.capacity, 8);
    await first.remote.stat(path('/'));
    await assert.rejects(first.session.lease(NEVER), code('too_many_sessions', /open failed/));
    assert.equal(first.session.capacity, 1);
    const run = () => first.remote.exec!('echo ran', { timeoutMs: 60_000, maxOutputBytes: 100 });
    assert.equal((await run()).stdout, 'ran\n');
    assert.equal((await first.remote.stat(path('/'))).isDirectory, true);
    assert.equal((await run()).stdout, 'ran\n');
    first.session.release(first.lease, 'keep');
    const again = await onSession(first.session, connection, deps);
    assert.equal((await again.remote.exec!('echo more', { timeoutMs: 60_000, maxOutputBytes: 100 })).stdout, 'more\n');
    first.session.release(again.lease, 'keep');
    await first.session.check(NEVER);
    first.close();
    // The next connection knows what the former one has learned.
    const next = await openRemote(connection, deps);
    assert.equal(next.session.capacity, 1);
    next.close();
  });

  test('MaxSessions 1: a command needs no SFTP channel beside it', async (t) => {
    const server = await sshd(t, 'MaxSessions 1');
    const { remote, session } = await openRemote(sftpConnection(server));
    assert.equal((await remote.exec!('echo ran', { timeoutMs: 60_000, maxOutputBytes: 100 })).stdout, 'ran\n');
    assert.ok(!(await server.log()).includes('no more sessions'));
    session.close();
  });

  test('two leases at once on a server for one: the first one works', async (t) => {
    const server = await sshd(t, 'MaxSessions 1');
    const first = await openRemote(sftpConnection(server));
    const [second, stat] = await Promise.allSettled([first.session.lease(NEVER), first.remote.stat(path('/'))]);
    assert.equal(second.status, 'rejected');
    assert.equal(stat.status, 'fulfilled');
    first.close();
  });

  test('several channels work at once; a discarded one is closed alone; an idle one is reused', async (t) => {
    const server = await sshd(t, 'MaxSessions 3');
    const connection = sftpConnection(server);
    const deps = testDeps();
    const first = await openRemote(connection, deps);
    const second = await onSession(first.session, connection, deps);
    const third = await onSession(first.session, connection, deps);
    const all = [first, second, third];
    await Promise.all(all.map(({ remote }, index) => put(remote, path(`${server.files}/${index}`), `${index}`, 1)));
    await assert.rejects(first.session.lease(NEVER), code('too_many_sessions'));
    assert.equal(first.session.capacity, 3);

    first.session.release(second.lease, 'discard');
    await assert.rejects(second.remote.stat(path('/')), code('connection_lost'));
    assert.equal((await get(third.remote, path(`${server.files}/2`))).toString(), '2');
    assert.equal(first.session.alive, true);
    // Its slot is free again, at once.
    const fourth = await onSession(first.session, connection, deps);
    assert.equal((await get(fourth.remote, path(`${server.files}/0`))).toString(), '0');

    const before = (await server.log()).split('subsystem request for sftp').length;
    first.session.release(fourth.lease, 'keep');
    const fifth = await onSession(first.session, connection, deps);
    await fifth.remote.stat(path('/'));
    assert.equal((await server.log()).split('subsystem request for sftp').length, before);
    first.close();
  });

  test('a server for SFTP only', async (t) => {
    const server = await sshd(t, 'ForceCommand internal-sftp');
    const { remote, session } = await openRemote(sftpConnection(server));
    await put(remote, path(`${server.files}/f`), 'x', 1);
    const said = await remote.exec!('id', { timeoutMs: 60_000, maxOutputBytes: 1000 });
    assert.equal(said.exitCode, 1);
    assert.match(said.stdout + said.stderr, /sftp/i);
    await put(remote, path(`${server.files}/f`), 'y', 1);
    session.close();
  });
});

describe('commands', () => {
  let server: TestSshd;
  before(async () => {
    server = await startSshd();
  });
  after(() => server.stop());

  async function shell(t: TestContext) {
    const opened = await openRemote(sftpConnection(server));
    t.after(() => opened.close());
    const run = (command: string, timeoutMs = 60_000, maxOutputBytes = 10_000) =>
      opened.remote.exec!(command, { timeoutMs, maxOutputBytes });
    return { ...opened, run };
  }

  test('exit codes, both outputs, UTF-8', async (t) => {
    const { run } = await shell(t);
    assert.deepEqual(await run('echo out; echo err >&2; exit 7'), { exitCode: 7, stdout: 'out\n', stderr: 'err\n' });
    assert.equal((await run('printf "é日😀"')).stdout, 'é日😀');
    assert.equal((await run('no-such-command')).exitCode, 127);
    assert.deepEqual(await run('true'), { exitCode: 0, stdout: '', stderr: '' });
  });

  test('a signal is 128 and its number', async (t) => {
    const { run } = await shell(t);
    assert.equal((await run('kill -KILL $$')).exitCode, 137);
    assert.equal((await run('kill -TERM $$')).exitCode, 143);
  });

  test('standard input is empty', async (t) => {
    const { run } = await shell(t);
    assert.equal((await run('cat; echo end')).stdout, 'end\n');
  });

  test('a command that takes too long is killed', async (t) => {
    // OpenSSH passes signals on only if it has changed the user, which it does not for root.
    const user = makeUnixUser();
    t.after(() => user.remove());
    const ownServer = await sshd(t, 'PasswordAuthentication yes');
    const connection = sftpConnection({ port: ownServer.port, username: user.username }, { password: user.password });
    const { remote, session } = await openRemote(connection);
    t.after(() => session.close());
    const run = (command: string, timeoutMs: number) => remote.exec!(command, { timeoutMs, maxOutputBytes: 1000 });
    await run('true', 60_000);
    await assert.rejects(run('echo $$ > pid; exec sleep 30', 5000), code('command_timeout', /5000 ms/));
    const pid = Number(readFileSync(join(user.home, 'pid'), 'utf8'));
    // Zero, from an empty file, would be this process and its group.
    assert.ok(pid > 0);
    const isGone = (): boolean => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    };
    await eventually(isGone, 'the command is gone');
    assert.equal((await run('echo alive', 60_000)).stdout, 'alive\n');
  });

  test('output beyond the limit', async (t) => {
    const { run } = await shell(t);
    await assert.rejects(run('yes', 60_000, 100_000), code('too_large', /100000 bytes/));
    assert.equal((await run('head -c 10000 /dev/zero | tr "\\0" x')).stdout.length, 10_000);
    await assert.rejects(run('head -c 6000 /dev/zero; head -c 4001 /dev/zero >&2'), code('too_large'));
  });

  test('the end of the operation ends the command', async (t) => {
    const { run, abort } = await shell(t);
    const running = run('sleep 30', 20_000);
    setImmediate(() => abort.abort(new GatewayError('client_gone', 'left')));
    await assert.rejects(running, code('client_gone'));
  });

  test('commands and files at once', async (t) => {
    const { run, remote } = await shell(t);
    const [result] = await Promise.all([
      run('sleep 0.1; echo done'),
      put(remote, path(`${server.files}/beside`), 'x', 1),
    ]);
    assert.equal(result.stdout, 'done\n');
  });
});

describe('servers that cannot be logged in to', () => {
  const at = (port: number) => sftpConnection({ port, username: 'nobody' }, { password: 'secret-word' });
  // The connection itself is made within it, even on a busy machine.
  const quick = { ...LIMITS, connectTimeoutMs: 3_000 };

  test('a port that accepts and stays silent', async (t) => {
    const port = await listener(t, () => undefined);
    await assert.rejects(logIn(at(port), testDeps(), quick), code('connect_timeout', /handshake within 3000 ms/));
  });

  test('endless greetings', async (t) => {
    const port = await listener(t, (socket) => {
      const timer = setInterval(() => socket.write('please wait\r\n'), 5);
      socket.on('close', () => clearInterval(timer));
    });
    await assert.rejects(logIn(at(port), testDeps(), quick), code('connect_timeout'));
  });

  test('a login that is never answered', async (t) => {
    const server = await startOddServer({ onAuthentication: () => undefined });
    t.after(() => server.stop());
    await assert.rejects(
      logIn(at(server.port), testDeps(), quick),
      code('connect_timeout', /(?:handshake|login) within/),
    );
  });

  test('something other than SSH', async (t) => {
    const port = await listener(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await assert.rejects(logIn(at(port)), code('protocol_error', /HTTP\/1\.1 400/));
  });

  test('a closed port, and a connection that is closed at once', async (t) => {
    const port = await listener(t, (socket) => socket.destroy());
    await assert.rejects(logIn(at(port)), code('unreachable'));
    await assert.rejects(logIn(at(await freePort())), code('unreachable', /connection refused/));
  });

  test('a server with too many logins under way', async (t) => {
    const port = await listener(t, (socket) => socket.end('Exceeded MaxStartups\r\n'));
    await assert.rejects(logIn(at(port)), code('too_many_sessions', /Exceeded MaxStartups/));
  });

  test('the end of the operation ends the login', async (t) => {
    const port = await listener(t, () => undefined);
    const abort = new AbortController();
    const opening = sftpOf(testDeps()).openSession(at(port), LIMITS, abort.signal);
    setTimeout(() => abort.abort(new GatewayError('client_gone', 'left')), 20);
    await assert.rejects(opening, code('client_gone'));
  });
});

describe('connections that break', () => {
  test('cut in the middle of an upload: an error at once, the file is left for later', async (t) => {
    const server = await sshd(t);
    const proxy = await startProxy(server.port);
    proxy.after('up', 3 << 20, () => proxy.fail('reset'));
    t.after(() => proxy.stop());
    const opened = await openRemote(sftpConnection({ ...server, port: proxy.port }));
    let closes = 0;
    const closed = new Promise<void>((done) =>
      opened.session.onClose(() => {
        closes += 1;
        done();
      }),
    );
    const content = Buffer.alloc(20 << 20);
    await assert.rejects(
      put(opened.remote, path(`${server.files}/f`), content, content.length),
      code('connection_lost'),
    );
    assert.equal(opened.leftovers.later.length, 1);
    assert.equal(opened.session.alive, false);
    await closed;
    await assert.rejects(opened.session.lease(NEVER), code('connection_lost'));
    await assert.rejects(opened.session.check(NEVER), code('connection_lost'));
    opened.session.release(opened.lease, 'discard');
    opened.close();
    assert.equal(closes, 1);
  });

  test('cut in the middle of a download: an error at once, never a short file', async (t) => {
    const server = await sshd(t);
    const content = Buffer.alloc(20 << 20);
    writeFileSync(join(server.files, 'f'), content);
    const proxy = await startProxy(server.port);
    proxy.after('down', 3 << 20, () => proxy.fail('reset'));
    t.after(() => proxy.stop());
    const opened = await openRemote(sftpConnection({ ...server, port: proxy.port }));
    await assert.rejects(get(opened.remote, path(`${server.files}/f`)), code('connection_lost'));
    opened.close();
  });

  test('a dead line is a stall, in both directions and for the health check', async (t) => {
    const server = await sshd(t);
    mkdirSync(join(server.files, 'd'));
    writeFileSync(join(server.files, 'f'), Buffer.alloc(20 << 20));
    const limits = { ...LIMITS, stallTimeoutMs: 3_000 };
    const stalling = async (
      work: (opened: Awaited<ReturnType<typeof openRemote>>) => Promise<unknown>,
    ): Promise<void> => {
      const proxy = await startProxy(server.port);
      for (const direction of ['up', 'down'] as const) proxy.after(direction, 2 << 20, () => (proxy.isSilent = true));
      const opened = await openRemote(sftpConnection({ ...server, port: proxy.port }), testDeps(), limits);
      await assert.rejects(work(opened), code('stall_timeout'));
      opened.close();
      await proxy.stop();
    };
    await stalling(({ remote }) => put(remote, path(`${server.files}/g`), Buffer.alloc(20 << 20), 20 << 20));
    await stalling(({ remote }) => get(remote, path(`${server.files}/f`)));

    const proxy = await startProxy(server.port);
    const opened = await openRemote(sftpConnection({ ...server, port: proxy.port }));
    await opened.session.check(NEVER);
    proxy.isSilent = true;
    await assert.rejects(opened.session.check(NEVER), code('stall_timeout'));
    opened.close();
    await proxy.stop();
  });

  test('closing the session fails running work', async (t) => {
    const server = await sshd(t);
    const opened = await openRemote(sftpConnection(server));
    const writer = await opened.remote.write(path(`${server.files}/f`), {});
    writer.on('error', () => undefined);
    writer.write(Buffer.alloc(1000));
    opened.session.close();
    opened.session.close();
    writer.end();
    await assert.rejects(writer.commit({ size: 1000 }), GatewayError);
    await writer.abort(new Error('over'));
    assert.equal(opened.leftovers.later.length, 1);
  });
});

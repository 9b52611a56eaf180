/** Host keys that an authority made with ssh-keygen certifies, shown by real OpenSSH. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import { refusalOf } from '../../../src/connections/checks.js';
import type { SftpConnection } from '../../../src/connections/connection.js';
import { hostCertificateIn, objectionToHost } from '../../../src/connections/ssh-certificate.js';
import { readPublicKey } from '../../../src/connections/ssh-public-key.js';
import { type Trust, trustOnFirstUse } from '../../../src/remotes/trust.js';
import type { TestReport } from '../../../src/api/connections/test-report.js';
import { KEY, startGateway } from '../../support/gateway.js';
import type { SftpSession } from '../../../src/remotes/sftp/session/session.js';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { KEY_TYPES, KeyMaker, lineOf, titleOf } from '../support/ssh-authority.js';
import { LIMITS, openRemote, path, put, sftpConnection, sftpOf, testDeps } from '../support/harness.js';

const NEVER = new AbortController().signal;
const HOST = '127.0.0.1';
const keys = new KeyMaker();

/** As OpenSSH shows it. */
const fingerprintOf = (key: string): string =>
  execFileSync('ssh-keygen', ['-lf', `${key}.pub`], { encoding: 'utf8' }).split(' ')[1] ?? '';

interface Certified {
  readonly server: TestSshd;
  /** Restarts it with this key and certificate. */
  readonly show: (key: string, certificate: string) => Promise<void>;
}

async function certifiedServer(t: TestContext, key: string, certificate: string): Promise<Certified> {
  const shown = keys.fresh();
  copyFileSync(certificate, shown);
  const server = await startSshd([`HostCertificate ${shown}`]);
  t.after(() => server.stop());
  const show = async (next: string, its: string): Promise<void> => {
    copyFileSync(its, shown);
    await server.restart([next]);
  };
  await show(key, certificate);
  return { server, show };
}

/** The gateway's own trust; what it pins is in `pinned`. */
function ownTrust(): { trust: Trust; pinned: string[] } {
  const pinned: string[] = [];
  const pins = {
    pinHostKey: async (_id: string, fingerprint: string) => {
      pinned.push(fingerprint);
      return [fingerprint];
    },
  };
  return { trust: trustOnFirstUse(pins, { note: async () => undefined }), pinned };
}

const trusting = (server: TestSshd, authorities: readonly string[], more: Partial<SftpConnection> = {}) =>
  sftpConnection(server, { hostCa: authorities.map(lineOf), ...more });

const logIn = async (connection: SftpConnection, sftp = sftpOf(testDeps({ trust: ownTrust().trust }))) =>
  (await sftp.openSession(connection, LIMITS, NEVER)) as SftpSession;

const mistrusted = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof GatewayError, String(error));
  assert.equal(error.code, 'host_key_mismatch', error.clientText);
  assert.match(error.clientText, words);
  return true;
};

describe('a certified host key', () => {
  for (const type of KEY_TYPES) {
    test(`is trusted, and not pinned: ${titleOf(type)}`, async (t) => {
      const [authority, key] = [keys.key(...type), keys.key(...type)];
      const { server } = await certifiedServer(t, key, keys.certify(authority, key, '-h', '-n', HOST));
      const { trust, pinned } = ownTrust();
      const sftp = sftpOf(testDeps({ trust }));
      const connection = trusting(server, [keys.key(), authority]);
      const session = await logIn(connection, sftp);
      assert.equal(session.isCertified, true);
      session.close();
      const asked = (await server.log()).match(/Connection from/g)?.length;
      // The certificate is known from now on.
      (await logIn(connection, sftp)).close();
      assert.equal((await server.log()).match(/Connection from/g)?.length, (asked ?? 0) + 1);
      assert.deepEqual(pinned, []);
    });
  }

  test('serves files', async (t) => {
    const [authority, key] = [keys.key(), keys.key()];
    const { server } = await certifiedServer(
      t,
      key,
      keys.certify(authority, key, '-h', '-n', `${HOST},files.example.com`),
    );
    const { remote, session } = await openRemote(trusting(server, [authority]));
    await put(remote, path(`${server.files}/f`), 'certified', 9);
    session.close();
  });

  test('may be replaced by another one of the authority, and only by that', async (t) => {
    const [authority, first, second, third] = [keys.key(), keys.key(), keys.key(), keys.key()];
    const { server, show } = await certifiedServer(t, first, keys.certify(authority, first, '-h', '-n', HOST));
    const sftp = sftpOf(testDeps({ trust: ownTrust().trust }));
    const open = async (): Promise<void> => (await logIn(trusting(server, [authority]), sftp)).close();
    await open();
    await show(second, keys.certify(authority, second, '-h', '-n', HOST));
    await open();
    // A certificate that was shown once belongs to its key.
    await show(third, `${second}-cert.pub`);
    await assert.rejects(open(), mistrusted(/no authority in hostCa certifies: the server has no certificate for it/));
  });

  test('is that of one server among several families of keys', async (t) => {
    const [authority, certified, plain] = [keys.key(), keys.key('ecdsa'), keys.key()];
    const { server } = await certifiedServer(t, plain, keys.certify(authority, certified, '-h', '-n', HOST));
    await server.restart([plain, certified]);
    const session = await logIn(trusting(server, [authority]));
    assert.deepEqual([session.isCertified, session.hostKeyAlgorithm], [true, 'ecdsa-sha2-nistp256']);
    session.close();
  });

  test('is refused with its reason', async (t) => {
    const [authority, other, key] = [keys.key(), keys.key(), keys.key()];
    const { server, show } = await certifiedServer(t, key, keys.certify(authority, key, '-h', '-n', HOST));
    const { trust, pinned } = ownTrust();
    const cases: [string, string[], RegExp][] = [
      [authority, ['-h', '-n', HOST, '-V', '20200101:20200102'], /its certificate: it expired at 2020-01-0/],
      [authority, ['-h', '-n', HOST, '-V', '20900101:20910101'], /it is not valid before 2(089|090)-/],
      [authority, ['-h', '-n', 'files.example.com,*.0.0.2'], /it is for files\.example\.com, \*\.0\.0\.2, not for 127/],
      [authority, ['-h', '-n', HOST, '-O', 'critical:strange'], /it is restricted by strange/],
      [other, ['-h', '-n', HOST], /its authority has the key SHA256:\S+, which is not in hostCa/],
      // sshd also takes a user certificate for a host key.
      [authority, ['-n', HOST], /the server has no certificate for it/],
    ];
    for (const [signer, options, words] of cases) {
      await show(key, keys.certify(signer, key, ...options));
      const sftp = sftpOf(testDeps({ trust }));
      await assert.rejects(logIn(trusting(server, [authority]), sftp), mistrusted(words));
    }
    assert.deepEqual(pinned, []);
  });

  test('is for names with stars, and for any host if it names none', async (t) => {
    const [authority, key] = [keys.key(), keys.key()];
    const { server, show } = await certifiedServer(t, key, keys.certify(authority, key, '-h', '-n', '127.0.?.*'));
    const open = async (): Promise<void> => (await logIn(trusting(server, [authority]))).close();
    await open();
    await show(key, keys.certify(authority, key, '-h'));
    await open();
  });

  test('is refused if another wrote its names: the signature is checked', async () => {
    const [authority, key] = [keys.key(), keys.key()];
    const [, base64 = ''] = readFileSync(keys.certify(authority, key, '-h', '-n', '127.0.0.9'), 'utf8').split(' ');
    const blob = Buffer.from(base64, 'base64');
    const objection = async (): Promise<string | undefined> => {
      const certificate = hostCertificateIn(blob) ?? assert.fail('it is none of a host');
      return objectionToHost(certificate, HOST, [readPublicKey(lineOf(authority))]);
    };
    assert.match((await objection()) ?? '', /it is for 127\.0\.0\.9, not for/);
    blob.write(HOST, blob.indexOf('127.0.0.9'), 'latin1');
    assert.equal(await objection(), 'its signature is wrong');
    for (let length = 0; length < blob.length; length += 1) {
      assert.equal(hostCertificateIn(blob.subarray(0, length)), undefined, `cut after ${length} bytes`);
    }
  });

  test('a pinned key needs no certificate; one without either is not learned', async (t) => {
    const server = await startSshd();
    t.after(() => server.stop());
    const { trust, pinned } = ownTrust();
    const deps = testDeps({ trust });
    const authority = keys.key();
    await assert.rejects(
      logIn(trusting(server, [authority]), sftpOf(deps)),
      mistrusted(/no authority in hostCa certifies: the server has no certificate for it/),
    );
    assert.deepEqual(pinned, []);
    const fingerprint = fingerprintOf(server.hostKeyFile);
    const session = await logIn(trusting(server, [authority], { hostKeys: [fingerprint] }), sftpOf(deps));
    assert.equal(session.isCertified, false);
    session.close();
    await assert.rejects(
      logIn(trusting(server, [authority], { hostKeys: [`SHA256:${'A'.repeat(43)}`] }), sftpOf(deps)),
      mistrusted(/certifies and is not pinned: /),
    );
  });

  for (const [answer, begin] of Object.entries<(socket: net.Socket) => void>({
    'lines without end': (socket) => {
      const more = (): void => {
        if (!socket.destroyed) socket.write('no identification yet\r\n'.repeat(1_000), more);
      };
      more();
    },
    'another protocol': (socket) => void socket.end('220 ready\r\n'),
    'an end': (socket) => void socket.destroy(),
  })) {
    test(`is refused where the server answers the question for it with ${answer}`, async (t) => {
      const [authority, key] = [keys.key(), keys.key()];
      const { server } = await certifiedServer(t, key, keys.certify(authority, key, '-h', '-n', HOST));
      let count = 0;
      const front = net.createServer((socket) => {
        socket.on('error', () => undefined);
        // The login comes first; each family of keys has its own.
        if ((count += 1) % 2 === 0) return begin(socket);
        const through = net.connect(server.port, HOST);
        through.on('error', () => socket.destroy());
        socket.pipe(through).pipe(socket);
      });
      await once(front.listen(0, HOST), 'listening');
      t.after(() => front.close());
      const { port } = front.address() as AddressInfo;
      await assert.rejects(
        logIn({ ...trusting(server, [authority]), port }),
        mistrusted(/the server has no certificate for it/),
      );
      assert.ok(count >= 2);
    });
  }

  test('over HTTP, from the configuration, also through a jump host that has one', async (t) => {
    const [authority, key] = [keys.key(), keys.key()];
    const certificate = keys.certify(authority, key, '-h', '-n', HOST);
    const [jump, { server }] = await Promise.all([
      certifiedServer(t, key, certificate),
      certifiedServer(t, key, certificate),
    ]);
    const entry = (id: string, { port, username, clientKeyFile, files }: TestSshd, more: object) => ({
      id,
      name: id,
      type: 'sftp',
      host: HOST,
      port,
      username,
      privateKeyFile: clientKeyFile,
      rootPath: files,
      hostCa: [lineOf(authority)],
      ...more,
    });
    const gateway = await startGateway({
      apiKeys: [{ name: 'test', key: KEY, scopes: ['read', 'write', 'admin'] }],
      connections: [
        entry('jump', jump.server, {}),
        entry('server', server, { via: 'jump' }),
        entry('pinned', server, { via: 'jump', hostKey: fingerprintOf(key) }),
      ],
    });
    t.after(() => gateway.stop());
    const { status, text } = await gateway.api.post('/manage/connections/server/test', {});
    assert.equal(status, 200, text);
    const { hostKey, steps } = JSON.parse(text) as TestReport;
    assert.equal(hostKey?.state, 'certified');
    assert.match(
      steps.find(({ name }) => name === 'host_key')?.detail ?? '',
      /^SHA256:\S+ \(certified, "gateway", until /,
    );
    // One with the same login, that has the key pinned, has its own sessions: nothing was certified there.
    for (const id of ['pinned', 'server']) {
      assert.equal((await gateway.api.get(`/api/list/${id}`, { query: { path: '/' } })).status, 200, id);
    }
    const stored = await gateway.api.send('/api/upload/server', {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      query: { path: '/', filename: 'a.bin' },
      body: 'certified',
    });
    assert.equal(stored.status, 200, stored.text);
    assert.equal(readFileSync(join(server.files, 'a.bin'), 'latin1'), 'certified');
    const kept = JSON.parse((await gateway.api.get('/manage/connections/server')).text) as { hostKeys: string[] };
    assert.deepEqual(kept.hostKeys, []);
  });

  test('the keys of authorities are checked where they are entered', () => {
    const key = keys.key();
    const rsa = keys.key('rsa', '-b', '1024');
    assert.equal(refusalOf('sshPublicKey', [lineOf(key), lineOf(keys.key('ecdsa'))]), undefined);
    const [type = '', base64 = ''] = lineOf(key).split(' ');
    for (const text of [`${type} ${base64.slice(0, 40)}`, `ssh-rsa ${base64}`, lineOf(rsa), `${type} !!!`]) {
      assert.match(
        refusalOf('sshPublicKey', [lineOf(key), text]) ?? '',
        /is cut off, damaged or too short a key/,
        text,
      );
    }
    const wrong = ['', `@cert-authority *.example.com ${lineOf(key)}`, readFileSync(key, 'utf8'), 'constructor AAAA'];
    for (const text of [...wrong, readFileSync(keys.certify(key, key, '-h'), 'utf8'), lineOf(key).repeat(2)]) {
      assert.match(refusalOf('sshPublicKey', text) ?? '', /must be one line of a file ….pub/, text);
    }
  });
});

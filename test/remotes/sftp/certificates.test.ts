/** Logins with OpenSSH's user certificates, from an authority made with ssh-keygen. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test, type TestContext } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import { refusalOf } from '../../../src/connections/checks.js';
import type { SftpConnection } from '../../../src/connections/connection.js';
import { LIMITS, openRemote, path, put, sftpConnection, sftpOf, testDeps } from '../support/harness.js';
import { KEY_TYPES, KeyMaker, lineOf, titleOf } from '../support/ssh-authority.js';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { makeUnixUser, type UnixUser } from '../../servers/unix-user.js';

const NEVER = new AbortController().signal;
const keys = new KeyMaker();

const certify = (...what: Parameters<KeyMaker['certify']>): string => readFileSync(keys.certify(...what), 'utf8');

async function trusting(t: TestContext, authority: string, ...lines: string[]): Promise<TestSshd> {
  const server = await startSshd([`TrustedUserCAKeys ${authority}.pub`, ...lines]);
  t.after(() => server.stop());
  return server;
}

const withCertificate = (server: TestSshd, key: string, certificate: string, more: Partial<SftpConnection> = {}) =>
  sftpConnection(server, { privateKey: readFileSync(key, 'utf8'), certificate, ...more });

const refused = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof GatewayError, String(error));
  assert.equal(error.code, 'login_refused', error.clientText);
  assert.match(error.clientText, words);
  return true;
};

const logIn = (connection: SftpConnection) => sftpOf(testDeps()).openSession(connection, LIMITS, NEVER);

describe('a user certificate', () => {
  for (const type of KEY_TYPES) {
    test(`logs in with a key of the type ${titleOf(type)}, although the key itself is not known there`, async (t) => {
      const [authority, key] = [keys.key(), keys.key(...type)];
      const server = await trusting(t, authority);
      const certificate = certify(authority, key, '-n', server.username);
      // Some signatures of ECDSA begin with a zero byte: a few logins meet them.
      for (let round = 0; round < 4; round += 1) {
        const { remote, session } = await openRemote(withCertificate(server, key, certificate));
        await put(remote, path(`${server.files}/f`), 'certified', 9);
        session.close();
      }
      assert.match(await server.log(), /Accepted certificate ID "gateway"/);
      await assert.rejects(
        logIn(sftpConnection(server, { privateKey: readFileSync(key, 'utf8') })),
        refused(/publickey/),
      );
    });
  }

  test('is refused with its reason: expired, not yet valid, for another user, restricted, of another authority', async (t) => {
    const [authority, other, key] = [keys.key(), keys.key(), keys.key()];
    const server = await trusting(t, authority);
    const { username } = server;
    const cases: [string, string[], RegExp][] = [
      [
        authority,
        ['-n', username, '-V', '20200101:20200102'],
        /publickey with the certificate, publickey.*it expired at 2020-01-0/,
      ],
      [authority, ['-n', username, '-V', '20900101:20910101'], /it is not valid before 2(089|090)-/],
      [authority, ['-n', 'somebody'], /it is for somebody, not for /],
      [authority, ['-n', username, '-O', 'source-address=192.0.2.1'], /restricted by source-address/],
      [other, ['-n', username], /tried publickey with the certificate, publickey; the server accepts publickey/],
    ];
    for (const [signer, options, words] of cases) {
      const certificate = certify(signer, key, ...options);
      await assert.rejects(logIn(withCertificate(server, key, certificate)), refused(words));
    }
  });

  test('must be for the private key, and needs one', async (t) => {
    const [authority, key, other] = [keys.key(), keys.key(), keys.key()];
    const server = await trusting(t, authority);
    const certificate = certify(authority, key, '-n', server.username);
    await assert.rejects(logIn(withCertificate(server, other, certificate)), refused(/for another key/));
    const keyless = sftpConnection(server, { privateKey: undefined, certificate });
    await assert.rejects(logIn(keyless), refused(/no private key/));
  });

  test('falls back to the key that the server knows', async (t) => {
    const [authority, other] = [keys.key(), keys.key()];
    const server = await trusting(t, authority);
    const certificate = certify(other, server.clientKeyFile, '-n', server.username);
    (await logIn(withCertificate(server, server.clientKeyFile, certificate))).close();
  });

  describe('beside a password', () => {
    let user: UnixUser;
    before(() => {
      user = makeUnixUser();
    });
    after(() => user.remove());

    for (const order of ['publickey,password', 'password,publickey']) {
      test(`counts for one of two methods: ${order}`, async (t) => {
        const [authority, key] = [keys.key(), keys.key()];
        const server = await trusting(t, authority, 'PasswordAuthentication yes', `AuthenticationMethods ${order}`);
        const { username, password } = user;
        const certificate = certify(authority, key, '-n', username);
        const connection = withCertificate(server, key, certificate, { username, password });
        (await logIn(connection)).close();
        await assert.rejects(logIn({ ...connection, password: 'wrong' }), refused(/password/));
      });
    }
  });

  test('is checked where it is entered', () => {
    const [authority, key] = [keys.key(), keys.key()];
    const certificate = certify(authority, key);
    assert.equal(refusalOf('sshCertificate', certificate), undefined);
    const [type = '', base64 = ''] = certificate.split(' ');
    const damaged = `${type} ${base64.slice(0, 80)}`;
    const swapped = `${type.replace('ed25519', 'rsa')} ${base64}`;
    for (const text of [damaged, swapped]) assert.match(refusalOf('sshCertificate', text) ?? '', /cut off or damaged/);
    const host = certify(authority, key, '-h');
    assert.match(refusalOf('sshCertificate', host) ?? '', /for a host/);
    for (const text of ['', 'ssh-ed25519 AAAA', `${certificate}${certificate}`, lineOf(key)]) {
      assert.match(refusalOf('sshCertificate', text) ?? '', /must be one line/);
    }
  });
});

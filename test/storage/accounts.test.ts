import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { AccountConfig, ConnectionConfig } from '../../src/config/schema.js';
import { GatewayError } from '../../src/base/errors.js';
import { verifyPassword } from '../../src/storage/secrets/hashes.js';
import { SecretError } from '../../src/storage/secrets/secrets.js';
import { apiKeyFields, type KeyRights } from '../../src/contract/api-key.js';
import { withDefaults } from '../../src/contract/thing.js';
import { StartupError, type Storage } from '../../src/storage/storage.js';
import { DATABASES, makeTempFolder, openTest, type TestServer, until, withSql } from './databases.js';
import { ACCOUNT, accountOf, API_KEY, SECRETS } from './provisioned.js';
import { KeyMaker } from '../remotes/support/ssh-authority.js';
import { assertRecent } from '../support/recent.js';

const keys = new KeyMaker();

/** Every row of every table as text. */
async function dump(url: string): Promise<Record<string, string[]>> {
  return withSql(url, async (sql) => {
    const tables = await sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = 'public'`;
    const rows: Record<string, string[]> = {};
    for (const { name } of tables) {
      const found = await sql<{ row: string }[]>`select t::text as row from ${sql(name)} t order by 1`;
      rows[name] = found.map((entry) => entry.row);
    }
    return rows;
  });
}

function sftpOf(account: AccountConfig): Extract<ConnectionConfig, { type: 'sftp' }> {
  const [connection] = account.connections;
  assert.ok(connection?.type === 'sftp');
  return connection;
}

for (const kind of DATABASES) {
  describe(`accounts on ${kind.name}`, () => {
    let server: TestServer;
    let url: string;
    let storage: Storage;
    before(async () => {
      server = await kind.start();
      url = await server.createDatabase();
      storage = await openTest(url);
    });
    after(async () => {
      await storage.close();
      await server.stop();
    });
    beforeEach(async () => {
      await withSql(url, (sql) => sql`delete from accounts`);
      await storage.provision([ACCOUNT]);
    });

    it('a provisioned key is found with all its rights', async () => {
      const { accountId, keyId, ...rest } = await accountOf(storage);
      assert.match(accountId, /^[0-9a-f-]{36}$/);
      assert.match(keyId, /^[0-9a-f-]{36}$/);
      assert.deepEqual(rest, {
        email: 'ops@example.com',
        plan: 'pro',
        scopes: ['read', 'write'],
        connections: [],
        allowedIps: ['10.0.0.0/8'],
        expiresAt: null,
      });
      assert.equal(await storage.keys.findKey(`${API_KEY}x`), undefined);
      assert.equal(await storage.accounts.count(), 1);
    });

    it('applying the same accounts again changes no row', async () => {
      const first = await dump(url);
      await storage.provision([ACCOUNT]);
      const again = await dump(url);
      for (const table of ['accounts', 'api_keys', 'connections', 'connection_secrets']) {
        assert.deepEqual(again[table], first[table], table);
      }
    });

    it('nodes that apply the same accounts at once agree', async () => {
      const others = await Promise.all([openTest(url), openTest(url)]);
      const changed = { ...ACCOUNT, plan: 'free' };
      await Promise.all(
        [storage, ...others].map((node) =>
          node.provision([changed, { ...ACCOUNT, email: 'b@example.com', apiKeys: [], connections: [] }]),
        ),
      );
      assert.equal(await storage.accounts.count(), 2);
      assert.equal((await accountOf(storage)).plan, 'free');
      await Promise.all(others.map((node) => node.close()));
    });

    it('no table has a secret in plain text', async () => {
      await storage.provision([{ ...ACCOUNT, password: 'dashboard-password' }]);
      const { accountId } = await accountOf(storage);
      const generated = await createKey(storage, accountId, {
        name: 'made',
        scopes: ['read'],
        connections: [],
        allowedIps: [],
        expiresAt: null,
      });
      const rows = Object.values(await dump(url)).flat();
      assert.ok(
        rows.some((row) => row.includes('sftp.example.com')),
        'the dump holds the public part',
      );
      for (const secret of [...SECRETS, generated]) {
        for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')]) {
          assert.ok(!rows.some((row) => row.includes(form)), secret);
        }
      }
    });

    it('a secret names its master key, and does not open in the row of another connection', async () => {
      const { accountId } = await accountOf(storage);
      const keys = await withSql(
        url,
        (sql) => sql`
          select distinct s.key_id = m.key_id as active from connection_secrets s cross join master_keys m where m.active`,
      );
      assert.deepEqual([...keys], [{ active: true }]);
      await withSql(
        url,
        (sql) => sql`
          update connection_secrets s
          set key_id = o.key_id, wrapped_key = o.wrapped_key, nonce = o.nonce, ciphertext = o.ciphertext
          from connection_secrets o join connections c on c.id = o.connection_id
          where s.connection_id = 'warehouse' and s.name = 'password' and c.name = 'Legacy' and o.name = 'password'`,
      );
      const fresh = await openTest(url);
      await assert.rejects(fresh.connections.find(accountId, 'warehouse'), (error: unknown) => {
        assert.ok(error instanceof SecretError);
        assert.ok(!SECRETS.some((secret) => String(error.stack).includes(secret)));
        return true;
      });
      assert.ok((await fresh.connections.find(accountId, 'lake')) !== undefined, 'the others open');
      await fresh.close();
    });

    it('the login of the configuration leads no other connection, also after the configuration has lost it', async () => {
      await storage.provision([{ ...ACCOUNT, connections: [] }]);
      const { accountId } = await accountOf(storage);
      const left = await storage.connections.find(accountId, 'warehouse');
      assert.deepEqual([left?.isConfigured, left?.hasConfiguredSecrets], [false, true]);
      assert.equal(await storage.connections.jumpOf({ accountId, via: 'warehouse' }), undefined);
      const mate = { accountId, via: 'warehouse', hasConfiguredSecrets: true };
      assert.equal((await storage.connections.jumpOf(mate))?.id, 'warehouse');
    });

    it('a changed key replaces the former one, a changed secret is encrypted again, a dropped one goes', async () => {
      const sftp = sftpOf(ACCOUNT);
      const newKey = 'ftg_another-key-of-the-operator';
      const { privateKey: _dropped, ...withoutKey } = sftp;
      await storage.provision([
        {
          ...ACCOUNT,
          apiKeys: ACCOUNT.apiKeys.map((key) => ({ ...key, key: newKey })),
          connections: [{ ...withoutKey, password: 'changed' }],
        },
      ]);
      assert.equal(await storage.keys.findKey(API_KEY), undefined);
      const { accountId } = await accountOf(storage, newKey);
      const connection = await storage.connections.find(accountId, 'warehouse');
      assert.ok(connection?.type === 'sftp');
      assert.equal(connection.password, 'changed');
      assert.equal(connection.privateKey, undefined);
      assert.equal(await storage.connections.count(accountId), 3, 'what the configuration no longer names stays');
    });

    it('of a secret by reference the row has the reference, until the owner gives another secret', async () => {
      const references = { password: 'file:/run/secrets/warehouse', passphrase: 'file:/run/secrets/phrase' };
      const connection: ConnectionConfig = {
        ...sftpOf(ACCOUNT),
        password: { from: references.password },
        passphrase: { from: references.passphrase },
      };
      await storage.provision([{ ...ACCOUNT, connections: [connection] }]);
      const { accountId } = await accountOf(storage);
      const found = async () => {
        const [opened, managed] = await Promise.all([
          storage.connections.find(accountId, 'warehouse'),
          storage.management.connections.find(accountId, 'warehouse'),
        ]);
        assert.ok(opened?.type === 'sftp' && managed !== undefined);
        return { opened, managed };
      };
      const first = await found();
      assert.deepEqual(first.opened.references, references);
      assert.deepEqual([first.opened.password, first.opened.passphrase], [undefined, undefined]);
      assert.equal(first.opened.privateKey, 'secret-key-text', 'what is given as a text is stored');
      assert.deepEqual([...first.managed.secrets].sort(), ['passphrase', 'password', 'privateKey']);
      assert.doesNotMatch(JSON.stringify(first.managed), /run.secrets/);
      const rows = (await dump(url))['connection_secrets'] ?? [];
      assert.equal(rows.filter((row) => row.includes('warehouse')).length, 1, 'the former password is gone');

      const { name, type, isActive, settings, keyPairId } = first.managed;
      const draft = { name, type, isActive, settings, keyPairId, hostKeys: undefined };
      const email = ACCOUNT.email;
      const actor = { accountId, kind: 'session', id: null, email, address: '127.0.0.1', requestId: 'r1' } as const;
      await storage.management.connections.update(actor, first.managed, { ...draft, secrets: { password: 'own' } }, []);
      const second = await found();
      assert.deepEqual(second.opened.references, { passphrase: references.passphrase });
      assert.equal(second.opened.password, 'own');

      await storage.provision([ACCOUNT]);
      const third = await found();
      assert.equal(third.opened.references, undefined);
      assert.deepEqual([third.opened.password, third.opened.passphrase], ['secret-of-warehouse', undefined]);
    });

    it('a key may move to another name', async () => {
      const moved = ACCOUNT.apiKeys.map((key) => ({ ...key, name: 'renamed' }));
      await storage.provision([{ ...ACCOUNT, apiKeys: moved }]);
      const [first] = moved;
      assert.ok(first !== undefined);
      const second = { ...first, key: 'ftg_second-key-of-the-operator', name: 'second' };
      await storage.provision([{ ...ACCOUNT, apiKeys: [first, second] }]);
      // Two keys may swap their names.
      await storage.provision([
        {
          ...ACCOUNT,
          apiKeys: [
            { ...first, key: second.key },
            { ...second, key: first.key, scopes: ['exec'] },
          ],
        },
      ]);
      assert.deepEqual((await accountOf(storage, first.key)).scopes, ['exec']);
      assert.deepEqual((await accountOf(storage, second.key)).scopes, ['read', 'write']);
    });

    it('a connection without id keeps its generated one', async () => {
      const { accountId } = await accountOf(storage);
      const before = await storage.connections.list(accountId);
      await storage.provision([ACCOUNT]);
      const listed = await storage.connections.list(accountId);
      assert.deepEqual(listed, before);
      assert.deepEqual(
        listed.map(({ name, type, isActive }) => [name, type, isActive]),
        [
          ['Warehouse', 'sftp', true],
          ['Legacy', 'ftp', true],
          ['Lake', 's3', false],
        ],
      );
      assert.match(listed[1]?.id ?? '', /^conn_[0-9a-z]{16}$/);
    });

    it('connections come back complete, and only for their own account', async () => {
      const { accountId } = await accountOf(storage);
      assert.deepEqual(await storage.connections.find(accountId, 'lake'), {
        id: 'lake',
        accountId,
        name: 'Lake',
        isActive: false,
        defaultPath: undefined,
        rootPath: '/',
        atomicUploads: true,
        pool: {},
        bytesPerSecond: undefined,
        hours: undefined,
        digests: 'asked',
        verify: 'size',
        isConfigured: true,
        hasConfiguredSecrets: true,
        allowPrivate: undefined,
        type: 's3',
        endpoint: 'https://s3.example.com',
        region: 'us-east-1',
        bucket: 'b',
        accessKeyId: 'a',
        secretAccessKey: 'secret-of-lake',
        sessionToken: undefined,
        proxy: undefined,
        proxyPassword: undefined,
        via: undefined,
        forcePathStyle: true,
        uploader: 'streamed',
        credentials: 'static',
        storageClass: undefined,
        acl: 'none',
        role: undefined,
        encryption: { type: 'none' },
        encryptionKey: undefined,
        requesterPays: false,
        checksums: 'auto',
        prefix: 'in/here/',
        tlsCa: undefined,
        tlsVerify: true,
      });
      const stranger = '00000000-0000-7000-8000-000000000000';
      assert.equal(await storage.connections.find(stranger, 'lake'), undefined);
      assert.equal(await storage.connections.find(accountId, 'unknown'), undefined);
    });

    it('names an id of another account, a key of another account and an unreadable file', async () => {
      const other: AccountConfig = { email: 'b@example.com', plan: 'pro', apiKeys: [], connections: [] };
      const sftp = sftpOf(ACCOUNT);
      const cases: [AccountConfig, RegExp][] = [
        [{ ...other, connections: [sftp] }, /connection "warehouse" of b@example\.com: the id is already in use/],
        [{ ...other, apiKeys: ACCOUNT.apiKeys }, /API key "ci" of b@example\.com: .*another account/],
        [
          {
            ...other,
            connections: [{ ...sftp, id: 'x', privateKey: undefined, privateKeyFile: '/no/such' }],
          },
          /"Warehouse": privateKeyFile \/no\/such/,
        ],
        [
          { ...other, apiKeys: ACCOUNT.apiKeys.map((key) => ({ ...key, key: `ftg_k1_${'A'.repeat(38)}` })) },
          /checksum/,
        ],
      ];
      for (const [account, pattern] of cases) {
        await assert.rejects(storage.provision([account]), (error: unknown) => {
          assert.ok(error instanceof StartupError, String(error));
          assert.match(error.message, pattern);
          return true;
        });
      }
      assert.equal(await storage.accounts.count(), 1, 'nothing of a refused account stays');
    });

    it('reads key and certificate files', async () => {
      const folder = await makeTempFolder();
      await writeFile(path.join(folder, 'id'), 'KEY TEXT');
      await writeFile(path.join(folder, 'ca'), 'CA TEXT');
      const { privateKey: _text, ...sftp } = sftpOf(ACCOUNT);
      const [, ftp] = ACCOUNT.connections;
      assert.ok(ftp?.type === 'ftp');
      await storage.provision([
        {
          ...ACCOUNT,
          connections: [
            // As in the example file: the unused key is present, and empty.
            { ...sftp, privateKey: '', privateKeyFile: path.join(folder, 'id') },
            { ...ftp, id: 'secure', tlsCaFile: path.join(folder, 'ca') },
          ],
        },
      ]);
      const { accountId } = await accountOf(storage);
      const [first, second] = await Promise.all(
        ['warehouse', 'secure'].map((id) => storage.connections.find(accountId, id)),
      );
      assert.equal(first?.type === 'sftp' && first.privateKey, 'KEY TEXT');
      assert.equal(second?.type === 'ftp' && second.tlsCa, 'CA TEXT');
      await rm(folder, { recursive: true });
    });

    it('certificates may be given as text, in place of their files', async () => {
      const privateKey = keys.key();
      const certificate = await readFile(keys.certify(keys.key(), privateKey, '-n', 'gw'), 'utf8');
      const [, ftp] = ACCOUNT.connections;
      assert.ok(ftp?.type === 'ftp');
      await storage.provision([
        {
          ...ACCOUNT,
          connections: [
            { ...sftpOf(ACCOUNT), certificate, certificateFile: '' },
            { ...ftp, id: 'secure', tlsCa: 'CA TEXT' },
          ],
        },
      ]);
      const { accountId } = await accountOf(storage);
      const first = await storage.connections.find(accountId, 'warehouse');
      const second = await storage.connections.find(accountId, 'secure');
      assert.equal(first?.type === 'sftp' && first.certificate, certificate);
      assert.equal(second?.type === 'ftp' && second.tlsCa, 'CA TEXT');
    });

    it('a private key in the place of a certificate, which answers would show, is refused', async () => {
      const folder = await makeTempFolder();
      const certificateFile = path.join(folder, 'id');
      await writeFile(certificateFile, '-----BEGIN OPENSSH PRIVATE KEY-----\nKEY TEXT\n');
      await assert.rejects(
        storage.provision([{ ...ACCOUNT, connections: [{ ...sftpOf(ACCOUNT), certificateFile }] }]),
        (error: unknown) => {
          assert.ok(error instanceof StartupError, String(error));
          assert.match(error.message, /"Warehouse": certificateFile must be one line of a file …-cert\.pub/);
          assert.doesNotMatch(error.message, /KEY TEXT/);
          return true;
        },
      );
      await rm(folder, { recursive: true });
    });

    it('the first host key is pinned, and a later caller gets the first one', async () => {
      const { accountId } = await accountOf(storage);
      const other = await openTest(url);
      await storage.connections.find(accountId, 'warehouse');
      const answers = await Promise.all([
        storage.connections.pinHostKey('warehouse', 'SHA256:one'),
        other.connections.pinHostKey('warehouse', 'SHA256:two'),
        storage.connections.pinHostKey('warehouse', 'SHA256:three'),
      ]);
      assert.equal(new Set(answers.map((keys) => keys.join())).size, 1);
      const found = await storage.connections.find(accountId, 'warehouse');
      assert.deepEqual(found?.type === 'sftp' && found.hostKeys, answers[0], 'visible at once');
      await other.close();
    });

    it('learned pins stay until the configuration gives its own or names another server', async () => {
      const sftp = sftpOf(ACCOUNT);
      const hostKeys = async () => {
        const found = await storage.connections.find((await accountOf(storage)).accountId, 'warehouse');
        return found?.type === 'sftp' ? found.hostKeys : undefined;
      };
      await storage.connections.pinHostKey('warehouse', 'SHA256:learned');
      await storage.provision([ACCOUNT]);
      assert.deepEqual(await hostKeys(), ['SHA256:learned']);
      await storage.provision([{ ...ACCOUNT, connections: [{ ...sftp, host: 'moved.example.com' }] }]);
      assert.deepEqual(await hostKeys(), []);
      await storage.provision([{ ...ACCOUNT, connections: [{ ...sftp, hostKey: ['SHA256:a', 'SHA256:b'] }] }]);
      assert.deepEqual(await hostKeys(), ['SHA256:a', 'SHA256:b']);
      assert.deepEqual(await storage.connections.pinHostKey('warehouse', 'SHA256:c'), ['SHA256:a', 'SHA256:b']);
    });

    it('generated keys work at once, expire, and have names of their own', async (t) => {
      const { accountId } = await accountOf(storage);
      const wish = { name: 'made', scopes: ['exec'], connections: ['lake'], allowedIps: [], expiresAt: null } as const;
      const key = await createKey(storage, accountId, wish);
      assert.deepEqual((await accountOf(storage, key)).connections, ['lake']);
      await assert.rejects(createKey(storage, accountId, wish), (error: unknown) => {
        return error instanceof GatewayError && error.code === 'already_exists';
      });
      const soon = new Date(Date.now() + 60_000);
      const short = await createKey(storage, accountId, { ...wish, name: 'short', expiresAt: soon });
      await accountOf(storage, short);
      let now = soon.getTime() - 1;
      t.mock.method(Date, 'now', () => now);
      await accountOf(storage, short);
      assert.notEqual(storage.keys.recallKey(short), undefined);
      now += 1;
      assert.equal(storage.keys.recallKey(short), undefined);
      assert.equal(await storage.keys.findKey(short), undefined);
    });

    it('a revoked key stops working within about a second; its use is recorded', async () => {
      const begun = Date.now();
      const { keyId } = await accountOf(storage);
      assert.equal(storage.keys.recallKey(API_KEY)?.keyId, keyId);
      assert.equal(storage.keys.recallKey(`${API_KEY}x`), undefined);
      await withSql(url, (sql) => sql`update api_keys set revoked_at = now()`);
      await until(async () => ((await storage.keys.findKey(API_KEY)) === undefined ? true : undefined), 'revocation');
      assert.equal(storage.keys.recallKey(API_KEY), undefined);
      const used = await until(async () => {
        const [row] = await withSql(url, (sql) => sql<{ at: Date | null }[]>`select last_used_at as at from api_keys`);
        return row?.at ?? undefined;
      }, 'the time of use');
      assertRecent(used, begun);
    });

    it('the dashboard password is hashed, kept while it fits and replaced when it changes', async () => {
      const hashOf = async (): Promise<string> => {
        const [row] = await withSql(url, (sql) => sql<{ password_hash: string }[]>`select password_hash from accounts`);
        return row?.password_hash ?? '';
      };
      await storage.provision([{ ...ACCOUNT, password: 'dashboard-password' }]);
      const first = await hashOf();
      await storage.provision([{ ...ACCOUNT, password: 'dashboard-password' }]);
      assert.equal(await hashOf(), first);
      assert.ok(await verifyPassword('dashboard-password', first));
      await storage.provision([{ ...ACCOUNT, password: 'another' }]);
      assert.ok(await verifyPassword('another', await hashOf()));
      await storage.provision([ACCOUNT]);
      assert.ok(await verifyPassword('another', await hashOf()));
    });
  });
}

async function createKey(storage: Storage, accountId: string, rights: Partial<KeyRights>): Promise<string> {
  const actor = { accountId, kind: 'anonymous', id: null, email: '', address: '', requestId: '' } as const;
  return (await storage.keys.create(actor, withDefaults(apiKeyFields, rights))).key;
}

/**
 * Planned rotation of host keys. OpenSSH announces and proves new keys under a trusted key; each key waits, is accepted
 * by its owner or by the rule, and is trusted only then. A failure is a key that is trusted without that, or a rotation
 * that locks users out.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { eventually } from '../../support/eventually.js';
import type { Browser } from '../../support/gateway.js';
import { ACCOUNTS, expectError, field, type ManagedGateway, startManaged, startManagedOn, withSql } from './support.js';

interface Announced {
  readonly fingerprint: string;
  readonly algorithm: string;
  readonly state: string;
  readonly isFirst: boolean;
}

interface Key {
  readonly file: string;
  readonly fingerprint: string;
}

let gateway: ManagedGateway;
let ops: Browser;
let other: Browser;
let folder: string;
let sshd: TestSshd;
let first: Key;
let made = 0;

const fingerprintOf = (file: string): string =>
  execFileSync('ssh-keygen', ['-lf', `${file}.pub`], { encoding: 'utf8' }).split(' ')[1] ?? '';

function newKey(type: string, bits?: string): Key {
  const file = path.join(folder, `key-${made++}`);
  execFileSync('ssh-keygen', ['-q', '-t', type, ...(bits === undefined ? [] : ['-b', bits]), '-N', '', '-f', file]);
  return { file, fingerprint: fingerprintOf(file) };
}

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'ftg-host-keys-'));
  [gateway, sshd] = await Promise.all([startManaged(), startSshd()]);
  [ops, other] = [await gateway.browser(), await gateway.browser('other@example.com')];
  first = { file: sshd.hostKeyFile, fingerprint: fingerprintOf(sshd.hostKeyFile) };
});
after(async () => {
  await Promise.all([gateway?.stop(), sshd?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Each operation logs in again, because a session ends with it. */
async function connect(browser: Browser, id: string, more: object = {}): Promise<string> {
  const input = {
    id,
    name: id,
    type: 'sftp',
    host: '127.0.0.1',
    port: sshd.port,
    username: sshd.username,
    privateKey: readFileSync(sshd.clientKeyFile, 'utf8'),
    defaultPath: sshd.files,
    pool: { idleTimeoutMs: 1 },
    ...more,
  };
  const answer = await browser.post('/manage/connections', input);
  assert.equal(answer.status, 201, answer.text);
  return `/manage/connections/${id}/host-keys`;
}

const pinned = async (at: string, browser = ops): Promise<readonly string[]> =>
  field(await browser.get(at), 'hostKeys');
const announced = async (at: string, browser = ops): Promise<readonly Announced[]> =>
  field(await browser.get(at), 'announced');
const statesOf = async (at: string, browser = ops): Promise<Record<string, string>> =>
  Object.fromEntries((await announced(at, browser)).map(({ fingerprint, state }) => [fingerprint, state]));

/** Logs in until an announcement has had this effect. */
async function heard(id: string, what: string, isSo: () => Promise<boolean>, browser = ops): Promise<void> {
  await eventually(async () => {
    const answer = await browser.get(`/api/list/${id}`);
    assert.equal(answer.status, 200, answer.text);
    return isSo();
  }, what);
}

const auditOf = async (
  action: string,
): Promise<readonly { details: object; actor: { kind: string; name: string } }[]> =>
  field(await ops.get(`/manage/audit?action=${action}`), 'entries');

describe('planned rotation of host keys', { concurrency: 1 }, () => {
  test('an announced key waits; once accepted, it is trusted when the server shows only it; otherwise it is refused, with the reason', async () => {
    await sshd.restart([first.file]);
    const second = newKey('ed25519');
    const [asked, left] = [
      await connect(ops, 'asked', { hostKeys: [first.fingerprint] }),
      await connect(other, 'left'),
    ];
    await sshd.restart([first.file, second.file]);
    const both = { [first.fingerprint]: 'trusted', [second.fingerprint]: 'pending' };
    await heard('asked', 'the second key waits', async () => (await announced(asked)).length === 2);
    assert.deepEqual(await statesOf(asked), both);
    assert.deepEqual(await pinned(asked), [first.fingerprint]);
    // Trusted at first use, on a session that two accounts may share.
    await heard('left', 'it waits there too', async () => (await announced(left, other)).length === 2, other);
    assert.deepEqual(await statesOf(left, other), both);

    const { fingerprint } = second;
    expectError(await other.post(`${asked}/accept`, { fingerprint }), 404, 'unknown_connection');
    const unknown = `SHA256:${'A'.repeat(43)}`;
    expectError(await ops.post(`${asked}/accept`, { fingerprint: unknown }), 404, 'unknown_item');
    const accepted = await ops.post(`${asked}/accept`, { fingerprint });
    assert.deepEqual(field(accepted, 'hostKeys'), [first.fingerprint, fingerprint]);
    expectError(await ops.post(`${asked}/accept`, { fingerprint }), 404, 'unknown_item');
    const [entry] = await auditOf('connection.accept_host_key');
    assert.deepEqual(entry?.details, { fingerprint, algorithm: 'ssh-ed25519' });
    assert.equal(entry?.actor.kind, 'session');

    await sshd.restart([second.file]);
    await eventually(async () => (await other.get('/api/list/left')).status === 502, 'the old session is over');
    const refused = await other.get('/api/list/left');
    expectError(refused, 502, 'host_key_mismatch');
    assert.match(
      refused.text,
      /shows host key .* is pinned \(hostKey\); under a pinned key the server announced this one/,
    );
    const tested = await other.post('/manage/connections/left/test', {});
    assert.match(tested.text, /under a pinned key the server announced this one/);
    assert.equal((await ops.get('/api/list/asked')).status, 200);
    assert.equal((await other.post(`${left}/accept`, { fingerprint })).status, 200);
    assert.equal((await other.get('/api/list/left')).status, 200);
  });

  test('keys of every kind are proven', async () => {
    const keys = [
      newKey('rsa', '2048'),
      newKey('rsa', '4096'),
      ...['256', '384', '521'].map((bits) => newKey('ecdsa', bits)),
    ];
    await sshd.restart([first.file, ...keys.map(({ file }) => file)]);
    const at = await connect(ops, 'kinds', { hostKeys: [first.fingerprint] });
    await heard('kinds', 'all of them wait', async () => (await announced(at)).length === 1 + keys.length);
    const states = await statesOf(at);
    for (const { fingerprint } of keys) assert.equal(states[fingerprint], 'pending');
    // One RSA key as the trusted one: its signature algorithm is negotiated differently.
    const rsa = await connect(ops, 'by-rsa', { hostKeys: [keys[0]?.fingerprint] });
    await heard('by-rsa', 'the others wait', async () => (await announced(rsa)).length === 1 + keys.length);
    await sshd.restart([first.file, keys[2]?.file ?? '']);
    await heard('kinds', 'those that are withdrawn are forgotten', async () => (await announced(at)).length === 2);
  });

  test('keys of the first announcement are not reported; a later one is, once for its server', async (t) => {
    const own = await startSshd();
    t.after(() => own.stop());
    const shown = { file: own.hostKeyFile, fingerprint: fingerprintOf(own.hostKeyFile) };
    const [second, third] = [newKey('ed25519'), newKey('ed25519')];
    await own.restart([shown.file, second.file]);
    const privateKey = readFileSync(own.clientKeyFile, 'utf8');
    const ids = ['news-a', 'news-b'];
    for (const id of ids)
      await connect(ops, id, { port: own.port, username: own.username, privateKey, defaultPath: own.files });
    const at = (id: string): string => `/manage/connections/${id}/host-keys`;
    const waiting = async () => {
      const attention = field<{ kind: string; connectionId: string; count: number }[]>(
        await ops.get('/manage/overview'),
        'attention',
      );
      return attention.filter(({ kind, connectionId }) => kind === 'host_keys_waiting' && ids.includes(connectionId));
    };
    for (const id of ids) await heard(id, 'both keys', async () => (await announced(at(id))).length === 2);
    assert.deepEqual(await waiting(), [], 'they came with the trusted key');
    await own.restart([shown.file, second.file, third.file]);
    for (const id of ids) await heard(id, 'the third key', async () => (await announced(at(id))).length === 3);
    const news = (await announced(at('news-b'))).filter(({ isFirst }) => !isFirst);
    assert.deepEqual(
      news.map(({ fingerprint }) => fingerprint),
      [third.fingerprint],
    );
    const items = await waiting();
    assert.deepEqual(
      items.map(({ connectionId, count }) => [connectionId, count]),
      [['news-a', 1]],
    );
    for (const id of ids) assert.equal((await ops.delete(`/manage/connections/${id}?confirm=true`)).status, 200);
  });

  test('a rejected key waits no longer, and no rule accepts it', async () => {
    const second = newKey('ed25519');
    await sshd.restart([first.file, second.file]);
    const at = await connect(ops, 'rejecting', { hostKeys: [first.fingerprint] });
    await heard('rejecting', 'it waits', async () => (await statesOf(at))[second.fingerprint] === 'pending');
    const rejected = await ops.post(`${at}/reject`, { fingerprint: second.fingerprint });
    assert.equal(rejected.status, 200, rejected.text);
    expectError(await ops.post(`${at}/reject`, { fingerprint: first.fingerprint }), 404, 'unknown_item');
    assert.equal((await auditOf('connection.reject_host_key')).length, 1);
    assert.equal((await ops.patch('/manage/connections/rejecting', { hostKeyRotation: 'accept' })).status, 200);
    const third = newKey('ed25519');
    await sshd.restart([first.file, second.file, third.file]);
    await heard('rejecting', 'the third is accepted', async () => (await pinned(at)).includes(third.fingerprint));
    assert.deepEqual(await pinned(at), [first.fingerprint, third.fingerprint]);
    assert.equal((await statesOf(at))[second.fingerprint], 'rejected');
    // A key that a user removes is rejected; a key that a user forgets is unknown.
    const taken = await ops.patch('/manage/connections/rejecting', { hostKeys: [first.fingerprint] });
    assert.equal(taken.status, 200, taken.text);
    assert.equal((await statesOf(at))[third.fingerprint], 'rejected');
    assert.equal((await ops.delete(at)).status, 200);
    assert.deepEqual((await ops.get(at)).json, { hostKeys: [], learned: false, announced: [] });
  });

  test('the rule accepts by itself, records it in the audit log, and drops keys that have not been announced for a week', async () => {
    const second = newKey('ed25519');
    await sshd.restart([first.file, second.file]);
    const rule = { hostKeys: [first.fingerprint], hostKeyRotation: 'accept' };
    const at = await connect(ops, 'ruled', rule);
    await heard('ruled', 'it is accepted', async () => (await pinned(at)).length === 2);
    const [entry] = await auditOf('connection.accept_host_key');
    const details = { fingerprint: second.fingerprint, algorithm: 'ssh-ed25519', rule: 'hostKeyRotation: accept' };
    assert.deepEqual([entry?.details, entry?.actor.kind], [details, 'anonymous']);
    await sshd.restart([second.file]);
    await heard('ruled', 'the new key does', async () => true);
    assert.deepEqual(await pinned(at), [first.fingerprint, second.fingerprint]);
    await withSql(
      gateway.databaseUrl,
      (sql) => sql`
        update announced_host_keys set last_seen_at = now() - interval '8 days' where connection_id = 'ruled'`,
    );
    await heard('ruled', 'the old key is dropped', async () => (await pinned(at)).length === 1);
    assert.deepEqual(await pinned(at), [second.fingerprint]);
    assert.deepEqual(Object.keys(await statesOf(at)), [second.fingerprint]);
    assert.equal((await auditOf('connection.drop_host_key')).length, 1);
  });

  test('keys of the configuration file follow the rule alone, and the next start keeps the result', async () => {
    const second = newKey('ed25519');
    await sshd.restart([first.file, second.file]);
    const entry = (id: string, hostKeyRotation: string) => ({
      id,
      name: id,
      type: 'sftp',
      host: '127.0.0.1',
      port: sshd.port,
      username: sshd.username,
      hostKeyRotation,
      privateKeyFile: sshd.clientKeyFile,
      hostKey: first.fingerprint,
      pool: { idleTimeoutMs: 1 },
      defaultPath: sshd.files,
    });
    const connections = [entry('of-file', 'ask'), entry('of-file-ruled', 'accept')];
    const config = {
      accounts: ACCOUNTS.map((account, index) => ({ ...account, connections: index === 0 ? connections : [] })),
    };
    const [at, ruled] = ['of-file', 'of-file-ruled'].map((id) => `/manage/connections/${id}/host-keys`) as [
      string,
      string,
    ];
    for (const round of [1, 2]) {
      const node = await startManagedOn(gateway.databaseUrl, config);
      try {
        const browser = await node.browser();
        if (round === 2) assert.equal((await browser.get('/api/list/of-file-ruled')).status, 200);
        else {
          await heard('of-file', 'it waits', async () => (await announced(at, browser)).length === 2, browser);
          const { fingerprint } = second;
          expectError(await browser.post(`${at}/accept`, { fingerprint }), 409, 'from_configuration');
          await heard(
            'of-file-ruled',
            'it is accepted',
            async () => (await pinned(ruled, browser)).length === 2,
            browser,
          );
          await sshd.restart([second.file]);
        }
        assert.deepEqual(await pinned(at, browser), [first.fingerprint]);
        assert.deepEqual(await pinned(ruled, browser), [first.fingerprint, second.fingerprint]);
      } finally {
        await node.stop();
      }
    }
  });
});

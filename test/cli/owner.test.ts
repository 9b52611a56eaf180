/** Commands for the owner of an account: connections, keys, watched folders, the history, doctor. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TOTP } from 'otpauth';
import { PASSWORD } from '../api/manage/support.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { freePort } from '../support/ports.js';
import { Terminal } from './support.js';
import { eventually } from '../support/eventually.js';

const OWNER = 'ftg_owner-key-0123456789-abcdefgh';
const PLAIN = 'ftg_plain-key-0123456789-abcdefgh';

let gateway: TestGateway;
let shell: TestSshd;
let terminal: Terminal;
let receiver: http.Server;
let hook = '';

before(async () => {
  receiver = http.createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(500).end());
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  shell = await startSshd();
  gateway = await startGateway({
    config: {
      sandbox: true,
      network: { webhooks: { allow: ['127.0.0.1/32'] } },
      webhooks: { retryMs: [10] },
      watcher: { settleMs: 0 },
      accounts: [
        {
          email: 'ops@example.com',
          plan: 'pro',
          password: PASSWORD,
          apiKeys: [
            { name: 'owner', key: OWNER, scopes: ['read', 'write', 'exec', 'watch', 'admin'] },
            { name: 'plain', key: PLAIN, scopes: ['read'] },
          ],
        },
      ],
    },
  });
  terminal = new Terminal({ FTG_URL: gateway.url, FTG_KEY: OWNER });
});

after(async () => {
  terminal.close();
  await gateway.stop();
  await shell.stop();
  receiver.closeAllConnections();
  receiver.close();
});

const file = (name: string, content: string): string => {
  writeFileSync(join(terminal.home, name), content);
  return name;
};

test('a connection is created, tested, edited, switched, duplicated and deleted', async () => {
  const place = ['--type', 'sftp', '--host', '127.0.0.1', '--port', String(shell.port), '--username', shell.username];
  const keyFile = ['--private-key-file', shell.clientKeyFile, '--default-path', shell.files];
  const made = await terminal.json('connections', 'create', 'box', ...place, ...keyFile);
  assert.deepEqual([made['id'], made['name'], made['port']], ['box', 'box', shell.port]);
  assert.deepEqual(made['secrets'], { password: false, proxyPassword: false, privateKey: true, passphrase: false });
  assert.match(await terminal.ok(['connections', 'test', 'box', '--probe']), /^STEP +RESULT.*\ndelete +ok/ms);
  const edited = await terminal.json(
    'connections',
    'edit',
    'box',
    '--name',
    'Box',
    '--from',
    file('c.json', '{"pool":{"maxSessions":2}}'),
  );
  assert.deepEqual([edited['name'], edited['pool']], ['Box', { maxSessions: 2 }]);
  const options = ['--pool-stall-timeout-ms', '5000', '--atomic-uploads', 'false', '--default-path', ''];
  const changed = await terminal.json('connections', 'edit', 'box', ...options);
  assert.deepEqual(changed['pool'], { maxSessions: 2, stallTimeoutMs: 5000 }, 'the other limits stay');
  assert.deepEqual([changed['atomicUploads'], changed['defaultPath']], [false, null]);
  await terminal.ok(['connections', 'edit', 'box', '--atomic-uploads', 'true', '--default-path', shell.files]);
  await terminal.fails(2, /from 1 to 10000/, ['connections', 'edit', 'box', '--pool-max-sessions', '0']);
  await terminal.fails(2, /true, false/, ['connections', 'edit', 'box', '--atomic-uploads', 'maybe']);
  await terminal.fails(2, /nothing to change/, ['connections', 'edit', 'box']);
  await terminal.fails(2, /JSON object/, ['connections', 'edit', 'box', '--from', file('d.json', '[]')]);
  assert.match(await terminal.ok(['connections', 'deactivate', 'box']), /box is off/);
  await terminal.fails(4, /not active/, ['ls', 'box:']);
  await terminal.ok(['connections', 'activate', 'box']);
  await terminal.ok(['connections', 'duplicate', 'box', 'box-2', '--name', 'Second']);
  assert.match(await terminal.ok(['connections']), /box-2 +Second +sftp +active/);
  assert.match(await terminal.ok(['connections', 'show', 'box']), /software +OpenSSH|card +\{/);
  await terminal.ok(['connections', 'rm', 'box-2']);
  await terminal.fails(3, /no connection box-2/, ['connections', 'show', 'box-2']);
  await terminal.fails(5, /configuration file/, ['connections', 'rm', 'sandbox']);
  await terminal.fails(2, /--type is missing/, ['connections', 'create', 'x']);
  await terminal.fails(2, /--host is missing/, ['connections', 'create', 'x', '--type', 'sftp']);
  await terminal.fails(2, /Allowed choices/, ['connections', 'create', 'x', '--type', 'gopher']);
});

test('another encryption leaves out what belongs to the former one', async () => {
  const place = ['--type', 's3', '--bucket', 'lake', '--access-key-id', 'AKIA'];
  const secret = ['--secret-access-key-file', file('lake-secret', 'secret')];
  const kms = ['--encryption-type', 'kms', '--encryption-key-id', 'key-1'];
  await terminal.ok(['connections', 'create', 'lake', ...place, ...secret, ...kms]);
  const encryption = async (...options: string[]): Promise<unknown> =>
    (await terminal.json('connections', 'edit', 'lake', ...options))['encryption'];
  assert.deepEqual(await encryption('--encryption-key-id', 'key-2'), { type: 'kms', keyId: 'key-2' });
  assert.deepEqual(await encryption('--encryption-type', 'kms'), { type: 'kms', keyId: 'key-2' });
  assert.deepEqual(await encryption('--encryption-type', 'aes256'), { type: 'aes256' });
  assert.deepEqual(await encryption(...kms), { type: 'kms', keyId: 'key-1' });
  const both = ['--encryption-type', 'aes256', '--encryption-key-id', 'key-1'];
  await terminal.fails(2, /absent, unless the type is kms/, ['connections', 'edit', 'lake', ...both]);
  await terminal.ok(['connections', 'rm', 'lake']);
});

test('secrets come from files and standard input, and a failing test is exit code 1', async () => {
  const words = [
    'connections',
    'create',
    'wrong',
    '--type',
    'ftp',
    '--host',
    '127.0.0.1',
    '--port',
    '1',
    '--username',
    'u',
  ];
  await terminal.ok([...words, '--password-file', '-'], { input: 'sesame\n' });
  const failed = await terminal.run(['connections', 'test', 'wrong']);
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /connect +failed/);
  assert.ok(!`${failed.stdout}${failed.stderr}`.includes('sesame'));
  await terminal.fails(2, /one file can come from standard input/, [
    'connections',
    'edit',
    'wrong',
    '--from',
    '-',
    '--password-file',
    '-',
  ]);
  await terminal.ok(['connections', 'rm', 'wrong']);
});

test('host keys are listed, scanned, pinned and forgotten; key pairs are created', async () => {
  await terminal.ok(['ls', 'box:']);
  assert.match(await terminal.ok(['connections', 'host-keys', 'list', 'box']), /SHA256:\S+ +learned/);
  const { shown } = await terminal.json<{ shown: { fingerprint: string }[] }>(
    'connections',
    'host-keys',
    'scan',
    'box',
  );
  const [first] = shown;
  assert.ok(first !== undefined);
  await terminal.ok(['connections', 'host-keys', 'pin', 'box', first.fingerprint, '--replace']);
  assert.match(await terminal.ok(['connections', 'host-keys', 'list', 'box']), /pinned/);
  await terminal.ok(['connections', 'host-keys', 'forget', 'box']);
  const made = await terminal.run(['connections', 'key-pairs', 'create', 'pair']);
  assert.match(made.stdout, /^ssh-ed25519 \S+ pair\n$/);
  const id = /key pair (\S+);/.exec(made.stderr)?.[1] ?? '';
  assert.match(await terminal.ok(['connections', 'key-pairs']), new RegExp(`${id} +pair`));
  await terminal.ok(['connections', 'key-pairs', 'rm', id]);
});

test('a key is issued, used, edited, rotated and revoked', async () => {
  const issued = await terminal.run(['keys', 'create', 'ci', '--scope', 'read', 'write', '--connection', 'box']);
  assert.match(issued.stdout, /^ftg_\S+\n$/, 'the key alone, to be taken from there');
  const id = /\((\S+)\)/.exec(issued.stderr)?.[1] ?? '';
  const key = issued.stdout.trim();
  assert.equal((await terminal.run(['ls', 'box:'], { env: { FTG_KEY: key } })).code, 0);
  await terminal.fails(4, /not for connection sandbox/, ['ls', 'sandbox:'], { FTG_KEY: key });
  assert.match(await terminal.ok(['keys']), /ci +active +read,write +box/);
  const edited = await terminal.json('keys', 'edit', id, '--expires', '2999-01-01T00:00:00Z', '--name', 'ci 2');
  assert.deepEqual([edited['name'], edited['expiresAt']], ['ci 2', '2999-01-01T00:00:00.000Z']);
  const rotated = await terminal.json<{ key: string; apiKey: { id: string } }>('keys', 'rotate', id, '--overlap', '0');
  assert.notEqual(rotated.key, key);
  assert.match(await terminal.ok(['keys', 'revoke', rotated.apiKey.id]), /is revoked/);
  await terminal.fails(2, /^ftg: --ip /, ['keys', 'create', 'x', '--ip', 'nowhere']);
  await terminal.fails(3, /no API key/, ['keys', 'revoke', '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001']);
  await terminal.fails(4, /scope "admin"/, ['keys'], { FTG_KEY: PLAIN });
});

test('S3 access keys are made for an API key, listed and deleted', async () => {
  const { apiKey } = await terminal.json<{ apiKey: { id: string } }>('keys', 'create', 'lake reader');
  assert.match(await terminal.ok(['keys', 's3']), /no S3 access keys/);
  const made = await terminal.run(['keys', 's3', 'create', apiKey.id]);
  const [, id = '', secret = ''] =
    /^AWS_ACCESS_KEY_ID=(FTGA\w{16})\nAWS_SECRET_ACCESS_KEY=(\w{40})\n$/.exec(made.stdout) ?? [];
  assert.notEqual(id, '', made.stdout);
  const list = await terminal.ok(['keys', 's3', 'list']);
  assert.match(list, new RegExp(`${id} .*lake reader +${apiKey.id}`));
  assert.ok(!list.includes(secret) && !made.stderr.includes(secret));
  assert.match(await terminal.ok(['keys', 's3', 'rm', apiKey.id, id]), /S3 access key of lake reader is deleted/);
  await terminal.fails(3, /no S3 access key/, ['keys', 's3', 'rm', apiKey.id, id]);
  await terminal.ok(['keys', 'revoke', apiKey.id]);
});

test('who asks on the pages of links: set, shown, and removed by an empty text', async () => {
  const brand = (...words: readonly string[]) => terminal.ok(['accounts', 'brand', ...words]);
  const set = await brand('set', '--name', 'ACME Ltd', '--color', '#112233');
  assert.match(set, /name +ACME Ltd\ncolor +#112233\n/);
  assert.equal(await brand(), set);
  assert.match(await brand('set', '--name', ''), /^color +#112233\n/m);
  await terminal.fails(2, /nothing to change/, ['accounts', 'brand', 'set']);
  await terminal.fails(3, /no-logo\.png/, ['accounts', 'brand', 'set', '--logo', join(terminal.home, 'no-logo.png')]);
  writeFileSync(join(terminal.home, 'text.png'), 'no image');
  await terminal.fails(2, /--logo must be a PNG, JPEG or WebP/, [
    'accounts',
    'brand',
    'set',
    '--logo',
    join(terminal.home, 'text.png'),
  ]);
  await brand('set', '--color', '');
});

test('the account, its month, its log and the history', async () => {
  assert.match(await terminal.ok(['accounts']), /email +ops@example\.com/);
  assert.match(await terminal.ok(['accounts', 'usage']), /month +\d{4}-\d{2}\n/);
  assert.match(await terminal.ok(['accounts', 'overview']), /transfers +\d+/);
  const { entries } = await terminal.json<{ entries: { action: string }[] }>(
    'accounts',
    'audit',
    '--action',
    'api_key',
    '--limit',
    '2',
  );
  assert.deepEqual(
    entries.map(({ action }) => action.split('.')[0]),
    ['api_key', 'api_key'],
  );
  await terminal.ok(['put', file('h.txt', 'h'), 'sandbox:history/']);
  const { transfers } = await terminal.json<{ transfers: { id: string; path: string }[] }>(
    'transfers',
    '--type',
    'upload',
    '--connection',
    'sandbox',
    '--limit',
    '1',
  );
  assert.equal(transfers[0]?.path, '/history/h.txt');
  assert.match(
    await terminal.ok(['transfers', '--status', 'success']),
    /upload +success +1 B +sandbox:\/history\/h\.txt/,
  );
  assert.match(await terminal.ok(['transfers', 'show', transfers[0]?.id ?? '']), /key +\{.*"owner"/);
  assert.equal(await terminal.ok(['transfers', 'live']), 'nothing runs\n');
  await terminal.fails(5, /does not run/, ['transfers', 'cancel', transfers[0]?.id ?? '']);
  assert.match(await terminal.ok(['transfers', 'export', '--search', 'H.TXT']), /^id,createdAt,.*\r\n.*h\.txt/);
  assert.match(await terminal.ok(['transfers', 'export', '--format', 'ndjson', '--status', 'success']), /^\{"id":/);
  await terminal.fails(2, /Allowed choices/, ['transfers', '--status', 'odd']);
  const exported = (...filters: readonly string[]): Promise<string> =>
    terminal.ok(['transfers', 'export', '--format', 'ndjson', '--search', 'h.txt', ...filters]);
  assert.match(await exported('--direction', 'outbound', '--min-size', '1', '--lookups', 'false'), /"upload"/);
  assert.equal(await exported('--min-size', '1K'), '');
  assert.equal(await exported('--direction', 'inbound'), '');
  await terminal.fails(2, /--key must be the id of an API key/, ['transfers', 'export', '--key', 'odd']);
  const { entries: older } = await terminal.json<{ entries: unknown[] }>('accounts', 'audit', '--until', '2026-01-31');
  assert.deepEqual(older, []);
});

test('a folder is watched, checked and explained, and a dead letter sent again', async () => {
  await terminal.ok(['mkdir', 'sandbox:/in']);
  const folder = await terminal.json<{ id: string }>(
    'watch',
    'add',
    'sandbox:/in',
    '--webhook',
    hook,
    '--every',
    '60',
    '--pattern',
    '*.csv',
  );
  const { id } = folder;
  await eventually(async () => (await terminal.json('watch', 'show', id))['baselineAt'] !== null, 'the baseline');
  // The hourly check may become due at any time; while the folder is paused, only the dry run sees the file first.
  assert.match(await terminal.ok(['watch', 'pause', id]), /paused/);
  await terminal.ok(['put', file('new.csv', 'n'), 'sandbox:/in/']);
  assert.match(await terminal.ok(['watch', 'dry-run', id]), /new +1\n.*\nnew +1 B +\S+ +\/in\/new\.csv|new\.csv/s);
  assert.match(await terminal.ok(['watch', 'check', id]), /a check/);
  assert.match(await terminal.ok(['watch', 'resume', id]), /active/);
  assert.match(await terminal.ok(['watch']), /in +sandbox:\/in +\*\.csv +60 min/);
  const edited = await terminal.json('watch', 'edit', id, '--every', '30', '--pattern', 'none', '--no-modified');
  assert.deepEqual([edited['scheduleMinutes'], edited['filePattern'], edited['path']], [30, null, '/in']);
  const { checks } = await terminal.json<{ checks: { id: string }[] }>('watch', 'checks', id);
  await terminal.ok(['watch', 'explain', id, checks[0]?.id ?? '']);
  const secret = await terminal.ok(['watch', 'secret', id]);
  assert.match(secret, /^whsec_/);
  assert.notEqual(await terminal.ok(['watch', 'secret', id, '--rotate']), secret);
  const { eventId } = await terminal.json<{ eventId: string }>('watch', 'test-event', id);
  await eventually(
    async () => (await terminal.ok(['watch', 'deliveries', '--state', 'dead'])).includes(eventId),
    'a dead letter',
  );
  assert.match(await terminal.ok(['watch', 'attempts', eventId]), /500/);
  assert.match(await terminal.ok(['watch', 'replay', eventId]), /on its way/);
  await terminal.ok(['watch', 'rm', id]);
  await terminal.fails(3, /no watched folder/, ['watch', 'rm', id]);
});

test('a folder copies the files that it finds', async () => {
  await terminal.ok(['mkdir', 'sandbox:/out']);
  await terminal.ok(['put', file('new.csv', 'n'), 'sandbox:/out/']);
  const options = ['--copy-to', 'sandbox:/copies', '--template', '{name}-copy.{ext}', '--on-conflict', 'skip'];
  const folder = await terminal.json<{ id: string; copyTo: object }>(
    ...['watch', 'add', 'sandbox:/out', '--initial', ...options],
  );
  assert.deepEqual(folder.copyTo, {
    connectionId: 'sandbox',
    path: '/copies',
    filename_template: '{name}-copy.{ext}',
    onConflict: 'skip',
  });
  const deliveries = ['watch', 'deliveries', '--folder', folder.id, '--state', 'delivered'];
  const delivered = async (): Promise<readonly { id: string }[]> =>
    (await terminal.json<{ deliveries: { id: string }[] }>(...deliveries)).deliveries;
  await eventually(async () => (await delivered()).length > 0, 'the copies are made');
  const [delivery] = await delivered();
  assert.match(
    await terminal.ok(['watch', 'copies', delivery?.id ?? '']),
    /done +\/out\/new\.csv +sandbox:\/copies\/new-copy\.csv/,
  );
  await terminal.fails(2, /--copy-to/, ['watch', 'edit', folder.id, '--template', '{name}']);
  const edited = await terminal.json('watch', 'edit', folder.id, '--copy-to', 'none');
  assert.equal('copyTo' in edited, false);
  await terminal.ok(['watch', 'rm', folder.id]);
});

test('doctor checks everything from here to the remote servers, and says what to do', async () => {
  const { isOk, checks } = await terminal.json<{
    isOk: boolean;
    checks: { name: string; status: string; detail: string }[];
  }>('doctor');
  assert.ok(isOk, JSON.stringify(checks));
  assert.deepEqual(
    checks.map(({ name }) => name),
    ['gateway', 'transport', 'ready', 'version', 'clock', 'key', 'scopes', 'sandbox', 'box'],
  );
  assert.equal(checks.find(({ name }) => name === 'scopes')?.detail, 'read, write, exec, watch, admin');
  assert.match(checks.find(({ name }) => name === 'clock')?.detail ?? '', /less than a second/);
  const plain = await terminal.run(['doctor', 'sandbox'], { env: { FTG_KEY: PLAIN } });
  assert.equal(plain.code, 0, plain.stdout);
  assert.match(plain.stdout, /scopes +read; not write, exec, watch, admin\nok +sandbox +it can be looked into/);
  const unknown = await terminal.run(['doctor', 'nobody']);
  assert.deepEqual([unknown.code, /FAIL +nobody/.test(unknown.stdout)], [1, true]);
  const bad = await terminal.run(['doctor'], { env: { FTG_KEY: 'ftg_nobody-knows-this-key-at-all' } });
  assert.equal(bad.code, 1);
  assert.match(bad.stdout, /FAIL +key .*\n +→ .*ftg keys create/);
  const gone = await terminal.run(['doctor'], { env: { FTG_URL: `http://127.0.0.1:${await freePort()}` } });
  assert.equal(gone.code, 1);
  assert.match(gone.stdout, /^FAIL +gateway +http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED.*\n +→ Is it running/);
});

test('login keeps a session in the profile; logout ends it and forgets the profile', async () => {
  const person = new Terminal();
  const words = ['login', '--url', gateway.url, '--email', 'ops@example.com', '--password-file', '-'];
  const wrong = await person.run(words, { input: 'wrong\n' });
  assert.deepEqual([wrong.code, /password is wrong/.test(wrong.stderr)], [4, true]);
  await person.ok(words, { input: `${PASSWORD}\n` });
  const profiles = join(person.home, '.config/ftg/profiles.json');
  assert.equal(statSync(profiles).mode & 0o777, 0o600);
  assert.ok(!readFileSync(profiles, 'utf8').includes(PASSWORD));
  assert.match(await person.ok(['connections', 'test', 'sandbox']), /login +ok/);
  await person.ok(['put', '-', 'sandbox:/by-login.txt'], { input: 'x' });
  assert.match(await person.ok(['accounts', 'sessions']), /\(this one\)/);
  assert.equal((await person.run(['doctor'])).code, 0);
  const { sessions } = await person.json<{ sessions: { id: string }[] }>('accounts', 'sessions');
  assert.match(await person.ok(['logout']), /forgotten/);
  assert.ok(!(await terminal.ok(['accounts', 'sessions'])).includes(sessions[0]?.id ?? ''));
  await person.fails(2, /no profile "default"/, ['ls', 'sandbox:']);
  await person.ok(words, { input: PASSWORD });
  const change = ['accounts', 'password', '--current-file', '-', '--new-file', join(person.home, 'new')];
  writeFileSync(join(person.home, 'new'), PASSWORD);
  assert.match(await person.ok(change, { input: PASSWORD }), /the password is changed/);
  person.close();
});

test('login asks for the code of the authenticator', async () => {
  const browser = gateway.visitor();
  await browser.login('ops@example.com', PASSWORD);
  const secret = String((await browser.post('/manage/totp/enrol', { password: PASSWORD })).json['secret']);
  const totp = new TOTP({ secret });
  assert.equal((await browser.post('/manage/totp/confirm', { code: totp.generate() })).status, 200);
  const person = new Terminal();
  const words = ['login', '--url', gateway.url, '--email', 'ops@example.com', '--password-file', '-'];
  const asked = await person.run(words, { input: PASSWORD });
  assert.deepEqual([asked.code, /code: the six digits/.test(asked.stderr)], [4, true]);
  // The step of the code that switched it on is used up.
  const code = totp.generate({ timestamp: Date.now() + 30_000 });
  await person.ok([...words, '--code', code], { input: PASSWORD });
  person.close();
  assert.equal((await browser.post('/manage/totp/disable', { password: PASSWORD })).status, 200);
  browser.close();
});

/** Logins and sessions: who gets access, who does not, and for how long. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { type Browser } from '../../support/gateway.js';
import {
  ADMIN_KEY,
  expectError,
  field,
  type ManagedGateway,
  PASSWORD,
  PLAIN_KEY,
  startManaged,
  startManagedOn,
  withSql,
} from './support.js';

let gateway: ManagedGateway;

before(async () => {
  gateway = await startManaged();
});
after(() => gateway.stop());

test('a login gives a cookie that no script sees, and a token that every change must contain', async () => {
  const browser = gateway.visitor();
  const answer = await browser.login('OPS@example.com', PASSWORD);
  assert.equal(answer.status, 200, answer.text);
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  assert.match(cookie, /^ftg_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
  assert.ok(!answer.text.includes(browser.cookie.split('=')[1] ?? 'none'), 'the token is in the cookie alone');

  const session = await browser.get('/manage/session');
  assert.equal(field<{ email: string }>(session, 'account').email, 'ops@example.com');
  assert.equal(session.json['csrfToken'], browser.csrfToken);

  const rename = { name: 'never' };
  for (const wrong of ['', 'x'.repeat(43)]) {
    const headers: Record<string, string> = { 'X-CSRF-Token': wrong };
    expectError(
      await browser.send('/manage/key-pairs', { method: 'POST', json: rename, headers }),
      403,
      'csrf_rejected',
    );
  }
  const other = await gateway.browser();
  const foreign = { 'X-CSRF-Token': other.csrfToken };
  expectError(await browser.send('/manage/logout', { method: 'POST', headers: foreign }), 403, 'csrf_rejected');

  const former = browser.cookie;
  const logout = await browser.post('/manage/logout');
  assert.match(logout.headers['set-cookie']?.[0] ?? '', /^ftg_session=; .*Max-Age=0/);
  browser.cookie = former;
  await expectEnded(browser, 'logged_out');
  browser.cookie = `ftg_session=${'A'.repeat(43)}`;
  await expectEnded(browser, undefined);
});

/** The answer has the reason, so that a page can react to it. */
async function expectEnded(browser: Browser, why: string | undefined): Promise<void> {
  const answer = await browser.get('/manage/session');
  expectError(answer, 401, 'unauthenticated');
  assert.equal(answer.headers['x-session-end'], why);
}

test('requests that another site makes a browser send are refused', async () => {
  const browser = await gateway.browser();
  for (const site of ['cross-site', 'same-site']) {
    expectError(await browser.get('/manage/account', { headers: { 'Sec-Fetch-Site': site } }), 403, 'csrf_rejected');
  }
  const headers = { Origin: 'https://evil.example' };
  expectError(await browser.send('/manage/logout', { method: 'POST', headers }), 403, 'csrf_rejected');
  const login = { email: 'ops@example.com', password: PASSWORD };
  expectError(await browser.send('/manage/login', { method: 'POST', json: login, headers }), 403, 'csrf_rejected');
  const own = { Origin: `http://127.0.0.1:${gateway.port}`, 'Sec-Fetch-Site': 'same-origin' };
  assert.equal((await browser.get('/manage/account', { headers: own })).status, 200);
});

test('a wrong password and an unknown address get the same answer, and five failures lock', async () => {
  const browser = gateway.visitor();
  const wrong = await browser.login('locked@example.com', 'wrong');
  expectError(wrong, 401, 'unauthenticated');
  const unknown = await browser.login('nobody@example.com', 'wrong');
  assert.equal(unknown.text, wrong.text);
  // All at once: parallel guesses must not get more attempts.
  const guesses = await Promise.all(
    Array.from({ length: 10 }, (_, index) => gateway.visitor().login('locked@example.com', `guess ${index}`)),
  );
  assert.equal(guesses.filter(({ status }) => status === 401).length, 4);
  const locked = await browser.login('locked@example.com', PASSWORD);
  expectError(locked, 429, 'rate_limited');
  const wait = Number(locked.headers['retry-after']);
  assert.ok(wait > 600 && wait <= 900, `Retry-After: ${wait}`);
  assert.equal((await browser.login('ops@example.com', PASSWORD)).status, 200, 'others are not locked out');

  const [failures] = await withSql(
    gateway.databaseUrl,
    (sql) => sql`select count(*)::int as count from audit_log where action = 'login.failed'`,
  );
  assert.equal(failures?.['count'], 5);
});

test('a session that was in the browser before the login is not continued', async () => {
  const planted = `ftg_session=${'A'.repeat(43)}`;
  const browser = gateway.visitor();
  browser.cookie = planted;
  assert.equal((await browser.login('ops@example.com', PASSWORD)).status, 200);
  assert.notEqual(browser.cookie, planted);
  const first = browser.cookie;
  assert.equal((await browser.login('ops@example.com', PASSWORD)).status, 200);
  const attacker = gateway.visitor();
  for (const cookie of [planted, first]) {
    attacker.cookie = cookie;
    expectError(await attacker.get('/manage/session'), 401, 'unauthenticated');
  }
});

test('a session ends when it is idle, when its time is over, and when it is revoked elsewhere', async () => {
  const change = async (browser: Browser, what: 'last_seen_at' | 'expires_at', to: string): Promise<void> => {
    const id = field<{ id: string }>(await browser.get('/manage/session'), 'session').id;
    await withSql(
      gateway.databaseUrl,
      (sql) => sql`
      update login_sessions set ${sql(what)} = now() - ${to}::interval where id = ${id}`,
    );
  };
  const idle = await gateway.browser();
  await change(idle, 'last_seen_at', '119 minutes');
  // The cached session may be a second old.
  await new Promise((done) => setTimeout(done, 1050));
  assert.equal((await idle.get('/manage/session')).status, 200);
  await change(idle, 'last_seen_at', '121 minutes');
  const old = await gateway.browser();
  await change(old, 'expires_at', '1 second');
  await new Promise((done) => setTimeout(done, 1050));
  await expectEnded(idle, 'idle');
  await expectEnded(old, 'expired');

  const [here, there] = [await gateway.browser(), await gateway.browser()];
  const sessions = field<{ id: string; isCurrent: boolean }[]>(await here.get('/manage/sessions'), 'sessions');
  const newest = sessions[0];
  assert.equal(sessions.filter(({ isCurrent }) => isCurrent).length, 1);
  assert.equal(newest?.isCurrent, false);
  assert.equal((await here.delete(`/manage/sessions/${newest?.id}`)).status, 200);
  await expectEnded(there, 'elsewhere');
  expectError(await here.delete(`/manage/sessions/${newest?.id}`), 404, 'unknown_item');
});

test('an open stream does not keep a session alive', async () => {
  const browser = await gateway.browser();
  const id = field<{ id: string }>(await browser.get('/manage/session'), 'session').id;
  const stream = await browser.open('/api/events', { headers: { Accept: 'text/event-stream' } });
  await withSql(
    gateway.databaseUrl,
    (sql) => sql`update login_sessions set last_seen_at = now() - interval '100 minutes' where id = ${id}`,
  );
  // The cached session may be a second old.
  await new Promise((done) => setTimeout(done, 1050));
  const reported = new Promise<void>((resolve) => {
    let text = '';
    stream.setEncoding('utf8').on('data', (some: string) => {
      if ((text += some).includes('job.finished')) resolve();
    });
  });
  const ops = await gateway.browser();
  const job = { type: 'delete', dryRun: true, source: { connectionId: 'sandbox', path: '/' }, include: ['*.old'] };
  assert.equal((await ops.post('/api/jobs', job)).status, 202);
  // The gateway has checked the session when it sends the event.
  await reported;
  const [row] = await withSql(
    gateway.databaseUrl,
    (sql) => sql<{ isOld: boolean }[]>`
      select last_seen_at < now() - interval '99 minutes' as "isOld" from login_sessions where id = ${id}`,
  );
  assert.equal(row?.isOld, true);
  stream.destroy();
});

test('a page that polls without its user does not keep a session alive', async () => {
  const browser = await gateway.browser();
  const id = field<{ id: string }>(await browser.get('/manage/session'), 'session').id;
  const isOld = async (): Promise<boolean | undefined> => {
    const [row] = await withSql(
      gateway.databaseUrl,
      (sql) => sql<{ isOld: boolean }[]>`
        select last_seen_at < now() - interval '99 minutes' as "isOld" from login_sessions where id = ${id}`,
    );
    return row?.isOld;
  };
  await withSql(
    gateway.databaseUrl,
    (sql) => sql`update login_sessions set last_seen_at = now() - interval '100 minutes' where id = ${id}`,
  );
  // The cached session may be a second old.
  await new Promise((done) => setTimeout(done, 1050));
  assert.equal((await browser.get('/manage/account', { headers: { 'X-Unattended': 'true' } })).status, 200);
  assert.equal(await isOld(), true);
  assert.equal((await browser.get('/manage/account')).status, 200);
  assert.equal(await isOld(), false);
});

test('one-time passwords: enrolled, required, valid for one login, with recovery codes', async () => {
  const email = 'small@example.com';
  const browser = await gateway.browser(email);
  expectError(await browser.post('/manage/totp/enrol', { password: 'wrong' }), 403, 'forbidden');
  const secret = field<string>(await browser.post('/manage/totp/enrol', { password: PASSWORD }), 'secret');
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  expectError(await browser.post('/manage/totp/confirm', { code: '000000' }), 400, 'bad_request');
  // A code of the next step is within the tolerance. This step's code stays unused, and the login below shows that it
  // is refused as past.
  const code = totp.generate({ timestamp: Date.now() + 30_000 });
  const codes = field<string[]>(await browser.post('/manage/totp/confirm', { code }), 'recoveryCodes');
  assert.equal(new Set(codes).size, 10);

  const fresh = gateway.visitor();
  expectError(await fresh.login(email, PASSWORD), 401, 'totp_required');
  expectError(await fresh.login(email, PASSWORD, code), 401, 'totp_required');
  const [first = '', second = ''] = codes;
  assert.equal((await fresh.login(email, PASSWORD, first.toUpperCase())).status, 200);
  expectError(await gateway.visitor().login(email, PASSWORD, first), 401, 'totp_required');
  const totpState = field<object>(await fresh.get('/manage/account'), 'totp');
  assert.deepEqual(totpState, { isEnabled: true, recoveryCodesLeft: 9 });
  const stored = await withSql(
    gateway.databaseUrl,
    (sql) => sql`
    select encode(ciphertext, 'escape') as text from account_secrets union all
    select encode(code_hash, 'escape') from recovery_codes`,
  );
  assert.ok(!JSON.stringify(stored).includes(secret), 'the secret is stored encrypted');

  assert.equal((await fresh.post('/manage/totp/disable', { password: PASSWORD })).status, 200);
  assert.equal((await gateway.visitor().login(email, PASSWORD)).status, 200);
  expectError(await gateway.visitor().login('small@example.com', second, second), 401, 'unauthenticated');
});

test('an admin key needs no token; other keys have no access to the management API', async () => {
  const admin = gateway.client(ADMIN_KEY);
  const session = await admin.get('/manage/session');
  assert.deepEqual([session.json['session'], session.json['csrfToken']], [null, null]);
  assert.equal((await admin.post('/manage/key-pairs', { name: 'by key' })).status, 201);
  expectError(await admin.get('/api/list/sandbox'), 403, 'scope_missing');
  expectError(await gateway.client(PLAIN_KEY).get('/manage/account'), 403, 'scope_missing');
  expectError(await gateway.client('').get('/manage/account'), 401, 'unauthenticated');
  const entries = field<{ action: string; actor: object }[]>(
    await admin.get('/manage/audit', { query: { action: 'key_pair' } }),
    'entries',
  );
  assert.equal(entries[0]?.action, 'key_pair.create');
  assert.equal((entries[0]?.actor as { name: string }).name, 'admin');
});

test('a login session may use the file operations, with the token for changes', async () => {
  const browser = await gateway.browser();
  const upload = { method: 'POST', body: 'hello', headers: { 'Content-Type': 'application/octet-stream' } };
  const target = '/api/upload/sandbox?filename=from-browser.txt';
  assert.equal((await browser.send(target, upload)).status, 200);
  const { csrfToken } = browser;
  browser.csrfToken = '';
  expectError(await browser.send(target, upload), 403, 'csrf_rejected');
  const download = await browser.get('/api/download/sandbox?path=/from-browser.txt');
  assert.equal(download.text, 'hello');
  browser.csrfToken = csrfToken;
  // A key in the request counts, even an invalid one.
  const headers = { Authorization: `Bearer ${PLAIN_KEY}x` };
  expectError(await browser.get('/api/me', { headers }), 401, 'unauthenticated');
});

// The last two tests start their own gateways, which take over the sandbox's connection.
test('a changed password ends the other sessions, and remains after a restart', async () => {
  const email = 'other@example.com';
  const [here, there] = [await gateway.browser(email), await gateway.browser(email)];
  const next = 'another long password';
  const change = { currentPassword: 'wrong', newPassword: next };
  expectError(await here.post('/manage/password', change), 403, 'forbidden');
  const short = { currentPassword: PASSWORD, newPassword: 'short' };
  expectError(await here.post('/manage/password', short), 400, 'bad_request');
  assert.equal((await here.post('/manage/password', { ...change, currentPassword: PASSWORD })).status, 200);
  assert.equal((await here.get('/manage/session')).status, 200);
  await expectEnded(there, 'password_changed');
  const second = await startManagedOn(gateway.databaseUrl);
  try {
    expectError(await second.visitor().login(email, PASSWORD), 401, 'unauthenticated');
    assert.equal((await second.visitor().login(email, next)).status, 200);
  } finally {
    await second.stop();
  }
});

test('behind https the cookie is bound to this host', async () => {
  const secure = await startManagedOn(gateway.databaseUrl, { server: { publicUrl: 'https://files.example.com' } });
  try {
    const browser = secure.visitor();
    const headers = { Origin: 'https://files.example.com' };
    const json = { email: 'ops@example.com', password: PASSWORD };
    const answer = await browser.send('/manage/login', { method: 'POST', json, headers });
    assert.match(answer.headers['set-cookie']?.[0] ?? '', /^__Host-ftg_session=[\w-]{43}; Path=\/; .*; Secure$/);
    assert.equal((await browser.get('/manage/session')).status, 200);
  } finally {
    await secure.stop();
  }
});

/** The pages of links say who asks: set by the owner or the configuration, readable in any colour, and strict. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { type ApiAnswer, type ApiClient, KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { startTogether } from '../support/together.js';

const ADMIN = 'ftg_brand-admin-key-0123456789-abcd';
const EMAIL = 'owner@example.com';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');
const WEBP = Buffer.from('RIFF\x24\0\0\0WEBPVP8 ', 'latin1');
const AT = '/manage/account/brand';
const NOTHING = { name: null, color: null, logo: null };

let sshd: TestSshd;
let postgres: PostgresServer;
let gateway: TestGateway;
let admin: ApiClient;
let logoFile: string;
let folders = 0;

const configured = (brand?: object) => ({
  env: { GATEWAY_MASTER_KEY: 'ab'.repeat(32) },
  config: {
    database: { url: postgres.url },
    accounts: [
      {
        email: EMAIL,
        plan: 'pro',
        apiKeys: [
          { name: 'test', key: KEY },
          { name: 'admin', key: ADMIN, scopes: ['read', 'write', 'admin'] },
        ],
        connections: [
          {
            id: 'depot',
            name: 'Depot',
            type: 'sftp',
            host: '127.0.0.1',
            port: sshd.port,
            rootPath: sshd.files,
            username: sshd.username,
            privateKeyFile: sshd.clientKeyFile,
            defaultPath: '/',
          },
        ],
        ...(brand === undefined ? {} : { brand }),
      },
    ],
  },
});

before(async () => {
  [sshd, postgres] = await startTogether([startSshd(), startPostgres()]);
  logoFile = join(mkdtempSync(join(tmpdir(), 'brand-')), 'logo.png');
  writeFileSync(logoFile, PNG);
  writeFileSync(join(sshd.files, 'report.txt'), 'the report');
  await begin();
});
after(async () => {
  await gateway?.stop();
  await Promise.all([sshd?.stop(), postgres?.stop()]);
});

async function begin(brand?: object): Promise<void> {
  await gateway?.stop();
  gateway = await startGateway(configured(brand));
  admin = gateway.client(ADMIN);
}

const change = (json: object): Promise<ApiAnswer> => admin.send(AT, { method: 'PATCH', json });

async function pageOf(link: object = {}, language = 'en'): Promise<ApiAnswer> {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const body = { operation: 'upload', path: `/in-${++folders}`, connectionId: 'depot', expiresAt, ...link };
  const made = await gateway.client(KEY).post('/api/links', body);
  assert.equal(made.status, 201, made.text);
  const at = new URL((made.json['link'] as { url: string }).url).pathname;
  return gateway.client('').send(at, { headers: { Accept: 'text/html', 'Accept-Language': language } });
}

const headingOf = ({ text }: ApiAnswer): string => /<h1>(.*)<\/h1>/.exec(text)?.[1] ?? '';
const policyOf = ({ headers }: ApiAnswer): string => String(headers['content-security-policy']);

test('without a brand the page says what it said before, and allows no image', async () => {
  assert.deepEqual((await admin.get(AT)).json, NOTHING);
  const page = await pageOf();
  assert.equal(headingOf(page), 'Send files');
  assert.ok(!page.text.includes('<img') && !policyOf(page).includes('img-src'));
});

test('a name, a colour and a logo are on each page, in both languages', async () => {
  const saved = await change({ name: 'A&B <i>\u202e', color: '#0757b8', logo: PNG.toString('base64') });
  assert.equal(saved.status, 200, saved.text);
  assert.equal(saved.json['logo'], PNG.toString('base64'));
  const who = 'A&amp;B &lt;i&gt;⟨U+202E⟩';
  assert.equal(headingOf(await pageOf()), `${who} asks you for files`);
  assert.equal(headingOf(await pageOf({ maxUses: 1 }, 'de')), `${who} bittet Sie um eine Datei`);
  const download = { operation: 'download', path: '/report.txt' };
  assert.equal(headingOf(await pageOf(download)), `${who} shares a file with you`);
  const page = await pageOf(download, 'de');
  assert.equal(headingOf(page), `${who} teilt eine Datei mit Ihnen`);
  assert.ok(page.text.includes(`src="data:image/png;base64,${PNG.toString('base64')}"`));
  assert.ok(!page.text.includes(EMAIL));
  // Each style and script is allowed by its hash; images only as data.
  const policy = policyOf(page);
  assert.match(policy, /; img-src data:; /);
  assert.ok(!policy.includes('unsafe'));
  const inline = [...page.text.matchAll(/<(style|script)[^>]*>([\s\S]*?)<\/\1>/g)].map(([, , text = '']) => text);
  assert.equal(inline.length, 3);
  for (const text of inline) {
    assert.ok(policy.includes(`'sha256-${createHash('sha256').update(text).digest('base64')}'`), text.slice(0, 40));
  }
});

test('what is left out stays, and null removes it', async () => {
  const before = (await admin.get(AT)).json;
  assert.deepEqual((await change({ color: '#ffffff' })).json, { ...before, color: '#ffffff' });
  assert.deepEqual((await change({})).json, { ...before, color: '#ffffff' });
  assert.deepEqual((await change({ name: null, logo: null })).json, { ...NOTHING, color: '#ffffff' });
  const page = await pageOf();
  assert.equal(headingOf(page), 'Send files');
  assert.ok(!policyOf(page).includes('img-src'));
  const [entry] = (await admin.get('/manage/audit', { query: { action: 'account' } })).json['entries'] as {
    action: string;
    details: object;
  }[];
  assert.deepEqual([entry?.action, entry?.details], ['account.change_brand', { fields: ['name', 'logo'] }]);
});

test('text on any colour has a contrast of at least 4.5', async () => {
  for (const color of ['#000000', '#FFFFFF', '#767676', '#757575', '#ff0000', '#00ff00', '#ff6a00', '#7f7f00']) {
    await change({ color });
    const text = /--on-button:(#[0-9a-f]{3})/.exec((await pageOf()).text)?.[1];
    const [light, dark] = [luminanceOf(text === '#fff' ? '#ffffff' : '#000000'), luminanceOf(color)].sort(
      (a, b) => b - a,
    );
    assert.ok(((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05) >= 4.5, `${text} on ${color}`);
  }
});

/** WCAG 2.2, "relative luminance". */
function luminanceOf(color: string): number {
  const parts = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (parts[0] ?? 0) + 0.7152 * (parts[1] ?? 0) + 0.0722 * (parts[2] ?? 0);
}

test('JPEG and WebP are logos too; what only claims to be an image is refused, and nothing changes', async () => {
  for (const logo of [JPEG, WEBP]) assert.equal((await change({ logo: logo.toString('base64') })).status, 200);
  const before = (await admin.get(AT)).json;
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const largest = Buffer.concat([PNG], 64 * 1024);
  assert.equal((await change({ logo: largest.toString('base64') })).status, 200);
  await change({ logo: before['logo'] });
  for (const [changes, text] of [
    [{ logo: Buffer.from(svg).toString('base64') }, /logo must be a PNG/],
    [{ logo: Buffer.from('<!doctype html><script>').toString('base64') }, /logo must be a PNG/],
    [{ logo: Buffer.from('\x89PNG<svg onload=alert(1)>', 'latin1').toString('base64') }, /logo must be a PNG/],
    [{ logo: '' }, /logo must be a PNG/],
    [{ logo: '%%%' }, /logo must be a PNG/],
    [{ logo: Buffer.concat([PNG], 64 * 1024 + 1).toString('base64') }, /logo has 65537 bytes/],
    [{ color: 'red' }, /color/],
    [{ color: '#12345' }, /color/],
    [{ color: '#0757b8;}*{display:none' }, /color/],
    [{ name: '' }, /name/],
    [{ name: 'x'.repeat(81) }, /name/],
    [{ name: 'a\nb' }, /name/],
    [{ name: 5 }, /name/],
  ] as const) {
    const refused = await change(changes);
    assert.equal(refused.status, 400, JSON.stringify(changes));
    assert.match(refused.text, text);
  }
  assert.deepEqual((await admin.get(AT)).json, before);
  assert.equal((await gateway.client(KEY).get(AT)).status, 403);
});

test('the configuration sets it at each start; without one it stays', async () => {
  await change({ name: 'By hand', color: null, logo: null });
  await begin();
  assert.deepEqual((await admin.get(AT)).json, { ...NOTHING, name: 'By hand' });
  await begin({ name: 'ACME', color: '#112233', logoFile });
  assert.deepEqual((await admin.get(AT)).json, { name: 'ACME', color: '#112233', logo: PNG.toString('base64') });
  await begin();
  assert.equal((await admin.get(AT)).json['name'], 'ACME');
});

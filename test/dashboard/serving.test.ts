/** How the gateway serves the dashboard's files. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { dashboardRoutes } from '../../src/dashboard/pages.js';
import { SCREENS } from '../../src/dashboard/screens.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { type ApiAnswer } from '../support/gateway.js';

const ASSETS = fileURLToPath(new URL('../../dashboard/assets', import.meta.url));
let gateway: TestAccount;

before(async () => {
  gateway = await openAccount();
});
after(() => gateway.stop());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<ApiAnswer> =>
  gateway.api.send(path, { method, headers, key: '' });

test('the page is served at / and at the address of every screen, fresh on each visit', async () => {
  for (const screen of Object.values(SCREENS)) {
    const path = screen.replace(':id', 'warehouse');
    const answer = await get(path);
    assert.equal(answer.status, 200, path);
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.match(answer.text, /<div id="app"><\/div>/);
  }
});

test('no inline code may run, no code from elsewhere, and no other page may frame it', async () => {
  const { headers, text } = await get('/');
  const policy = headers['content-security-policy'] ?? '';
  assert.match(String(policy), /default-src 'none'/);
  assert.match(String(policy), /script-src 'self'(;|$)/);
  assert.match(String(policy), /style-src 'self'(;|$)/);
  assert.match(String(policy), /frame-ancestors 'none'/);
  assert.doesNotMatch(String(policy), /unsafe|https?:|\*/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)|<style|\son\w+=|style=/);
});

test('assets are cached for ever, and are compressed as the client prefers', async () => {
  const script = readdirSync(ASSETS).find((name) => /^main-.*\.js$/.test(name));
  assert.ok(script !== undefined);
  const path = `/assets/${script}`;
  const plain = await get(path);
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.match(String(plain.headers['content-type']), /^text\/javascript/);
  assert.equal(plain.headers['vary'], 'Accept-Encoding');
  const brotli = await get(path, { 'Accept-Encoding': 'gzip, deflate, br' });
  assert.equal(brotli.headers['content-encoding'], 'br');
  assert.deepEqual(brotliDecompressSync(brotli.bytes), plain.bytes);
  const gzip = await get(path, { 'Accept-Encoding': 'gzip, br;q=0' });
  assert.equal(gzip.headers['content-encoding'], 'gzip');
  assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes);
  const head = await get(path, { 'Accept-Encoding': 'br' }, 'HEAD');
  assert.equal(head.headers['content-length'], String(brotli.bytes.length));
  assert.equal(head.bytes.length, 0);
});

/**
 * Former defect: the page was the answer, with 200, to every other path, including those of scanners and mistyped
 * clients.
 */
test('every other address is 404 for a program, and a screen accepts no other method', async () => {
  const others = [
    '/v1/nope',
    '/openapi.yaml',
    '/.env',
    '/no/such/screen',
    '/connections/a/b',
    '/transfers/',
    '/index.html',
  ];
  const faces = ['/api/nothing', '/manage/nothing', '/metrics/x', '/healthz/x', '/docs/x', '/assets/gone-12345678.js'];
  for (const path of [...others, ...faces]) {
    const answer = await get(path, { Accept: 'text/html' });
    assert.deepEqual([answer.status, answer.headers['x-error-code']], [404, 'unknown_route'], path);
    assert.deepEqual(Object.keys(answer.json), ['error']);
  }
  assert.equal((await get('/healthz')).text, '{"status":"ok"}');
  const posted = await get('/transfers', {}, 'POST');
  assert.deepEqual([posted.status, posted.headers['allow']], [405, 'GET, HEAD']);
});

test("the dashboard's own router has the same screens", () => {
  const app = readFileSync(fileURLToPath(new URL('../../../src/dashboard/web/desk.tsx', import.meta.url)), 'utf8');
  const routed = [...app.matchAll(/<Route path=(\S+?)[\s>]/g)].map(([, path]) => path);
  assert.deepEqual(
    routed.sort(),
    Object.keys(SCREENS)
      .map((name) => `{SCREENS.${name}}`)
      .sort(),
  );
});

test('a gateway whose dashboard was not built has no such routes', () => {
  assert.deepEqual(dashboardRoutes('/no/such/folder'), []);
});

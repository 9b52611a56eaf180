/** The documentation of a running gateway, in Chromium: found by search, tried with a real key, within its policy. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { EMAIL, focusOf, logIn, openDesk, PASSWORD, type Desk } from '../dashboard/browser.js';
import { violations } from '../dashboard/inspection.js';

const KEY = 'ftg_documentation-key-0123456789';
const HOSTILE = '<img src=x onerror=globalThis.isHurt=true>';
let desk: Desk;

before(async () => {
  desk = await openDesk({
    accounts: [
      {
        email: EMAIL,
        plan: 'pro',
        password: PASSWORD,
        connections: [],
        apiKeys: [{ name: 'docs', key: KEY, scopes: ['read', 'write', 'admin'] }],
      },
    ],
  });
});
after(() => desk.close());

/** Opens the form of an operation. */
async function tryIt(page: Page, operationId: string): Promise<Locator> {
  const article = page.locator(`#${operationId}`);
  await article.getByRole('button', { name: /^Try it/ }).click();
  return article.getByRole('form');
}

async function send(form: Locator): Promise<void> {
  await form.getByRole('button', { name: /^Send/ }).click();
}

/** Waits for the end of the answer. */
async function statusOf(form: Locator): Promise<string> {
  const status = form.getByRole('status').filter({ hasNotText: /(waiting|reading) …$/ });
  return (await status.textContent()) ?? '';
}

async function useKey(form: Locator): Promise<void> {
  await form.getByLabel('API key').fill(KEY);
}

test('a page leaves compressed, is cached by its ETag, and only known addresses answer', async () => {
  const get = (at: string, headers: Record<string, string> = {}) => desk.gateway.api.send(at, { key: '', headers });
  for (const at of ['/docs', '/docs/readme', '/manage/docs']) {
    const plain = await get(at);
    const gzip = await get(at, { 'Accept-Encoding': 'gzip' });
    assert.deepEqual([gzip.headers['content-encoding'], gzip.headers['vary']], ['gzip', 'Accept-Encoding']);
    assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes);
    assert.notEqual(gzip.headers['etag'], plain.headers['etag']);
    const again = await get(at, { 'Accept-Encoding': 'gzip', 'If-None-Match': String(gzip.headers['etag']) });
    assert.deepEqual([again.status, again.bytes.length], [304, 0]);
    const policy = String(plain.headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  }
  for (const at of ['/docs/readme.html', '/docs/', '/docs/assets/', '/docs/nothing', '/docs/../package.json']) {
    assert.equal((await get(at)).status, 404, at);
  }
});

test('"/" leads to the search, arrows choose, Enter opens, and no key or other host is needed', async () => {
  const { page, context, faults } = await desk.open();
  await page.goto('/docs/readme');
  await page.keyboard.press('/');
  const search = page.getByRole('combobox', { name: 'Search the documentation' });
  assert.equal(await focusOf(page), 'Search the documentation');
  await search.fill('create a folder');
  const options = page.getByRole('option');
  const wanted = page.locator('[role="option"][data-address="/docs#makeFolder"]');
  await wanted.waitFor();
  assert.deepEqual(await violations(page), []);
  const at = await options.evaluateAll((all: { dataset: Record<string, string> }[]) =>
    all.findIndex(({ dataset }) => dataset['address'] === '/docs#makeFolder'),
  );
  for (let step = 0; step < at; step++) await page.keyboard.press('ArrowDown');
  assert.equal(await search.getAttribute('aria-activedescendant'), `site-result-${at}`);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs#makeFolder', { waitUntil: 'commit' });
  await page.keyboard.press('/');
  await search.fill('qqqqq');
  await page.getByText('Nothing found').waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.getByText('Nothing found').count(), 0);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a file is uploaded, listed and fetched with the pasted key, which is in no address and no storage', async () => {
  const { page, context, faults } = await desk.open();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto('/docs');
  const upload = await tryIt(page, 'uploadFile');
  await useKey(upload);
  await upload.getByLabel('connectionId').fill('sandbox');
  const file = { name: 'report.txt', mimeType: 'text/plain', buffer: Buffer.from('from the documentation') };
  await upload.getByLabel(/^file required/).setInputFiles(file);
  await send(upload);
  assert.match(await statusOf(upload), /^200 OK · \d+ ms · /);
  const stored = path.join(desk.sandboxFolder, 'report.txt');
  assert.equal(readFileSync(stored, 'utf8'), 'from the documentation');
  const curl = await upload.locator('pre').last().textContent();
  assert.match(
    curl ?? '',
    /^curl 'http:\/\/127.*\/api\/upload\/sandbox' \\\n {2}-H "Authorization: Bearer \$KEY" \\\n/,
  );
  assert.match(curl ?? '', /-F 'file=@report.txt'/);

  writeFileSync(path.join(desk.sandboxFolder, 'hostile.html'), HOSTILE);
  const list = await tryIt(page, 'listFolder');
  await list.getByLabel('connectionId').fill('sandbox');
  await send(list);
  assert.match(await statusOf(list), /^200 OK/);
  await list.getByText('"name": "report.txt"').waitFor();

  const download = await tryIt(page, 'downloadFile');
  await download.getByLabel('connectionId').fill('sandbox');
  await download.getByLabel('path required').fill('/hostile.html');
  await send(download);
  assert.match(await statusOf(download), /^200 OK/);
  await download.getByText(HOSTILE).waitFor();
  assert.equal(await page.evaluate('globalThis.isHurt'), undefined);

  writeFileSync(path.join(desk.sandboxFolder, 'bytes.bin'), Buffer.alloc(300_000, 7));
  await download.getByLabel('path required').fill('/bytes.bin');
  await send(download);
  assert.match(await statusOf(download), /^200 OK · \d+ ms · 293 KiB$/);
  const saved = page.waitForEvent('download');
  await download.getByRole('link', { name: /^Download bytes\.bin/ }).click();
  assert.deepEqual(readFileSync(await (await saved).path()), Buffer.alloc(300_000, 7));

  await download.getByLabel('path required').fill('/absent');
  await send(download);
  assert.match(await statusOf(download), /^404 Not Found/);
  const explained = await download.getByRole('link', { name: 'not_found' }).getAttribute('href');
  assert.match(explained ?? '', /^\/docs\/.*#name-not_found$/);

  assert.deepEqual(
    asked.filter((url) => url.includes(KEY)),
    [],
  );
  assert.equal(
    await page.evaluate('JSON.stringify([sessionStorage, localStorage]) + location.href').then(String),
    `[{},{}]${page.url()}`,
  );
  await upload.getByRole('checkbox', { name: 'Keep it in this tab until the tab is closed' }).check();
  await page.reload();
  assert.equal(await (await tryIt(page, 'verifyKey')).getByLabel('API key').inputValue(), KEY);
  assert.deepEqual(faults, []);
  await context.close();
});

test('an operation that removes something asks for confirmation, and a stream can be stopped', async () => {
  const { page, context, faults } = await desk.open();
  const victim = path.join(desk.sandboxFolder, 'victim.txt');
  writeFileSync(victim, 'x');
  await page.goto('/docs');
  const form = await tryIt(page, 'deleteFile');
  await useKey(form);
  await form.getByLabel('connectionId').fill('sandbox');
  await form.getByLabel('JSON').fill('{ "path": "/victim.txt" }');
  await send(form);
  const dialog = page.getByRole('dialog');
  assert.deepEqual(await violations(page, 'dialog'), []);
  await dialog.getByRole('button', { name: 'Do not send' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.ok(existsSync(victim));
  await send(form);
  await dialog.getByRole('button', { name: 'Send it' }).click();
  assert.match(await statusOf(form), /^200 OK/);
  assert.ok(!existsSync(victim));

  const events = await tryIt(page, 'listEvents');
  await events.getByLabel('Answer as').selectOption('text/event-stream');
  await send(events);
  await events.getByText(/^200 OK .* reading/).waitFor();
  await events.getByRole('button', { name: 'Stop' }).click();
  assert.match(await statusOf(events), /stopped$/);
  assert.deepEqual(faults, []);
  await context.close();
});

test('the management API accepts the login of the dashboard, and reports a missing one', async () => {
  const { page, context, faults } = await desk.open();
  await page.goto('/manage/docs');
  const form = await tryIt(page, 'showAccount');
  await send(form);
  assert.match(await statusOf(form), /^401/);
  await logIn(page);
  await page.goto('/manage/docs');
  const account = await tryIt(page, 'showAccount');
  await send(account);
  assert.match(await statusOf(account), /^200 OK/);
  await account.getByText(EMAIL).waitFor();
  // With the token against forged requests.
  const check = await tryIt(page, 'testConnection');
  await check.getByLabel('id', { exact: false }).first().fill('sandbox');
  await send(check);
  assert.match(await statusOf(check), /^200 OK/);
  assert.deepEqual(faults, []);
  await context.close();
});

for (const scheme of ['light', 'dark'] as const) {
  test(`axe finds nothing, and a phone shows every page whole, ${scheme}`, async () => {
    const { page, context, faults } = await desk.open({ scheme, width: 375, height: 740 });
    for (const at of ['/docs/operate/configuration', '/manage/docs', '/docs/architecture', '/docs']) {
      await page.goto(at);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 375, at);
      if (at === '/docs/architecture') assert.deepEqual(await violations(page), [], at);
    }
    await tryIt(page, 'uploadFile');
    // The reference is long: one scheme checks all of it, the other one operation.
    assert.deepEqual(await violations(page, scheme === 'light' ? 'html' : '#uploadFile'), []);
    await page.goto('/docs/readme');
    await page.getByRole('button', { name: 'Contents' }).click();
    assert.deepEqual(await violations(page), []);
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    await page.getByRole('button', { name: scheme === 'light' ? 'Dark colours' : 'Light colours' }).click();
    assert.notEqual(await page.evaluate('getComputedStyle(document.body).backgroundColor'), background);
    assert.deepEqual(faults, []);
    await context.close();
  });
}

/** The history: hidden look-ups, views, filters and orders in the address, and the page of a transfer. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { ERRORS } from '../../src/contract/errors.js';
import { logIn, manage, openDesk, type Desk } from './browser.js';
import { inspect } from './inspection.js';

let desk: Desk;
let page: Page;

before(async () => {
  desk = await openDesk();
  ({ page } = await desk.open());
  await logIn(page);
  await manage(page, 'POST', '/api/write/sandbox', { path: '/small.txt', content: 'small' });
  await manage(page, 'POST', '/api/write/sandbox', { path: '/large.bin', content: 'x'.repeat(2_000_000) });
  await manage(page, 'POST', '/api/write/sandbox', { path: '/last.txt', content: 'last' });
  await manage(page, 'GET', '/api/list/sandbox?path=/');
  await manage(page, 'GET', '/api/read/sandbox?path=/gone.txt').catch(() => undefined);
});
after(() => desk?.close());

const rows = () => page.getByRole('table', { name: 'Transfers' }).getByRole('link', { name: /^(write|read|list) / });
const shown = async (): Promise<readonly string[]> => (await rows().allTextContents()).map((text) => text.trim());

test('listings are hidden until they are requested', async () => {
  await page.goto('/transfers');
  await rows().nth(3).waitFor();
  assert.deepEqual(await shown(), ['read gone.txt', 'write last.txt', 'write large.bin', 'write small.txt']);
  await page.getByText('Add filter').click();
  await page.getByLabel('Show lists, look-ups and polls').check();
  await page.waitForURL(/lookups=true/);
  await page
    .getByRole('link', { name: /^list / })
    .first()
    .waitFor();
  await page.reload();
  await page
    .getByRole('link', { name: /^list / })
    .first()
    .waitFor();
});

test('times are shown to the second, and connections by their names', async () => {
  await page.goto('/transfers');
  await rows().first().waitFor();
  assert.match(await page.locator('.table time').first().innerText(), /\d\d:\d\d:\d\d/);
  await page.getByRole('table').getByRole('link', { name: 'Sandbox' }).first().waitFor();
});

test('views and orders are one click, and part of the address', async () => {
  await page.goto('/transfers');
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('link', { name: 'Largest' }).click();
  await page.waitForURL(/order=largest/);
  await page.getByRole('link', { name: 'write large.bin' }).waitFor();
  await eventually(async () => (await shown())[0] === 'write large.bin', 'the largest comes first');
  assert.equal(await views.getByRole('link', { name: 'Largest' }).getAttribute('aria-current'), 'true');
  await views.getByRole('link', { name: 'Failed today' }).click();
  await page.waitForURL(/status=failed&since=/);
  await rows().nth(1).waitFor({ state: 'detached' });
  assert.deepEqual(await shown(), ['read gone.txt']);
  await page.reload();
  await rows().first().waitFor();
  assert.deepEqual(await shown(), ['read gone.txt']);
  await page.getByLabel('Order').selectOption('oldest');
  await page.waitForURL(/order=oldest/);
  await views.getByRole('link', { name: 'All', exact: true }).click();
  await page.waitForURL(/\/transfers$/);
});

test('times are entered in the chosen time zone, in filters and in forms', async () => {
  await manage(page, 'POST', '/manage/api-keys', { name: 'ends at nine', expiresAt: '2099-01-01T00:30:00Z' });
  await page.goto('/transfers?since=2024-01-01T00:30:00.000Z');
  await page.evaluate(`localStorage.setItem('ftg.zone', 'Asia/Tokyo')`);
  try {
    await page.reload();
    const since = page.getByLabel('After', { exact: true });
    await since.waitFor();
    assert.match(await since.inputValue(), /^2024-01-01T09:30/);
    await since.fill('2024-01-01T10:30:00');
    await page.waitForURL((url) => url.searchParams.get('since') === '2024-01-01T01:30:00.000Z');
    await page.goto('/keys');
    await page.getByRole('button', { name: 'ends at nine' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const expires = page.getByLabel('Expires');
    assert.equal(await expires.inputValue(), '2099-01-01T09:30');
    await expires.fill('2099-01-01T10:30');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { apiKeys } = await manage(page, 'GET', '/manage/api-keys');
    const changed = (apiKeys as { name: string; expiresAt: string }[]).find(({ name }) => name === 'ends at nine');
    assert.equal(changed?.expiresAt, '2099-01-01T01:30:00.000Z');
  } finally {
    await page.evaluate(`localStorage.removeItem('ftg.zone')`);
  }
});

test('transfers are found by error code, request id and key', async () => {
  const made = await manage(page, 'POST', '/manage/api-keys', { name: 'robot', scopes: ['read', 'write'] });
  const { key } = made as { key: string };
  const answer = await fetch(`${desk.gateway.url}/api/read/sandbox?path=/small.txt`, {
    headers: { Authorization: `Bearer ${key}`, 'X-Request-Id': 'order-4711' },
  });
  assert.equal(answer.status, 200, await answer.text());
  await page.goto('/transfers');
  await page.getByText('Add filter').click();
  await page.getByLabel('Error code').fill('not_found');
  await page.waitForURL(/errorCode=not_found/);
  await rows().nth(1).waitFor({ state: 'detached' });
  assert.deepEqual(await shown(), ['read gone.txt']);
  await page.goto('/transfers?requestId=order-4711');
  await page.getByRole('link', { name: 'read small.txt' }).click();
  await page.getByRole('link', { name: 'API key robot' }).click();
  await page.waitForURL(/keyId=/);
  await page.getByRole('link', { name: 'read small.txt' }).waitFor();
  assert.equal(await page.getByLabel('API key').inputValue(), new URL(page.url()).searchParams.get('keyId'));
  assert.deepEqual(await shown(), ['read small.txt']);
});

test('a failed transfer explains its error, and what to do', async () => {
  await page.goto('/transfers?status=failed');
  await page.getByRole('link', { name: 'read gone.txt' }).click();
  await page.getByText(ERRORS.not_found.meaning).waitFor();
  await page.getByText(ERRORS.not_found.remedy).waitFor();
  await page.getByRole('link', { name: 'Open the folder' }).waitFor();
  await page.getByRole('link', { name: 'Similar failures' }).click();
  await page.waitForURL(/errorCode=not_found/);
});

test('a failed copy is repeated from its row, and from its page', async () => {
  const body = { from: '/not-yet.txt', to: '/moved.txt' };
  for (let n = 0; n < 2; n++) await manage(page, 'POST', '/api/move/sandbox', body).catch(() => undefined);
  await page.goto('/transfers?status=failed&type=move');
  const again = page.getByRole('button', { name: 'Try again: move moved.txt' });
  await again.nth(1).waitFor();
  const refused = page.waitForResponse((response) => response.url().endsWith('/again'));
  await again.last().click();
  assert.equal((await refused).status(), 404);
  writeFileSync(path.join(desk.sandboxFolder, 'not-yet.txt'), 'now');
  await again.last().click();
  await page.getByText('The transfer was repeated').waitFor();
  // The focus stays in the row, which has lost its button.
  await page.locator('tr a:focus').waitFor();
  writeFileSync(path.join(desk.sandboxFolder, 'not-yet.txt'), 'once more');
  // With the attempt that was refused. The repetition may still be among the running ones.
  const failed = page.getByRole('table', { name: 'Transfers' }).getByRole('link', { name: 'move moved.txt' });
  await failed.nth(2).waitFor();
  await failed.first().click();
  await page.getByText(ERRORS.not_found.remedy).waitFor();
  rmSync(path.join(desk.sandboxFolder, 'moved.txt'));
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.lead').getByText('Done').waitFor();
});

test('the file of a failed upload is chosen again in its folder, under its name', async () => {
  mkdirSync(path.join(desk.sandboxFolder, 'taken.bin'));
  await manage(page, 'POST', '/api/write/sandbox', { path: '/taken.bin', content: 'x' }).catch(() => undefined);
  await page.goto('/transfers?status=failed&type=write');
  await page.getByRole('link', { name: 'Try again: write taken.bin' }).click();
  await page.getByText('Choose “taken.bin” again').waitFor();
  await page.goto('/files/sandbox?path=%2F&again=fresh.bin');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose the file again' }).click();
  await (await chooser).setFiles({ name: 'local.bin', mimeType: 'application/octet-stream', buffer: Buffer.from('y') });
  await page.getByRole('grid', { name: 'Files' }).getByText('fresh.bin').waitFor();
  await page.getByText('Choose “fresh.bin” again').waitFor({ state: 'detached' });
});

test('a folder that cannot be listed has its cause, its remedy and a test of the connection', async () => {
  await page.goto('/files/sandbox?path=%2Fnowhere');
  const alert = page.getByRole('alert');
  await alert.getByText('This folder cannot be listed').waitFor();
  await alert.getByText(ERRORS.not_found.remedy).waitFor();
  await alert.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('The test passed').waitFor();
  await alert.getByRole('link', { name: 'Open the connection' }).click();
  await page.waitForURL(/\/connections\/sandbox$/);
});

test('the page of a transfer shows how its time was spent, and its request as curl', async () => {
  await page.goto('/transfers?search=large.bin');
  await page.getByRole('link', { name: 'write large.bin' }).click();
  const stages = page.getByRole('list', { name: 'Where the time went' });
  await stages.getByText(/Transfer the data: .*%/).waitFor();
  await page.getByRole('button', { name: 'As curl' }).click();
  const code = page.getByLabel('The request as curl');
  await code.waitFor();
  assert.equal(
    await code.innerText(),
    `curl -H "Authorization: Bearer $FTG_KEY" -H "Content-Type: application/octet-stream" --data-binary @'large.bin' '${desk.gateway.url}/api/upload/sandbox?path=%2F&filename=large.bin'`,
  );
  await page.keyboard.press('Escape');
  await code.waitFor({ state: 'detached' });
  const at = new URL(page.url()).pathname;
  await inspect(page, { name: 'transfer', path: at, ready: () => stages.waitFor() });
  await page.getByRole('link', { name: 'Open the folder' }).click();
  await page.getByRole('grid', { name: 'Files' }).getByText('large.bin').waitFor();
});

test('a download that is repeated from its page returns the file', async () => {
  await page.goto('/transfers?search=small.txt&type=read');
  await page.getByRole('link', { name: 'read small.txt' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download again' }).click();
  assert.equal((await download).suggestedFilename(), 'small.txt');
});

test('if nothing matches, all transfers are one click away', async () => {
  await page.goto('/transfers?requestId=nobody');
  await page.getByText('No transfer matches the filters').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.waitForURL(/\/transfers$/);
  await rows().first().waitFor();
});

/**
 * The evidence of a transfer: its digest, the reason if there is none, its receipt, and other transfers of the same
 * bytes.
 */
import assert from 'node:assert/strict';
import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { copied, logIn, manage, openDesk, type Desk, type Window } from './browser.js';

const CONTENT = 'the one and only\n';
const HEX = createHash('sha256').update(CONTENT).digest('hex');

let desk: Desk;
let window: Window;
let page: Page;

before(async () => {
  desk = await openDesk();
  window = await desk.open();
  ({ page } = window);
  await logIn(page);
  await manage(page, 'POST', '/manage/connections/sandbox/duplicate', { id: 'proved' });
  await manage(page, 'PATCH', '/manage/connections/proved', { digests: 'always' });
  for (const path of ['/a.txt', '/b.txt']) await manage(page, 'POST', '/api/write/proved', { path, content: CONTENT });
});
after(() => desk.close());

const transfers = () => page.getByRole('table', { name: 'Transfers' });
const openTransfer = async (name: string): Promise<void> => {
  await page.goto('/transfers');
  await transfers().getByRole('link', { name }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
};

test('a transfer shows its digest and its valid receipt', async () => {
  await openTransfer('write a.txt');
  await page.getByText(HEX).waitFor();
  await page.getByRole('button', { name: 'Copy the digest' }).click();
  await copied(page, HEX);
  await page.getByText('number 1 in the chain of the account').waitFor();
  const { keys } = (await (await page.request.get('/.well-known/jwks.json', { maxRetries: 3 })).json()) as {
    keys: JsonWebKey[];
  };
  const [key] = keys;
  assert.ok(key !== undefined);
  await page.getByText(String(key['kid'])).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download the receipt' }).click();
  const receipt = readFileSync(await (await download).path(), 'utf8');
  const [head = '', payload = '', signature = ''] = receipt.split('.');
  const isGood = verify(
    null,
    Buffer.from(`${head}.${payload}`),
    createPublicKey({ key, format: 'jwk' }),
    Buffer.from(signature, 'base64url'),
  );
  assert.ok(isGood, receipt);
  const signed = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { transfer: { digest: string } };
  assert.equal(signed.transfer.digest, `sha-256:${HEX}`);
  await page.getByRole('button', { name: 'Copy its link' }).click();
  const link = await copied(page, (text) => text.startsWith(desk.gateway.url));
  assert.equal(await (await page.request.get(link, { maxRetries: 3 })).text(), receipt);
});

test('other transfers of a file are found by its digest, from a transfer or by pasting', async () => {
  const found = async (): Promise<void> => {
    await transfers().getByRole('link', { name: 'write c.txt' }).waitFor({ state: 'hidden' });
    await transfers().getByRole('link', { name: 'write b.txt' }).waitFor();
    assert.equal(await transfers().getByRole('row').count(), 3);
  };
  await openTransfer('write a.txt');
  await manage(page, 'POST', '/api/write/proved', { path: '/c.txt', content: 'another' });
  await page.getByRole('link', { name: 'Find where this file went' }).click();
  await page.waitForURL(/\/transfers\?digest=sha-256/);
  await found();
  assert.equal(await page.getByLabel('Name, path or SHA-256').inputValue(), `sha-256:${HEX}`);
  await page.goto('/transfers');
  await transfers().getByRole('link', { name: 'write c.txt' }).waitFor();
  await page.getByLabel('Name, path or SHA-256').fill(` ${HEX.toUpperCase()}`);
  await page.waitForURL(/\/transfers\?digest=sha-256/);
  await found();
  const exported = page.waitForEvent('download');
  await page.getByRole('link', { name: 'NDJSON' }).click();
  assert.equal(
    readFileSync(await (await exported).path(), 'utf8')
      .trimEnd()
      .split('\n').length,
    2,
  );
  await page.getByLabel('Name, path or SHA-256').fill(HEX.replace(/^./, (first) => (first === '0' ? '1' : '0')));
  await page.getByText('A search by SHA-256 finds only files whose digest was computed.').waitFor();
  await page.getByLabel('Name, path or SHA-256').fill('c.txt');
  await page.waitForURL(/\/transfers\?search=c\.txt$/);
  await transfers().getByRole('link', { name: 'write c.txt' }).waitFor();
});

test('a transfer without a digest says why', async () => {
  await manage(page, 'POST', '/api/write/sandbox', { path: '/plain.txt', content: 'x' });
  await manage(page, 'POST', '/api/append/proved', { path: '/a.txt', content: 'more' });
  await manage(page, 'POST', '/api/move/proved', { from: '/b.txt', to: '/moved.txt' });
  await manage(page, 'POST', '/api/mkdir/proved', { path: '/folder' });
  await openTransfer('write plain.txt');
  await page.getByText('none: not requested').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Download the receipt' }).count(), 0);
  await openTransfer('append a.txt');
  await page.getByText('none: an append sends only the added part').waitFor();
  await page.getByRole('link', { name: 'Download the receipt' }).waitFor();
  await openTransfer('move moved.txt');
  await page.getByText('none: the server moved the file itself').waitFor();
  await openTransfer('mkdir folder');
  assert.equal(await page.getByRole('heading', { name: 'Digest and receipt' }).count(), 0);
  assert.deepEqual(window.faults, []);
});

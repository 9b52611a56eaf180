/** Links in a browser: made, used without an account, inspected and revoked; and their public pages. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { copied, logIn, manage, openDesk, type Desk, type Window } from './browser.js';
import { PATIENCE_MS } from '../support/eventually.js';
import { startProxy } from '../support/proxy.js';
import { dropUnreadable } from './dropped-files.js';
import { violations } from './inspection.js';

const MIB = 1024 ** 2;

let desk: Desk;
let window: Window;
let page: Page;
/** An account that has only links. */
let outside: Window;
let visitor: Page;

before(async () => {
  desk = await openDesk({ limits: { uploadBytes: 40 * MIB } });
  window = await desk.open();
  ({ page } = window);
  outside = await desk.open();
  visitor = outside.page;
  await logIn(page);
  mkdirSync(path.join(desk.sandboxFolder, 'in'));
  writeFileSync(path.join(desk.sandboxFolder, 'report.txt'), 'the report');
});
after(() => desk.close());

const dialog = () => page.getByRole('dialog');
const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const links = () => page.getByRole('table', { name: 'Links' });
const stored = (name: string): Buffer => readFileSync(path.join(desk.sandboxFolder, 'in', name));
const choose = (...files: readonly { name: string; bytes: Buffer }[]): Promise<void> =>
  visitor
    .locator('input[type=file]')
    .setInputFiles(files.map(({ name, bytes }) => ({ name, mimeType: 'application/octet-stream', buffer: bytes })));
const make = async (link: object): Promise<string> => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const made = await manage(page, 'POST', '/api/links', { connectionId: 'sandbox', expiresAt, ...link });
  return (made['link'] as { url: string }).url;
};
const isSound = async (what: string): Promise<void> => {
  assert.deepEqual(await violations(visitor), [], what);
  await visitor.setViewportSize({ width: 320, height: 640 });
  assert.equal(await visitor.evaluate('document.documentElement.scrollWidth'), 320, `${what} is wider than 320 pixels`);
  await visitor.setViewportSize({ width: 1280, height: 800 });
};

test('a link is made with the folder picker, shown once, used on its page, counted and revoked', async () => {
  await page.goto('/links');
  await page.getByText('No link yet').waitFor();
  await page.getByRole('button', { name: 'Make a link' }).click();
  await dialog()
    .getByRole('button', { name: /^Browse/ })
    .click();
  await page.getByRole('button', { name: 'in', exact: true }).click();
  await page.getByRole('button', { name: 'Choose this folder' }).click();
  assert.equal(await dialog().getByRole('textbox', { name: 'Folder that takes the files' }).inputValue(), '/in');
  await dialog().getByLabel('Number of uses').fill('2');
  await dialog().getByLabel('Largest file').fill('30 MiB');
  await dialog().getByRole('button', { name: 'Make the link' }).click();
  const url = await dialog().getByLabel('Link', { exact: true }).innerText();
  assert.match(url, /\/l\/[0-9A-Za-z]{32}$/);
  await dialog().getByRole('button', { name: 'Copy' }).first().click();
  await copied(page, url);
  await page.keyboard.press('Escape');
  await dialog().getByRole('button', { name: 'I have copied it' }).click();
  await dialog().waitFor({ state: 'detached' });
  assert.ok(!(await page.content()).includes(url.slice(-32)), 'the link is gone from the page');

  await visitor.goto(url);
  await visitor.getByRole('heading', { name: 'Send files' }).waitFor();
  await visitor.getByText('30 MiB').waitFor();
  await isSound('the page of an upload link');
  const large = Buffer.alloc(6 * MIB, 'large ');
  await choose({ name: 'ünï <b>"1".bin', bytes: large }, { name: 'two.txt', bytes: Buffer.from('two') });
  await visitor.getByText('Stored as ünï <b>"1".bin').waitFor();
  await visitor.getByText('Stored as two.txt').waitFor();
  assert.ok(stored('ünï <b>"1".bin').equals(large));
  assert.equal(stored('two.txt').toString(), 'two');
  await visitor.getByRole('status').getByText('2 files are stored.').waitFor();
  await isSound('the page with files');
  const receipt = visitor.waitForEvent('download');
  await visitor.getByRole('button', { name: 'Save a receipt' }).click();
  const saved = readFileSync(await (await receipt).path(), 'utf8');
  for (const part of ['ünï <b>"1".bin', '6,291,456 bytes', sha256(large), sha256('two')])
    assert.ok(saved.includes(part), saved);
  await choose({ name: 'three.txt', bytes: Buffer.from('three') });
  await visitor.getByText('This link has ended.').waitFor();
  await visitor.getByText('2 files are stored. 1 file is not.').waitFor();

  await page.reload();
  const row = links().getByRole('row', { name: '/in' });
  assert.match(await row.innerText(), /2 of 2[\s\S]*30 MiB[\s\S]*Used up/);
  await row.getByRole('button', { name: 'Actions for /in' }).click();
  await page.getByRole('menuitem', { name: 'Show the uses' }).click();
  await dialog().getByRole('table', { name: 'Transfers' }).waitFor();
  // The head and the two files.
  assert.equal(await dialog().getByRole('row').count(), 3);
  await dialog()
    .getByRole('link', { name: /two\.txt/ })
    .click();
  await page.getByText('Came by').waitFor();
  await page.goto('/links');
  await row.getByRole('button', { name: 'Actions for /in' }).click();
  await page.getByRole('menuitem', { name: 'Revoke …' }).click();
  await dialog().getByRole('button', { name: 'Revoke the link' }).click();
  await links().getByText('Revoked').waitFor();
  await page.goto('/audit?action=link');
  for (const done of ['created', 'revoked']) await page.getByText(`was ${done} by ops@`).first().waitFor();
  await visitor.goto(url);
  await visitor.getByText('This link was withdrawn.').waitFor();
  await isSound('the page of a link that has ended');
});

test('a file is dropped, its failure is explained, and it is sent again', async () => {
  await visitor.goto(await make({ operation: 'upload', path: '/in', maxBytes: 5 * MIB }));
  await choose({ name: 'big.bin', bytes: Buffer.alloc(5 * MIB + 1) });
  await visitor.getByText('Too large. The largest file may have 5 MiB.').waitFor();
  await choose({ name: '.hidden', bytes: Buffer.from('x') });
  await visitor.getByText('Files cannot have this name.').waitFor();
  // Long enough for the answer to arrive before the whole body has been sent.
  writeFileSync(path.join(desk.sandboxFolder, 'in', 'taken.bin'), 'mine');
  await choose({ name: 'taken.bin', bytes: Buffer.alloc(4 * MIB) });
  await visitor.getByText('A file of this name is there already.').waitFor();
  assert.equal(stored('taken.bin').toString(), 'mine');
  unlinkSync(path.join(desk.sandboxFolder, 'in', 'taken.bin'));
  await visitor.getByRole('button', { name: 'Try again' }).click();
  await visitor.getByText('Stored as taken.bin').waitFor();

  const dropped = await visitor.evaluateHandle(`(() => {
    const data = new DataTransfer();
    data.items.add(new File(['dropped'], 'dropped.txt'));
    return data;
  })()`);
  await visitor.dispatchEvent('.drop', 'drop', { dataTransfer: dropped });
  await visitor.getByText('Stored as dropped.txt').waitFor();
  assert.equal(stored('dropped.txt').toString(), 'dropped');

  await visitor.context().setOffline(true);
  await choose({ name: 'lost.txt', bytes: Buffer.from('lost') });
  await visitor.getByText('The connection broke').waitFor();
  await visitor.context().setOffline(false);
  await visitor.getByRole('button', { name: 'Try again' }).click();
  await visitor.getByText('Stored as lost.txt').waitFor();
});

test('a large file goes on by itself when the line is back, and after a reload when it is chosen again', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-link-page-'));
  const proxy = await startProxy(Number(new URL(desk.gateway.url).port));
  const context = await desk.browser.newContext({ locale: 'en-GB' });
  context.setDefaultTimeout(PATIENCE_MS);
  t.after(async () => {
    await context.close();
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const partner = await context.newPage();
  const offsets: number[] = [];
  partner.on('request', (request) => {
    if (request.method() === 'PATCH') offsets.push(Number(request.headers()['upload-offset']));
  });
  partner.on('dialog', (asked) => void asked.accept());
  const breakAfter = (bytes: number): void =>
    proxy.after('up', bytes, () => {
      proxy.isDown = true;
      proxy.fail('reset');
    });
  const url = await make({ operation: 'upload', path: '/in', maxUses: 2 });
  await partner.goto(new URL(new URL(url).pathname, `http://127.0.0.1:${proxy.port}`).href);
  const choose = async (name: string): Promise<Buffer> => {
    const bytes = randomBytes(24 * MIB);
    writeFileSync(path.join(folder, name), bytes);
    await partner.locator('input[type=file]').setInputFiles(path.join(folder, name));
    return bytes;
  };

  breakAfter(8 * MIB);
  const line = await choose('line.bin');
  await partner.getByText('The connection broke. The upload continues as soon as it is back.').waitFor();
  assert.deepEqual(await violations(partner), []);
  proxy.isDown = false;
  await partner.getByText('Stored as line.bin').waitFor();
  assert.ok(stored('line.bin').equals(line));
  assert.ok(offsets.length >= 2 && offsets[0] === 0 && (offsets.at(-1) ?? 0) > 0, offsets.join());

  breakAfter(8 * MIB);
  const reload = await choose('reload.bin');
  await partner.getByText('The connection broke. The upload continues as soon as it is back.').waitFor();
  // It must not be complete before the page is gone.
  await partner.route('**/l/**', (route) => (route.request().method() === 'GET' ? route.continue() : route.abort()));
  proxy.isDown = false;
  await partner.reload();
  await partner.unroute('**/l/**');
  assert.equal(await partner.evaluate('Object.values(localStorage).length'), 1);
  assert.equal(await partner.evaluate(`JSON.stringify(localStorage).includes(location.pathname.slice(3))`), false);
  offsets.length = 0;
  await partner.locator('input[type=file]').setInputFiles(path.join(folder, 'reload.bin'));
  await partner.getByText('Stored as reload.bin').waitFor();
  assert.ok(stored('reload.bin').equals(reload));
  assert.ok((offsets[0] ?? 0) > 0, offsets.join());
  assert.equal(await partner.evaluate('localStorage.length'), 0);
  const receipt = partner.waitForEvent('download');
  await partner.getByRole('button', { name: 'Save a receipt' }).click();
  assert.ok(readFileSync(await (await receipt).path(), 'utf8').includes(sha256(reload)));
});

test('a folder is chosen on the page of a link that takes folders, and keeps its names', async () => {
  const local = mkdtempSync(path.join(tmpdir(), 'ftg-folder-'));
  try {
    mkdirSync(path.join(local, 'photos/May & June'), { recursive: true });
    writeFileSync(path.join(local, 'photos/one.txt'), 'one');
    const large = randomBytes(9 * MIB);
    writeFileSync(path.join(local, 'photos/May & June/two.bin'), large);
    await visitor.goto(await make({ operation: 'upload', path: '/in', folders: true }));
    await visitor.getByText('Drop files or folders here, or').waitFor();
    await isSound('the page of a link that takes folders');
    await visitor.getByLabel('Choose a folder').setInputFiles(path.join(local, 'photos'));
    await visitor.getByText('Stored as photos/one.txt').waitFor();
    await visitor.getByText('Stored as photos/May & June/two.bin').waitFor();
    assert.equal(stored('photos/one.txt').toString(), 'one');
    assert.ok(stored('photos/May & June/two.bin').equals(large));
    const receipt = visitor.waitForEvent('download');
    await visitor.getByRole('button', { name: 'Save a receipt' }).click();
    assert.match(readFileSync(await (await receipt).path(), 'utf8'), /^photos\/May & June\/two\.bin$/m);
    await dropUnreadable(visitor, '.drop');
    await visitor
      .getByRole('alert')
      .getByText(/^“album\/locked” could not be read\. .*Check that it exists and that you may open it/)
      .waitFor();
    await visitor.goto(await make({ operation: 'upload', path: '/in' }));
    assert.equal(await visitor.getByLabel('Choose a folder').count(), 0);
  } finally {
    rmSync(local, { recursive: true });
  }
});

test('a file is downloaded from its page, in the language of the reader; views of the page count nothing', async () => {
  const note = 'Zum <b>Lesen</b>';
  const file = { path: '/report.txt', filename: 'Bericht <i>.txt' };
  const url = await make({ operation: 'download', ...file, maxUses: 1, note });
  await outside.context.close();
  const german = await desk.browser.newContext({ locale: 'de-DE', timezoneId: 'Asia/Tokyo' });
  german.setDefaultTimeout(PATIENCE_MS);
  visitor = await german.newPage();
  for (let visit = 0; visit < 3; visit++) await visitor.goto(url);
  await visitor.getByRole('heading', { name: 'Eine Datei herunterladen' }).waitFor();
  await visitor.getByText('10 B', { exact: true }).waitFor();
  await visitor.getByText(note).waitFor();
  const shown = await visitor.evaluate(`(() => {
    const { dateTime, textContent } = document.querySelector('time');
    const format = { dateStyle: 'long', timeStyle: 'short', timeZone: 'Asia/Tokyo' };
    return [textContent, new Intl.DateTimeFormat('de', format).format(new Date(dateTime))];
  })()`);
  assert.ok(Array.isArray(shown));
  assert.equal(shown[0], shown[1], 'the time is in the time zone of the reader');
  await visitor.getByText('Bericht <i>.txt').waitFor();
  await isSound('the page of a download link');
  const [download] = await Promise.all([
    visitor.waitForEvent('download'),
    visitor.getByRole('link', { name: 'Herunterladen' }).click(),
  ]);
  assert.equal(readFileSync(await download.path(), 'utf8'), 'the report');
  await visitor.goto(url);
  await visitor.getByText('so oft benutzt, wie es erlaubt war').waitFor();
  await visitor.goto(new URL('/l/never', url).href);
  await visitor.getByText('Diesen Link gibt es nicht.').waitFor();
  assert.deepEqual([window.faults, outside.faults], [[], []]);
});

test('the owner sets who asks, and the page of a link says it in both themes', async () => {
  const heading = page.getByRole('heading', { name: 'Pages of links' });
  const panel = page.locator('section').filter({ has: heading });
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const logo = { name: 'logo.svg', mimeType: 'image/png', buffer: Buffer.from(png, 'base64') };
  await page.goto('/settings');
  await panel.getByRole('textbox', { name: 'Name' }).fill('ACME Ltd');
  await panel.getByRole('textbox', { name: 'Colour' }).fill('#ffd400');
  await panel.getByLabel('Logo').setInputFiles({ ...logo, buffer: Buffer.alloc(64 * 1024 + 1) });
  await panel.getByText('The image is larger than 64 KiB.').waitFor();
  await panel.getByLabel('Logo').setInputFiles(logo);
  await panel.getByRole('img', { name: 'Logo' }).waitFor();
  await panel.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The pages of all links show it now').waitFor();
  assert.deepEqual(await violations(page), []);

  ({ page: visitor } = await desk.open());
  await visitor.goto(await make({ operation: 'upload', path: '/in' }));
  for (const colorScheme of ['light', 'dark'] as const) {
    await visitor.emulateMedia({ colorScheme });
    await visitor.getByRole('heading', { name: 'ACME Ltd asks you for files' }).waitFor();
    await visitor.getByRole('img', { name: 'ACME Ltd' }).waitFor();
    assert.equal(
      await visitor.evaluate('document.querySelector(".logo").naturalWidth'),
      1,
      'the policy allows the logo',
    );
    await isSound(`a page with a brand, ${colorScheme}`);
  }
  await visitor.goto(await make({ operation: 'download', path: '/report.txt' }));
  await visitor.getByRole('heading', { name: 'ACME Ltd shares a file with you' }).waitFor();

  await page.reload();
  await panel.getByRole('button', { name: 'Remove the logo' }).click();
  await panel.getByRole('textbox', { name: 'Name' }).fill('');
  await panel.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The pages of all links show it now').waitFor();
  assert.deepEqual(await manage(page, 'GET', '/manage/account/brand'), { name: null, color: '#ffd400', logo: null });
});

test('three clicks share an upload link from its folder, or a download link from its file', async () => {
  ({ page: visitor } = await desk.open());
  const share = async (): Promise<void> => {
    await page.evaluate(`navigator.clipboard.writeText('')`);
    await dialog().getByRole('button', { name: 'Make the link' }).click();
    await dialog().getByRole('button', { name: 'Copy' }).first().click();
    await visitor.goto(await copied(page, (text) => text !== ''));
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
    await dialog().waitFor({ state: 'detached' });
  };
  await page.goto('/files/sandbox?path=%2Fin');
  await page.getByRole('button', { name: 'Share …' }).click();
  assert.equal(await dialog().getByRole('textbox', { name: 'Folder that takes the files' }).inputValue(), '/in');
  await share();
  await visitor.getByRole('heading', { name: 'Send files' }).waitFor();
  await choose({ name: 'shared.txt', bytes: Buffer.from('from outside') });
  await visitor.getByText('Stored as shared.txt').waitFor();
  assert.equal(stored('shared.txt').toString(), 'from outside');

  await page.goto('/files/sandbox');
  await page.getByRole('button', { name: 'report.txt', exact: true }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Share …' }).click();
  assert.equal(await dialog().getByRole('textbox', { name: 'File', exact: true }).inputValue(), '/report.txt');
  await share();
  await visitor.getByText('report.txt').waitFor();
});

test('invisible characters, and those that reverse text, are symbols on every screen and on the page of a link', async () => {
  const name = '\u202egnp.exe\u200b.txt';
  writeFileSync(path.join(desk.sandboxFolder, name), 'x');
  await manage(page, 'POST', '/manage/connections/sandbox/duplicate', { name: 'Bank\u202eknaB', id: 'turned' });
  await manage(page, 'GET', `/api/read/turned?path=${encodeURIComponent(`/${name}`)}`);
  const url = await make({ operation: 'download', path: `/${name}` });
  const screens = ['/files/turned', '/connections', '/connections/turned', '/transfers', '/links', '/jobs/new'];
  // A field shows the exact name, for changes, and a file is saved under its own name.
  const unseen = `(() => {
    const shown = document.documentElement.cloneNode(true);
    for (const field of shown.querySelectorAll('input')) field.removeAttribute('value');
    for (const link of shown.querySelectorAll('a')) link.removeAttribute('download');
    return /[\\u200b\\u202e]/.test(document.title + shown.outerHTML);
  })()`;
  for (const screen of screens) {
    await page.goto(screen);
    await page.getByText('⟨U+202E⟩').first().waitFor({ state: 'attached' });
    assert.equal(await page.evaluate(unseen), false, screen);
  }
  await page.goto('/files/turned');
  await page.getByRole('button', { name: '⟨U+202E⟩gnp.exe⟨U+200B⟩.txt', exact: true }).click();
  await dialog().getByText('⟨U+202E⟩gnp.exe⟨U+200B⟩.txt').first().waitFor();
  assert.equal(await page.evaluate(unseen), false, 'the preview');
  const { page: stranger, context } = await desk.open();
  await stranger.goto(url);
  await stranger.getByText('⟨U+202E⟩gnp.exe⟨U+200B⟩.txt').waitFor();
  assert.equal(await stranger.evaluate(unseen), false, 'the page of the link');
  await context.close();
});

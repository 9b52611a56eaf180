/** The ten main tasks with only the keyboard: no step here moves or presses a mouse. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { EMAIL, focusOf, manage, openDesk, PASSWORD, tabIn, type Desk, type Window } from './browser.js';
import { runJob } from './furnish.js';
import { openReceiver, startSlowUpload } from './outside.js';
import { eventually } from '../support/eventually.js';

/** The time for a screen to come. */
const JUMP_MS = 5_000;

let desk: Desk;
let window: Window;
let page: Page;

before(async () => {
  desk = await openDesk();
  window = await desk.open();
  ({ page } = window);
  // Listens from the beginning: the browser suppresses a file dialog only while there is a listener, and starts to do
  // so a moment later.
  page.on('filechooser', () => undefined);
});
after(() => desk.close());

const press = async (...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
const type = (text: string): Promise<void> => page.keyboard.type(text);

const focused = (): Promise<string> => focusOf(page);
const tabTo = (name: string | RegExp): Promise<void> => tabIn(page, name);

const onDisk = (name: string): string => path.join(desk.sandboxFolder, name);
const noDialog = (): Promise<void> => page.getByRole('dialog').waitFor({ state: 'detached' });
const heading = (name: string, timeout?: number) =>
  page.getByRole('heading', { level: 1, name }).waitFor(timeout === undefined ? {} : { timeout });
/** Jumps again if the screen does not come: on a busy machine the letter may be too late after the g. */
const go = (letter: string, name: string): Promise<void> =>
  eventually(async () => {
    await press('g', letter);
    return heading(name, JUMP_MS).then(
      () => true,
      () => false,
    );
  }, `the jump to ${name}`);
const dialogHasFocus = (): Promise<void> => page.locator('[role="dialog"] :is(input, textarea):focus').waitFor();

test('log in, and open every screen by g and its letter', async () => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  await tabTo('E-mail');
  await type(EMAIL);
  await tabTo('Password');
  await type(PASSWORD);
  await press('Enter');
  await heading('Overview');
  for (const [letter, name] of [
    ['c', 'Connections'],
    ['j', 'Jobs'],
    ['h', 'Schedules'],
    ['t', 'Transfers'],
    ['e', 'Events'],
    ['k', 'API keys'],
    ['w', 'Watched folders'],
    ['b', 'Webhooks'],
    ['l', 'Links'],
    ['u', 'Usage'],
    ['i', 'Health'],
    ['p', 'Pools'],
    ['a', 'Audit log'],
    ['s', 'Settings'],
    ['f', 'Files'],
    ['o', 'Overview'],
  ] as const) {
    await go(letter, name);
  }
  await press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await press('Escape');
  await noDialog();
});

test('add a connection and test it', async () => {
  const { connections } = (await manage(page, 'GET', '/manage/connections')) as {
    connections: { host: string; port: number; username: string }[];
  };
  const [sandbox] = connections;
  assert.ok(sandbox !== undefined);
  await go('c', 'Connections');
  await page.getByRole('link', { name: 'Add a connection' }).first().waitFor();
  await tabTo('Add a connection');
  await press('Enter');
  await heading('New connection');
  await tabTo('Name');
  await type('By key');
  await tabTo('Host');
  await type(sandbox.host);
  await tabTo('Port');
  await type(String(sandbox.port));
  await tabTo('User name');
  await type(sandbox.username);
  await tabTo('Save the connection');
  await press('Enter');
  await heading('By key');
  await tabTo('Test the connection');
  await press('Enter');
  await page.getByText('The test failed').waitFor();
});

test('issue an API key, and revoke it', async () => {
  await go('k', 'API keys');
  await page.getByRole('button', { name: 'Issue a key' }).first().waitFor();
  await tabTo('Issue a key');
  await press('Enter');
  await page.getByRole('dialog', { name: 'Issue a key' }).waitFor();
  await dialogHasFocus();
  await type('typed');
  await press('Enter');
  await page.getByRole('dialog', { name: 'API key typed' }).waitFor();
  await press('Escape');
  await tabTo('I have saved it');
  await press('Enter');
  await page.getByRole('cell', { name: /^typed/ }).waitFor();
  await tabTo('Actions for typed');
  await press('Enter');
  await page.getByRole('menuitem', { name: 'Revoke …' }).waitFor();
  const firstItem = await page.getByRole('menuitem').first().innerText();
  await eventually(async () => (await focused()) === firstItem.trim(), 'the menu has the focus');
  await press('End', 'Enter');
  await page.getByRole('dialog', { name: /typed/ }).waitFor();
  await tabTo('Revoke the key');
  await press('Enter');
  await page.getByText('Revoked', { exact: true }).waitFor();
});

test('upload a file', async () => {
  await go('f', 'Files');
  await page.getByText('This folder is empty').waitFor();
  await tabTo('Upload');
  const chooser = page.waitForEvent('filechooser');
  await press('Enter');
  await (await chooser).setFiles({ name: 'sent.txt', mimeType: 'text/plain', buffer: Buffer.from('sent by key') });
  await page.getByRole('region', { name: 'Queue' }).getByText('All done').waitFor();
  assert.equal(readFileSync(onDisk('sent.txt'), 'utf8'), 'sent by key');
  await tabTo('Clear done');
  await press('Enter');
});

test('find a file, preview it, rename it, delete it', async () => {
  writeFileSync(onDisk('notes.txt'), 'remember');
  writeFileSync(onDisk('other.txt'), 'x');
  await page.goto('/files/sandbox?path=/');
  const grid = page.getByRole('grid', { name: 'Files' });
  await grid.waitFor();
  await press('/');
  await type('notes');
  await page.getByText('1 entry of').waitFor();
  await tabTo(/^Select all$/);
  await tabTo(/notes\.txt/);
  await press('Enter');
  await page.getByRole('dialog', { name: 'notes.txt' }).getByText('remember').waitFor();
  await press('Escape');
  await noDialog();
  await eventually(async () => /notes\.txt/.test(await focused()), 'the focus is back on the row');
  await press('F2');
  await page.getByRole('dialog', { name: 'Rename notes.txt' }).waitFor();
  await eventually(async () => /^New name/.test(await focused()), 'the focus on the name');
  await press('Control+a');
  await type('notes-2.txt');
  await press('Enter');
  await eventually(() => existsSync(onDisk('notes-2.txt')), 'renamed');
  await grid.getByText('notes-2.txt').waitFor();
  await tabTo(/notes-2\.txt/);
  await press('Delete');
  await page.getByRole('dialog', { name: 'Delete notes-2.txt?' }).waitFor();
  await tabTo('Delete');
  await press('Enter');
  await eventually(() => !existsSync(onDisk('notes-2.txt')), 'deleted');
});

test('the name without its extension is selected with the focus, before any key', async () => {
  await page.goto('/files/sandbox?path=/');
  await page.getByRole('grid', { name: 'Files' }).waitFor();
  await tabTo(/^Select all$/);
  await tabTo(/other\.txt/);
  await page.evaluate(`document.addEventListener('focusin', ({ target }) => {
    if (!target.matches('[role="dialog"] input')) return;
    queueMicrotask(() => (globalThis.selected ??= target.value.slice(target.selectionStart, target.selectionEnd)));
  })`);
  await press('F2');
  await page.getByRole('dialog', { name: 'Rename other.txt' }).waitFor();
  await eventually(async () => /^New name/.test(await focused()), 'the focus on the name');
  const selected = await page.evaluate('globalThis.selected');
  await press('Escape');
  await noDialog();
  assert.equal(selected, 'other');
});

test('create a folder', async () => {
  await noDialog();
  await go('f', 'Files');
  await page.getByRole('button', { name: 'New folder' }).waitFor();
  await tabTo('New folder');
  await press('Enter');
  await page.getByRole('dialog', { name: 'New folder' }).waitFor();
  await dialogHasFocus();
  await type('typed folder');
  await press('Enter');
  await eventually(() => existsSync(onDisk('typed folder')), 'made');
  await noDialog();
});

test('copy a file, move it, download it', async () => {
  await page.goto('/files/sandbox?path=/');
  await page.getByRole('grid', { name: 'Files' }).waitFor();
  await press('/');
  await type('other');
  await page.getByText('1 entry of').waitFor();
  await tabTo(/^Select all$/);
  await tabTo(/other\.txt/);
  await press('Space');
  await page.getByText('1 selected').waitFor();
  await tabTo('Download');
  const download = page.waitForEvent('download');
  await press('Enter');
  assert.equal(readFileSync(await (await download).path(), 'utf8'), 'x');
  await tabTo('Copy to …');
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await tabTo('Destination connection');
  await type('Sandbox');
  await tabTo('Destination folder');
  await press('Control+a');
  await type('/typed folder');
  await press('Enter');
  await eventually(() => existsSync(onDisk('typed folder/other.txt')), 'copied');
  await noDialog();
  await tabTo('Move');
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await tabTo('Destination folder');
  await press('Control+a');
  await type('/moved');
  await press('Enter');
  await eventually(() => existsSync(onDisk('moved/other.txt')) && !existsSync(onDisk('other.txt')), 'moved');
  await noDialog();
});

test('watch a folder, view the files that it found, send a dead letter again', async (t) => {
  let status = 500;
  const receiver = await openReceiver(() => status);
  t.after(() => receiver.close());
  mkdirSync(onDisk('inbox'));
  writeFileSync(onDisk('inbox/first.xml'), '<order/>');
  await go('w', 'Watched folders');
  // The list comes after the heading, within a limited number of presses.
  await page.getByRole('button', { name: 'Watch a folder' }).first().waitFor();
  await tabTo('Watch a folder');
  await press('Enter');
  await page.getByRole('dialog', { name: 'Watch a folder' }).waitFor();
  await dialogHasFocus();
  await type('/inbox');
  await tabTo('Except files matching');
  await type('*.bak');
  await tabTo('Webhook');
  await type(receiver.url);
  await tabTo('More options');
  await press('Enter');
  await tabTo('Existing files');
  // By its first letters, as in every select list: whether arrow keys select at once depends on the system.
  await type('Report th');
  await tabTo('Alarm after minutes without a file');
  await type('90');
  await tabTo('After delivery');
  await type('Move');
  await tabTo('Move it to');
  await type('seen');
  await press('Enter');
  await heading('inbox');
  await page.getByText('all, not *.bak, new files').waitFor();
  const fact = (name: string) => page.locator('dl.facts > div', { has: page.getByText(name, { exact: true }) });
  await fact('Existing files').getByText('Report them as new').waitFor();
  await fact('Alarm after minutes without a file').getByText('90').waitFor();
  await fact('After delivery').getByText('Move it to another folder').waitFor();
  await fact('Move it to').getByText('/inbox/seen').waitFor();
  await page.getByRole('table', { name: 'Checks' }).getByText('Done').first().waitFor();
  await tabTo('Checks');
  await press('ArrowRight', 'ArrowRight');
  await page.getByText('Dead letter', { exact: true }).waitFor();
  status = 204;
  await tabTo('Send again');
  await press('Enter');
  await page.getByText('Delivered', { exact: true }).waitFor();
  await eventually(() => existsSync(onDisk('inbox/seen/first.xml')), 'moved once delivered');
});

test('find a failed transfer and read the server’s words', async () => {
  await manage(page, 'POST', '/api/delete/sandbox', { path: '/never.txt' }).catch(() => undefined);
  await go('t', 'Transfers');
  await press('/');
  await type('notes-2');
  await page.waitForURL(/search=notes-2/);
  await tabTo(/^delete notes-2\.txt$/);
  await press('Enter');
  await heading('delete notes-2.txt');
  await go('t', 'Transfers');
  await tabTo('Status');
  await type('Failed');
  await page.waitForURL(/status=failed/);
  await tabTo(/^delete never\.txt$/);
  await press('Enter');
  await page
    .getByText(/No such file/)
    .first()
    .waitFor();
});

test('cancel a running transfer', async () => {
  await go('t', 'Transfers');
  const upload = await startSlowUpload(desk, window, 'slow.bin');
  await page.getByRole('button', { name: 'Cancel slow.bin' }).waitFor();
  await tabTo('Cancel slow.bin');
  await press('Enter');
  assert.equal(await upload.status, 409);
  assert.ok(!existsSync(onDisk('slow.bin')));
});

test('add a webhook, and view an event that it gets', async (t) => {
  const receiver = await openReceiver(() => 204);
  t.after(() => receiver.close());
  await go('b', 'Webhooks');
  await page.getByRole('button', { name: 'Add a webhook' }).waitFor();
  await tabTo('Add a webhook');
  await press('Enter');
  await page.getByRole('dialog', { name: 'Add a webhook' }).waitFor();
  await dialogHasFocus();
  await type(receiver.url);
  await tabTo('job.finished');
  await press('Space', 'Enter');
  await page.getByRole('dialog', { name: 'The signing secret' }).waitFor();
  await press('Escape');
  await tabTo('I have copied it');
  await press('Enter');
  await page.getByRole('link', { name: receiver.url }).waitFor();
  const source = { connectionId: 'sandbox', path: '/' };
  await runJob(page, { type: 'delete', dryRun: true, name: 'Nothing much', source, include: ['*.none'] });
  await go('e', 'Events');
  await page.getByRole('link', { name: 'Nothing much' }).waitFor();
  await tabTo(/^Open event/);
  await press('Enter');
  await page.getByLabel('The exact bytes').getByText('Nothing much').waitFor();
  await press('Escape');
  await noDialog();
  await eventually(async () => /^Open event/.test(await focused()), 'the focus is back on the event');
  await go('b', 'Webhooks');
  await page.getByRole('link', { name: receiver.url }).waitFor();
  await tabTo(receiver.url);
  await press('Enter');
  await page.getByText('Delivered').waitFor();
});

test('letters on a radio button or a check box open no screen', async () => {
  await go('s', 'Settings');
  await page.getByText('Single-key shortcuts').waitFor();
  const isFocused = (type: string) => page.locator(`input[type="${type}"]:focus`);
  for (const [label, type] of [
    [/^(Light|System)$/, 'radio'],
    ['Single-key shortcuts', 'checkbox'],
  ] as const) {
    await tabTo(label);
    await isFocused(type).waitFor();
    await press('g', 'o');
    await isFocused(type).waitFor();
    await heading('Settings');
  }
});

test('switch single keys off, and log out', async () => {
  await go('s', 'Settings');
  await page.getByText('Single-key shortcuts').waitFor();
  await tabTo('Single-key shortcuts');
  await press('Space');
  await tabTo('Log out');
  await press('g', 'o');
  await heading('Settings');
  await press('Enter');
  await page.getByLabel('E-mail').waitFor();
});

/** Watched folders: chosen by browsing the server, and well only if their events arrive. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { type Receiver, startReceiver } from '../watch/support/receiver.js';
import { type Desk, logIn, manage, openDesk, type Window } from './browser.js';

let desk: Desk;
let window: Window;
let page: Page;
let receiver: Receiver;

before(async () => {
  receiver = await startReceiver();
  desk = await openDesk();
  window = await desk.open();
  ({ page } = window);
  await logIn(page);
  for (const folder of ['partner/in', 'partner/seen', 'copies'])
    mkdirSync(path.join(desk.sandboxFolder, folder), { recursive: true });
});
after(async () => {
  await desk.close();
  await receiver.close();
});

const form = () => page.getByRole('dialog', { name: /^(Watch a folder|Edit )/ });
const picker = () => page.getByRole('dialog', { name: 'Choose a folder of Sandbox' });

test('a folder is chosen by browsing the server, with the keyboard alone', async () => {
  await page.goto('/watched');
  await page.getByRole('button', { name: 'Watch a folder' }).click();
  await form().getByRole('button', { name: 'Browse for: Folder', exact: true }).press('Enter');
  await picker().getByRole('button', { name: 'partner' }).press('Enter');
  // The focus moves on to the next folders.
  await picker().getByRole('group', { name: '/partner' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'in');
  await page.keyboard.press('Enter');
  await picker().getByText('No folders here.').waitFor();
  await picker().getByRole('button', { name: 'One folder up' }).press('Enter');
  await picker().getByRole('button', { name: 'seen' }).waitFor();
  await picker().getByRole('button', { name: 'in', exact: true }).press('Enter');
  await picker().getByRole('group', { name: '/partner/in' }).waitFor();
  await picker().getByText('No folders here.').waitFor();
  await picker().getByRole('button', { name: 'Choose this folder' }).press('Enter');
  await picker().waitFor({ state: 'detached' });
  assert.equal(await form().getByRole('textbox', { name: 'Folder', exact: true }).inputValue(), '/partner/in');
  await form().getByRole('textbox', { name: 'Webhook' }).fill(receiver.url);
  await form().getByRole('button', { name: 'Watch the folder' }).click();
  await page.getByRole('heading', { name: 'in', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Sandbox /partner/in' }).waitFor();

  await page.getByRole('button', { name: 'Edit …' }).click();
  await form().getByRole('button', { name: 'Browse for: Folder', exact: true }).click();
  await picker().getByRole('group', { name: '/partner/in' }).waitFor();
  await picker().getByRole('button', { name: 'Close' }).click();
  await form().getByLabel('Copy each file to').selectOption({ value: 'sandbox' });
  await form().getByRole('button', { name: 'Browse for: Destination folder' }).click();
  await picker().getByRole('button', { name: 'copies' }).click();
  await picker().getByRole('group', { name: '/copies' }).waitFor();
  await picker().getByRole('button', { name: 'Choose this folder' }).click();
  await form().getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'Sandbox /copies' }).waitFor();
});

test('a folder whose messages do not arrive is not well, even if its checks succeed', async () => {
  receiver.respond = (_, response) => response.writeHead(503).end();
  await page.goto('/watched');
  const row = page.getByRole('table', { name: 'Watched folders' }).getByRole('row', { name: /^in / });
  await row.getByText('Watching').waitFor();
  await row.getByRole('link', { name: 'in', exact: true }).click();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Send a test' }).click();
  await page.getByText('Attempt 2').waitFor();
  await page.getByText('Dead letter', { exact: true }).waitFor();
  await page.goto('/watched');
  await row.getByText('Deliveries fail').waitFor();
  await row.getByRole('link', { name: 'in', exact: true }).click();
  await page.getByText('The receiver answered with status 503.').waitFor();
  receiver.respond = (_, response) => response.writeHead(204).end();
  await page.getByRole('link', { name: 'Show them' }).click();
  await page.waitForURL(/watchedFolderId=.*state=dead/);
  await page.getByRole('button', { name: 'Send again' }).click();
  const receivers = async () => (await manage(page, 'GET', '/manage/receivers'))['receivers'] as { dead: number }[];
  await eventually(async () => (await receivers()).every(({ dead }) => dead === 0), 'it has arrived');
  await page.goto('/watched');
  await row.getByText('Watching').waitFor();
  assert.deepEqual(window.faults, []);
});

test('the audit log says in words what was done to a folder', async () => {
  const folder = { connectionId: 'sandbox', path: '/copies', name: 'Copies', webhookUrl: receiver.url };
  const { id } = await manage(page, 'POST', '/manage/watched-folders', folder);
  const at = `/manage/watched-folders/${String(id)}` as const;
  await manage(page, 'PATCH', at, { name: 'Copies' });
  for (const verb of ['pause', 'resume', 'forget', 'secret/rotate']) await manage(page, 'POST', `${at}/${verb}`, {});
  await manage(page, 'GET', `${at}/secret`);
  await page.goto('/audit?action=watched_folder');
  const sentences = page.getByRole('table', { name: 'Audit log' });
  for (const sentence of [
    'Watched folder Copies was changed by ops@example.com',
    'The checks of watched folder Copies were paused by ops@example.com',
    'The checks of watched folder Copies were resumed by ops@example.com',
    'Known files of watched folder Copies were forgotten by ops@example.com',
    'The secret was replaced for watched folder Copies by ops@example.com',
    'The secret of watched folder Copies was shown to ops@example.com',
  ])
    await sentences.getByText(sentence, { exact: true }).waitFor();
});

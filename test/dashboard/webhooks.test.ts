/**
 * Webhooks by mouse: created with a secret that is shown once, sent events, their dead letters sent again, changed,
 * paused and deleted.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { copied, logIn, manage, openDesk, type Desk, type Window } from './browser.js';
import { runJob } from './furnish.js';
import { eventually } from '../support/eventually.js';
import { type Receiver, startReceiver } from '../watch/support/receiver.js';

let desk: Desk;
let window: Window;
let page: Page;
let receiver: Receiver;
let secret: string;

before(async () => {
  receiver = await startReceiver();
  desk = await openDesk();
  window = await desk.open();
  ({ page } = window);
  await logIn(page);
});
after(async () => {
  await desk.close();
  await receiver.close();
});

const dialog = () => page.getByRole('dialog');
const deliveries = () => page.getByRole('table', { name: 'Deliveries' });
const webhooks = () => page.getByRole('table', { name: 'Webhooks' });

/** Causes an event. */
const endJob = (): Promise<string> => {
  const place = { connectionId: 'sandbox', path: '/' };
  return runJob(page, { type: 'delete', dryRun: true, source: place, include: ['*.old'] });
};
const answers = (status: number): void => {
  receiver.respond = (_, response) => response.writeHead(status).end();
};
const toWebhook = async (): Promise<void> => {
  await page.goto('/webhooks');
  await webhooks().getByRole('link', { name: receiver.url }).click();
  await page.getByRole('heading', { name: `127.0.0.1:${receiver.port}` }).waitFor();
};

test('a webhook is created: its secret is shown once, and signs the events', async () => {
  await page.goto('/webhooks');
  await page.getByText('No webhook yet').waitFor();
  await page.getByRole('button', { name: 'Add a webhook' }).click();
  await dialog().getByLabel('URL').fill('http://192.0.2.1/');
  await dialog().getByRole('button', { name: 'Add the webhook' }).click();
  await dialog().getByRole('alert').waitFor();
  await dialog().getByLabel('URL').fill(receiver.url);
  for (const name of ['transfer.failed', 'connection.down', 'connection.up']) await dialog().getByLabel(name).uncheck();
  await dialog().getByRole('button', { name: 'Add the webhook' }).click();
  await dialog().getByText('Choose at least one.').waitFor();
  await dialog().getByLabel('job.finished').check();
  await dialog().getByLabel('Sandbox').check();
  await dialog().getByRole('button', { name: 'Add the webhook' }).click();
  secret = await dialog().getByLabel('Signing secret', { exact: true }).innerText();
  assert.match(secret, /^whsec_/);
  await page.keyboard.press('Escape');
  await dialog().getByRole('button', { name: 'Copy' }).click();
  await copied(page, secret);
  await dialog().getByRole('button', { name: 'I have copied it' }).click();
  await dialog().waitFor({ state: 'detached' });
  assert.ok(!(await page.content()).includes(secret), 'the secret is gone from the page');
  const row = webhooks().getByRole('row', { name: receiver.url });
  assert.match(await row.innerText(), /job\.finished\s+Sandbox\s+Active/);

  const job = await endJob();
  await eventually(() => receiver.received.length === 1, 'the message arrived');
  const [message] = receiver.received;
  assert.ok(message !== undefined);
  const body = new Webhook(secret).verify(message.text, message.headers as Record<string, string>);
  assert.equal((body as { data: { job: { id: string } } }).data.job.id, job);
  await row.getByRole('link').click();
  await deliveries().getByText('Delivered').waitFor();
  await deliveries().getByText('job.finished').waitFor();
});

test('a message without attempts left is shown at its webhook, with its attempts, and sent again', async () => {
  answers(500);
  await endJob();
  await page.goto('/webhooks');
  await deliveries().getByText('Dead letter').waitFor();
  await deliveries()
    .getByRole('link', { name: `127.0.0.1:${receiver.port}` })
    .click();
  await page.getByRole('tab', { name: 'Dead letters' }).click();
  const dead = page.getByRole('tabpanel', { name: 'Dead letters' });
  await dead.getByText('Dead letter').waitFor();
  assert.equal(await dead.getByRole('row').count(), 2);
  const id = String(receiver.received.at(-1)?.headers['webhook-id']);
  answers(204);
  const before = receiver.received.length;
  await dead.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('No dead letters.').waitFor();
  await eventually(() => receiver.received.length > before, 'it is sent again');
  assert.equal(receiver.received.at(-1)?.headers['webhook-id'], id);
});

test('a webhook is paused, changed, given another secret, ended by its receiver and resumed, and deleted', async () => {
  await toWebhook();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Edit …' }).click();
  assert.equal(await dialog().getByLabel('URL').inputValue(), receiver.url);
  await dialog().getByLabel('watched_folder.late').check();
  await dialog().getByLabel('Sandbox').uncheck();
  await dialog().getByRole('button', { name: 'Save' }).click();
  await page.getByText('All connections').waitFor();
  await page.getByText('job.finished, watched_folder.late').waitFor();

  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'New signing secret …' }).click();
  await dialog().getByRole('button', { name: 'Create a new one' }).click();
  const next = await dialog().getByLabel('Signing secret', { exact: true }).innerText();
  assert.notEqual(next, secret);
  await dialog().getByRole('button', { name: 'I have copied it' }).click();
  answers(410);
  const before = receiver.received.length;
  await endJob();
  await page.getByText('The receiver answered that it is gone (410)').waitFor();
  const message = receiver.received[before];
  assert.ok(message !== undefined);
  new Webhook(next).verify(message.text, message.headers as Record<string, string>);
  answers(204);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Active', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Delete …' }).click();
  await dialog().getByRole('button', { name: 'Delete the webhook' }).click();
  await page.getByText('No webhook yet').waitFor();
  assert.deepEqual((await manage(page, 'GET', '/api/webhooks'))['webhooks'], []);
  await page.goto('/audit?action=webhook');
  for (const text of ['was created by', 'was changed by', 'The secret was replaced', 'was deleted by'])
    await page.getByText(text).first().waitFor();
  assert.deepEqual(window.faults, []);
});

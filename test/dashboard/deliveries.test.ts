/**
 * Deliveries by mouse: request and answer, filters in the address, many sent again after a count, tests of a receiver.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../support/eventually.js';
import { type Receiver, startReceiver } from '../watch/support/receiver.js';
import { type Desk, logIn, manage, openDesk, type Window } from './browser.js';
import { runJob } from './furnish.js';

let desk: Desk;
let window: Window;
let page: Page;
let receiver: Receiver;
let webhook: string;
let secret: string;

before(async () => {
  receiver = await startReceiver();
  desk = await openDesk();
  window = await desk.open();
  ({ page } = window);
  await logIn(page);
  const url = receiver.url.replace('http://', 'http://user:hunter2-hunter2@');
  const made = await manage(page, 'POST', '/api/webhooks', { url, events: ['job.finished'] });
  webhook = (made['webhook'] as { id: string }).id;
  secret = String(made['secret']);
  receiver.respond = (_, response) => response.writeHead(500, { 'x-reason': 'lunch' }).end('{"closed":true}');
  for (let n = 0; n < 3; n++) await endJob();
  const dead = async () => (await manage(page, 'GET', '/manage/deliveries?state=dead'))['deliveries'] as unknown[];
  await eventually(async () => (await dead()).length === 3, 'three dead letters');
});
after(async () => {
  await desk.close();
  await receiver.close();
});

const endJob = (): Promise<string> => {
  const place = { connectionId: 'sandbox', path: '/' };
  return runJob(page, { type: 'delete', dryRun: true, source: place, include: ['*.old'] });
};
const dialog = () => page.getByRole('dialog');
const table = () => page.getByRole('table', { name: 'Deliveries' });
const payload = () => page.getByRole('region', { name: 'Payload' }).locator('pre');

test('a delivery has its own address, with the signed bytes, the headers of both sides and each answer', async () => {
  await page.goto(`/webhooks/${webhook}`);
  await page.getByText('Deliveries fail').waitFor();
  await page.getByText('3 dead letters').waitFor();
  await table()
    .getByRole('link', { name: /Open the delivery/ })
    .first()
    .click();
  await page.waitForURL(/\/deliveries\/[0-9a-f-]{36}$/);
  await page.reload();
  await page.getByText('Attempt 2').waitFor();
  await page.getByText('x-reason').first().waitFor();
  await page.getByText('{"closed":true}').first().waitFor();
  const sent = await page.locator('details[open] dl').first().innerText();
  const headers = Object.fromEntries(
    [...sent.matchAll(/^([\w-]+)\n+(.+)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  assert.equal(headers['authorization'], '[removed]');
  assert.equal(headers['webhook-id'], receiver.received.at(-1)?.headers['webhook-id']);
  assert.match(await payload().innerText(), /^\{\n {2}"/);
  await page.getByLabel('Raw, as signed').check();
  const body = await payload().innerText();
  new Webhook(secret).verify(body, headers);
  assert.ok(!(await page.content()).includes('hunter2'), 'no login on the page');
});

test('filters are part of the address; dead letters are counted before they are sent again together', async () => {
  await page.goto('/deliveries');
  await table().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Send these again …' }).count(), 0, 'not of all states at once');
  await page.getByLabel('State', { exact: true }).selectOption({ label: 'Dead letter' });
  await page.waitForURL(/state=dead/);
  await page.getByLabel('Part of the URL').fill('nowhere.example');
  await page.getByText('No delivery matches the filters').waitFor();
  await page.getByLabel('Part of the URL').fill(`:${receiver.port}`);
  await page.waitForURL(new RegExp(`url=%3A${receiver.port}`));
  await page.getByLabel('Connection').selectOption({ label: 'Sandbox' });
  await page.waitForURL(/connectionId=sandbox/);
  await page.reload();
  await table().waitFor();
  assert.equal(await table().getByRole('row').count(), 4);
  assert.equal(await page.getByLabel('Part of the URL').inputValue(), `:${receiver.port}`);

  receiver.respond = (_, response) => response.writeHead(204).end();
  receiver.received.length = 0;
  await page.getByRole('button', { name: 'Send these again …' }).click();
  await dialog().getByText('3 messages will be sent again.').waitFor();
  assert.equal(receiver.received.length, 0, 'counting sends nothing');
  const acts = dialog().locator('.dialog-actions').getByRole('button');
  assert.deepEqual(await acts.allTextContents(), ['Cancel', 'Send 3 again'], 'nothing is lost by not sending');
  await dialog().getByRole('button', { name: 'Send 3 again' }).click();
  await page.getByText('3 messages are on their way').waitFor();
  await eventually(() => receiver.received.length === 3, 'all are sent');
  await page.getByText('No delivery matches the filters').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await eventually(async () => (await table().getByText('Delivered').count()) === 3, 'all have arrived');
});

test('a test shows the receiver’s answer, and is no delivery', async () => {
  await page.goto(`/webhooks/${webhook}`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await dialog().getByText('The receiver accepted it: status 204').waitFor();
  await dialog().getByText('webhook-signature').waitFor();
  receiver.respond = (_, response) => response.writeHead(418).end('a teapot');
  await dialog().getByRole('button', { name: 'Send another' }).click();
  await dialog().getByText('The receiver rejected it: status 418').waitFor();
  await dialog().getByText('a teapot').waitFor();
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  const { deliveries } = await manage(page, 'GET', '/manage/deliveries');
  assert.ok((deliveries as { type: string }[]).every(({ type }) => type === 'job.finished'));
  assert.deepEqual(window.faults, []);
});

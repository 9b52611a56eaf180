/** What was typed into the form of a new thing survives a reload, is offered again, and can be discarded. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { logIn, NEWCOMER, openDesk, type Desk } from './browser.js';

let desk: Desk;
let page: Page;

before(async () => {
  desk = await openDesk();
  ({ page } = await desk.open());
  page.on('dialog', (dialog) => void dialog.accept());
  await logIn(page);
});
after(() => desk.close());

const kept = () => page.evaluate<string>('JSON.stringify({ ...sessionStorage })');
const secret = () => page.locator('input[type=password]').first();
const label = (text: string) => page.getByLabel(new RegExp(`^${text}`)).first();

/** The form at this address, opened with this button if it is a dialog. */
const FORMS = [
  { at: '/connections/new', field: 'Name', text: 'Half a connection', hasSecret: true },
  { at: '/jobs/new', field: 'Name', text: 'Half a job' },
  { at: '/schedules/new', field: 'Name', text: 'Half a schedule' },
  { at: '/webhooks', opens: 'Add a webhook', field: 'URL', text: 'https://example.com/hooks' },
  { at: '/links', opens: 'Make a link', field: 'Message', text: 'Half a link' },
  { at: '/watched', opens: 'Watch a folder', field: 'Name', text: 'Half a folder' },
  { at: '/keys', opens: 'Issue a key', field: 'Name', text: 'Half a key' },
] as const;

async function open(form: (typeof FORMS)[number]): Promise<void> {
  await page.goto(form.at);
  if ('opens' in form) await page.getByRole('button', { name: form.opens }).first().click();
  await label(form.field).waitFor({ state: 'attached' });
}

for (const form of FORMS) {
  test(`the draft of ${form.at} survives a reload, and can be discarded`, { timeout: 900_000 }, async () => {
    await open(form);
    await label(form.field).fill(form.text);
    if ('hasSecret' in form) await secret().fill('never-to-be-kept');
    assert.doesNotMatch(await kept(), /never-to-be-kept/);
    await page.reload();
    if ('opens' in form) await page.getByRole('button', { name: form.opens }).first().click();
    await page.getByText('This is what you had typed before').waitFor();
    assert.equal(await label(form.field).inputValue(), form.text);
    if ('hasSecret' in form) assert.equal(await secret().inputValue(), '');
    await page.getByRole('button', { name: 'Discard draft' }).click();
    assert.equal(await label(form.field).inputValue(), '');
    assert.equal(await kept(), '{}');
  });
}

test(
  'a draft ends when it is sent, discarded at the question, and with the log-out',
  { timeout: 900_000 },
  async () => {
    const [, , , webhook, , , key] = FORMS;
    await open(key);
    await label(key.field).fill('A whole key');
    assert.match(await kept(), /A whole key/);
    await page.getByRole('dialog').getByRole('button', { name: 'Issue the key' }).click();
    await page.getByText('ftg_').first().waitFor();
    assert.equal(await kept(), '{}');

    await open(webhook);
    await label(webhook.field).fill(webhook.text);
    await page.keyboard.press('Escape');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard changes' }).click();
    assert.equal(await kept(), '{}');

    await open(webhook);
    await label(webhook.field).fill(webhook.text);
    await page.goto('/');
    assert.match(await kept(), /example\.com/);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    assert.equal(await kept(), '{}');
  },
);

test('an address with a login is not kept', async () => {
  const [, , , webhook] = FORMS;
  await logIn(page);
  await open(webhook);
  for (const url of ['https://hooks:s3cret@example.com/', 'https://hooks:s3cret']) {
    await label(webhook.field).fill(url);
    assert.doesNotMatch(await kept(), /s3cret/);
  }
});

test('a draft is not shown to another account that logs in in the same tab', async () => {
  const [connection] = FORMS;
  await open(connection);
  await label(connection.field).fill(connection.text);
  assert.match(await kept(), /Half a connection/);
  // The session ends without a log-out, so that nothing is discarded.
  await page.context().clearCookies();
  await logIn(page, NEWCOMER);
  assert.equal(await kept(), '{}');
  await open(connection);
  assert.equal(await label(connection.field).inputValue(), '');
  assert.equal(await page.getByText('This is what you had typed before').count(), 0);
});

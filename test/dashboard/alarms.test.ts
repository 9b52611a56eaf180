/**
 * Alarms in the settings: switched on, confirmed by a code from a real mail server, tested; and the page without a mail
 * server.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { codeIn, type MailServer, startMailServer } from '../servers/mail.js';
import { eventually } from '../support/eventually.js';
import { EMAIL, KEEP_TOASTS, logIn, manage, NEWCOMER, openDesk, type Desk } from './browser.js';
import { violations } from './inspection.js';

const NIGHT = 'night@example.com';

let mails: MailServer;
let desk: Desk;
let page: Page;

before(async () => {
  mails = await startMailServer();
  desk = await openDesk({ mail: { url: mails.url, from: 'alarms@example.com' } });
  ({ page } = await desk.open());
  await page.addInitScript(KEEP_TOASTS);
  await logIn(page);
});
after(async () => {
  await desk?.close();
  await mails?.stop();
});

const panel = () => page.locator('section', { has: page.getByRole('heading', { name: 'Alarms', exact: true }) });

test('recipients are added, confirm with a code, and get the test mail', { timeout: 900_000 }, async () => {
  await page.goto('/settings');
  await panel().getByLabel('Send e-mails').check();
  await panel().getByLabel('Recipients').fill(`${EMAIL}\n${NIGHT}`);
  await panel().getByLabel('Quiet hours').check();
  await panel().getByLabel('Files could not be copied').uncheck();
  await panel().getByRole('button', { name: 'Save alarms' }).click();
  await page.getByText('Saved. E-mails are sent to the confirmed recipients.').waitFor();
  await panel().getByText('not confirmed yet').waitFor();
  await panel()
    .getByRole('button', { name: `Send a code to ${NIGHT}` })
    .click();
  await eventually(() => mails.to(NIGHT).length === 1, 'the code has come');
  const sent = page.locator('.toast', { hasText: 'Code sent' });
  await sent.waitFor();
  const boxes = [sent, panel().getByLabel(`Code from the e-mail to ${NIGHT}`)];
  const [toast, field] = await Promise.all(boxes.map((one) => one.boundingBox()));
  assert.ok(toast && field, 'both are shown');
  assert.ok(
    toast.y + toast.height <= field.y || field.y + field.height <= toast.y,
    'the toast leaves the code field free',
  );
  await panel()
    .getByLabel(`Code from the e-mail to ${NIGHT}`)
    .fill(codeIn(mails.to(NIGHT)[0]));
  assert.deepEqual(await violations(page), []);
  if (process.env['ALARMS_SHOT'] !== undefined) await panel().screenshot({ path: process.env['ALARMS_SHOT'] });
  await panel().getByRole('button', { name: 'Confirm' }).click();
  await panel().getByText('not confirmed yet').waitFor({ state: 'detached' });
  await panel().getByRole('button', { name: 'Send a test e-mail' }).click();
  await eventually(() => mails.taken.length === 3, 'both have got the test');
  const { isOn, kinds, quiet } = await manage(page, 'GET', '/manage/alarms');
  assert.equal(isOn, true);
  assert.ok(!(kinds as string[]).includes('copies_failed'));
  assert.equal((quiet as { from: string }).from, '22:00');
});

test('recipients are shown as active only while e-mails are sent', async () => {
  const { page: own, context } = await desk.open();
  await logIn(own, NEWCOMER);
  await own.goto('/settings');
  const alarms = own.locator('section', { has: own.getByRole('heading', { name: 'Alarms', exact: true }) });
  await alarms.getByRole('status').getByText('Not active').waitFor();
  await alarms.getByRole('button', { name: 'Save alarms' }).click();
  await own.getByText('Saved. No e-mails are sent: they are switched off.').waitFor();
  await alarms.getByLabel('Send e-mails').check();
  await alarms.getByLabel('Recipients').fill('colleague@example.com');
  await alarms.getByRole('button', { name: 'Save alarms' }).click();
  await own.getByText('Saved. No e-mails are sent until a recipient is confirmed.').waitFor();
  await alarms.getByRole('button', { name: 'Send a code to colleague@example.com' }).waitFor();
  assert.equal(await own.getByText(/code sent/i).count(), 0, 'no code was sent');
  assert.equal(mails.to('colleague@example.com').length, 0);
  await context.close();
});

test('the mail server’s own words explain a failed test', { timeout: 900_000 }, async () => {
  mails.refuse(NIGHT);
  await panel().getByRole('button', { name: 'Send a test e-mail' }).click();
  await panel()
    .getByText(/the mail server refuses the sender or the recipient: .*550/i)
    .waitFor();
});

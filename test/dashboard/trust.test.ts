/** The page when code, the network or a screen fails: never blank, no input is lost, and it recovers. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { logIn, openDesk, type Desk, type Window } from './browser.js';

const AWAY = 'The gateway cannot be reached.';

describe('failures leave the page intact', () => {
  let desk: Desk;
  let window: Window;
  let page: Page;
  before(async () => {
    desk = await openDesk();
  });
  after(() => desk.close());
  beforeEach(async () => {
    window = await desk.open();
    ({ page } = window);
  });
  afterEach(() => window.context.close());

  const visit = (name: string): Promise<void> =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
  const heading = (name: string) => page.getByRole('heading', { level: 1, name });
  const alert = (text: string) => page.getByRole('alert').filter({ hasText: text });

  test('the code of a screen that fails to load is requested again, and the rest stays', async () => {
    await logIn(page);
    let asked = 0;
    await page.route('**/assets/audit-*.js', (route) => {
      asked += 1;
      return route.abort();
    });
    await visit('Audit log');
    await alert('This part of the page could not be loaded').waitFor();
    assert.ok(asked > 1, `asked ${asked} times`);
    await visit('Usage');
    await heading('Usage').waitFor();
    await visit('Audit log');
    await alert('This part of the page could not be loaded').waitFor();
    await page.unroute('**/assets/audit-*.js');
    await page.getByRole('button', { name: 'Try again' }).click();
    await heading('Audit log').waitFor();
    assert.deepEqual(window.faults, []);
  });

  test('a failure to load the first code is explained in plain words, with a retry', async () => {
    await page.route('**/assets/app-*.js', (route) => route.abort());
    await page.goto('/');
    await alert('The page could not be loaded').waitFor();
    await page.unroute('**/assets/app-*.js');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByLabel('E-mail').waitFor();
  });

  test('a moment offline is reported, keeps the input, and ends automatically', async () => {
    await logIn(page);
    await page.goto('/connections/new');
    await page.getByLabel('Name').first().fill('Typed before the cut');
    await window.context.setOffline(true);
    await page.getByRole('status').filter({ hasText: AWAY }).waitFor();
    assert.equal(await page.getByLabel('Name').first().inputValue(), 'Typed before the cut');
    await window.context.setOffline(false);
    await page.getByText('The gateway can be reached again').waitFor();
    await page.getByRole('status').filter({ hasText: AWAY }).waitFor({ state: 'detached' });
    assert.equal(await page.getByLabel('Name').first().inputValue(), 'Typed before the cut');
  });

  test('a screen that is opened offline appears afterwards', async () => {
    await logIn(page);
    await window.context.setOffline(true);
    await visit('Usage');
    await page.getByRole('status').filter({ hasText: AWAY }).waitFor();
    await window.context.setOffline(false);
    const again = page.getByRole('button', { name: 'Try again' });
    await heading('Usage').or(again).first().waitFor();
    if (await again.isVisible()) await again.click();
    await heading('Usage').waitFor();
  });

  test('a screen that throws is reported as failed, and the others work', async () => {
    await logIn(page);
    await page.route('**/manage/usage*', (route) => route.fulfill({ json: { period: null } }));
    await visit('Usage');
    await alert('Something went wrong on this screen').waitFor();
    await visit('Settings');
    await heading('Settings').waitFor();
    await page.unroute('**/manage/usage*');
    await page.reload();
    await visit('Usage');
    await heading('Usage').waitFor();
  });

  test('the page speaks German on request, and remembers it', async () => {
    await logIn(page);
    await page.goto('/settings');
    const language = page.getByRole('group', { name: 'Language', exact: true });
    // It reloads the page.
    await language.getByRole('radio', { name: 'Deutsch' }).click();
    await page.getByText('Farben').waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'de');
    await page.reload();
    await page.getByText('Farben').waitFor();
  });

  test('times are shown in the chosen zone', async () => {
    await logIn(page);
    await page.goto('/settings');
    const since = page.locator('dd time');
    const before = (await since.textContent()) ?? '';
    await page.getByLabel('Times are shown in').selectOption('Pacific/Kiritimati');
    await since.filter({ hasNotText: before }).waitFor();
    assert.equal(await page.getByLabel('Times are shown in').inputValue(), 'Pacific/Kiritimati');
  });
});

/** The end of a session: the page shows its reason and a login, and loses nothing. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { EMAIL, logIn, manage, openDesk, PASSWORD, type Desk, type Window } from './browser.js';
import { violations } from './inspection.js';

describe('a session that ends', () => {
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
    await logIn(page);
  });
  afterEach(() => window.context.close());

  const over = () => page.getByRole('dialog', { name: 'Your session has ended' });
  const name = () => page.getByRole('textbox', { name: 'Name', exact: true });
  /** The page's next request shows that the session is over. */
  const testConnection = () => page.getByRole('button', { name: 'Test the connection' }).click();
  const fillIn = async (): Promise<void> => {
    await page.goto('/connections/new');
    await name().fill('Typed before the end');
    await page.getByRole('textbox', { name: 'Host', exact: true }).fill('sftp.example.com');
    await page.getByRole('textbox', { name: 'User name', exact: true }).fill('gw');
  };
  const logInAgain = async (): Promise<void> => {
    await over().getByLabel('Password').fill(PASSWORD);
    await over().getByRole('button', { name: 'Log in', exact: true }).click();
    await over().waitFor({ state: 'detached' });
  };

  test('a session that was ended elsewhere says so, and the input is still there after the login', async () => {
    await fillIn();
    const other = await desk.open();
    await logIn(other.page);
    await manage(other.page, 'POST', '/manage/sessions/revoke-others');
    await other.context.close();
    await testConnection();
    await over().getByText('It was ended from another browser. What you typed is still here.').waitFor();
    assert.equal(await over().getByLabel('E-mail').inputValue(), EMAIL);
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('Escape');
    await over().getByLabel('Password').fill('not the password');
    await over().getByRole('button', { name: 'Log in', exact: true }).click();
    await over().getByText('Wrong e-mail or password').waitFor();
    await logInAgain();
    assert.equal(await name().inputValue(), 'Typed before the end');
    await page.getByRole('button', { name: 'Save the connection' }).click();
    await page.getByRole('heading', { level: 1, name: 'Typed before the end' }).waitFor();
    await manage(page, 'DELETE', '/manage/connections/typed-before-the-end?confirm=true');
  });

  test('a session that ended with a change of the password says so', async () => {
    await fillIn();
    const other = await desk.open();
    await logIn(other.page);
    const next = 'another horse, another staple';
    await manage(other.page, 'POST', '/manage/password', { currentPassword: PASSWORD, newPassword: next });
    await testConnection();
    await over().getByText('The password of the account was changed.').waitFor();
    await manage(other.page, 'POST', '/manage/password', { currentPassword: next, newPassword: PASSWORD });
    await other.context.close();
    await logInAgain();
    assert.equal(await name().inputValue(), 'Typed before the end');
  });

  test('a session whose time is over names its duration, even if the page is opened only later', async () => {
    await fillIn();
    // The browser deletes the cookie at that time.
    await window.context.clearCookies();
    await page.clock.install({ time: Date.now() + 25 * 3_600_000 });
    await testConnection();
    await over().getByText('It expired 24 hours after the login.').waitFor();
    await over().getByRole('button', { name: 'Log in as someone else' }).click();
    await page.getByRole('heading', { level: 1, name: 'File Transfer Gateway' }).waitFor();
    assert.equal(await page.getByLabel('E-mail').inputValue(), '');
  });

  test('a page that is opened with an ended session gives the reason at the login', async () => {
    const other = await desk.open();
    await logIn(other.page);
    await manage(other.page, 'POST', '/manage/sessions/revoke-others');
    await other.context.close();
    await page.reload();
    await page.getByText('It was ended from another browser.').waitFor();
    await page.getByLabel('E-mail').waitFor();
  });

  test('a log-out in another window ends the session in this one as well', async () => {
    const second = await window.context.newPage();
    await second.goto('/usage');
    await second.getByRole('button', { name: 'Log out' }).click();
    await second.getByLabel('E-mail').waitFor();
    await page.getByText('You logged out in another window.').waitFor();
    await page.getByLabel('E-mail').waitFor();
    assert.ok(await over().isHidden());
  });
});

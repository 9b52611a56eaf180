/** The palette: screens, items of the account, and actions, by a few letters and only the keyboard. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { focusOf, logIn, manage, openDesk, type Desk, type Window } from './browser.js';
import { eventually } from '../support/eventually.js';
import { violations } from './inspection.js';

describe('the palette', () => {
  let desk: Desk;
  let window: Window;
  let page: Page;
  before(async () => {
    desk = await openDesk();
    const { page: first, context } = await desk.open();
    await logIn(first);
    await manage(first, 'POST', '/manage/connections/sandbox/duplicate', { name: 'Warehouse East', id: 'warehouse' });
    await manage(first, 'POST', '/api/write/sandbox', { path: '/palette.txt', content: 'x' });
    await context.close();
  });
  after(() => desk.close());
  beforeEach(async () => {
    window = await desk.open();
    ({ page } = window);
    await logIn(page);
  });
  afterEach(() => window.context.close());

  const field = () => page.getByRole('combobox', { name: 'Search and commands' });
  const chosen = () => page.getByRole('option', { selected: true });
  const open = async (): Promise<void> => {
    await page.keyboard.press('Control+k');
    await field().waitFor();
  };
  const run = async (typed: string, first: RegExp): Promise<void> => {
    await open();
    await page.keyboard.type(typed);
    await chosen().filter({ hasText: first }).waitFor();
    await page.keyboard.press('Enter');
    await field().waitFor({ state: 'detached' });
  };
  const heading = (name: string) => page.getByRole('heading', { level: 1, name });

  test('is a combobox without faults for axe, and returns the focus', async () => {
    const search = page.getByRole('button', { name: 'Search …' });
    await search.focus();
    await page.keyboard.press('Enter');
    await field().waitFor();
    assert.equal(await focusOf(page), 'Search and commands');
    assert.deepEqual(await violations(page), []);
    const first = await chosen().innerText();
    await page.keyboard.press('ArrowDown');
    assert.notEqual(await chosen().innerText(), first);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    assert.equal(await page.getByRole('option').last().getAttribute('aria-selected'), 'true');
    await page.keyboard.type('zzzz');
    await page.getByText('No results.').waitFor();
    await page.keyboard.press('Escape');
    await field().waitFor({ state: 'detached' });
    await search.and(page.locator(':focus')).waitFor();
    assert.deepEqual(window.faults, []);
  });

  test('keeps letters that are typed before its code has loaded, and they have no other effect', async () => {
    const held: Route[] = [];
    await page.route('**/assets/palette-*.js', (route) => void held.push(route));
    await page.keyboard.press('Control+k');
    await eventually(() => held.length > 0, 'its code is asked for');
    await page.keyboard.type('g files of waree');
    await page.keyboard.press('Backspace');
    for (const route of held) await route.continue();
    await field().waitFor();
    await page.keyboard.type('house');
    assert.equal(await field().inputValue(), 'g files of warehouse');
    assert.equal(new URL(page.url()).pathname, '/');
  });

  test('leads to screens, connections and their files by a few letters', async () => {
    await run('audi', /Audit log/);
    await heading('Audit log').waitFor();
    await run('wrhs', /Warehouse East/);
    await heading('Warehouse East').waitFor();
    await run('files of ware', /Files of Warehouse East/);
    await page.waitForURL(/\/files\/warehouse/);
  });

  test('leads to a transfer by its id', async () => {
    const answer = await manage(page, 'GET', '/manage/transfers?limit=1');
    const [transfer] = answer['transfers'] as { id: string }[];
    await run(transfer?.id ?? 'none', /Open the transfer with this id/);
    await page.waitForURL(`**/transfers/${transfer?.id}`);
  });

  test('performs actions: another theme, a new key, the help, the log-out', async () => {
    await run('dark', /Colours: Dark/);
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
    await run('issue', /Issue an API key/);
    await page.getByRole('dialog', { name: 'Issue a key' }).waitFor();
    await page.keyboard.press('Control+k');
    assert.ok(await field().isHidden(), 'one dialog at a time');
    await page.keyboard.press('Escape');
    await run('shortcuts', /Show keyboard shortcuts/);
    await page.getByRole('dialog', { name: 'Keyboard' }).getByText('Search and commands').waitFor();
    await page.keyboard.press('Escape');
    await run('log out', /Log out/);
    await page.getByLabel('E-mail').waitFor();
  });
});

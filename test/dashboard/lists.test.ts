/** What all lists have in common: one line a row, names cut in the middle, actions on many rows. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { type Desk, focusOf, logIn, manage, openDesk, type Window } from './browser.js';
import { furnish, type Screen } from './furnish.js';
import { violations } from './inspection.js';

const LISTS = 'transfers deliveries jobs connections keys links events audit schedules watched-folders webhooks'.split(
  ' ',
);
/** The first row of a list is above this line of a phone. */
const MAX_TOP = 400;
const LONG = `${'a long name of a report '.repeat(8)}2026-11-28.csv`;

let desk: Desk;
let window: Window;
let page: Page;
let lists: readonly Screen[];

before(async () => {
  desk = await openDesk();
  window = await desk.open();
  ({ page } = window);
  await logIn(page);
  const screens = await furnish(page);
  lists = LISTS.map((name) => {
    const screen = screens.find((one) => one.name === name);
    assert.ok(screen, name);
    return screen;
  });
  await manage(page, 'POST', '/api/write/sandbox', { path: `/${LONG}`, content: 'long' });
});
after(() => desk.close());

async function openList({ path, ready }: Screen): Promise<void> {
  await page.goto(path);
  await ready(page);
  await page.locator('tbody tr').first().waitFor();
}

test('each row is one line, on every list', async () => {
  for (const list of lists) {
    await openList(list);
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect().height)`,
    );
    for (const height of heights) assert.ok(height >= 36 && height <= 40, `${list.name}: a row of ${height} pixels`);
  }
  assert.deepEqual(window.faults, []);
});

test('a long name is cut in the middle: its end is visible, and its link has the whole name', async () => {
  await page.goto('/transfers');
  const link = page.getByRole('link', { name: `write ${LONG}`, exact: true });
  await link.waitFor();
  assert.equal(await link.textContent(), `write ${LONG}`);
  const right = async (one: Locator): Promise<number> => {
    const box = await one.boundingBox();
    return box === null ? 0 : box.x + box.width;
  };
  const tail = await right(link.locator('[data-tail]'));
  const cell = await right(page.getByRole('cell').filter({ has: link }));
  assert.ok(tail > 0 && tail <= cell, `the end of the name is at ${tail}, the cell ends at ${cell}`);
  assert.equal(await link.locator('[data-tail]').getAttribute('data-tail'), '-11-28.csv');
});

const box = (name: string) => page.getByRole('checkbox', { name, exact: true });
const bar = () => page.getByRole('toolbar', { name: 'Actions for the selection' });

test('an action on many rows counts those that it fits, and says how many it succeeded for', async () => {
  await page.goto('/schedules');
  await box('Select all that are shown').check();
  await bar().getByText('2 selected').waitFor();
  await bar().getByRole('button', { name: 'Run now', exact: true }).waitFor();
  await bar().getByRole('button', { name: 'Pause (1)' }).click();
  await page.getByText('Pause: 1 done').waitFor();
  await bar().waitFor({ state: 'detached' });
  await page.getByRole('cell', { name: 'Paused' }).nth(1).waitFor();

  await page.goto('/connections');
  await box('Select Archive').check();
  await box('Select Partner drop box').check();
  await bar().getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText(/^Test: 1 done, 1 failed\. Partner drop box: ./).waitFor();
  await bar().getByText('2 selected').waitFor();
});

test('Shift selects a range, Escape and the bar clear it, and the focus is not lost', async () => {
  await page.goto('/deliveries?state=dead');
  const boxes = page.getByRole('cell').getByRole('checkbox');
  await boxes.nth(4).waitFor();
  await boxes.nth(1).click();
  await boxes.nth(4).click({ modifiers: ['Shift'] });
  await bar().getByText('4 selected').waitFor();
  await boxes.nth(2).click();
  await bar().getByText('3 selected').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('Escape');
  await bar().waitFor({ state: 'detached' });
  await boxes.nth(0).press('Space');
  await bar().getByRole('button', { name: 'Clear the selection' }).press('Enter');
  await bar().waitFor({ state: 'detached' });
  assert.equal(await focusOf(page), 'Select all that are shown');
});

test('what cannot be undone is asked first, with the names', async () => {
  await page.goto('/links');
  await box('Select all that are shown').check();
  await bar().getByRole('button', { name: 'Revoke (1)' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Upload to /incoming').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await bar().getByText('2 selected').waitFor();
  await bar().getByRole('button', { name: 'Revoke (1)' }).click();
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('Revoke: 1 done').waitFor();
  assert.deepEqual(window.faults, []);
});

test('a filter that is set is a chip that removes it; views of times and states are one click', async () => {
  await page.goto('/deliveries?state=dead&url=127.0.0.1');
  const chips = page.getByRole('list', { name: 'Filters that are set' });
  await chips.getByRole('button', { name: /^State: Dead letter/ }).click();
  await page.waitForURL(/deliveries\?url=127\.0\.0\.1$/);
  await chips.getByRole('button', { name: 'Copy the link to this view' }).click();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), page.url());
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('link', { name: 'Yesterday' }).click();
  await page.getByText('No delivery matches the filters').waitFor();
  const { searchParams } = new URL(page.url());
  const hours = (Date.parse(searchParams.get('until') ?? '') - Date.parse(searchParams.get('since') ?? '')) / 3_600_000;
  assert.equal(Math.round(hours), 24);
  assert.equal(await views.getByRole('link', { name: 'Yesterday' }).getAttribute('aria-current'), 'true');
  await page.getByText('Add filter').waitFor();
  assert.ok(await page.getByLabel('Before').isVisible(), 'rare filters are shown if one is set');
  await views.getByRole('link', { name: 'Today' }).click();
  await page.getByRole('table', { name: 'Deliveries' }).waitFor();
});

test('on a phone, the first row of each list is near the top, and filters are in a sheet', async () => {
  const { page: phone, context, faults } = await desk.open({ width: 375, height: 812 });
  await logIn(phone);
  for (const { name, path, ready } of lists) {
    await phone.goto(path);
    await ready(phone);
    const first = await phone.locator('tbody tr').first().boundingBox();
    assert.ok(first !== null && first.y < MAX_TOP, `${name}: the first row is at ${first?.y} pixels`);
    assert.equal(await phone.evaluate('document.documentElement.scrollWidth'), 375, name);
  }
  await phone.goto('/deliveries');
  await phone.getByRole('button', { name: 'Filters', exact: true }).click();
  const sheet = phone.getByRole('dialog', { name: 'Filters' });
  await sheet.getByLabel('State').selectOption({ label: 'Dead letter' });
  await phone.waitForURL(/state=dead/);
  assert.deepEqual(await violations(phone), []);
  await sheet.getByRole('button', { name: 'Show', exact: true }).click();
  await phone.getByRole('button', { name: 'Filters (1)' }).waitFor();
  assert.deepEqual(await violations(phone), []);
  assert.deepEqual(faults, []);
  await context.close();
});

test('audit entries and events are sentences, and open in their raw form', async () => {
  await page.goto('/audit');
  await page.getByText('API key old robot was revoked by ops@example.com', { exact: true }).waitFor();
  const entry = page.getByRole('row', { name: /API key old robot was revoked/ });
  await entry.getByRole('button', { name: /^Open/ }).click();
  await page.getByLabel('The raw entry').getByText('"action": "api_key.revoke"').waitFor();
  await page.keyboard.press('Escape');
  await page.goto('/events');
  await page.getByText('A job ended, with or without errors: Reports to the archive').first().waitFor();
});

test('a column head sorts the rows, and the order is part of the address', async () => {
  await page.goto('/connections');
  const head = page.getByRole('columnheader', { name: 'Name' });
  const names = async (): Promise<readonly string[]> =>
    (await page.locator('tbody td:nth-child(2) a').allTextContents()).map((text) => text.trim());
  await head.getByRole('button').click();
  await page.waitForURL(/sort=name$/);
  assert.deepEqual(await names(), ['Archive', 'Partner drop box', 'Sandbox']);
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  await head.getByRole('button').click();
  await page.waitForURL(/sort=-name$/);
  assert.deepEqual(await names(), ['Sandbox', 'Partner drop box', 'Archive']);
  await page.reload();
  await page.getByRole('link', { name: 'Archive', exact: true }).waitFor();
  assert.deepEqual(await names(), ['Sandbox', 'Partner drop box', 'Archive']);
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  assert.deepEqual(await violations(page), []);
});

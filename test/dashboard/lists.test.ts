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

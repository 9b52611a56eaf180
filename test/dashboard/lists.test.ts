/** What all lists have in common: one line a row, names cut in the middle. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { type Desk, logIn, manage, openDesk, type Window } from './browser.js';
import { furnish, type Screen } from './furnish.js';

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

/** What all lists have in common: one line a row, names cut in the middle, actions on many rows. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { copied, type Desk, focusOf, logIn, manage, openDesk, type Window } from './browser.js';
import { furnish, type Screen } from './furnish.js';
import { violations } from './inspection.js';
import { startSlowUpload } from './outside.js';
import { eventually } from '../support/eventually.js';

const LISTS = 'transfers deliveries jobs connections keys links events audit schedules watched-folders webhooks'.split(
  ' ',
);
/** The first row of a list is above this line of a phone. */
const MAX_TOP = 400;
const LONG = `${'a long name of a report '.repeat(8)}2026-11-28.csv`;

/** What a finger cannot hit: less than 24 pixels high or wide. The label of a check box is a part of it. */
const SMALL_TARGETS = `[...document.querySelectorAll('a, button, input, select, summary')].flatMap((one) => {
  const { width, height } = (one.closest('label') ?? one).getBoundingClientRect();
  const isShown = one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && width > 1;
  return isShown && (width < 24 || height < 24) ? [one.outerHTML.slice(0, 120) + ' ' + width + 'x' + height] : [];
})`;

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
  await eventually(async () => (await focusOf(page)) === 'Select all that are shown', 'the focus is not lost');
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
  await copied(page, page.url());
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
  for (const [path, table] of [
    ['/jobs', 'Jobs'],
    ['/events', 'Events'],
    ['/audit', 'Audit log'],
  ] as const) {
    await page.goto(path);
    const rows = page.getByRole('table', { name: table }).getByRole('row');
    await rows.nth(1).waitFor();
    await views.getByRole('link', { name: 'Yesterday' }).click();
    await rows.first().waitFor({ state: 'detached' });
    await chips.getByRole('button', { name: /^After: / }).waitFor();
    await views.getByRole('link', { name: 'Today' }).click();
    await rows.nth(1).waitFor();
  }
  assert.deepEqual(window.faults, []);
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
    assert.deepEqual(await phone.evaluate(SMALL_TARGETS), [], name);
  }
  await phone.goto('/files/sandbox');
  const file = phone.getByRole('grid').getByRole('row').nth(1);
  await file.waitFor();
  assert.ok(((await file.boundingBox())?.y ?? MAX_TOP) < MAX_TOP, 'the first file');
  assert.equal(await phone.evaluate('document.documentElement.scrollWidth'), 375, 'files');
  assert.deepEqual(await phone.evaluate(SMALL_TARGETS), [], 'files');
  const picked = phone.getByLabel('Files to upload');
  assert.equal(await picked.getAttribute('accept'), null, 'a phone offers its camera');
  await picked.setInputFiles({ name: 'from-a-phone.txt', mimeType: 'text/plain', buffer: Buffer.from('text') });
  const queue = phone.getByRole('region', { name: 'Queue' });
  await queue.getByRole('button', { name: 'All done', expanded: false }).waitFor();
  assert.ok(((await queue.boundingBox())?.height ?? 0) < 60, 'the queue is one line');
  await queue.getByRole('button', { name: 'All done' }).click();
  await queue.getByText('from-a-phone.txt').waitFor();
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
  await page.getByText('Reports to the archive ended', { exact: true }).first().waitFor();
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

test('columns are chosen in a menu, and are part of the address', async () => {
  await page.goto('/jobs');
  const head = (name: string) => page.getByRole('columnheader', { name, exact: true });
  await head('Progress').waitFor();
  assert.ok(await head('Speed').isHidden(), 'a narrow screen has no room for all');
  await page.getByRole('button', { name: 'Columns' }).press('Enter');
  const choice = (name: string) => page.getByRole('menuitemcheckbox', { name });
  assert.equal(await choice('Speed').getAttribute('aria-checked'), 'false', 'the menu shows what the screen shows');
  await choice('Progress').click();
  await choice('Speed').click();
  await page.waitForURL(/columns=(?!.*progress).*speed/);
  await page.keyboard.press('Escape');
  await head('Progress').waitFor({ state: 'detached' });
  await head('Speed').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByRole('link', { name: 'Failed', exact: true }).click();
  await page.waitForURL(/columns=.*state|state=failed.*columns=/);
  await page.reload();
  await head('Speed').waitFor();
  assert.ok(await head('Progress').isHidden());
  await page.getByRole('button', { name: 'Columns' }).press('Enter');
  await page.getByRole('menuitem', { name: 'The usual columns' }).click();
  await head('Progress').waitFor();
  assert.deepEqual(window.faults, []);
});

test('the gateway sorts transfers by the heads that it can sort by', async () => {
  await page.goto('/transfers');
  const head = (name: string) => page.getByRole('columnheader', { name, exact: true });
  await page.locator('tbody tr').first().waitFor();
  assert.equal(await head('Started').getAttribute('aria-sort'), 'descending');
  await head('Size').getByRole('button').click();
  await page.waitForURL(/order=largest$/);
  assert.equal(await head('Size').getAttribute('aria-sort'), 'descending');
  await head('Size').getByRole('button').click();
  await page.waitForURL(/transfers$/);
  await head('Started').getByRole('button').click();
  await page.waitForURL(/order=oldest$/);
  assert.equal(await head('Started').getAttribute('aria-sort'), 'ascending');
  assert.equal(await head('Connection').getByRole('button').count(), 0);
});

test('failed transfers are tried again together, and running ones cancelled', async () => {
  for (const n of [1, 2]) {
    const body = { from: `/late-${n}.txt`, to: `/moved-${n}.txt` };
    await manage(page, 'POST', '/api/move/sandbox', body).catch(() => undefined);
    await manage(page, 'POST', '/api/write/sandbox', { path: body.from, content: 'late' });
  }
  await page.goto('/transfers?status=failed&type=move');
  await box('Select move moved-1.txt').check();
  await box('Select move moved-2.txt').check();
  await bar().getByRole('button', { name: 'Try again', exact: true }).click();
  await page.getByText('Try again: 2 done').waitFor();
  await bar().waitFor({ state: 'detached' });

  const upload = await startSlowUpload(desk, window, 'cancelled.tar');
  await page.goto('/transfers?status=pending');
  await box('Select upload cancelled.tar').check();
  await bar().getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByText('Cancel: 1 done').waitFor();
  assert.notEqual(await upload.status, 200);
});

test('what failed yesterday is tried again with three clicks from the overview', async () => {
  const body = { from: '/tomorrow.txt', to: '/retried.txt' };
  await manage(page, 'POST', '/api/move/sandbox', body).catch(() => undefined);
  await manage(page, 'POST', '/api/write/sandbox', { path: body.from, content: 'here' });
  const { page: tomorrow, context, faults } = await desk.open();
  await logIn(tomorrow);
  await tomorrow.clock.setFixedTime(Date.now() + 86_400_000);
  await tomorrow.goto('/');
  await tomorrow.getByRole('link', { name: 'Transfers', exact: true }).click();
  await tomorrow.getByRole('link', { name: 'Yesterday' }).click();
  await tomorrow.getByRole('button', { name: 'Try again: move retried.txt' }).click();
  await tomorrow.getByText('The transfer was repeated').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

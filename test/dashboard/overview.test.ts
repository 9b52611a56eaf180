/**
 * The overview, the health page and the audit log: the attention list, figures with links, first steps that are ticked
 * automatically.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type PostgresServer, startPostgres } from '../servers/postgres.js';
import { withSql } from '../storage/databases.js';
import { EMAIL, goWithoutDrafts, logIn, manage, NEWCOMER, openDesk, type Desk } from './browser.js';
import { inspect } from './inspection.js';
import { eventually } from '../support/eventually.js';

let server: PostgresServer;
let desk: Desk;
let page: Page;

before(async () => {
  server = await startPostgres();
  desk = await openDesk({ database: { url: server.url }, health: { everySeconds: 0 } });
  ({ page } = await desk.open());
  await logIn(page);
});
after(async () => {
  await desk?.close();
  await server?.stop();
});

const attention = () =>
  page.locator('section', { has: page.getByRole('heading', { name: /^(?:Everything works|\d+ problems?)/ }) });
const chart = (name: string) => page.getByRole('figure', { name });
const refused = (path: string): Promise<unknown> =>
  manage(page, 'POST', '/api/copy', {
    source_connection_id: 'sandbox',
    source_path: path,
    destination_connection_id: 'sandbox',
    destination_path: path,
  }).catch(() => undefined);

/** Transfers of the sandbox that failed with these errors, the newest last. */
async function failed(code: string, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await withSql(
      server.url,
      (sql) => sql`
        insert into transfers (id, account_id, connection_id, type, direction, status, filename, path, file_size,
          error_message, error_code, duration_ms, counts_action, created_at)
        select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' ||
          substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid, id, 'sandbox', 'upload',
          'outbound', 'failed', 'x.txt', '/x.txt', 0, ${`the server said ${code}`}, ${code}, 3, true, now()
        from accounts where email = ${EMAIL}`,
    );
  }
}

test('name conflicts make no connection fail; refused logins do, until one succeeds', async () => {
  await manage(page, 'POST', '/api/write/sandbox', { path: '/clash.txt', content: 'once' });
  for (let n = 0; n < 3; n++) await refused('/clash.txt');
  await page.goto('/');
  await attention().getByText('Nothing right now.').waitFor();
  await failed('login_refused', 3);
  await page.reload();
  await attention().getByRole('link', { name: 'The connection “Sandbox” is failing' }).waitFor();
  await attention().getByText('the server said login_refused').waitFor();
  // The button beside it: the sandbox works, so its test clears the item.
  await attention().getByRole('button', { name: 'Test now' }).click();
  await page.getByText('The test passed').waitFor();
  // Rows of listings are written after their answer; the row of a read is written before it.
  await manage(page, 'GET', '/api/read/sandbox?path=/clash.txt');
  await page.reload();
  await attention().getByText('Nothing right now.').waitFor();
});

test('the worst comes first', async () => {
  const soon = new Date(Date.now() + 86_400_000).toISOString();
  await manage(page, 'POST', '/manage/api-keys', { name: 'ends soon', expiresAt: soon });
  await failed('unreachable', 3);
  await page.goto('/');
  const items = attention().getByRole('listitem');
  await items.nth(1).waitFor();
  const texts = await items.allInnerTexts();
  assert.match(texts[0] ?? '', /The connection “Sandbox” is failing/);
  assert.match(texts[1] ?? '', /The API key “ends soon” expires soon/);
  await attention().getByRole('heading', { name: '2 problems' }).waitFor();
});

test('nothing moves while slow answers arrive', async () => {
  const { page: own, context } = await desk.open({ width: 1280, height: 900 });
  await logIn(own);
  await context.addInitScript(`globalThis.moved = 0;
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) globalThis.moved += value;
    }).observe({ type: 'layout-shift', buffered: true })`);
  // One answer after another, so that each could move what is there.
  let turn: Promise<void> = Promise.resolve();
  await own.route(/\/(?:manage|api)\//, (route) => {
    turn = turn.then(() => own.waitForTimeout(100)).then(() => route.continue().catch(() => undefined));
  });
  for (const [address, ready] of [
    ['/', own.getByRole('figure').first()],
    ['/transfers', own.getByRole('table', { name: 'Transfers' })],
    ['/connections', own.getByRole('table', { name: 'Connections' })],
    ['/files/sandbox', own.getByRole('grid').or(own.getByText('This folder is empty')).first()],
  ] as const) {
    await own.goto(address);
    await ready.waitFor();
    // The browser notes a move with the next frame.
    const moved = await own.evaluate(`new Promise((resolve) => requestAnimationFrame(() => resolve(moved)))`);
    assert.ok(Number(moved) <= 0.05, `${address}: ${String(moved)}`);
  }
  await context.close();
});

test('a bar leads to its transfers, by mouse and by key', async () => {
  const bars = chart('Transfers and failures').getByRole('link');
  const hour = (): number => Math.floor(Date.now() / 3_600_000);
  // The last bar is that of the hour in which the page is opened.
  await eventually(async () => {
    const before = hour();
    await manage(page, 'POST', '/api/write/sandbox', { path: '/bar.txt', content: 'x'.repeat(5_000) });
    await refused('/not-there.txt');
    await page.goto('/');
    await bars.first().waitFor();
    return hour() === before;
  }, 'the transfers and the page in one hour');
  assert.equal(await bars.count(), 24);
  const newest = chart('Throughput').getByRole('link').last();
  assert.match((await newest.getAttribute('aria-label')) ?? '', /\d\d:\d\d: .* moved, .* fetched, .* sent/);
  // One stop for Tab, and arrow keys from there.
  assert.equal(await chart('Throughput').locator('a[tabindex="0"]').count(), 1);
  await newest.focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/transfers\?since=.*&until=.*&order=largest/);
  await page.getByRole('link', { name: 'write bar.txt' }).waitFor();
  await page.goto('/?range=7d');
  await chart('Throughput').getByRole('link').last().waitFor();
  assert.equal(await chart('Throughput').getByRole('link').count(), 7);
  await page.getByRole('radio', { name: '24 hours' }).check();
  await page.waitForURL((url) => url.search === '');
});

test('days and hours are those of the chosen zone', async () => {
  const { page: own, context } = await desk.open();
  await context.addInitScript(`localStorage.setItem('ftg.zone', 'Australia/Adelaide')`);
  const asked = own.waitForRequest((request) => request.url().includes('/manage/figures'));
  await logIn(own);
  await own.getByText('Times in Australia/Adelaide.').waitFor();
  assert.equal(new URL((await asked).url()).searchParams.get('timeZone'), 'Australia/Adelaide');
  const label = await own
    .getByRole('figure', { name: 'Throughput' })
    .getByRole('link')
    .first()
    .getAttribute('aria-label');
  assert.match(label ?? '', /^\d\d:30: /, 'whole hours of UTC are half past in Adelaide');
  await context.close();
});

test('first steps are ticked automatically', async () => {
  const { page: own, context } = await desk.open();
  await logIn(own, NEWCOMER);
  const step = (name: string) => own.getByRole('listitem').filter({ has: own.getByRole('heading', { name }) });
  await step('Issue an API key').waitFor();
  assert.equal(await step('Issue an API key').getByText('Done:').count(), 0);
  await manage(own, 'POST', '/manage/api-keys', { name: 'first' });
  await own.reload();
  await step('Issue an API key').getByText('Done:').waitFor({ state: 'attached' });
  assert.equal(await step('Add a connection').getByText('Done:').count(), 0);
  await context.close();
});

test('the health page has 90 days of each connection, with those that are down first', async () => {
  await manage(page, 'POST', '/manage/connections/sandbox/duplicate', { name: 'Archive', id: 'archive' });
  await withSql(server.url, async (sql) => {
    await sql`
      insert into connection_checks (connection_id, account_id, due_at, watched_since, checked_at, reached_at)
      select c.id, c.account_id, now() + interval '1 day', now() - interval '9 days', now(), now() from connections c
      on conflict (connection_id) do update set watched_since = excluded.watched_since, checked_at = now()`;
    await sql`
      insert into connection_outages (connection_id, account_id, since, until, error)
      select id, account_id, now() - interval '4 days', now() - interval '2 days', 'no route' from connections
      where id = 'archive'
      union all select id, account_id, now() - interval '1 hour', null, 'no route' from connections where id = 'archive'`;
  });
  await page.goto('/health');
  const rows = page.locator('.health-rows > li');
  await rows.nth(1).waitFor();
  assert.match(await rows.nth(0).innerText(), /Archive/);
  await rows.nth(0).getByText('Down', { exact: true }).waitFor();
  const days = await page
    .getByRole('list', { name: 'The last 90 days of Archive' })
    .getByRole('listitem')
    .allTextContents();
  assert.equal(days.length, 90);
  for (const row of await rows.allInnerTexts()) {
    assert.match(row, /\d%, monitored since /, 'a share is of the monitored time');
    assert.doesNotMatch(row, /of 90 days/);
  }
  assert.match(days[0] ?? '', /not checked$/);
  assert.ok(
    days.some((day) => /0% available, down for 24 h/.test(day)),
    days.slice(-9).join('\n'),
  );
  await inspect(page, { name: 'health', path: '/health', ready: () => rows.nth(1).waitFor() });
});

test('a connection that is down is shown as such everywhere', async () => {
  await page.goto('/connections');
  const row = page.getByRole('row', { name: /Archive/ });
  await row.getByText('Down', { exact: true }).waitFor();
  await page.goto('/connections/archive');
  await page.locator('main').getByText('Down', { exact: true }).nth(1).waitFor();
  await page.getByText(/monitored since/i).waitFor();
  for (const word of ['Up', 'Active']) assert.equal(await page.getByText(word, { exact: true }).count(), 0, word);
  await page.getByRole('button', { name: /^Search/ }).click();
  await page.getByRole('combobox').fill('archive');
  await page
    .getByRole('option', { name: /Archive \(down\)/ })
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
  // Not the files of the archive itself: listing them would show that its server is up.
  for (const screen of ['/files/sandbox', '/jobs/new', '/links?new']) {
    await page.goto(screen);
    await page.locator('option', { hasText: 'Archive (down)' }).first().waitFor({ state: 'attached' });
  }
  await page.goto('/watched');
  await page
    .getByRole('button', { name: /^Watch a folder/ })
    .first()
    .click();
  await page.locator('option', { hasText: 'Archive (down)' }).first().waitFor({ state: 'attached' });
  await page
    .locator('option', { hasText: /^Sandbox \((?:up|not checked)\)$/ })
    .first()
    .waitFor({ state: 'attached' });
  // It is up, but operations on it fail: the worse state is shown.
  await failed('login_refused', 3);
  await page.goto('/connections');
  await page
    .getByRole('row', { name: /Sandbox/ })
    .getByText('Failing', { exact: true })
    .waitFor();
});

test('forms and Files begin with the first connection that does not fail', async () => {
  await manage(page, 'POST', '/manage/connections/sandbox/duplicate', { name: 'Backup', id: 'backup' });
  for (const [path, label] of [
    ['/jobs/new', 'Source connection'],
    ['/schedules/new', 'Source connection'],
    ['/watched', 'Connection'],
    ['/links?new', 'Connection'],
  ] as const) {
    await goWithoutDrafts(page, path);
    if (path === '/watched') await page.getByRole('button', { name: 'Watch a folder' }).first().click();
    const picker = page.getByLabel(label, { exact: true }).and(page.locator('select'));
    await picker
      .locator('option:checked', { hasText: /^Backup \((?:up|not checked)\)$/ })
      .waitFor({ state: 'attached' });
  }
  await page.goto('/files');
  await page.waitForURL(/\/files\/backup$/);
});

test('the audit log breaks no words on a tablet', async () => {
  await manage(page, 'PATCH', '/manage/connections/archive', { name: 'Archive of the year', digests: 'always' });
  await manage(page, 'POST', '/manage/api-keys', { name: 'nightly export', connections: ['sandbox'] });
  const { page: tablet, context } = await desk.open({ width: 768, height: 1024 });
  await logIn(tablet);
  await tablet.goto('/audit');
  await tablet
    .getByRole('table', { name: 'Audit log' })
    .getByText(/^Connection Archive.* was changed by/)
    .first()
    .waitFor();
  const narrow = await tablet.evaluate<string[]>(`[...document.querySelectorAll('.table tbody td')]
    .filter((cell) => cell.textContent.trim().length > 8 && cell.checkVisibility())
    .filter((cell) => cell.getBoundingClientRect().width < 80)
    .map((cell) => cell.textContent + ' ' + cell.getBoundingClientRect().width)`);
  assert.deepEqual(narrow, []);
  assert.ok(await tablet.evaluate<boolean>(`document.documentElement.scrollWidth <= innerWidth`), 'nothing is cut off');
  await context.close();
});

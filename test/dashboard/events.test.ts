/** The events of the account: live, by type, page by page, with their exact bytes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { copied, logIn, openDesk, type Desk, type Window } from './browser.js';
import { runJob } from './furnish.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { withSql } from '../storage/databases.js';

let postgres: PostgresServer;
let desk: Desk;
let window: Window;
let page: Page;

before(async () => {
  postgres = await startPostgres();
  desk = await openDesk({ database: { url: postgres.url } });
  window = await desk.open();
  ({ page } = window);
  await logIn(page);
});
after(async () => {
  await desk?.close();
  await postgres?.stop();
});

const events = () => page.getByRole('table', { name: 'Events' });
const dialog = () => page.getByRole('dialog');

const endJob = (name: string): Promise<string> =>
  runJob(page, {
    type: 'delete',
    dryRun: true,
    name,
    source: { connectionId: 'sandbox', path: '/' },
    include: ['*.old'],
  });

/** An event is opened by its name: its number. */
const open = (sequence: number) => events().getByRole('button', { name: `Open event ${sequence}`, exact: true });

test('an event appears as soon as it happens, and opens as the signed bytes', async () => {
  await page.goto('/events');
  await page.getByText('No event yet').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await endJob('First job');
  await events().getByRole('link', { name: 'First job' }).waitFor();
  await open(1).click();
  const shown = await dialog().getByLabel('The exact bytes').innerText();
  const kept = (await (await page.request.get('/api/events?limit=1', { maxRetries: 3 })).text()).slice(
    '{"events":['.length,
  );
  assert.ok(kept.startsWith(`${shown}],`), `${shown}\n${kept}`);
  await dialog().getByRole('button', { name: 'Copy' }).click();
  await copied(page, shown);
  await dialog().getByText('Formatted').click();
  await dialog().getByText('"type": "job.finished"').waitFor();
  await page.keyboard.press('Escape');
  await events().getByRole('link', { name: 'First job' }).click();
  await page.getByRole('heading', { name: 'First job', level: 1 }).waitFor();
});

test('events are filtered by type; a reader of older events is notified of new ones, without scrolling', async () => {
  // An event of a rare type, after many others.
  await withSql(
    postgres.url,
    (sql) => sql`
    with feed as (update event_feeds set last_sequence = 25001 returning account_id)
    insert into events (id, account_id, type, body, connection_ids, is_ready, sequence, numbered_at)
    select gen_random_uuid(), account_id, case n when 2 then 'connection.up' else 'watched_folder.test' end,
      case n when 2 then '{"type":"connection.up","timestamp":"2026-01-31T12:00:00.000Z","data":{"connection":{"id":"sandbox","name":"Sandbox","type":"sftp"},"since":"2026-01-31T11:31:00.000Z","downSeconds":1740}}'
      else '{"type":"watched_folder.test","timestamp":"2026-01-31T12:00:00.000Z","data":{"watchedFolder":{"id":"w","name":"Inbox","path":"/","connectionId":"sandbox"},"connection":{"id":"sandbox","name":"Sandbox","type":"sftp"},"files":[]}}' end,
      '{}', true, n, now() from feed, generate_series(2, 25001) n`,
  );
  await page.goto('/events');
  await open(25_001).waitFor();
  await page.getByLabel('Type').selectOption('connection.up');
  await page.waitForURL(/\?type=connection\.up$/);
  await events().getByText('was down for 29 min 0 s').waitFor();
  await page.reload();
  await open(2).waitFor();
  assert.equal(await events().getByRole('row').count(), 2);
  await page.getByLabel('Type').selectOption('connection.down');
  await page.getByText('No event of this type').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();

  await open(25_001).waitFor();
  await page.getByRole('button', { name: 'Show older' }).click();
  await open(24_902).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await endJob('Second job');
  await page.getByRole('button', { name: 'Show newer' }).waitFor();
  assert.equal(await events().getByRole('row').count(), 101);
  await page.getByRole('button', { name: 'Show newer' }).click();
  await events().getByRole('link', { name: 'Second job' }).waitFor();
  assert.equal(await events().getByRole('row').count(), 51);
  assert.deepEqual(window.faults, []);
});

test('failed loading is reported, and a refused stream is requested again', async () => {
  const failing = await desk.open();
  const { page: other } = failing;
  await logIn(other);
  for (const [path, asked] of [
    ['/events', '**/manage/feed?*'],
    ['/webhooks', '**/api/webhooks'],
  ] as const) {
    await other.route(asked, (route) => route.fulfill({ status: 500, json: { error: 'the disk is full' } }));
    await other.goto(path);
    await other.getByText('This could not be loaded').waitFor();
    await other.getByText('The disk is full').waitFor();
    await other.unroute(asked);
    await other.getByRole('button', { name: 'Try again' }).click();
    await other.getByText('This could not be loaded').waitFor({ state: 'detached' });
  }
  await other.goto('/webhooks/0199c2f4-6f5e-7c1a-9a51-0d2f64b1f001');
  await other.getByText('There is no webhook').waitFor();

  await other.clock.install();
  await other.route('**/api/events?*', (route) => route.fulfill({ status: 429, json: { error: 'too many' } }));
  await other.goto('/events');
  await other.getByRole('link', { name: 'Second job' }).waitFor();
  await other.getByText('Connecting …').waitFor();
  await other.unroute('**/api/events?*');
  await other.clock.fastForward(10_000);
  await other.getByText('Live', { exact: true }).waitFor();
  assert.deepEqual(failing.faults, []);
  await failing.context.close();
});

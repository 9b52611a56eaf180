/**
 * Schedules by mouse: created with a preview of their next runs, run, changed, paused and deleted; the filters of a
 * job's form.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { goWithoutDrafts, logIn, manage, openDesk, type Desk, type Window } from './browser.js';
import { runJob } from './furnish.js';
import { eventually } from '../support/eventually.js';

let desk: Desk;
let window: Window;
let page: Page;

before(async () => {
  desk = await openDesk();
  window = await desk.open();
  ({ page } = window);
  await logIn(page);
  fill('from', { 'a.csv': 'x', 'large.csv': 'x'.repeat(2_048) });
});
after(() => desk.close());

const onDisk = (name: string): string => path.join(desk.sandboxFolder, name);
const place = (folder: string) => ({ connectionId: 'sandbox', path: folder });
const field = (name: string) => page.getByRole('textbox', { name });
const nextRuns = () => page.getByRole('region', { name: 'Next runs' });
const row = (name: string) => page.getByRole('table', { name: 'Schedules' }).getByRole('row', { name });

function fill(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(onDisk(folder), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(onDisk(`${folder}/${name}`), content);
}

interface ScheduleView {
  readonly id: string;
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly isActive: boolean;
  readonly job: Readonly<Record<string, unknown>>;
}

async function kept(name: string): Promise<ScheduleView> {
  const { schedules } = (await manage(page, 'GET', '/manage/schedules')) as { schedules: ScheduleView[] };
  return schedules.find((one) => one.name === name) ?? assert.fail(`no schedule ${name}`);
}

test('a folder is sent to a partner every night: created with a preview of its next runs, run now, watched to its end', async () => {
  await page.goto('/schedules');
  await page.getByText('No schedule yet').waitFor();
  await page.getByRole('link', { name: 'New schedule' }).click();
  await nextRuns().getByRole('listitem').nth(4).waitFor();
  await field('Name').fill('Nightly to the partner');
  await page.getByLabel('How often').selectOption('weekdays');
  await page.locator('input[type=time]').fill('03:15');
  await page.getByLabel('Time zone').fill('Asia/Tokyo');
  await nextRuns().getByRole('listitem').filter({ hasText: '03:15' }).first().waitFor();
  const times = await nextRuns().getByRole('listitem').allInnerTexts();
  assert.equal(times.length, 5);
  for (const time of times) assert.match(time, /^(Mon|Tue|Wed|Thu|Fri).* 03:15 \(.* 18:15 here\)$/);
  await field('Source folder').fill('/from');
  await field('Destination folder').fill('/partner');
  await page.getByText('Limit by depth, size or age').click();
  await field('Maximum size').fill('1 KiB');
  await page.getByRole('button', { name: 'Save the schedule' }).click();
  await page.getByRole('heading', { name: 'Nightly to the partner', level: 1 }).waitFor();
  await page.getByText('At 03:15, Monday through Friday').waitFor();
  const { cron, timeZone, job } = await kept('Nightly to the partner');
  assert.deepEqual([cron, timeZone, job['maxSize'], job['type']], ['15 3 * * 1-5', 'Asia/Tokyo', 1024, 'copy']);

  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText('1 file copied (1 B)').waitFor();
  assert.deepEqual(readdirSync(onDisk('partner')), ['a.csv']);
  await page.getByRole('link', { name: 'a schedule', exact: true }).click();
  await page.getByRole('table', { name: 'Jobs' }).getByText('Done').waitFor();
  await page.getByRole('link', { name: 'Schedules', exact: true }).last().click();
  await row('Nightly to the partner').getByText('Done').waitFor();
});

test('a cron that never fires, and an invalid zone, are reported before anything is saved', async () => {
  await goWithoutDrafts(page, '/schedules/new');
  await field('Source folder').fill('/from');
  await field('Destination folder').fill('/never');
  const save = page.getByRole('button', { name: 'Save the schedule' });
  const wrong = page.locator('[aria-invalid=true]');
  await page.getByLabel('How often').selectOption('cron');
  await field('Cron').fill('0 0 31 2 *');
  await nextRuns().getByRole('alert').getByText('never comes').waitFor();
  await save.click();
  await field('Cron').and(wrong).waitFor();
  await field('Cron').fill('0 0 29 2 *');
  await nextRuns().getByText('29 Feb 2028').waitFor();
  await wrong.waitFor({ state: 'hidden' });
  await page.getByLabel('Time zone').fill('Mars/Base');
  await save.click();
  await page.getByLabel('Time zone').and(wrong).waitFor();
  await page.getByText('A name such as Europe/Berlin or UTC').waitFor();
  assert.match(page.url(), /\/schedules\/new$/);
});

test('a schedule is made from a job, with all its settings, and keeps them when its time is changed', async () => {
  const settings = {
    include: ['*.csv'],
    exclude: ['old/**'],
    maxDepth: 3,
    minSize: 1,
    maxSize: 5_000_000_000,
    minAgeSeconds: 0,
    maxAgeSeconds: 604_800,
    onConflict: 'newer',
    bytesPerSecond: 1_048_576,
  };
  const id = await runJob(page, { type: 'copy', source: place('/from'), destination: place('/kept'), ...settings });
  await page.goto(`/jobs/${id}`);
  await page.getByRole('link', { name: 'Schedule it …' }).click();
  await field('Name').fill('Of a job');
  assert.equal(await field('Maximum age').inputValue(), '1 week');
  assert.equal(await field('Speed limit per second').inputValue(), '1 MiB');
  await page.getByRole('button', { name: 'Save the schedule' }).click();
  await page.getByRole('link', { name: 'Edit …' }).waitFor();
  await page.getByText('At 02:30').waitFor();
  const made = await kept('Of a job');
  for (const [name, value] of Object.entries(settings)) assert.deepEqual(made.job[name], value, name);

  await page.getByRole('link', { name: 'Edit …' }).click();
  await page.getByLabel('How often').selectOption('month');
  await page.getByLabel('On day').fill('15');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('link', { name: 'Edit …' }).waitFor();
  await page.getByText('At 02:30, on day 15 of the month').waitFor();
  const changed = await kept('Of a job');
  assert.equal(changed.cron, '30 2 15 * *');
  assert.deepEqual(changed.job, made.job);
});

test('paused and resumed from the list, then deleted', async () => {
  await page.goto('/schedules');
  const menu = () => row('Of a job').getByRole('button', { name: 'More for Of a job' }).click();
  await menu();
  await page.getByRole('menuitem', { name: 'Pause' }).click();
  await row('Of a job').getByText('Paused').waitFor();
  await menu();
  await page.getByRole('menuitem', { name: 'Resume' }).click();
  await row('Of a job').getByText('Active').waitFor();
  await menu();
  await page.getByRole('menuitem', { name: 'Delete …' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the schedule' }).click();
  await row('Of a job').waitFor({ state: 'detached' });
  await row('Nightly to the partner').waitFor();
});

test('a schedule that deletes first shows what would be deleted; another time for it does not ask again', async () => {
  fill('stale', { 'old.txt': 'x' });
  await goWithoutDrafts(page, '/schedules/new');
  await field('Name').fill('Tidy up');
  await page.getByRole('radio', { name: 'Delete' }).check();
  assert.equal(await page.getByLabel('If a file exists').count(), 0, 'a deletion knows no conflicts');
  assert.equal(await field('Speed limit per second').count(), 0, 'a deletion moves no bytes');
  await field('Source folder').fill('/stale');
  await page.getByRole('button', { name: 'Show what would happen' }).click();
  await page.getByRole('dialog').getByText('1 file would be deleted').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Save the schedule' }).click();
  await page.getByRole('heading', { name: 'Tidy up', level: 1 }).waitFor();
  assert.deepEqual(readdirSync(onDisk('stale')), ['old.txt']);
  await page.getByRole('link', { name: 'Edit …' }).click();
  await page.getByLabel('How often').selectOption('hours');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('heading', { name: 'Tidy up', level: 1, exact: true }).waitFor();
  await page.getByText('Every hour').waitFor();
  assert.equal((await kept('Tidy up')).cron, '0 * * * *');
});

test('the form accepts sizes and ages as people write them, and reports those that it cannot read', async () => {
  await page.goto('/jobs/new');
  await field('Source folder').fill('/from');
  await field('Destination folder').fill('/typed');
  await page.getByText('Limit by depth, size or age').click();
  const start = page.getByRole('button', { name: 'Start the job' });
  await field('Minimum age').fill('7');
  await field('Maximum age').focus();
  await page.getByText('A number and a unit, such as 90 minutes or 7 days.').waitFor();
  await start.click();
  await field('Minimum age').and(page.locator('[aria-invalid=true]:focus')).waitFor();
  await field('Minimum age').fill('0 min');
  await field('Maximum age').fill('2 d');
  await field('Minimum size').fill('1.5k');
  await start.click();
  await page.getByText('1 file copied (2 KiB)').waitFor();
  await page.getByText('of 1.5 KiB or more').waitFor();
  assert.deepEqual(readdirSync(onDisk('typed')), ['large.csv']);
  await eventually(async () => window.faults.length === 0, JSON.stringify(window.faults));
});

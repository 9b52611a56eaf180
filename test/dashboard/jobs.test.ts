/** Jobs by mouse: begun, watched, paused, cancelled, repeated, and previewed before a deletion. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { logIn, manage, openDesk, type Desk, type Window } from './browser.js';
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
});
after(() => desk.close());

const onDisk = (name: string): string => path.join(desk.sandboxFolder, name);
const dialog = () => page.getByRole('dialog');
const place = (folder: string) => ({ connectionId: 'sandbox', path: folder });

function fill(folder: string, names: readonly string[], content = 'x'): void {
  mkdirSync(onDisk(folder), { recursive: true });
  for (const name of names) writeFileSync(onDisk(`${folder}/${name}`), content);
}

test('a folder is copied: form, live view to the end, each file, and a link to its transfer', async () => {
  fill('from', ['a.csv', 'b.csv', 'draft.tmp']);
  await page.goto('/jobs');
  await page.getByText('No job yet').waitFor();
  await page.getByRole('link', { name: 'New job' }).click();
  await page.getByRole('textbox', { name: 'Source folder' }).fill('/from');
  await page.getByRole('textbox', { name: 'Destination folder' }).fill('/to');
  await page.getByRole('textbox', { name: 'Except files matching' }).fill('*.tmp');
  await page.getByRole('textbox', { name: 'Name' }).fill('Monday copy');
  await page.getByRole('button', { name: 'Start the job' }).click();
  await page.getByRole('heading', { name: 'Monday copy' }).waitFor();
  await page.getByText('2 files copied (2 B)').waitFor();
  assert.deepEqual(readdirSync(onDisk('to')).sort(), ['a.csv', 'b.csv']);
  const files = page.getByRole('table', { name: 'Files' });
  await files.getByText('b.csv').waitFor();
  assert.equal(await files.getByRole('row').count(), 3);

  await page.goto('/transfers?type=copy');
  await page.getByRole('link', { name: 'copy a.csv' }).click();
  await page.getByRole('link', { name: 'Monday copy' }).click();
  await page.getByText('Started by').waitFor();

  await page.getByRole('link', { name: 'Run again' }).click();
  await page.getByText('Copies each file').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Except files matching' }).inputValue(), '*.tmp');
  assert.equal(await page.getByRole('textbox', { name: 'Source folder' }).inputValue(), '/from');
});

test('a selected folder among the files becomes the source of a job', async () => {
  await page.goto('/files/sandbox?path=/');
  await page.getByLabel('Select from').check();
  await page.getByRole('link', { name: 'Create a job …' }).click();
  await page.getByRole('heading', { name: 'New job' }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Source folder' }).inputValue(), '/from');
});

test('a sync that deletes first shows what would be deleted, and runs only then', async () => {
  fill('synced', ['a.csv', 'stale.csv']);
  await page.goto('/jobs/new');
  await page.getByRole('radio', { name: 'Sync' }).check();
  await page.getByRole('textbox', { name: 'Source folder' }).fill('/from');
  await page.getByRole('textbox', { name: 'Destination folder' }).fill('/synced');
  await page.getByLabel('A file is unchanged when').selectOption('size');
  await page.getByLabel('Delete files at the destination').check();
  assert.equal(await page.getByRole('button', { name: 'Start the job' }).count(), 0);
  await page.getByRole('button', { name: 'Show what would happen' }).click();
  await dialog().getByText('1 file would be deleted').waitFor();
  await dialog().getByRole('row', { name: 'stale.csv' }).waitFor();
  assert.deepEqual(readdirSync(onDisk('synced')).sort(), ['a.csv', 'stale.csv'], 'nothing has changed');
  await dialog().getByRole('button', { name: 'Start the job' }).click();
  await page.getByText('1 file deleted').waitFor();
  assert.deepEqual(readdirSync(onDisk('synced')).sort(), ['a.csv', 'b.csv', 'draft.tmp']);
});

test('a dry run with limits is followed by a real run, and a repetition, with the same limits', async () => {
  fill('bounded', ['small.txt']);
  fill('bounded', ['large.txt'], 'x'.repeat(100));
  const bounds = { exclude: ['*.tmp'], minSize: 50, maxDepth: 1 };
  const id = await runJob(page, { type: 'delete', dryRun: true, source: place('/bounded'), ...bounds });
  await page.goto(`/jobs/${id}`);
  await page.getByText('of 50 B or more').waitFor();
  await page.getByRole('button', { name: 'Run it for real' }).click();
  await page.getByText('1 file deleted').waitFor();
  assert.deepEqual(readdirSync(onDisk('bounded')), ['small.txt']);
  await page.getByRole('link', { name: 'Run again' }).click();
  assert.equal(await page.getByRole('textbox', { name: 'Minimum size' }).inputValue(), '50 B');
  assert.equal(await page.getByLabel('Maximum depth').inputValue(), '1');
  assert.equal(await page.getByRole('textbox', { name: 'Except files matching' }).inputValue(), '*.tmp');
  await page.getByRole('button', { name: 'Show what would happen' }).click();
  await dialog().getByText('Nothing would be done').waitFor();
});

test('failed files have their reason, and are repeated alone', async () => {
  fill('again', ['a.csv']);
  const copy = { type: 'copy', source: place('/from'), destination: place('/again'), onConflict: 'fail' };
  const id = await runJob(page, copy);
  await page.goto(`/jobs/${id}`);
  const failed = page.getByRole('table', { name: 'Failed files' });
  await failed.getByText('a.csv').first().waitFor();
  assert.match(await failed.innerText(), /exists/);
  rmSync(onDisk('again/a.csv'));
  await page.getByRole('button', { name: 'Retry the failed files' }).click();
  await page.getByText('1 file copied').waitFor();
  assert.notEqual(page.url(), `${desk.gateway.url}/jobs/${id}`);
});

test('a running job shows its current work, is paused, resumed and cancelled; the list shows its state', async () => {
  fill('slow', ['one.bin', 'two.bin'], 'x'.repeat(3_000_000));
  const { job } = (await manage(page, 'POST', '/api/jobs', {
    type: 'copy',
    source: place('/slow'),
    destination: place('/slow-copy'),
    bytesPerSecond: 20_000,
  })) as { job: { id: string } };
  await page.goto(`/jobs/${job.id}`);
  await page
    .getByRole('link', { name: /copy (one|two)\.bin/ })
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Cancel …' }).click();
  await dialog().getByRole('button', { name: 'Cancel the job' }).click();
  await page.getByText('Cancelled', { exact: true }).waitFor();
  await page.getByText('2 files not done').waitFor();
  // The end of a file that was under way is recorded after that of the job, and changes none of its counts.
  await page.reload();
  await page.getByText('2 files not done').waitFor();

  await page.goto('/jobs');
  await page.getByRole('table', { name: 'Jobs' }).getByText('Copy /slow').waitFor();
  await page.getByLabel('State').selectOption('cancelled');
  await page.getByRole('link', { name: 'Monday copy' }).waitFor({ state: 'hidden' });
  assert.equal(await page.getByRole('table', { name: 'Jobs' }).getByRole('row').count(), 2);
  await page.getByLabel('Type').selectOption('delete');
  await page.getByText('No job matches the filters').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('link', { name: 'Monday copy' }).waitFor();
});

test('only the visible rows of many files are drawn, and further pages are loaded on scrolling', async () => {
  fill(
    'many',
    Array.from({ length: 450 }, (_, index) => `file-${String(index).padStart(3, '0')}.txt`),
  );
  const id = await runJob(page, { type: 'copy', dryRun: true, source: place('/many'), destination: place('/none') });
  await page.goto(`/jobs/${id}`);
  await page.getByText('200 loaded; scroll for more').waitFor();
  const files = page.getByRole('table', { name: 'Files' });
  assert.ok((await files.getByRole('row').count()) < 60, 'only the rows in sight are in the page');
  await files.getByRole('rowgroup', { name: 'Files of the job' }).focus();
  for (const shown of ['400 loaded', '450 in all']) {
    // The end of the loaded rows moves when more are loaded.
    const isThere = async (): Promise<boolean> => {
      await page.keyboard.press('End');
      return page.getByText(shown).isVisible();
    };
    await eventually(isThere, shown);
  }
  await page.getByLabel('Show').selectOption('failed');
  await page.getByText('No file is in this state.').waitFor();
  assert.deepEqual(window.faults, []);
});

test('beside a job of many files, each open screen requests a view at most once in two seconds', async () => {
  fill(
    'storm',
    Array.from({ length: 1_500 }, (_, n) => `${n}.csv`),
  );
  const { page: first, context } = await desk.open();
  await logIn(first);
  const order = { type: 'copy', source: place('/storm'), destination: place('/storm-copy') };
  const tabs = [first, await context.newPage(), await context.newPage()];
  const { job } = (await manage(first, 'POST', '/api/jobs', order)) as { job: { id: string } };
  const asked = new Map<string, number>();
  const begun = performance.now();
  for (const [number, screen] of ['/', '/transfers', `/jobs/${job.id}`].entries()) {
    const tab = tabs[number] ?? first;
    await tab.goto(screen);
    tab.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      const view = `${pathname}${search} of ${screen}`;
      if (request.resourceType() === 'fetch') asked.set(view, (asked.get(view) ?? 0) + 1);
    });
  }
  const isOver = async (): Promise<boolean> => {
    return (await manage(first, 'GET', `/manage/jobs/${job.id}`))['finishedAt'] !== null;
  };
  await eventually(isOver, 'the end of the job');
  const seconds = (performance.now() - begun) / 1_000;
  // The first request of a view, and another one when the job has ended.
  for (const [view, times] of asked) {
    assert.ok(times <= 2 + seconds / 2, `${view}: ${times} requests in ${seconds.toFixed(1)} s`);
  }
  await context.close();
});

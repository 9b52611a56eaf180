/**
 * A job on a phone, in the dark, with only the keyboard; and text of remote servers and tenants, which is never HTML.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { focusOf, logIn, manage, openDesk, tabIn, type Desk, type Window } from './browser.js';
import { runJob } from './furnish.js';
import { violations } from './inspection.js';
import { eventually } from '../support/eventually.js';

const WIDTH = 320;
/** The size of the slowest file: its copy takes as long as the steps of a test. */
const BYTES = 8_000_000;
const HOSTILE = '<img src=x onerror="document.title=1">';

let desk: Desk;
let window: Window;
let page: Page;

before(async () => {
  desk = await openDesk();
  window = await desk.open({ width: WIDTH, height: 640, scheme: 'dark' });
  ({ page } = window);
  await logIn(page);
});
after(() => desk.close());

const onDisk = (name: string): string => path.join(desk.sandboxFolder, name);
const place = (folder: string) => ({ connectionId: 'sandbox', path: folder });
const status = () => page.getByRole('status');
const bar = () => page.getByRole('progressbar', { name: 'Progress of Slow copy' });
const badge = (text: string) => page.getByText(text, { exact: true }).first().waitFor();

function fill(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(onDisk(folder), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(onDisk(`${folder}/${name}`), content);
}

async function fits(): Promise<void> {
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), WIDTH);
}

async function begin(body: object): Promise<string> {
  const { job } = (await manage(page, 'POST', '/api/jobs', body)) as { job: { id: string } };
  return job.id;
}

test('a running job shows its progress, speed and remaining time; it is paused, resumed, cancelled and repeated by keyboard', async () => {
  fill('slow', { 'a.bin': 'x'.repeat(100_000), 'b.bin': 'x'.repeat(BYTES), 'c.bin': 'x'.repeat(BYTES) });
  const id = await begin({
    type: 'copy',
    name: 'Slow copy',
    bytesPerSecond: 400_000,
    source: place('/slow'),
    destination: place('/slow-copy'),
  });
  await page.goto(`/jobs/${id}`);
  const share = async (): Promise<number> => Number((await bar().getAttribute('aria-valuenow')) ?? 0);
  await eventually(async () => (await share()) > 0, 'the bar moves');
  const before = await share();
  await eventually(async () => (await share()) > before, 'the bar moves on');
  await status().getByText('1 file copied').waitFor();
  await page.getByText('3 files found').waitFor();
  await page.getByText(/of 15\.4 MiB$/).waitFor();
  await page.getByText(/files\/s, .*iB\/s/).waitFor();
  // The average of completed files ignores those in progress, and would give minutes: it is 40 seconds.
  const left = page.locator('section', { has: status().getByText('1 file copied') }).getByText(/ left$/);
  await eventually(async () => /^[1-4]?\d(\.\d)? s left$/.test(await left.innerText()), 'the remaining time is shown');
  await page
    .getByRole('link', { name: /copy [bc]\.bin/ })
    .first()
    .waitFor();

  await tabIn(page, 'Pause');
  await page.keyboard.press('Enter');
  await badge('Paused');
  await page.getByRole('button', { name: 'Resume', disabled: false }).waitFor();
  assert.equal(await focusOf(page), 'Resume', 'the focus stays where it was');
  // It runs on only when it is resumed, so that these take no time of the job.
  await fits();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('Enter');
  await badge('Running');
  await tabIn(page, 'Cancel …');
  await page.keyboard.press('Enter');
  await tabIn(page, 'Cancel the job');
  await page.keyboard.press('Enter');
  await badge('Cancelled');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await fits();
  assert.deepEqual(await violations(page), []);

  await tabIn(page, 'Retry the failed files');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname !== `/jobs/${id}`);
  const again = page.url().split('/').at(-1) ?? '';
  await manage(page, 'POST', `/api/jobs/${again}/cancel`);
  await badge('Cancelled');
  await tabIn(page, 'Run again …');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New job', level: 1 }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Source folder' }).inputValue(), '/slow');
  await fits();
});

test('names of files, jobs and schedules, and texts of failures, are shown unchanged and never as HTML', async () => {
  const file = `${HOSTILE}.txt`;
  fill('hostile', { [file]: 'x' });
  const copy = { type: 'copy', name: HOSTILE, source: place('/hostile'), destination: place(`/to ${HOSTILE}`) };
  await runJob(page, copy);
  const failed = await runJob(page, { ...copy, onConflict: 'fail' });
  const made = await manage(page, 'POST', '/api/schedules', { name: HOSTILE, cron: '@daily', job: copy });
  const { id } = made['schedule'] as { id: string };
  for (const [screen, shown] of [
    [`/jobs/${failed}`, `/to ${HOSTILE}/${file} exists`],
    ['/jobs', `/to ${HOSTILE}`],
    [`/jobs/new?like=${failed}`, 'Copies each file'],
    ['/schedules', `/to ${HOSTILE}`],
    [`/schedules/${id}`, HOSTILE],
    [`/schedules/${id}/edit`, HOSTILE],
  ] as const) {
    await page.goto(screen);
    await page.getByText(shown).first().waitFor();
    assert.equal(await page.locator('img').count(), 0, screen);
    assert.notEqual(await page.title(), '1', screen);
    await fits();
  }
  assert.deepEqual(window.faults, []);
});

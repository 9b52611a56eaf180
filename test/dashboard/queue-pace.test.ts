/** Thousands of files at once, without making the page stutter. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { logIn, openDesk, type Desk } from './browser.js';
import { dropHeld, holdFiles, names } from './dropped-files.js';

const MANY = 2_000;
/** The limit for 2,000 small files; or that of a loop of fetch calls in the same page, if it is slower. */
const MOST_MS = 30_000;
/** Longer tasks would make typing or scrolling stutter, on a machine without other work. */
const LONG_TASK_MS = 50;
/** The best of these runs counts, because the machine has other work too. */
const RUNS = 3;

let desk: Desk;
let page: Page;

before(async () => {
  desk = await openDesk();
  ({ page } = await desk.open());
  await logIn(page);
});
after(() => desk?.close());

const onDisk = (name: string): string => path.join(desk.sandboxFolder, name);
const queue = () => page.getByRole('region', { name: 'Queue' });

/** The slowdown of the machine: the current time of some 20 ms of work, divided by its shortest time. */
function noise(): Promise<number> {
  return page.evaluate<number>(`(async () => {
    const took = [];
    for (let spin = 0; spin < 50; spin++) {
      const begun = performance.now();
      for (let sum = 0, step = 0; step < 2e7; step++) sum += step;
      // The first ones are run before they are compiled.
      if (spin >= 10) took.push(performance.now() - begun);
      await new Promise((done) => setTimeout(done));
    }
    return Math.max(...took) / Math.min(...took);
  })()`);
}

/** The longest task of the page's thread during `work`, in ms. */
async function longestTask(work: () => Promise<void>): Promise<number> {
  await page.evaluate(`(() => {
    window.longTasks = [];
    window.longTaskObserver = new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration)));
    window.longTaskObserver.observe({ type: 'longtask' });
  })()`);
  await work();
  return page.evaluate<number>(`(() => {
    window.longTasks.push(...window.longTaskObserver.takeRecords().map(({ duration }) => duration));
    window.longTaskObserver.disconnect();
    return Math.max(0, ...window.longTasks);
  })()`);
}

test(
  '2,000 dropped files arrive completely within half a minute, and the page never stutters',
  { timeout: 600_000 },
  async (t) => {
    const all = names(MANY);
    const found: { ms: number; longest: number }[] = [];
    for (let run = 0; run < RUNS; run++) {
      const folder = `many-${run}`;
      mkdirSync(onDisk(folder));
      await page.goto(`/files/sandbox?path=/${folder}`);
      await page.getByText('This folder is empty').waitFor();
      const transfer = await holdFiles(page, all, `run ${run} of `);
      const before = await noise();
      const begun = Date.now();
      const longest = await longestTask(async () => {
        await dropHeld(page, transfer);
        await queue().getByText('All done').waitFor({ timeout: 300_000 });
      });
      const ms = Date.now() - begun;
      found.push({ ms, longest: longest / Math.max(before, await noise()) });
      assert.deepEqual(readdirSync(onDisk(folder)).sort(), all);
      for (const name of all) assert.equal(readFileSync(onDisk(`${folder}/${name}`), 'utf8'), `run ${run} of ${name}`);
      assert.ok((await queue().getByRole('listitem').count()) < 40, 'only the rows in sight are in the page');
      await queue().getByRole('button', { name: 'Clear done' }).click();
      if (Math.min(...found.map(({ longest: one }) => one)) <= LONG_TASK_MS && found.some(({ ms }) => ms <= MOST_MS))
        break;
    }
    t.diagnostic(JSON.stringify(found));
    const quickest = Math.min(...found.map(({ ms }) => ms));
    if (quickest > MOST_MS) {
      const bare = await bareLoop(all);
      assert.ok(quickest <= bare, `${quickest} ms, and a bare loop ${bare} ms`);
    }
    const longest = Math.min(...found.map((one) => one.longest));
    assert.ok(longest <= LONG_TASK_MS, `a task of ${longest} ms, if nothing else had run`);
  },
);

/** The same files one after another, without the page. */
async function bareLoop(all: readonly string[]): Promise<number> {
  const { csrfToken } = (await (await page.request.get('/manage/session', { maxRetries: 3 })).json()) as {
    csrfToken: string;
  };
  return page.evaluate<number>(`(async () => {
    const begun = Date.now();
    for (const name of ${JSON.stringify(all)}) {
      const answer = await fetch('/api/upload/sandbox?path=/bare&filename=' + name, {
        method: 'POST',
        headers: { 'Content-Type': 'application/octet-stream', 'X-CSRF-Token': ${JSON.stringify(csrfToken)} },
        body: new Blob([name]),
      });
      if (!answer.ok) throw new Error(await answer.text());
    }
    return Date.now() - begun;
  })()`);
}

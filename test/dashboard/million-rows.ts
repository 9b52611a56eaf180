/**
 * Measures how long the overview takes to be shown, and how long the transfers screen takes for its filters, over a
 * history of a million rows. By hand, after `npm run build`: node dist/test/dashboard/million-rows.js [rows]
 */
import { startPostgres } from '../servers/postgres.js';
import { EMAIL, logIn, openDesk } from './browser.js';
import { fillHistory } from './history.js';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const TRIES = 7;
const DAYS = 90;

/** As in the address of the screen, from the widest filter to the one that matches hardly any row. */
const FILTERS: readonly (readonly [what: string, query: string])[] = [
  ['none', ''],
  ['status failed', 'status=failed'],
  ['status done', 'status=success'],
  ['type upload', 'type=upload'],
  ['direction', 'direction=inbound'],
  ['connection', 'connectionId=sandbox'],
  ['connection without a row', 'connectionId=nothing'],
  ['part of a name, common', 'search=report'],
  ['part of a name, one row, newest tenth', 'search=0001234'],
  ['part of a name, no row (a page of 50,000)', 'search=no-such-name'],
  ['forty days, failed uploads', `since=${daysAgo(40)}&status=failed&type=upload`],
  ['without lists', 'lookups=false'],
  ['oldest first', 'order=oldest'],
  ['largest first', 'order=largest'],
  ['largest first, one connection', 'order=largest&connectionId=archive'],
  ['longest first', 'order=longest'],
  ['error code', 'errorCode=permission_denied'],
  ['request id, no row (a page of 50,000)', 'requestId=nobody'],
];

/** The requests of the overview. */
const ANSWERS = [
  '/manage/overview?timeZone=Europe%2FBerlin',
  '/manage/figures?range=24h&timeZone=Europe%2FBerlin',
  '/manage/figures?range=90d&timeZone=Europe%2FBerlin',
  '/manage/account',
  '/manage/transfers?limit=8&lookups=false',
];

/** From another screen, with no cached data: until the tiles, the attention list and all charts are shown. */
const SHOWING = `(async () => {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const begin = performance.now();
  history.pushState(null, '', '/');
  const isShown = () => document.querySelector('.tiles') && document.querySelectorAll('figure.chart').length >= 3;
  while (!isShown()) await pause(1);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - begin;
})()`;

const server = await startPostgres();
const desk = await openDesk({ database: { url: server.url } });
try {
  await fillHistory(server.url, EMAIL, ROWS, DAYS);
  const { page } = await desk.open();
  await logIn(page);
  console.log(`${ROWS} rows; milliseconds, median and worst of ${TRIES}\n`);
  for (const path of ANSWERS)
    console.log(`${path.padEnd(60)} ${figures(await repeat(() => page.evaluate<number>(asking(path))))}`);
  const shown = await repeat(async () => {
    // After a reload, the page has no data of the overview.
    await page.goto('/settings');
    await page.getByText('Colours').waitFor();
    return page.evaluate<number>(SHOWING);
  });
  console.log(`${'the overview is shown, from a link'.padEnd(60)} ${figures(shown)}`);
  const loads = await repeat(async () => {
    await page.goto('/');
    await page.getByRole('figure', { name: 'Throughput' }).waitFor();
    return page.evaluate<number>(`performance.now()`);
  });
  console.log(`${'the overview is shown, the page loaded anew'.padEnd(60)} ${figures(loads)}\n`);
  await page.goto('/transfers');
  await page.getByText('Show older').waitFor();
  console.log(
    `Filters of the transfers; milliseconds, median and worst of ${TRIES}: the answer, and until the page shows it\n`,
  );
  for (const [what, query] of FILTERS) {
    const answers: number[] = [];
    const drawn: number[] = [];
    for (let tries = 0; tries < TRIES; tries++) {
      // A new limit each time, so that no answer comes from the page's cache.
      const path = `/manage/transfers?${query}&limit=${50 + tries}`;
      answers.push(await page.evaluate<number>(asking(path)));
      drawn.push(await page.evaluate<number>(changeFilters(query)));
    }
    console.log(`${what.padEnd(46)} ${figures(answers)}   ${figures(drawn)}`);
  }
} finally {
  await desk.close();
  await server.stop();
}

async function repeat(once: () => Promise<number>): Promise<readonly number[]> {
  const all: number[] = [];
  for (let tries = 0; tries < TRIES; tries++) all.push(await once());
  return all;
}

function asking(path: string): string {
  return `(async () => {
    const begin = performance.now();
    await (await fetch(${JSON.stringify(path)})).json();
    return performance.now() - begin;
  })()`;
}

/** Changes the address like a choice in the bar; resolves once the first answer to it has been drawn. */
function changeFilters(query: string): string {
  return `(async () => {
    const go = (to) => history.pushState(null, '', '/transfers' + to);
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    go('');
    await pause(300);
    performance.clearResourceTimings();
    // A bound in the future takes nothing away, and has not been asked for before.
    const until = encodeURIComponent(new Date(Date.now() + 1e7 + Math.random() * 1e9).toISOString());
    const begin = performance.now();
    go('?${query}&until=' + until);
    while (!performance.getEntriesByType('resource').some(({ name }) => name.includes(until))) await pause(1);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return performance.now() - begin;
  })()`;
}

function figures(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const text = (value: number | undefined): string => (value ?? 0).toFixed(0).padStart(4);
  return `${text(sorted[Math.floor(sorted.length / 2)])} ${text(sorted.at(-1))}`;
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

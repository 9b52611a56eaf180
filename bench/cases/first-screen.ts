/** The dashboard's first screen on a slow line and a slow processor, with nothing in the browser's cache. */
import type { Browser, BrowserContext } from 'playwright-core';
import { logIn, openDesk } from '../../test/dashboard/browser.js';
import { LARGEST_PAINT, LOADED, noteWhenShown, type Loaded } from '../../test/dashboard/first-load.js';
import { furnish } from '../../test/dashboard/furnish.js';
import type { Lab } from '../lab/lab.js';
import type { BenchCase, CaseOptions, Scenario, Work } from '../scenario.js';

const LINE = { kilobitsPerSecond: 1_600, roundTripMs: 150 } as const;
const SLOWER_PROCESSOR = 4;
const WITHIN_MS = 2_000;
const LOADS = { quick: 1, full: 5 } as const;
const HEADING = 'Latest transfers';

export const firstScreen: BenchCase = {
  name: 'first-screen',
  title: 'the dashboard on a slow line',
  about:
    `An owner who is logged in opens the Overview of a furnished account in Chromium with an empty cache, on a line of ` +
    `${LINE.kilobitsPerSecond / 1000} Mbit/s and ${LINE.roundTripMs} ms, with a processor ${SLOWER_PROCESSOR} times slower. ` +
    'A latency is the largest contentful paint; the browser and the gateway share the cores.',
  scenarios,
};

async function* scenarios(_lab: Lab, { quick }: CaseOptions): AsyncGenerator<Scenario> {
  const desk = await openDesk({});
  try {
    const { page, context } = await desk.open();
    await logIn(page);
    await furnish(page);
    yield {
      name: 'Overview, largest contentful paint',
      unit: 'ops/s',
      contenders: [
        {
          name: 'dashboard',
          run: () => load(desk.browser, desk.gateway.url, context, quick ? LOADS.quick : LOADS.full),
        },
      ],
      goals: [{ kind: 'p99', atMostMs: WITHIN_MS }],
    };
  } finally {
    await desk.close();
  }
}

async function load(browser: Browser, url: string, login: BrowserContext, times: number): Promise<Work> {
  const latenciesMs: number[] = [];
  let bytes = 0;
  for (let time = 0; time < times; time += 1) {
    const context = await browser.newContext({
      baseURL: url,
      storageState: await login.storageState(),
      locale: 'en-GB',
    });
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    const bytesPerSecond = (LINE.kilobitsPerSecond * 1000) / 8;
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: LINE.roundTripMs,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER_PROCESSOR });
    await page.addInitScript(noteWhenShown(HEADING));
    await page.goto('/');
    latenciesMs.push(await page.evaluate<number>(LARGEST_PAINT));
    bytes += (await page.evaluate<Loaded>(LOADED)).bytes;
    await context.close();
  }
  return { operations: times, bytes, latenciesMs };
}

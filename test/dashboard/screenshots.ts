/**
 * Pictures of every screen, light and dark, wide and narrow, in docs/screenshots. By hand, after `npm run build`: node
 * dist/test/dashboard/screenshots.js [folder [png]]; WIDTHS=375,768,1440 takes other sizes, for inspection.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startPostgres } from '../servers/postgres.js';
import { EMAIL, logIn, NEWCOMER, openDesk } from './browser.js';
import { EMPTY_SCREENS, furnish, type Screen } from './furnish.js';
import { fillHistory } from './history.js';
import { startSlowUpload } from './outside.js';

const folder = process.argv[2] ?? 'docs/screenshots';
const format = process.argv[3] === 'png' ? 'png' : 'webp';
const SIZES =
  process.env['WIDTHS']?.split(',').map((width) => [width, Number(width), 900] as const) ??
  ([
    ['wide', 1280, 800],
    ['narrow', 320, 640],
  ] as const);
const QUALITY = 55;
const ROWS = 1_900;
const DAYS = 19;

const server = await startPostgres();
const desk = await openDesk({ database: { url: server.url } });
try {
  mkdirSync(folder, { recursive: true });
  const first = await desk.open();
  await logIn(first.page);
  await fillHistory(server.url, EMAIL, ROWS, DAYS);
  const screens = await furnish(first.page);
  // Runs until the gateway ends.
  (await startSlowUpload(desk, first, 'backup.tar')).status.catch(() => undefined);
  for (const scheme of ['light', 'dark'] as const) {
    for (const [size, width, height] of SIZES) {
      const { page, context } = await desk.open({ width, height, scheme });
      await page.goto('/');
      await page.getByRole('heading', { name: 'File Transfer Gateway' }).waitFor();
      await shoot(page, `login-${scheme}-${size}`);
      await logIn(page);
      await shootAll(page, screens, `${scheme}-${size}`);
      await context.close();
    }
  }
  const newcomer = await desk.open();
  await logIn(newcomer.page, NEWCOMER);
  await shootAll(newcomer.page, EMPTY_SCREENS.slice(0, 2), 'light-wide');
} finally {
  await desk.close();
  await server.stop();
}

async function shootAll(page: Page, screens: readonly Screen[], scheme: string): Promise<void> {
  for (const { name, path, ready } of screens) {
    await page.goto(path);
    await ready(page);
    await shoot(page, `${name}-${scheme}`);
  }
}

/** WebP has a third of the size of PNG; only the browser's own protocol can make it. */
async function shoot(page: Page, name: string): Promise<void> {
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', {
    format,
    ...(format === 'webp' ? { quality: QUALITY } : {}),
  });
  await session.detach();
  writeFileSync(join(folder, `${name}.${format}`), Buffer.from(data, 'base64'));
}

/**
 * Requirements of every screen: accessible by the rules of axe, within the security policy, nothing wider than 320 px,
 * and there no text of a row below its buttons.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { logIn, openDesk, type Desk } from './browser.js';
import { furnish, type Screen } from './furnish.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };
/** Those of RULES that depend on colours. */
const COLOUR_RULES = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** Navigates inside the page, like a link. */
async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
}

/** The violations, each with the elements at fault; `within` a selector, or on the whole page. */
export async function violations(page: Page, within = 'html', rules = RULES): Promise<readonly string[]> {
  // Run by the debugger, to which the page's policy does not apply.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(AXE);
  const found = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(within)}, ${JSON.stringify({ runOnly: rules, resultTypes: ['violations'] })})`,
  );
  return found.violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join('; ')}`,
  );
}

/** The texts of rows that lie below a button of their row. */
const COVERED = `[...document.querySelectorAll('tbody tr')].flatMap((row) => {
  const boxOf = (one) => {
    const text = document.createRange();
    text.selectNodeContents(one);
    return (getComputedStyle(one).overflow === 'visible' ? text : one).getBoundingClientRect();
  };
  const [buttons, texts] = ['.acts :is(a, button)', 'td:not(.acts) :not(:has(*), :empty)'].map((selector) =>
    [...row.querySelectorAll(selector)].map((one) => ({ one, box: boxOf(one) })),
  );
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return texts.filter(({ box }) => buttons.some((button) => meet(box, button.box))).map(({ one }) => one.textContent);
})`;

async function open(page: Page, { path, ready }: Screen): Promise<void> {
  await visit(page, path);
  await ready(page);
}

export async function inspect(page: Page, screen: Screen): Promise<void> {
  const { name } = screen;
  await open(page, screen);
  assert.deepEqual(await violations(page), [], name);
  await page.setViewportSize({ width: 320, height: 640 });
  // The screen learns its new width with a frame, and is drawn again with the next one.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))');
  const width = await page.evaluate('document.documentElement.scrollWidth');
  assert.equal(width, 320, `${name} is wider than 320 pixels`);
  assert.deepEqual(await page.evaluate(COVERED), [], `${name} at 320 pixels`);
  await page.setViewportSize({ width: 1280, height: 800 });
}

/**
 * Tests all screens of a full account, and the dialogs on them; returns its desk for further tests. The schemes differ in
 * their colours only, so those are all that is tested of the dark one.
 */
export function inspectFurnished(scheme: 'light' | 'dark'): () => Desk {
  const isWhole = scheme === 'light';
  let desk: Desk;
  let screens: readonly Screen[];
  const assertAccessible = async (page: Page, name: string): Promise<void> =>
    assert.deepEqual(await violations(page, 'html', isWhole ? RULES : COLOUR_RULES), [], name);

  before(async () => {
    desk = await openDesk();
    const { page, context } = await desk.open();
    await logIn(page);
    screens = await furnish(page);
    await context.close();
  });
  after(() => desk.close());

  test(`axe finds nothing on any screen, ${scheme}`, async () => {
    const { page, context, faults } = await desk.open({ scheme });
    await page.goto('/');
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    await assertAccessible(page, 'login');
    await logIn(page);
    for (const screen of screens) {
      if (isWhole) await inspect(page, screen);
      else {
        await open(page, screen);
        await assertAccessible(page, screen.name);
      }
    }
    for (const [path, button] of [
      ['/keys', 'Issue a key'],
      ['/watched', 'Watch a folder'],
      ['/webhooks', 'Add a webhook'],
      ['/links', 'Make a link'],
      ['/events', /^Open event/],
      ['/files/sandbox?path=/', 'New folder'],
      ['/files/sandbox?path=/', 'orders.json'],
      ['/settings', 'Switch on'],
    ] as const) {
      await page.goto(path);
      await page.getByRole('button', { name: button, exact: true }).first().click();
      await page.getByRole('dialog').waitFor();
      await page.evaluate(`document.querySelector('[role="dialog"] details')?.setAttribute('open', '')`);
      await assertAccessible(page, `${String(button)} on ${path}`);
    }
    await page.goto('/jobs/new');
    await page.getByRole('textbox', { name: 'Source folder' }).fill('/reports');
    await page.getByRole('textbox', { name: 'Destination folder' }).fill('/archive');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('table', { name: 'Files of the dry run' }).waitFor();
    await assertAccessible(page, 'the dry run of a job');
    assert.deepEqual(faults, []);
    await context.close();
  });
  return () => desk;
}

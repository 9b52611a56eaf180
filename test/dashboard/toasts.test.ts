/** No toast covers the focused control, or a button of the open dialog, at any width. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { KEEP_TOASTS, logIn, openDesk, type Desk, type Window } from './browser.js';

/** A focused control is scrolled into view with one of the next frames, and the toasts follow with another. */
const FRAMES = 10;
/** Focuses each control in turn. Returns the names of what the toasts cover even then. */
const COVERED = (within: string) => `(async () => {
  const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
  const nameOf = (one) => one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent;
  const scope = document.querySelector(${JSON.stringify(within)});
  const isCovered = (one) => {
    const [seen, edges] = [one, scope].map((element) => element.getBoundingClientRect());
    return [...document.querySelectorAll('.toast')].some((toast) => {
      const { left, top, right, bottom } = toast.getBoundingClientRect();
      const isBeside = seen.right <= left || right <= seen.left;
      return !isBeside && Math.max(seen.top, edges.top) < bottom && top < Math.min(seen.bottom, edges.bottom);
    });
  };
  const found = [];
  for (const control of scope.querySelectorAll('input, select, textarea, button')) {
    if (!control.checkVisibility()) continue;
    control.focus();
    const needed = [control, ...(scope.matches('[role="dialog"]') ? scope.querySelectorAll('button') : [])].filter((one) => one.checkVisibility());
    for (let frames = 0; frames === 0 || (frames < ${FRAMES} && needed.some(isCovered)); frames++) await frame();
    found.push(...needed.filter(isCovered).map((one) => nameOf(control) + ': ' + nameOf(one)));
  }
  if (document.querySelector('.toast') === null) throw new Error('the toast has gone');
  return found;
})()`;

let desk: Desk;
let first: Window;

before(async () => {
  desk = await openDesk();
  first = await desk.open();
  await logIn(first.page);
});
after(() => desk?.close());

async function covered(page: Page, within: string): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(COVERED(within));
}

for (const [width, height] of [
  [375, 667],
  [1280, 800],
  [2560, 1440],
] as const) {
  test(`a toast leaves the focused control and the dialog free at ${width} pixels`, async () => {
    const { page, context } = await desk.open({ width, height, loggedInLike: first.context });
    await page.addInitScript(KEEP_TOASTS);
    await page.goto('/settings');
    const save = page.getByRole('button', { name: 'Save alarms' });
    await save.click();
    await page.locator('.toast').waitFor();
    assert.deepEqual(await covered(page, 'main'), [], 'settings');
    for (const [path, button] of [
      ['/settings', 'Switch on'],
      ['/watched', 'Watch a folder'],
      ['/links', 'Make a link'],
      ['/keys', 'Issue a key'],
    ] as const) {
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
      await page.getByRole('button', { name: button, exact: true }).first().click();
      await page.getByRole('dialog').waitFor();
      assert.deepEqual(await covered(page, '[role="dialog"]'), [], path);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await context.close();
  });
}

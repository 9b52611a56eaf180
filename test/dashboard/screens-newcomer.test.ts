/** The screens of a new, empty account. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { logIn, NEWCOMER, openDesk, type Desk } from './browser.js';
import { EMPTY_SCREENS } from './furnish.js';
import { inspect } from './inspection.js';

let desk: Desk;

before(async () => {
  desk = await openDesk();
});
after(() => desk.close());

test('axe finds no faults on the screens of a new account', async () => {
  const { page, context, faults } = await desk.open();
  await logIn(page, NEWCOMER);
  for (const screen of EMPTY_SCREENS) await inspect(page, screen);
  assert.deepEqual(faults, []);
  await context.close();
});

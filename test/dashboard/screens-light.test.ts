/** Every screen, light; and the files that the first screen loads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logIn } from './browser.js';
import { inspectFurnished } from './inspection.js';

const MAX_FIRST_LOAD = 140_000;
const desk = inspectFurnished('light');

test('the first load is small, contacts no other host, and leaves no secret behind', async () => {
  const { page, context, faults, wireBytes } = await desk().open();
  await page.goto('/');
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  const loaded = await wireBytes();
  assert.ok(loaded < MAX_FIRST_LOAD, `${loaded} bytes`);
  await logIn(page);
  await page.getByText('Latest transfers').waitFor();
  assert.deepEqual(faults, []);
  const kept = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  );
  assert.equal(kept, '[{},{},""]');
  assert.equal(page.url(), `${desk().gateway.url}/`);
  await context.close();
});

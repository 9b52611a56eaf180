/** Every screen, light; and the files that the first screen loads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logIn } from './browser.js';
import { LOADED, noteWhenShown, type Loaded } from './first-load.js';
import { inspectFurnished } from './inspection.js';

const MOST_BYTES = 140_000;
const MOST_REQUESTS = 20;
const desk = inspectFurnished('light');

test('the first load, up to the overview, is small', async () => {
  const { page, context } = await desk().open();
  await logIn(page);
  for (const [locale, heading] of [
    ['en-GB', 'Latest transfers'],
    ['de-DE', 'Letzte Übertragungen'],
  ] as const) {
    const first = await desk().open({ locale, loggedInLike: context });
    await first.page.addInitScript(noteWhenShown(heading));
    await first.page.goto('/');
    await first.page.getByText(heading).waitFor();
    const { answers, bytes } = await first.page.evaluate<Loaded>(LOADED);
    assert.ok(bytes <= MOST_BYTES, `${bytes} bytes: ${locale}`);
    assert.ok(answers <= MOST_REQUESTS, `${answers} requests: ${locale}`);
    await first.context.close();
  }
  await context.close();
});

test('the page contacts no other host, and leaves no secret behind', async () => {
  const { page, context, faults } = await desk().open();
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

/** In German, no screen gives an English reason: the reason follows from the code, and the server's words are a detail. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { ErrorCode } from '../../src/contract/errors.js';
import { advice } from '../../src/contract/de/advice.js';
import { errors } from '../../src/contract/de/errors.js';
import { eventually } from '../support/eventually.js';
import { logIn, manage, openDesk, type Desk } from './browser.js';
import { furnish, runJob, type Screen } from './furnish.js';

interface Reason {
  readonly text: string;
  readonly code: string;
}
type Answer = Readonly<Record<string, unknown>>;

let desk: Desk;
let page: Page;
let screens: readonly Screen[];
/** What has failed in the account, by the answers of the API. */
let reasons: readonly Reason[];

before(async () => {
  desk = await openDesk();
  const english = await desk.open();
  await logIn(english.page);
  const furnished = await furnish(english.page);
  const call = (method: string, path: string, body?: object) => manage(english.page, method, path, body);
  await call('POST', '/manage/connections/sandbox/duplicate', { name: 'Leaving', id: 'leaving' });
  const folder = { connectionId: 'leaving', path: '/reports', name: 'Never reached' };
  const { id } = (await call('POST', '/manage/watched-folders', folder)) as { id: string };
  const watched = `/manage/watched-folders/${id}`;
  await eventually(async () => (await call('GET', watched))['baselineAt'] !== null, 'the baseline');
  await call('PATCH', '/manage/connections/leaving', { password: 'not-right' });
  await call('POST', `${watched}/check`);
  await eventually(async () => (await call('GET', watched))['errorCode'] !== null, 'its check fails');
  const source = { connectionId: 'leaving', path: '/reports' };
  const destination = { connectionId: 'sandbox', path: '/archive' };
  const ended = await runJob(english.page, { type: 'copy', source, destination });
  screens = [
    ...furnished,
    { name: 'watched-folder-failing', path: `/watched/${id}`, ready: async () => undefined },
    { name: 'job-ended', path: `/jobs/${ended}`, ready: async () => undefined },
  ];
  ({ page } = await desk.open({ locale: 'de-DE', loggedInLike: english.context }));
  reasons = await reasonsIn(english.page, [
    '/manage/transfers?limit=100',
    '/manage/jobs',
    '/manage/overview?timeZone=UTC',
    '/manage/receivers',
    '/manage/schedules',
    '/manage/connections',
    '/manage/connections/partner/health',
    watched,
    `${watched}/checks`,
    ...furnished.flatMap(({ path }) => (/^\/deliveries\/\w/.test(path) ? [`/manage${path}/attempts`] : [])),
    ...furnished.flatMap(({ path }) => (/^\/jobs\/\w+-/.test(path) ? [`/api${path}/files`] : [])),
  ]);
});
after(() => desk.close());

async function reasonsIn(at: Page, paths: readonly string[]): Promise<readonly Reason[]> {
  const found: Reason[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { error, errorMessage, lastErrorMessage, errorCode, lastErrorCode } = value as Answer;
    const text = errorMessage ?? error ?? lastErrorMessage;
    const code = errorCode ?? lastErrorCode;
    if (typeof text === 'string' && typeof code === 'string') found.push({ text, code });
    for (const part of Object.values(value)) visit(part);
  };
  for (const path of paths) visit(await manage(at, 'GET', path));
  return [...new Map(found.map((reason) => [reason.text, reason])).values()];
}

/** Visible texts with a reason's words that are not marked as English. Bodies of messages are shown as they were sent. */
const englishTexts = (shown: Page) =>
  shown.evaluate<string[]>(`((texts) => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const at = node.parentElement;
      if (at.closest('[lang=en], pre') === null && texts.some((text) => node.data.includes(text))) found.push(node.data);
    }
    return found;
  })(${JSON.stringify(reasons.map(({ text }) => text))})`);

const meaningOf = (code: string): string => errors[code as ErrorCode].meaning;
const seen = (code: string) => page.getByText(meaningOf(code)).filter({ visible: true }).first().waitFor();

test('every reason of a failure has its German text, on every screen', { timeout: 900_000 }, async () => {
  const codes = new Set(reasons.map(({ code }) => code));
  assert.ok(codes.size >= 3 && reasons.length >= 5, `${[...codes].join()}: ${reasons.length} reasons`);
  for (const { name, path } of screens) {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await eventually(async () => (await page.locator('.skeleton').count()) === 0, 'it is loaded');
    assert.deepEqual(await englishTexts(page), [], name);
  }
});

test('a failed transfer, file, delivery, check and connection say why in German', { timeout: 900_000 }, async () => {
  const shown = (name: string): string => screens.find((one) => one.name === name)?.path ?? '';
  for (const [name, code] of [
    ['transfer-failed', 'not_found'],
    ['transfers', 'not_found'],
    ['job-failed', 'already_exists'],
    ['job-ended', 'login_refused'],
    ['delivery', 'unreachable'],
    ['watched-folder', 'unreachable'],
    ['watched-folder-failing', 'login_refused'],
    ['overview', 'login_refused'],
  ] as const) {
    await page.goto(shown(name));
    await seen(code);
  }
});

test('a failed test of a connection says why in German, step by step and beside the connection', async () => {
  await page.goto('/connections/partner');
  const panel = page.getByRole('region', { name: 'Verbindungstest' });
  await panel.getByRole('button', { name: 'Verbindung testen' }).click();
  const failed = page.locator('.test-step.failed');
  await failed.getByText(meaningOf('dns_failed')).waitFor();
  await failed.getByText(advice.dns_failed).waitFor();
  assert.deepEqual(await englishTexts(page), []);
  await page.goto('/');
  await page.getByRole('button', { name: 'Jetzt testen' }).first().click();
  await page
    .locator('.toast')
    .getByText(/lässt sich nicht auflösen|lehnt Benutzer/)
    .waitFor();
});

test('a form that the gateway refuses says why in German, with its own words below', async () => {
  const field = (name: RegExp) => page.getByRole('textbox', { name }).first();
  await page.goto('/connections/new');
  await field(/^Bezeichnung/).fill('Archive');
  await field(/^Server/).fill('sftp.partner.invalid');
  await field(/^Benutzername/).fill('acme');
  await page.locator('input[type=password]').first().fill('not-used');
  await field(/^Kennung/).fill('archive');
  await page.getByRole('button', { name: 'Verbindung speichern' }).click();
  const refusal = page.getByRole('alert');
  await refusal.getByText(meaningOf('already_exists')).waitFor();
  assert.match((await refusal.locator('[lang=en]').textContent()) ?? '', /archive/);
});

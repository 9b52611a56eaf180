/** The health of a connection on its page: a current and a past outage, times, and expiry dates. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { startTogether } from '../support/together.js';
import { inspect } from './inspection.js';
import { EMAIL, logIn, manage, openDesk, PASSWORD, type Desk } from './browser.js';

const DAY_MS = 86_400_000;

let servers: TestServer[];
let proxy: Proxy;
let desk: Desk;
let page: Page;

before(async () => {
  const secured = FTP_SERVERS.find(({ name }) => name === 'pure-ftpd, explicit TLS');
  servers = await startTogether([SFTP_SERVERS[0], secured].map((entry) => entry?.start() as Promise<TestServer>));
  const [sftp, ftps] = servers.map(({ connection }) => connection);
  proxy = await startProxy(Number(sftp?.['port']));
  const expiresAt = new Date(Date.now() + DAY_MS).toISOString();
  desk = await openDesk({
    health: { everySeconds: 1 },
    pools: { default: { idleTimeoutMs: 1_000 } },
    accounts: [
      {
        email: EMAIL,
        plan: 'pro',
        password: PASSWORD,
        apiKeys: [{ name: 'nightly', key: 'ftg_nightly-key-0123456789-abcd', expiresAt, connections: ['drop'] }],
        connections: [
          { id: 'drop', name: 'Drop box', ...sftp, port: proxy.port },
          { id: 'secured', name: 'Secured', ...ftps },
        ],
      },
    ],
  });
  ({ page } = await desk.open());
  await logIn(page);
});
after(async () => {
  await desk?.close();
  await Promise.all([proxy, ...(servers ?? [])].map((one) => one?.stop()));
});

const state = async (id: string): Promise<unknown> =>
  (await manage(page, 'GET', `/manage/connections/${id}/health`))['state'];
const panel = () => page.locator('section', { has: page.getByRole('heading', { name: 'Health', exact: true }) });

test('an outage is shown while it lasts, and later with its start and end', { timeout: 900_000 }, async () => {
  await eventually(async () => (await state('drop')) === 'up', 'it is up');
  await page.goto('/connections/drop');
  await panel().getByText('Up', { exact: true }).waitFor();
  await panel().getByRole('table', { name: 'Availability' }).getByText('100%').first().waitFor();
  await panel()
    .getByText(/^(ssh-|ecdsa-).*seen since/)
    .waitFor();
  await panel().getByRole('link', { name: 'nightly' }).waitFor();
  proxy.isDown = true;
  proxy.fail('reset');
  await eventually(async () => (await state('drop')) === 'down', 'it is down');
  await page.reload();
  await panel()
    .getByText(/^Down since/)
    .first()
    .waitFor();
  await panel().getByText('connection reset').or(panel().getByText('ECONNRESET')).first().waitFor();
  await page.goto('/');
  await page.getByRole('heading', { name: /^\d+ problems? since .*\d\d:\d\d/ }).waitFor();
  await page.goto('/connections/drop');
  proxy.isDown = false;
  await eventually(async () => (await state('drop')) === 'up', 'it is up again');
  await page.reload();
  await panel().getByText('Up', { exact: true }).waitFor();
  const words = await panel().getByRole('list', { name: 'Outages' }).getByRole('listitem').allInnerTexts();
  assert.equal(words.length, 1);
  assert.match(words[0] ?? '', /own from .*\d\d:\d\d to .*\d\d:\d\d/);
  assert.equal(await panel().getByText('100%').count(), 0, 'less than all is not shown as all');
  const ready = () => panel().getByText('Up', { exact: true }).waitFor();
  await inspect(page, { name: 'connection-health', path: '/connections/drop', ready });
});

test('a certificate shows its subject and its expiry', { timeout: 900_000 }, async () => {
  await eventually(async () => (await state('secured')) === 'up', 'it is up');
  await page.goto('/connections/secured');
  await panel().getByText('localhost, by test authority').waitFor();
  await panel().getByText('expires soon').waitFor();
});

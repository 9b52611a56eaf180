/** Forms say at each field what is wrong and what would be correct. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { focusOf, goWithoutDrafts, logIn, openDesk, type Desk, type Window } from './browser.js';
import { violations } from './inspection.js';

let desk: Desk;
let window: Window;
let page: Page;

before(async () => {
  desk = await openDesk();
  window = await desk.open();
  ({ page } = window);
  await logIn(page);
});
after(() => desk.close());

type Wrong = readonly [label: string, value: string, message: RegExp];

interface Form {
  readonly name: string;
  readonly open: () => Promise<void>;
  /** The button that sends the form. */
  readonly verb: string;
  /** Required fields in their order. */
  readonly missing: readonly string[];
  readonly wrong: readonly Wrong[];
}

const inDialog = (address: string, button: string) => async (): Promise<void> => {
  await goWithoutDrafts(page, address);
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('dialog').waitFor();
};
const at =
  (address: string, ...choices: readonly string[]) =>
  async (): Promise<void> => {
    await goWithoutDrafts(page, address);
    for (const choice of choices) await page.getByRole('radio', { name: choice, exact: true }).check();
  };
/** What moved without an input of the user, after a form was there. */
const MOVED = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const moves = new PerformanceObserver(() => undefined);
  moves.observe({ type: 'layout-shift', buffered: true });
  resolve(moves.takeRecords().flatMap(({ sources }) => sources)
    .filter(({ node }) => node?.parentElement?.closest('form'))
    .map(({ node }) => node.outerHTML.slice(0, 200)));
})))`;
const HTTP = /begins with http:\/\/ or https:\/\//;
const GLOB = /A pattern such as \*\.csv/;

const FORMS: readonly Form[] = [
  {
    name: 'a connection with a password',
    open: at('/connections/new'),
    verb: 'Save the connection',
    missing: ['Name', 'Host', 'User name'],
    wrong: [
      ['Host', 'gopher://files.example.com', /without a protocol/],
      ['Host', 'files example.com', /no spaces/],
      ['Host', 'files..example.com', /A host name such as/],
      ['Port', '70000', /From 1 to 65535/],
      ['Port', '22a', /A whole number/],
      ['Id', 'With Space', /lower-case letters, digits/],
      ['Root folder', 'incoming', /begins with \//],
      ['Host key fingerprints', 'MD5:11:22', /“MD5:11:22”: A fingerprint: SHA256:/],
      ['Proxy', 'proxy.example.com', /http:\/\/host:port or socks5/],
    ],
  },
  {
    name: 'a connection with a private key',
    open: at('/connections/new', 'Private key'),
    verb: 'Save the connection',
    missing: ['Name', 'Host', 'User name'],
    wrong: [
      ['Private key', 'ssh-ed25519 AAAAC3Nza gw@host', /This is a public key/],
      ['Private key', 'hunter2', /A private key in the format of OpenSSH, PEM or PuTTY/],
      ['Private key', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none', /The end of the key is missing/],
    ],
  },
  {
    name: 'a connection to S3',
    open: at('/connections/new', 'S3'),
    verb: 'Save the connection',
    missing: ['Name'],
    wrong: [['Endpoint', 's3.example.com', /An http or https address/]],
  },
  {
    name: 'a job',
    open: at('/jobs/new'),
    verb: 'Start the job',
    missing: ['Source folder', 'Destination folder'],
    wrong: [
      ['Only files matching', '[a-', GLOB],
      ['Minimum size', '10 bananas', /A number and a unit/],
      ['Webhook to call at the end', 'example.com/hook', HTTP],
    ],
  },
  {
    name: 'a watched folder',
    open: inDialog('/watched', 'Watch a folder'),
    verb: 'Watch the folder',
    missing: ['Folder'],
    wrong: [
      ['Check every (minutes)', '0', /From 1 to 1440/],
      ['Only files matching', '*.{csv', GLOB],
      ['Webhook', 'hooks.example.com', HTTP],
    ],
  },
  {
    name: 'a webhook',
    open: inDialog('/webhooks', 'Add a webhook'),
    verb: 'Add the webhook',
    missing: ['URL'],
    wrong: [['URL', 'hooks.example.com', HTTP]],
  },
  {
    name: 'a key',
    open: inDialog('/keys', 'Issue a key'),
    verb: 'Issue the key',
    missing: ['Name'],
    wrong: [['Expires', '2001-01-01T10:00', /A time in the future/]],
  },
  {
    name: 'a link',
    open: inDialog('/links', 'Make a link'),
    verb: 'Make the link',
    missing: ['Folder that takes the files'],
    wrong: [['SHA-256', 'abc', /64 hexadecimal digits/]],
  },
];

/** The form, which may be in a dialog. */
const form = (): Locator => page.locator('form:has(button[type=submit])').last();
/** The label of a required field ends with that word. */
const field = (label: string): Locator =>
  form()
    .getByLabel(new RegExp(`^${label.replace(/[()]/g, '\\$&')}(?:required)?$`))
    .and(page.locator('input:not([type=radio], [type=checkbox]), textarea, select'));

/** What is described at the field, as a screen reader reads it. */
async function describedAt(input: Locator): Promise<string> {
  const ids = ((await input.getAttribute('aria-describedby')) ?? '').split(' ').filter(Boolean);
  const texts = await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).textContent()));
  return texts.join(' ');
}

for (const { name, open, verb, missing, wrong } of FORMS) {
  test(`${name}: what is missing is said at each field, and the focus goes to the first`, async () => {
    await open();
    await form().getByRole('button', { name: verb, exact: true }).click();
    for (const label of missing) {
      await field(label).and(page.locator('[aria-invalid=true]')).waitFor();
      assert.match(await describedAt(field(label)), /Fill in this field/, label);
    }
    assert.ok((await focusOf(page)).startsWith(missing[0] ?? ''), await focusOf(page));
    assert.deepEqual(await violations(page), []);
    await field(missing[0] ?? '').fill('/typed');
    assert.doesNotMatch(await describedAt(field(missing[0] ?? '')), /Fill in this field/);
  });

  test(`${name}: a wrong value is said at its field while the user types`, async () => {
    await open();
    await field(missing[0] ?? '').waitFor();
    await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
    for (const [label, value, message] of wrong) {
      const input = field(label);
      await input.fill(value);
      await input.blur();
      await input.and(page.locator('[aria-invalid=true]')).waitFor();
      assert.match(await describedAt(input), message, `${label}: ${value}`);
      await input.fill('');
      assert.equal(
        (await input.and(page.locator(`[aria-invalid=true]`)).count()) > 0 && message.test(await describedAt(input)),
        false,
        `${label} is empty`,
      );
    }
    assert.deepEqual(window.faults, []);
  });
}

test('nothing in a form moves once it is drawn: the press of a mouse would miss', async () => {
  const { page: fresh, context } = await desk.open({ loggedInLike: window.context });
  for (const address of ['/connections/new', '/jobs/new', '/schedules/new']) {
    await fresh.goto(address);
    await fresh.locator('button[type=submit]').last().waitFor();
    // The explanations of terms come last.
    await fresh.locator('button.term').first().waitFor({ state: 'attached' });
    const moved = await fresh.evaluate<readonly string[]>(MOVED);
    assert.deepEqual(moved, [], address);
  }
  await context.close();
});

describe('single fields', () => {
  test('an encrypted key needs its passphrase', async () => {
    await at('/connections/new', 'Private key')();
    await field('Private key').fill('-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----');
    await field('Name').fill('Encrypted');
    await form().getByRole('button', { name: 'Save the connection' }).click();
    assert.match(await describedAt(field('Key passphrase')), /Enter its passphrase/);
    await field('Key passphrase').fill('x ');
    assert.match(await describedAt(field('Key passphrase')), /begins or ends with a space/);
  });

  test('a webhook needs events', async () => {
    await inDialog('/webhooks', 'Add a webhook')();
    await field('URL').fill('https://example.com/hook');
    for (const event of ['transfer.failed', 'connection.down', 'connection.up'])
      await form().getByLabel(event).uncheck();
    await form().getByRole('button', { name: 'Add the webhook' }).click();
    await form().getByText('Choose at least one.').waitFor();
    await form().getByLabel('job.finished').check();
    await form().getByText('Choose at least one.').waitFor({ state: 'hidden' });
  });

  test('a cron that cannot be right says which part, and a good one is said in words', async () => {
    await goWithoutDrafts(page, '/schedules/new');
    await page.getByLabel('How often').selectOption('cron');
    const cron = field('Cron');
    for (const [text, message] of [
      ['30 2 * *', /There are 4/],
      ['30 25 * * *', /The hour is a number from 0 to 23.*not “25”/],
      ['30 2 * * mondays', /The day of the week/],
      ['@often', /@hourly, @daily/],
    ] as const) {
      await cron.fill(text);
      await cron.blur();
      await cron.and(page.locator('[aria-invalid=true]')).waitFor();
      assert.match(await describedAt(cron), message, text);
    }
    await cron.fill('30 2 * * mon-fri');
    await page.getByText('At 02:30, Monday through Friday').waitFor();
    await field('Time zone').fill('Middle/Earth');
    await field('Time zone').blur();
    assert.match(await describedAt(field('Time zone')), /Europe\/Berlin or UTC/);
  });

  test('the texts are German in a German page', async () => {
    const german = await desk.open({ locale: 'de-DE', loggedInLike: window.context });
    await german.page.goto('/connections/new');
    await german.page.getByRole('button', { name: 'Verbindung speichern' }).click();
    await german.page.getByText('Füllen Sie dieses Feld aus.').first().waitFor();
    await german.context.close();
  });
});

/** The main tasks of an owner, by mouse, against the real gateway. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import * as OTPAuth from 'otpauth';
import type { Page, Request } from 'playwright-core';
import { copied, EMAIL, logIn, manage, openDesk, PASSWORD, type Desk, type Window } from './browser.js';
import { openReceiver, startSlowUpload } from './outside.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';

const LARGE_BYTES = 200 * 1024 * 1024;
/** The rate, in bytes a second, of an upload that must not be complete before it is cancelled. */
const SLOW = 2 * 1024 * 1024;
/** The number of measured frames of scrolling. */
const STEPS = 60;
let desk: Desk;
let window: Window;
let page: Page;
let folder: string;

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'ftg-dashboard-files-'));
  desk = await openDesk();
  window = await desk.open();
  ({ page } = window);
  await logIn(page);
});
after(async () => {
  await desk.close();
  rmSync(folder, { recursive: true, force: true });
});

const onDisk = (name: string): string => path.join(desk.sandboxFolder, name);
const dialog = () => page.getByRole('dialog');

/** The large uploads that this browser remembers. */
const keptUrls = (): Promise<string[]> =>
  page.evaluate<string[]>(`new Promise((resolve, reject) => {
    const opened = indexedDB.open('ftg-uploads', 1);
    opened.onerror = reject;
    opened.onsuccess = () => {
      const all = opened.result.transaction('uploads').objectStore('uploads').getAll();
      all.onsuccess = () => resolve(all.result.map(({ url }) => url));
      all.onerror = reject;
      opened.result.close();
    };
  })`);

test('a connection is added, tested before and after it is saved, edited and deleted', async (t) => {
  const present = async () =>
    (await manage(page, 'GET', '/manage/connections'))['connections'] as {
      readonly id: string;
      readonly host: string;
      readonly port: number;
      readonly username: string;
    }[];
  const connections = await present();
  t.after(async () => {
    // The tests below need the sandbox as the only connection, even if this one fails.
    if ((await present()).some(({ id }) => id === 'mirror')) await manage(page, 'DELETE', '/manage/connections/mirror');
  });
  const sandbox = connections.find(({ id }) => id === 'sandbox');
  assert.ok(sandbox !== undefined);
  await page.goto('/connections');
  await page.getByRole('link', { name: 'Add a connection' }).click();
  await page.getByLabel('Name', { exact: false }).first().fill('Mirror');
  await page.getByRole('textbox', { name: 'Id' }).fill('mirror');
  await page.getByLabel('Host', { exact: false }).first().fill(sandbox.host);
  await page.getByLabel('Port').fill(String(sandbox.port));
  await page.getByLabel('User name').fill(sandbox.username);
  await page.getByLabel('Password').last().fill('wrong');
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('The test failed').waitFor();
  const failed = page.getByRole('listitem').filter({ hasText: 'Log in' });
  assert.match(await failed.innerText(), /Check user name and password/);
  await page.getByRole('button', { name: 'Save the connection' }).click();
  await page.getByRole('heading', { name: 'Mirror' }).waitFor();

  /** The request of an edit. */
  const saved = async (): Promise<unknown> => {
    const answer = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await page.getByRole('button', { name: 'Save changes' }).click();
    return (await answer).request().postDataJSON() as unknown;
  };
  await page.getByLabel('Name', { exact: false }).first().fill('Mirror of the sandbox');
  await page.getByText('Limits and server options').click();
  await page.getByLabel('Maximum sessions', { exact: true }).fill('3');
  await page.getByLabel('Algorithms', { exact: true }).selectOption({ label: 'Legacy ones too, for old servers' });
  const edited = { name: 'Mirror of the sandbox', pool: { maxSessions: 3 }, algorithms: 'legacy' };
  assert.deepEqual(await saved(), edited);
  await page.getByRole('heading', { name: 'Mirror of the sandbox' }).waitFor();
  // A stored secret is not required again, unless the server is another one.
  await page.getByText('Stored, and never shown. Leave empty to keep it.').waitFor();
  await page.getByLabel('Port').fill('2022');
  await page.getByText('Enter it again: a stored secret is never sent to a different server.').waitFor();
  await page.getByRole('button', { name: 'Discard changes' }).click();
  assert.equal(await page.getByLabel('Port').inputValue(), String(sandbox.port));
  await page.getByRole('radio', { name: 'Private key' }).check();
  await page.getByLabel('Private key', { exact: true }).last().fill('-----BEGIN KEY-----\n');
  await page.getByText('Password, if the server asks for both').waitFor();
  await page.getByRole('radio', { name: 'Password', exact: true }).check();
  await page.getByLabel('Maximum sessions', { exact: true }).fill('');
  await page.getByLabel('Root folder', { exact: true }).fill('');
  // Lists of its own take the place of the choice.
  await page.getByLabel('Ciphers', { exact: true }).fill('aes256-ctr aes128-ctr');
  assert.deepEqual(await saved(), { pool: {}, algorithms: { ciphers: ['aes256-ctr', 'aes128-ctr'] } });
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Delete …' }).click();
  await dialog().getByRole('button', { name: 'Delete the connection' }).click();
  await page.getByRole('heading', { name: 'Connections' }).waitFor();
  assert.deepEqual(
    (await present()).map(({ id }) => id),
    ['sandbox'],
  );
});

test('the form is built from the gateway’s description: an unknown field is shown and sent', async () => {
  await page.route('**/manage/connection-types', async (route) => {
    const response = await route.fetch();
    const { connectionTypes } = (await response.json()) as {
      connectionTypes: { schema: { properties: Record<string, object> } }[];
    };
    Object.assign(connectionTypes[0]?.schema.properties ?? {}, {
      floors: { title: 'Floors', type: 'integer', default: 3, description: 'Floors that the lift passes.' },
      shibboleth: { title: 'Shibboleth', type: ['string', 'null'], writeOnly: true },
    });
    await route.fulfill({ response, json: { connectionTypes } });
  });
  await page.goto('/connections/new');
  await page.getByText('Floors that the lift passes.').waitFor();
  assert.equal(await page.getByLabel('Floors').getAttribute('placeholder'), '3');
  assert.equal(await page.getByLabel('Shibboleth').getAttribute('type'), 'password');
  await page.getByLabel('Name', { exact: false }).first().fill('Tower');
  await page.getByLabel('Host', { exact: false }).first().fill('tower.example.com');
  await page.getByLabel('User name').fill('gw');
  await page.getByLabel('Floors').fill('5');
  await page.getByLabel('Shibboleth').fill('x');
  let sent: Record<string, unknown> = {};
  await page.route('**/manage/connections', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    sent = route.request().postDataJSON() as typeof sent;
    await route.fulfill({ json: { id: 'sandbox' } });
  });
  await page.getByRole('button', { name: 'Save the connection' }).click();
  await page.getByRole('heading', { name: 'Sandbox' }).waitFor();
  assert.deepEqual([sent['type'], sent['floors'], sent['shibboleth']], ['sftp', 5, 'x']);
  await page.unroute('**/manage/connections');
  await page.unroute('**/manage/connection-types');
});

test('a test of a working connection shows every step, and what the server can do', async () => {
  await page.goto('/connections/sandbox');
  await page.getByLabel('Also write, rename and delete a small file').check();
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('All steps passed').waitFor();
  for (const step of ['Look up the name', 'Host key', 'Log in', 'Rename it', 'Delete it'])
    await page.getByText(step, { exact: true }).waitFor();
  await page.getByText('Rename replaces a file').waitFor();
});

test('an API key is shown once, with a working line, and stops when it is revoked', async () => {
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Issue a key' }).click();
  await dialog().getByLabel('Name').fill('robot');
  await dialog().getByRole('radio', { name: 'Selected connections' }).check();
  await dialog().getByLabel('Sandbox').check();
  await dialog().getByRole('button', { name: 'Issue the key' }).click();
  const key = await dialog().getByLabel('API key', { exact: true }).innerText();
  assert.match(key, /^ftg_/);
  await dialog().getByRole('button', { name: 'Copy' }).first().click();
  await copied(page, key);
  const line = await dialog().getByLabel('curl line').innerText();
  const [, header = '', url = ''] = /-H '(.*)' (\S+)$/.exec(line) ?? [];
  assert.equal(header, `Authorization: Bearer ${key}`);
  const use = () => fetch(url, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal((await use()).status, 200);
  await dialog().getByRole('button', { name: 'I have saved it' }).click();
  assert.ok(!(await page.content()).includes(key), 'the key is gone from the page');

  await page.getByRole('button', { name: 'Actions for robot' }).click();
  await page.getByRole('menuitem', { name: 'Revoke …' }).click();
  await dialog().getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('Revoked', { exact: true }).waitFor();
  await eventually(async () => (await use()).status === 401, 'the key stops');
});

/** Issues a key, and an S3 access key for it. */
async function makeS3AccessKey(on: Page): Promise<void> {
  const shown = on.getByRole('dialog');
  await on.goto('/keys');
  await on.getByRole('button', { name: 'Issue a key' }).click();
  await shown.getByLabel('Name').fill('lake robot');
  await shown.getByRole('button', { name: 'Issue the key' }).click();
  await shown.getByRole('button', { name: 'I have saved it' }).click();
  await on.getByRole('button', { name: 'Actions for lake robot' }).click();
  await on.getByRole('menuitem', { name: 'S3 access …' }).click();
  await shown.getByText('No access key yet.').waitFor();
  await shown.getByRole('button', { name: 'New access key' }).click();
}

test('an S3 access key is shown with the addresses of the front', async () => {
  const port = await freePort();
  const other = await openDesk({ s3: { enabled: true, port } });
  try {
    const { page: own } = await other.open();
    await logIn(own);
    await makeS3AccessKey(own);
    const codeOf = (name: string): Promise<string> =>
      own.getByRole('dialog').getByLabel(name, { exact: true }).innerText();
    const { origin, hostname } = new URL(own.url());
    assert.equal(await codeOf('Endpoint'), `${origin}/s3`);
    assert.equal(await codeOf('Endpoint without a path'), `http://${hostname}:${port}`);
  } finally {
    await other.close();
  }
});

test('an S3 access key is shown once, listed, and deleted', async () => {
  await makeS3AccessKey(page);
  const id = await dialog().getByLabel('Access key ID', { exact: true }).innerText();
  assert.match(id, /^FTGA[A-Z2-7]{16}$/);
  const secret = await dialog().getByLabel('Secret access key', { exact: true }).innerText();
  assert.match(secret, /^[0-9A-Za-z]{40}$/);
  await dialog().getByText('The S3 front is off').waitFor();
  assert.equal(await dialog().getByLabel('Endpoint').count(), 0);
  await dialog().getByRole('button', { name: 'Copy' }).nth(1).click();
  await copied(page, secret);
  await dialog().getByRole('button', { name: 'I have saved it' }).click();
  await dialog().getByRole('cell', { name: id, exact: true }).waitFor();
  assert.ok(!(await page.content()).includes(secret), 'the secret is gone from the page');
  await dialog()
    .getByRole('button', { name: `Delete ${id}` })
    .click();
  await dialog().getByRole('button', { name: 'Delete the access key' }).click();
  await dialog().getByText('No access key yet.').waitFor();
  await dialog().getByRole('button', { name: 'Close' }).click();
});

test('200 MB are uploaded with progress; a cancelled upload leaves nothing; a repeated one arrives completely', async () => {
  const file = path.join(folder, 'large.bin');
  const block = randomBytes(1024 * 1024);
  writeFileSync(file, Buffer.concat(Array.from({ length: LARGE_BYTES / block.length }, () => block)));
  await page.goto('/files/sandbox?path=/');
  await page.getByText('entries').or(page.getByText('1 entry')).first().waitFor();
  const network = await window.context.newCDPSession(page);
  const throttle = (uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    });
  await network.send('Network.enable');
  await throttle(SLOW);
  await page.getByLabel('Files to upload').setInputFiles(file);
  const queue = page.getByRole('region', { name: 'Queue' });
  await queue.getByText(/MiB of 200 MiB, .*\/s/).waitFor();
  assert.ok(Number(await queue.getByRole('progressbar').getAttribute('aria-valuenow')) <= 100);
  await queue.getByRole('button', { name: 'Cancel large.bin' }).click();
  await queue.getByText('Cancelled', { exact: true }).waitFor();
  await eventually(
    () => readdirSync(desk.sandboxFolder).every((name) => !name.includes('large')),
    'the cut upload is cleaned up',
  );
  await throttle(-1);
  await network.detach();

  await queue.getByRole('button', { name: 'Try large.bin again' }).click();
  await queue.getByText('Cancelled', { exact: true }).waitFor({ state: 'detached' });
  await queue.getByText('All done').waitFor();
  const digest = (name: string): string => createHash('sha256').update(readFileSync(name)).digest('hex');
  assert.equal(digest(onDisk('large.bin')), digest(file));
  await queue.getByRole('button', { name: 'Clear' }).click();
});

test('a large file continues after its request was cut, and after the page was reloaded', async () => {
  const content = randomBytes(LARGE_BYTES / 2);
  const file = path.join(folder, 'interrupted.bin');
  writeFileSync(file, content);
  await page.goto('/files/sandbox?path=/');
  await page.getByText('entries').or(page.getByText('1 entry')).first().waitFor();
  const network = await window.context.newCDPSession(page);
  await network.send('Network.enable');
  const throttle = (uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    });
  const offsets: number[] = [];
  const note = (request: Request): void => {
    const offset = request.headers()['upload-offset'];
    if (request.method() === 'PATCH' && offset !== undefined) offsets.push(Number(offset));
  };
  page.on('request', note);
  const queue = page.getByRole('region', { name: 'Queue' });
  await throttle(SLOW);
  await page.getByLabel('Files to upload').setInputFiles(file);
  await queue.getByText(/[1-9][\d.]* MiB of 100 MiB/).waitFor();
  // A request for the offset ends the request that writes.
  const [url] = await keptUrls();
  const ask = `fetch(${JSON.stringify(url)}, { method: 'HEAD', headers: { 'Tus-Resumable': '1.0.0' } }).then(({ status }) => status)`;
  assert.equal(await page.evaluate(ask), 200);
  await eventually(() => offsets.length === 2, 'the upload resumes automatically');
  await queue.getByText(/[2-9]\d(\.\d)? MiB of 100 MiB/).waitFor();
  page.once('dialog', (leaving) => void leaving.accept());
  await page.reload();
  await throttle(-1);
  await page.getByText('entries').or(page.getByText('1 entry')).first().waitFor();
  await page.getByLabel('Files to upload').setInputFiles(file);
  await queue.getByText('All done').waitFor();
  page.off('request', note);
  assert.equal(offsets.length, 3, offsets.join());
  const [first = -1, second = 0, third = 0] = offsets;
  assert.ok(first === 0 && second > 0 && third > second, offsets.join());
  assert.ok(readFileSync(onDisk('interrupted.bin')).equals(content));
  assert.deepEqual(await keptUrls(), []);
  await network.detach();
  await queue.getByRole('button', { name: 'Clear' }).click();
});

test('a running transfer shows as a live row, and can be cancelled there', async () => {
  await page.goto('/transfers');
  await page.getByText('Live', { exact: true }).waitFor();
  const upload = await startSlowUpload(desk, window, 'slow.bin');
  const row = page.getByRole('listitem').filter({ hasText: 'slow.bin' });
  await row.getByText(/of 976.6 KiB/).waitFor();
  await row.getByRole('button', { name: 'Cancel slow.bin' }).click();
  assert.equal(await upload.status, 409);
  await row.waitFor({ state: 'detached' });
  const ended = page.getByRole('row').filter({ hasText: 'slow.bin' });
  await ended.getByText('Failed').waitFor();
  assert.ok(!existsSync(onDisk('slow.bin')));
});

test('files are previewed, renamed, moved, copied and deleted; nothing is replaced without asking', async () => {
  writeFileSync(onDisk('people.csv'), 'name,town\nAda,"London, UK"\n');
  writeFileSync(onDisk('data.json'), '{"a":[1,2]}');
  writeFileSync(onDisk('dot.svg'), '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>');
  await manage(page, 'POST', '/manage/connections/sandbox/duplicate', { id: 'copy', name: 'Copy' });
  await page.goto('/files/sandbox?path=/');
  await page.getByRole('button', { name: 'people.csv', exact: true }).click();
  await dialog().getByRole('cell', { name: 'London, UK' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'data.json', exact: true }).click();
  await dialog().getByRole('region', { name: 'Content' }).getByText('[ 2 ]').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'dot.svg', exact: true }).click();
  await dialog().getByRole('img', { name: 'dot.svg' }).waitFor();
  const width = () => page.evaluate(`document.querySelector('.preview-image').naturalWidth`);
  await eventually(async () => (await width()) === 8, 'the image is drawn');
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'New folder' }).click();
  await dialog().getByLabel('Name').fill('done');
  await dialog().getByRole('button', { name: 'Create the folder' }).click();
  await page.getByRole('checkbox', { name: 'Select done' }).waitFor();

  await page.getByRole('checkbox', { name: 'Select data.json' }).check();
  await page.getByRole('button', { name: 'Rename' }).click();
  await dialog().getByLabel('New name').fill('renamed.json');
  await dialog().getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('checkbox', { name: 'Select renamed.json' }).check();
  await page.getByRole('button', { name: 'Move', exact: true }).click();
  await dialog().getByRole('textbox', { name: 'Destination folder' }).fill('/done');
  await dialog().getByRole('button', { name: 'Move' }).click();
  await eventually(() => existsSync(onDisk('done/renamed.json')), 'moved');

  // Dropped onto an existing name: the user decides.
  const dropped = await page.evaluateHandle(`(() => {
    const data = new DataTransfer();
    data.items.add(new File(['new'], 'people.csv'));
    return data;
  })()`);
  await page.locator('.drop-zone').dispatchEvent('drop', { dataTransfer: dropped });
  const queue = page.getByRole('region', { name: 'Queue' });
  await queue.getByText('A file with this name already exists').waitFor();
  assert.match(readFileSync(onDisk('people.csv'), 'utf8'), /Ada/);
  await queue.getByRole('button', { name: 'Replace' }).click();
  await queue.getByText('All done').waitFor();
  assert.equal(readFileSync(onDisk('people.csv'), 'utf8'), 'new');

  await page.getByRole('checkbox', { name: 'Select people.csv' }).check();
  await page.getByRole('button', { name: 'Copy to …' }).click();
  await dialog().getByLabel('Destination connection').selectOption('copy');
  await dialog().getByRole('textbox', { name: 'Destination folder' }).fill('/there');
  await dialog().getByRole('button', { name: 'Copy' }).click();
  await eventually(() => existsSync(onDisk('there/people.csv')), 'copied');

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  assert.equal(readFileSync(await (await download).path(), 'utf8'), 'new');

  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('checkbox', { name: 'Select people.csv' }).waitFor({ state: 'detached' });
  assert.ok(!existsSync(onDisk('people.csv')));
});

test('the filters of the transfers are part of the address, and the server’s words are in the detail', async () => {
  await manage(page, 'POST', '/api/delete/sandbox', { path: '/never.txt' }).catch(() => undefined);
  await page.goto('/transfers');
  await page.getByLabel('Status').selectOption('failed');
  await page.getByLabel('Type').selectOption('delete');
  await page.getByLabel('Name, path or SHA-256').fill('never');
  await page.waitForURL(/search=never/);
  assert.match(page.url(), /status=failed&type=delete&search=never$/);
  await page.reload();
  const rows = page.getByRole('table', { name: 'Transfers' }).getByRole('row');
  await rows.nth(1).waitFor();
  assert.equal(await rows.count(), 2);
  const exported = page.waitForEvent('download');
  await page.getByRole('link', { name: 'CSV', exact: true }).click();
  assert.match(readFileSync(await (await exported).path(), 'utf8'), /never\.txt/);
  await page.getByRole('link', { name: 'delete never.txt' }).click();
  await page
    .getByText(/No such file/)
    .first()
    .waitFor();
  await page.getByText('not_found').waitFor();
});

test('a hundred thousand names scroll smoothly, can be found and reached by key', async () => {
  const many = onDisk('many');
  mkdirSync(many);
  const files = Array.from({ length: 100_000 }, (_, index) => ({
    name: `file-${String(index).padStart(6, '0')}.txt`,
    path: `/many/file-${String(index).padStart(6, '0')}.txt`,
    size: index,
    isDirectory: false,
    modifiedAt: '2026-01-01T00:00:00.000Z',
  }));
  // Only the listing is made up: a hundred thousand real files would take too long to create.
  await page.route('**/api/list/sandbox?path=%2Fmany', (route) =>
    route.fulfill({ json: { success: true, path: '/many', files } }),
  );
  await page.goto('/files/sandbox?path=/many');
  const grid = page.getByRole('grid', { name: 'Files' });
  await grid.getByText('file-000000.txt').waitFor();
  assert.equal(await grid.getAttribute('aria-rowcount'), '100001');
  assert.ok((await grid.getByRole('row').count()) < 80, 'only the rows in sight are in the page');
  // Processor time of the page's thread, which does not include waiting for a core.
  const debug = await window.context.newCDPSession(page);
  await debug.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busyMs = async (): Promise<number> => {
    const { metrics } = await debug.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? assert.fail('no TaskDuration'));
  };
  const before = await busyMs();
  await page.evaluate(`new Promise((resolve) => {
    const box = document.querySelector('.file-scroll');
    let steps = 0;
    const step = () => {
      if (steps++ === ${STEPS}) return resolve();
      box.scrollTop += 5000;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
  const frame = ((await busyMs()) - before) / STEPS;
  assert.ok(frame > 0 && frame < 70, `a frame takes ${frame} ms`);
  await debug.detach();
  await grid.getByRole('row').nth(3).focus();
  await page.keyboard.press('End');
  await grid.getByText('file-099999.txt').waitFor();
  await page.getByLabel('Find in this folder').fill('012345');
  await page.getByText('1 entry of 100,000').waitFor();
  await page.unroute('**/api/list/sandbox?path=%2Fmany');
});

test('a message without attempts left is shown with its attempts, and sent again', async (t) => {
  let status = 500;
  const receiver = await openReceiver(() => status);
  t.after(() => receiver.close());
  mkdirSync(onDisk('incoming'));
  await page.goto('/watched');
  await page.getByRole('button', { name: 'Watch a folder' }).click();
  await dialog().getByRole('textbox', { name: 'Folder' }).fill('/incoming');
  await dialog().getByRole('textbox', { name: 'Webhook' }).fill(receiver.url);
  await dialog().getByRole('button', { name: 'Watch the folder' }).click();
  await page.getByRole('heading', { name: 'incoming' }).waitFor();
  await page.getByText(/^in \d:\d\d$/).waitFor();
  const watched = page.url().replace(/.*\/watched\//, '/manage/watched-folders/');
  const hasBaseline = async () => (await manage(page, 'GET', watched))['baselineAt'] !== null;
  await eventually(hasBaseline, 'the first check');
  await page.getByRole('table', { name: 'Checks' }).getByText('Done').first().waitFor();

  // A regular check may become due at any time, and would find the file before the dry run.
  await manage(page, 'POST', `${watched}/pause`);
  writeFileSync(onDisk('incoming/order.xml'), '<order/>');
  await page.getByRole('button', { name: 'Dry run' }).click();
  await dialog().getByText('/incoming/order.xml').waitFor();
  await page.keyboard.press('Escape');
  await manage(page, 'POST', `${watched}/resume`);
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByRole('tab', { name: 'Deliveries' }).click();
  await page.getByText('Dead letter', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Open the delivery: 1 file' }).click();
  await page.getByText('Attempt 2').waitFor();
  await page.getByText('500', { exact: true }).first().waitFor();
  status = 204;
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.locator('.badge', { hasText: 'Delivered' }).waitFor();
});

test('a watched folder copies new files, and shows their targets', async () => {
  mkdirSync(onDisk('outgoing'));
  await page.goto('/watched');
  await page.getByRole('button', { name: 'Watch a folder' }).click();
  await dialog().getByRole('textbox', { name: 'Folder', exact: true }).fill('/outgoing');
  await dialog().getByLabel('Copy each file to').selectOption({ value: 'sandbox' });
  await dialog().getByRole('button', { name: 'Watch the folder' }).click();
  await dialog().getByText('Fill in this field.').waitFor();
  await dialog().getByRole('textbox', { name: 'Destination folder' }).fill('/outgoing/copies');
  await dialog().getByRole('textbox', { name: 'Name of the copies' }).fill('{name}-copy.{ext}');
  await dialog().getByLabel('If a file exists').selectOption({ label: 'Keep both: rename the copy' });
  await dialog().getByRole('button', { name: 'Watch the folder' }).click();
  await dialog().getByText('must lead out of the watched folder').waitFor();
  await dialog().getByRole('textbox', { name: 'Destination folder' }).fill('/copies');
  await dialog().getByRole('button', { name: 'Watch the folder' }).click();
  await page.getByRole('heading', { name: 'outgoing' }).waitFor();
  await page.getByText(', as {name}-copy.{ext}, if a file exists: Keep both: rename the copy').waitFor();
  const watched = page.url().replace(/.*\/watched\//, '/manage/watched-folders/');
  const hasBaseline = async () => (await manage(page, 'GET', watched))['baselineAt'] !== null;
  await eventually(hasBaseline, 'the first check');

  writeFileSync(onDisk('outgoing/order.xml'), '<order/>');
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByRole('tab', { name: 'Deliveries' }).click();
  await page.getByRole('button', { name: /^Copies of/ }).click();
  await dialog().getByText('/copies/order-copy.xml').waitFor();
  await dialog().getByText('Copied').waitFor();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Edit …' }).click();
  await dialog().getByLabel('Copy each file to').selectOption({ label: 'Nowhere' });
  await dialog().getByRole('button', { name: 'Save' }).click();
  await page.getByText(', as {name}-copy').waitFor({ state: 'detached' });
  assert.equal((await manage(page, 'GET', watched))['copyTo'], null);
});

test('the second factor is set up with a QR code that the page draws, and required at the next login', async () => {
  await page.goto('/settings');
  await page.getByRole('button', { name: 'Switch on' }).click();
  await dialog().getByLabel('Your password').fill(PASSWORD);
  await dialog().getByRole('button', { name: 'Continue' }).click();
  await dialog().getByRole('img', { name: 'QR code of the key' }).waitFor();
  const secret = (await dialog().getByLabel('Key for the app').innerText()).replace(/\s/g, '');
  const totp = new OTPAuth.TOTP({ secret: OTPAuth.Secret.fromBase32(secret) });
  await dialog().getByLabel('Code from the app').fill(totp.generate());
  await dialog().getByRole('button', { name: 'Switch on' }).click();
  const codes = (await dialog().getByLabel('Recovery codes').innerText()).trim().split('\n');
  assert.equal(codes.length, 10);
  await dialog().getByRole('button', { name: 'I have saved them' }).click();

  const other = await desk.open();
  await other.page.goto('/usage');
  await other.page.getByLabel('E-mail').fill(EMAIL);
  await other.page.getByLabel('Password').fill(PASSWORD);
  await other.page.getByRole('button', { name: 'Log in' }).click();
  await other.page.getByLabel('Code').fill(codes[0] ?? '');
  await other.page.getByRole('button', { name: 'Confirm' }).click();
  await other.page.getByRole('heading', { name: 'Usage' }).waitFor();
  await other.context.close();
});

test('a session that ends shows the login; five failures lock it, and the page says for how long', async () => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('E-mail').waitFor();
  for (let failure = 0; failure < 6; failure++) {
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill('not the password');
    const answer = page.waitForResponse('**/manage/login');
    await page.getByRole('button', { name: 'Log in' }).click();
    await answer;
  }
  await page.getByText('Too many failed attempts').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /locked for another 1[45] min/);
  assert.deepEqual(window.faults, []);
});

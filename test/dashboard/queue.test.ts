/**
 * The queue of the Files screen: thousands of files, bulk operations, existing names, and uploads that a reload
 * interrupts.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { logIn, manage, openDesk, type Desk, type Window } from './browser.js';
import { dropFiles, dropUnreadable, names } from './dropped-files.js';
import { violations } from './inspection.js';
import { startSshd } from '../servers/sshd.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';

const MANY = 2_000;

let desk: Desk;
let window: Window;
let page: Page;
let folder: string;

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'ftg-queue-'));
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
const queue = () => page.getByRole('region', { name: 'Queue' });
const dialog = () => page.getByRole('dialog');

async function openFolder(name: string): Promise<void> {
  mkdirSync(onDisk(name), { recursive: true });
  await page.goto(`/files/sandbox?path=/${name}`);
  await page.getByRole('grid', { name: 'Files' }).or(page.getByText('This folder is empty')).waitFor();
}

test('Escape in the middle of a large deletion hides nothing: it is counted, stops on request, and the list is updated', async () => {
  mkdirSync(onDisk('bulk'));
  for (const name of names(MANY)) writeFileSync(onDisk(`bulk/${name}`), name);
  await openFolder('bulk');
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog().getByText('Delete 2,000 items?').waitFor();
  await dialog().getByText('and 1,990 more').waitFor();
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await page.keyboard.press('Escape');
  await queue()
    .getByText(/of 2,000 to go/)
    .waitFor();
  await queue().getByRole('button', { name: 'Cancel all' }).click();
  await queue().getByRole('button', { name: 'Cancel all' }).waitFor({ state: 'detached' });
  const left = (): number => readdirSync(onDisk('bulk')).length;
  assert.ok(left() > 0 && left() < MANY, `${left()} are left`);
  const grid = page.getByRole('grid', { name: 'Files' });
  await eventually(async () => (await grid.getAttribute('aria-rowcount')) === String(left() + 1), 'the list follows');
  const number = (n: number): string => n.toLocaleString('en');
  await queue()
    .getByText(`${number(MANY - left())} deleted, ${number(left())} cancelled`, { exact: true })
    .waitFor();
  await queue().getByRole('button', { name: 'Clear done' }).click();

  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await queue().getByText('All done').waitFor({ timeout: PATIENCE_MS });
  await page.getByText('This folder is empty').waitFor();
  assert.deepEqual(readdirSync(onDisk('bulk')), []);
  await queue().getByRole('button', { name: 'Clear done' }).click();
});

test('existing names are asked about once for all: skipped, replaced, or kept beside each other', async () => {
  await openFolder('taken');
  const all = names(30);
  await dropFiles(page, all, 'first ');
  await queue().getByText('All done').waitFor();
  await queue().getByRole('button', { name: 'Clear done' }).click();
  const content = (name: string): string => readFileSync(onDisk(`taken/${name}`), 'utf8');
  const answer = async (from: string, button: string, outcome: string): Promise<void> => {
    await dropFiles(page, [...all, `${from.trim()}.new`], from);
    await queue().getByText('30 files already exist').waitFor();
    assert.deepEqual(await violations(page), []);
    await queue()
      .getByRole('group', { name: 'Files that already exist' })
      .getByRole('button', { name: button })
      .click();
    await queue().getByText(outcome, { exact: true }).waitFor();
    await queue().getByRole('button', { name: 'Clear done' }).click();
    assert.ok(existsSync(onDisk(`taken/${from.trim()}.new`)), 'what was free is there');
  };
  await answer('second ', 'Skip all', '1 uploaded, 30 skipped');
  for (const name of all) assert.equal(content(name), `first ${name}`);
  await answer('third ', 'Replace all', 'All done');
  for (const name of all) assert.equal(content(name), `third ${name}`);
  await answer('fourth ', 'Keep both', 'All done');
  for (const name of all) {
    assert.equal(content(name), `third ${name}`);
    assert.equal(content(name.replace('.txt', ' (2).txt')), `fourth ${name}`);
  }
});

test('a name in the list and in the folder is asked about without an attempt, so no transfer fails', async () => {
  mkdirSync(onDisk('listed'));
  writeFileSync(onDisk('listed/here.txt'), 'old');
  await openFolder('listed');
  await page.getByRole('grid', { name: 'Files' }).getByText('here.txt').waitFor();
  await dropFiles(page, ['here.txt'], 'new ');
  await queue().getByText('A file already exists').waitFor();
  const failed = await manage(page, 'GET', '/manage/transfers?status=failed&search=here.txt');
  assert.deepEqual(failed['transfers'], []);
  await queue().getByRole('button', { name: 'Replace', exact: true }).click();
  await queue().getByText('All done').waitFor();
  assert.equal(readFileSync(onDisk('listed/here.txt'), 'utf8'), 'new here.txt');
  await queue().getByRole('button', { name: 'Clear done' }).click();

  // The list still shows it: the name is checked again before the user is asked.
  rmSync(onDisk('listed/here.txt'));
  await dropFiles(page, ['here.txt'], 'newer ');
  await eventually(() => existsSync(onDisk('listed/here.txt')), 'it goes up');
  await queue().getByText('All done').waitFor();
  assert.equal(readFileSync(onDisk('listed/here.txt'), 'utf8'), 'newer here.txt');
  await queue().getByRole('button', { name: 'Clear done' }).click();
});

test('a folder that is uploaded again asks about existing files, and no transfer fails for it', async () => {
  const local = path.join(folder, 'again');
  mkdirSync(path.join(local, 'deep'), { recursive: true });
  for (const name of ['one.txt', 'deep/two.txt', 'deep/three.txt']) writeFileSync(path.join(local, name), name);
  await openFolder('repeated');
  await page.getByLabel('Folder to upload').setInputFiles(local);
  await queue().getByText('All done').waitFor();
  await queue().getByRole('button', { name: 'Clear done' }).click();
  writeFileSync(path.join(local, 'deep/four.txt'), 'new');
  await page.getByLabel('Folder to upload').setInputFiles(local);
  await queue().getByText('3 files already exist').waitFor();
  await queue().getByRole('button', { name: 'Skip all' }).click();
  await queue().getByText('1 uploaded, 3 skipped', { exact: true }).waitFor();
  await queue().getByRole('button', { name: 'Clear done' }).click();
  assert.equal(readFileSync(onDisk('repeated/again/deep/four.txt'), 'utf8'), 'new');
  const { transfers } = await manage(page, 'GET', '/manage/transfers?status=failed&search=repeated');
  assert.deepEqual(transfers, []);
});

test('failures are at the top with their reasons, and all of them are retried at once', async () => {
  await openFolder('trouble');
  await page.route('**/api/upload/**', (route) =>
    route.fulfill({ status: 507, headers: { 'X-Error-Code': 'no_space' }, json: { error: 'the disk is full' } }),
  );
  await dropFiles(page, names(12), '');
  await queue().getByRole('button', { name: 'Retry all 12' }).waitFor();
  await queue().getByRole('listitem').first().getByText('The disk is full').waitFor();
  await page.unroute('**/api/upload/**');
  await queue().getByRole('button', { name: 'Retry all 12' }).click();
  await queue().getByText('All done').waitFor();
  assert.deepEqual(readdirSync(onDisk('trouble')).sort(), names(12));
  await queue().getByRole('button', { name: 'Clear done' }).click();
});

test('whole folders are uploaded by button and by drop, copied, downloaded as one archive, moved and deleted', async () => {
  const local = path.join(folder, 'album');
  mkdirSync(path.join(local, 'deep/er'), { recursive: true });
  for (const name of ['one.txt', '.DS_Store', 'deep/two.txt', 'deep/er/three.txt'])
    writeFileSync(path.join(local, name), name);
  for (let index = 0; index < 150; index++) writeFileSync(path.join(local, `deep/many-${index}`), '');
  const below = (place: string): string[] =>
    readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(place, path.join(entry.parentPath, entry.name)))
      .sort();
  const expected = below(local);

  await openFolder('folders');
  await page.getByLabel('Folder to upload').setInputFiles(local);
  await queue().getByText('All done').waitFor();
  assert.deepEqual(below(onDisk('folders/album')), expected);
  await queue().getByRole('button', { name: 'Clear done' }).click();

  await dropFromDisk('dropped', local);
  assert.deepEqual(below(onDisk('dropped/album')), expected);

  await openFolder('dropped');
  await page.getByRole('checkbox', { name: 'Select album' }).check();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  const archive = await download;
  assert.equal(archive.suggestedFilename(), 'album.zip');
  assert.ok(readFileSync(await archive.path()).includes('album/deep/er/three.txt'));

  await page.getByRole('button', { name: 'Copy to' }).click();
  await dialog().getByRole('textbox', { name: 'Destination folder' }).fill('/copied');
  await dialog().getByRole('button', { name: 'Copy' }).click();
  await queue().getByText('All done').waitFor();
  await queue().getByText(`${expected.length} files copied`).waitFor();
  assert.deepEqual(below(onDisk('copied/album')), expected);
  await queue().getByRole('button', { name: 'Clear done' }).click();

  await page.getByRole('button', { name: 'Move', exact: true }).click();
  await dialog().getByRole('textbox', { name: 'Destination folder' }).fill('/moved');
  await dialog().getByRole('button', { name: 'Move' }).click();
  await eventually(() => existsSync(onDisk('moved/album')), 'moved');
  assert.deepEqual(below(onDisk('moved/album')), expected);

  await openFolder('moved');
  await page.getByRole('checkbox', { name: 'Select album' }).check();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog().getByText('The folder is deleted with everything in it.').waitFor();
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await queue().getByText('All done').waitFor();
  await queue().getByText(`${expected.length} files deleted`).waitFor();
  await page.getByText('This folder is empty').waitFor();
  assert.deepEqual(readdirSync(onDisk('moved')), []);
  await queue().getByRole('button', { name: 'Clear done' }).click();
});

test('many folders that are deleted at once are followed live, on connections that leave some for the screens', async () => {
  const folders = Array.from({ length: 8 }, (_, index) => `folder-${index}`);
  for (const name of folders) {
    mkdirSync(onDisk(`crowd/${name}/deep`), { recursive: true });
    for (const file of ['one.txt', 'deep/two.txt']) writeFileSync(onDisk(`crowd/${name}/${file}`), file);
  }
  await openFolder('crowd');
  const seen = { streams: 0, open: 0, most: 0, reads: 0 };
  const isStream = (url: string): boolean => /\/manage\/jobs\/[^/]+\/events$/.test(url);
  page.on('request', (request) => {
    if (/\/manage\/jobs\/[^/?]+$/.test(request.url())) seen.reads += 1;
    if (!isStream(request.url())) return;
    seen.streams += 1;
    seen.open += 1;
    seen.most = Math.max(seen.most, seen.open);
  });
  const hasEnded = (request: Request): void => {
    if (isStream(request.url())) seen.open -= 1;
  };
  page.on('requestfinished', hasEnded);
  page.on('requestfailed', hasEnded);
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await queue().getByText('All done').waitFor();
  await page.getByText('This folder is empty').waitFor();
  assert.deepEqual(readdirSync(onDisk('crowd')), []);
  await eventually(() => seen.open === 0, 'each stream ends with its job');
  assert.deepEqual([seen.streams, seen.reads], [folders.length, 0], 'nothing is polled');
  assert.ok(seen.most <= 2, `${seen.most} streams at once`);
  await queue().getByRole('button', { name: 'Clear done' }).click();
});

/**
 * Dropped by the browser itself: only then can the drop contain folders. In a separate page, whose mouse is unusable
 * afterwards.
 */
test('a local folder that cannot be read is named, with what to do, in both languages', async () => {
  await openFolder('unreadable');
  const german = await desk.open({ locale: 'de-DE', loggedInLike: window.context });
  for (const [on, says] of [
    [page, /“album\/locked” on this computer could not be read.*Check that it exists.*drop everything again\./],
    [german.page, /„album\/locked“ auf diesem Rechner war nicht lesbar.*Prüfen Sie.*legen Sie alles noch einmal ab\./],
  ] as const) {
    await on.goto('/files/sandbox?path=/unreadable');
    await dropUnreadable(on, '.drop-zone');
    await on.locator('.toast').getByText(says).waitFor();
    assert.equal(await on.getByText('raw words').count(), 0);
  }
  await german.context.close();
});

async function dropFromDisk(name: string, file: string): Promise<void> {
  mkdirSync(onDisk(name));
  const other = await window.context.newPage();
  await other.goto(`/files/sandbox?path=/${name}`);
  await other.getByText('This folder is empty').waitFor();
  const box = (await other.locator('.drop-zone').boundingBox()) ?? assert.fail('no drop zone');
  const debug = await window.context.newCDPSession(other);
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const data = { items: [], files: [file], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await debug.send('Input.dispatchDragEvent', { type, ...at, data });
  await other.getByRole('region', { name: 'Queue' }).getByText('All done').waitFor();
  await other.close();
}

test('names that are not UTF-8 are moved, copied and deleted, a folder by a job that can be repeated', async (t) => {
  const server = await startSshd();
  t.after(() => server.stop());
  const { port, username, files: root } = server;
  await manage(page, 'POST', '/manage/connections', {
    id: 'latin',
    name: 'Latin',
    type: 'sftp',
    host: '127.0.0.1',
    port,
    username,
    rootPath: root,
    privateKey: readFileSync(server.clientKeyFile, 'utf8'),
  });
  const { uid, gid } = statSync(root);
  const raw = (name: string): Buffer => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);
  mkdirSync(raw('m\xfcll'));
  for (const name of ['caf\xe9.txt', 'th\xe9.txt', 'm\xfcll/old.txt']) writeFileSync(raw(name), name);
  for (const name of ['m\xfcll', 'm\xfcll/old.txt', 'caf\xe9.txt', 'th\xe9.txt']) chownSync(raw(name), uid, gid);
  await page.goto('/files/latin?path=/');
  await page.getByRole('checkbox', { name: /^Select caf/ }).check();
  await page.getByRole('button', { name: 'Move', exact: true }).click();
  await dialog().getByRole('textbox', { name: 'Destination folder' }).fill('/utf8');
  await dialog().getByRole('button', { name: 'Move' }).click();
  await eventually(() => existsSync(`${root}/utf8/caf\ufffd.txt`), 'moved');
  await page.getByRole('checkbox', { name: /^Select caf/ }).waitFor({ state: 'detached' });
  // A folder with such a name can be opened, and so can its entries; nothing new can be added to it.
  await page.getByRole('button', { name: 'm\ufffdll', exact: true }).click();
  await page.getByText('The name of this folder is not UTF-8.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Upload', exact: true }).count(), 0);
  await page.getByRole('button', { name: 'old.txt', exact: true }).click();
  await dialog().getByText('ll/old.txt').waitFor();
  await page.keyboard.press('Escape');
  await page.reload();
  await page.getByRole('button', { name: 'old.txt', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Parent folder' }).click();
  await page.getByRole('checkbox', { name: /^Select m/ }).check();
  await page.getByRole('button', { name: 'Copy to' }).click();
  await dialog().getByRole('textbox', { name: 'Destination folder' }).fill('/utf8');
  await dialog().getByRole('button', { name: 'Copy' }).click();
  await queue().getByText('1 file copied').waitFor();
  assert.ok(existsSync(onDisk('utf8/m\ufffdll/old.txt')), 'on the other connection');
  await queue().getByRole('button', { name: 'Clear done' }).click();
  await page.getByRole('checkbox', { name: /^Select th/ }).check();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await queue().getByText('1 file deleted').waitFor();
  await eventually(() => readdirSync(root).join() === 'utf8', 'deleted');
  const source = {
    connectionId: 'latin',
    path: '/m\ufffdll',
    rawName: Buffer.from('m\xfcll', 'latin1').toString('base64'),
  };
  const { jobs } = (await manage(page, 'GET', '/manage/jobs?type=delete&limit=1')) as { jobs: { source: object }[] };
  assert.deepEqual(jobs[0]?.source, source);
  // The same folder is there once more, beside one that looks like it.
  for (const name of ['m\xfcll', 'm\xfbll']) {
    mkdirSync(raw(name));
    writeFileSync(raw(`${name}/new.txt`), name);
    for (const place of [name, `${name}/new.txt`]) chownSync(raw(place), uid, gid);
  }
  await queue().getByRole('link', { name: 'Show the job' }).click();
  await queue().getByRole('button', { name: 'Clear done' }).click();
  const address = (await page.getByRole('link', { name: 'Latin /m\ufffdll' }).getAttribute('href')) ?? '';
  assert.equal(new URL(address, desk.gateway.url).searchParams.get('rawName'), source.rawName);
  await page.getByRole('link', { name: 'Run again' }).click();
  assert.equal(await page.getByLabel('Exact name (base64)').inputValue(), source.rawName);
  await page.getByRole('button', { name: 'Show what would happen' }).click();
  await dialog().getByText('1 file would be deleted').waitFor();
  await dialog().getByRole('button', { name: 'Start the job' }).click();
  await page.getByText('1 file deleted', { exact: true }).waitFor();
  await eventually(() => readdirSync(root, 'latin1').sort().join() === 'm\xfbll,utf8', 'only that folder is deleted');
  await page.getByRole('link', { name: 'Run again' }).click();
  await page.getByRole('textbox', { name: 'Source folder' }).fill('/utf8');
  assert.equal(await page.getByLabel('Exact name (base64)').inputValue(), '', 'the name was that of the other folder');
});

const LARGE_BYTES = 100 * 1024 * 1024;
/** The rate, in bytes a second, of an upload that must not be complete before the page is reloaded. */
const SLOW = 2 * 1024 * 1024;

/** Interrupts it by reloading the page. Resolves with the start offsets of the pieces, as they arrive. */
async function cutOff(window: Window, begin: () => Promise<void>): Promise<readonly number[]> {
  const { page, context } = window;
  const offsets: number[] = [];
  page.on('request', (request) => {
    const offset = request.headers()['upload-offset'];
    if (request.method() === 'PATCH' && offset !== undefined) offsets.push(Number(offset));
  });
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  const throttle = (uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    });
  await throttle(SLOW);
  await begin();
  await page
    .getByRole('region', { name: 'Queue' })
    .getByText(/[1-9][\d.]* MiB of 100 MiB/)
    .waitFor();
  page.once('dialog', (leaving) => void leaving.accept());
  await page.reload();
  await throttle(-1);
  await network.detach();
  return offsets;
}

test('a reload does not end a large upload: the page asks for the same file, and continues where it was', async () => {
  await openFolder('cut');
  const content = randomBytes(LARGE_BYTES);
  const file = path.join(folder, 'cut.bin');
  writeFileSync(file, content);
  const offsets = await cutOff(window, () => page.getByLabel('Files to upload').setInputFiles(file));
  const interrupted = queue().getByRole('list', { name: 'Interrupted uploads' });
  await interrupted.getByText('100 MiB to sandbox:/cut, interrupted.').waitFor();
  const other = { name: 'cut.bin', mimeType: '', buffer: Buffer.from('another one') };
  await interrupted.getByLabel('The file cut.bin again').setInputFiles(other);
  await page.getByText('This is not the same file as cut.bin').waitFor();
  await interrupted.getByLabel('The file cut.bin again').setInputFiles(file);
  await queue().getByText('All done').waitFor({ timeout: PATIENCE_MS });
  assert.ok(offsets.length === 2 && offsets[0] === 0 && (offsets[1] ?? 0) > 0, offsets.join());
  assert.ok(readFileSync(onDisk('cut/cut.bin')).equals(content));
  assert.equal(await interrupted.count(), 0);
  await queue().getByRole('button', { name: 'Clear done' }).click();
});

test('if the browser may read the dropped file again, the upload continues automatically; a log-out forgets incomplete ones', async () => {
  const other = await desk.open();
  await logIn(other.page);
  await other.page.goto('/files/sandbox?path=/cut');
  await other.page.getByRole('grid', { name: 'Files' }).waitFor();
  // The browser's own folder of this site represents one of the machine: its files need no permission.
  const dropKept = (name: string) => async () => {
    const transfer = await other.page.evaluateHandle(`(async () => {
      const root = await navigator.storage.getDirectory();
      const handle = await root.getFileHandle('${name}', { create: true });
      const writer = await handle.createWritable();
      await writer.write(new Uint8Array(${LARGE_BYTES}).fill(7));
      await writer.close();
      DataTransferItem.prototype.getAsFileSystemHandle = async () => handle;
      const transfer = new DataTransfer();
      transfer.items.add(await handle.getFile());
      return transfer;
    })()`);
    await other.page.locator('.drop-zone').dispatchEvent('drop', { dataTransfer: transfer });
    await transfer.dispose();
  };
  const offsets = await cutOff(other, dropKept('again.bin'));
  await other.page.getByRole('region', { name: 'Queue' }).getByText('All done').waitFor({ timeout: PATIENCE_MS });
  assert.ok(offsets.length === 2 && offsets[0] === 0 && (offsets[1] ?? 0) > 0, offsets.join());
  assert.ok(readFileSync(onDisk('cut/again.bin')).equals(Buffer.alloc(LARGE_BYTES, 7)));

  rmSync(onDisk('cut/cut.bin'));
  const picked = path.join(folder, 'cut.bin');
  await cutOff(other, () => other.page.getByLabel('Files to upload').setInputFiles(picked));
  await other.page.getByRole('list', { name: 'Interrupted uploads' }).waitFor();
  await other.page.getByRole('button', { name: 'Log out' }).click();
  await other.page.getByLabel('E-mail').waitFor();
  await eventually(async () => (await keptUploads(other.page)) === 0, 'forgotten');
  await other.context.close();
});

function keptUploads(shown: Page): Promise<number> {
  return shown.evaluate<number>(`new Promise((resolve, reject) => {
    const opened = indexedDB.open('ftg-uploads', 1);
    opened.onerror = reject;
    opened.onsuccess = () => {
      const count = opened.result.transaction('uploads').objectStore('uploads').count();
      count.onsuccess = () => resolve(count.result);
      count.onerror = reject;
      opened.result.close();
    };
  })`);
}

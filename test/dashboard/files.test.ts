/** The files of a connection in a browser: the list, its menu and keys, drops, the search, previews, changed texts. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { copied, focusOf, logIn, openDesk, type Desk, type Window } from './browser.js';

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
beforeEach(() => {
  rmSync(onDisk(''), { recursive: true, force: true });
  mkdirSync(onDisk(''));
});

const ROOT = 'work';
const onDisk = (name: string): string => path.join(desk.sandboxFolder, ROOT, name);
const dialog = () => page.getByRole('dialog');
const grid = () => page.getByRole('grid', { name: 'Files' });
const row = (name: string) =>
  grid()
    .getByRole('row')
    .filter({ has: page.getByRole('button', { name, exact: true }) });
const shownNames = () => grid().locator('.file-rows .file-name button').allInnerTexts();
const has = async (name: string): Promise<void> => row(name).first().waitFor();

async function openFolder(below = ''): Promise<void> {
  await page.goto(`/files/sandbox?path=/${ROOT}${below}`);
}

async function openMenu(name: string): Promise<void> {
  await row(name).first().click({ button: 'right' });
  await page.getByRole('menu').waitFor();
}

/** The entry whose row has the focus. */
const focusedRow = () =>
  page.evaluate<string>(`document.activeElement?.closest('[role=row]')?.querySelector('button')?.textContent ?? ''`);
const focusIsOn = (name: string) => eventually(async () => (await focusedRow()) === name, `the focus is on ${name}`);
const choose = (name: string) => page.getByRole('menuitem', { name, exact: true }).click();

/** Drags files of the computer, or entries of the list. */
async function drop(files: readonly string[], onto: string): Promise<void> {
  const data = await page.evaluateHandle<unknown>(`(() => {
    const data = new DataTransfer();
    for (const name of ${JSON.stringify(files)}) data.items.add(new File([name], name));
    return data;
  })()`);
  for (const type of ['dragover', 'drop']) await page.locator(onto).dispatchEvent(type, { dataTransfer: data });
}

test('names are in natural order, folders first, and the order is remembered', async () => {
  for (const name of ['file10.txt', 'file9.txt', 'File1.txt', 'émile.txt', 'zeta.txt', 'file009b.txt']) {
    writeFileSync(onDisk(name), 'x'.repeat(name.length));
  }
  mkdirSync(onDisk('zz folder'));
  await openFolder();
  await has('zeta.txt');
  const natural = ['zz folder', 'émile.txt', 'File1.txt', 'file9.txt', 'file009b.txt', 'file10.txt', 'zeta.txt'];
  assert.deepEqual(await shownNames(), natural);
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
  const [folder = '', ...files] = natural;
  await eventually(async () => (await shownNames()).join() === [folder, ...files.toReversed()].join(), 'turned round');
  await page.reload();
  await has('zeta.txt');
  assert.deepEqual(await shownNames(), [folder, ...files.toReversed()]);
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
});

test('the path begins with the name of the connection, and leads up; keys go down and up again', async () => {
  mkdirSync(onDisk('a/b'), { recursive: true });
  mkdirSync(onDisk('c'));
  await openFolder();
  const crumbs = page.getByRole('navigation', { name: 'Folder' });
  assert.equal(await crumbs.getByRole('link').first().innerText(), 'Sandbox');
  await row('c').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.waitForURL(/path=%2Fwork%2Fa$/);
  await focusIsOn('b');
  await page.keyboard.press('Backspace');
  await page.waitForURL(/path=%2Fwork$/);
  await focusIsOn('a');
  await crumbs.getByRole('link', { name: 'Sandbox' }).click();
  await page.waitForURL(/path=%2F$/);
});

test('letters go to the first name that begins with them', async () => {
  for (const name of ['alpha.txt', 'beta.txt', 'beton.txt', 'gamma.txt']) writeFileSync(onDisk(name), name);
  await openFolder();
  // All letters until Home belong to one name, however slow this machine is.
  await page.evaluate('performance.now = () => 0');
  await row('alpha.txt').focus();
  await page.keyboard.type('bet');
  await focusIsOn('beta.txt');
  await page.keyboard.type('o');
  await focusIsOn('beton.txt');
  await page.keyboard.press('Home');
  await page.keyboard.press('g');
  await focusIsOn('gamma.txt');
});

test('the selection is counted, with its size, and can be cleared', async () => {
  writeFileSync(onDisk('one.bin'), Buffer.alloc(1024));
  writeFileSync(onDisk('two.bin'), Buffer.alloc(2048));
  writeFileSync(onDisk('three.bin'), '');
  await openFolder();
  await page.getByRole('checkbox', { name: 'Select one.bin' }).check();
  await row('two.bin').click({ modifiers: ['Control'] });
  const bar = page.getByRole('toolbar', { name: 'Actions for the selection' });
  await bar.getByText('2 selected · 3 KiB').waitFor();
  const download = page.waitForEvent('download');
  await bar.getByRole('button', { name: 'Download as ZIP' }).click();
  assert.equal(
    readFileSync(await (await download).path())
      .subarray(0, 2)
      .toString(),
    'PK',
  );
  await bar.getByRole('button', { name: 'Clear the selection' }).click();
  await bar.waitFor({ state: 'detached' });
});

test('the menu opens by key, by right click and by its button; its first entry has the focus, Escape returns it', async () => {
  writeFileSync(onDisk('notes.txt'), 'x');
  writeFileSync(onDisk('other.txt'), 'x');
  await openFolder();
  const first = async () => (await focusOf(page)).startsWith('Preview');
  const byKey = (key: string) => async (): Promise<void> => {
    await row('notes.txt').focus();
    await page.keyboard.press(key);
  };
  const ways: readonly (() => Promise<void>)[] = [
    byKey('Shift+F10'),
    byKey('ContextMenu'),
    () => row('notes.txt').click({ button: 'right' }),
    () => page.getByRole('button', { name: 'Actions for notes.txt' }).click(),
  ];
  for (const way of ways) {
    await way();
    await page.getByRole('menu', { name: 'Actions for notes.txt' }).waitFor();
    await eventually(first, 'the first entry has the focus');
    await page.keyboard.press('ArrowDown');
    await eventually(async () => (await focusOf(page)).startsWith('Edit'), 'arrows move');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await focusIsOn('notes.txt');
  }
});

test('a dialog that was opened from the menu returns the focus to the row', async () => {
  writeFileSync(onDisk('notes.txt'), 'x');
  await openFolder();
  await has('notes.txt');
  for (const entry of ['Preview', 'Rename …', 'Delete …']) {
    await row('notes.txt').focus();
    await page.keyboard.press('Shift+F10');
    await choose(entry);
    await dialog().waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await focusIsOn('notes.txt');
  }
});

test('the menu copies the path, a curl line and a link that opens the file', async () => {
  writeFileSync(onDisk("it's.txt"), 'remember me');
  await openFolder();
  await openMenu("it's.txt");
  await choose('Copy path');
  await copied(page, `/${ROOT}/it's.txt`);
  await openMenu("it's.txt");
  await choose('Copy as curl');
  const line = `curl -fsS -H "Authorization: Bearer $FTG_KEY" -o './it'\\''s.txt' '${desk.gateway.url}/api/download/sandbox?path=%2F${ROOT}%2Fit%27s.txt'`;
  await copied(page, line);
  await openMenu("it's.txt");
  await choose('Copy link');
  await page.goto(await copied(page, (text) => text.startsWith(`${desk.gateway.url}/files/`)));
  await dialog().getByText('remember me').waitFor();
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  rmSync(onDisk("it's.txt"));
  await page.goto(`/files/sandbox?path=/${ROOT}&file=it%27s.txt`);
  await page.getByText("it's.txt is no longer in this folder.").waitFor();
});

test('from the menu, a folder is downloaded as ZIP, a file deleted and another one moved', async () => {
  mkdirSync(onDisk('box'));
  writeFileSync(onDisk('box/inside.txt'), 'x');
  writeFileSync(onDisk('old.txt'), 'x');
  await openFolder();
  const download = page.waitForEvent('download');
  await openMenu('box');
  await choose('Download as ZIP');
  assert.equal((await download).suggestedFilename(), 'box.zip');
  await openMenu('old.txt');
  await choose('Move …');
  await dialog().getByRole('textbox').fill(`/${ROOT}/box`);
  await dialog().getByRole('button', { name: 'Move' }).click();
  await eventually(() => existsSync(onDisk('box/old.txt')), 'moved');
  await openMenu('box');
  await choose('Open');
  await has('inside.txt');
  await openMenu('inside.txt');
  await choose('Delete …');
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await eventually(() => !existsSync(onDisk('box/inside.txt')), 'deleted');
});

test('when an entry is gone, its successor has the focus', async () => {
  for (const name of ['a.txt', 'b.txt', 'c.txt']) writeFileSync(onDisk(name), 'x');
  await openFolder();
  await row('b.txt').focus();
  await page.keyboard.press('Delete');
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await row('b.txt').waitFor({ state: 'detached' });
  await focusIsOn('c.txt');
});

test('renaming selects the name without its extension', async () => {
  writeFileSync(onDisk('report.final.pdf'), 'x');
  await openFolder();
  await row('report.final.pdf').focus();
  await page.keyboard.press('F2');
  await dialog().getByLabel('New name').waitFor();
  await eventually(
    async () => (await page.evaluate('document.activeElement?.selectionEnd')) === 'report.final'.length,
    'the stem is selected',
  );
  await page.keyboard.type('summary');
  await page.keyboard.press('Enter');
  await eventually(() => existsSync(onDisk('summary.pdf')), 'renamed');
});

test('a row that is dragged onto a folder, or onto the path, is moved there', async () => {
  mkdirSync(onDisk('into'));
  writeFileSync(onDisk('dragged.txt'), 'x');
  await openFolder();
  await row('dragged.txt').locator('.file-size').dragTo(row('into'));
  await eventually(() => existsSync(onDisk('into/dragged.txt')), 'moved into the folder');
  await openFolder('/into');
  await has('dragged.txt');
  await row('dragged.txt')
    .locator('.file-size')
    .dragTo(page.getByRole('navigation', { name: 'Folder' }).getByRole('link', { name: ROOT }));
  await eventually(() => existsSync(onDisk('dragged.txt')), 'moved up');
});

test('dropped files of the computer go into the folder under the mouse, or else into the open one', async () => {
  mkdirSync(onDisk('target'));
  await openFolder();
  await has('target');
  await drop(['inner.txt'], '.file-rows .file-row');
  await eventually(() => existsSync(onDisk('target/inner.txt')), 'into the folder');
  assert.ok(!existsSync(onDisk('inner.txt')));
  await drop(['outer.txt'], '.drop-zone');
  await eventually(() => existsSync(onDisk('outer.txt')), 'into this one');
});

test('the search covers all folders below, ignores case, and can be stopped', async () => {
  mkdirSync(onDisk('deep/er'), { recursive: true });
  writeFileSync(onDisk('deep/er/Invoice-7.pdf'), 'x');
  writeFileSync(onDisk('invoice-8.pdf'), 'x');
  writeFileSync(onDisk('deep/letter.pdf'), 'x');
  await openFolder();
  await page.getByLabel('Find in this folder').fill('INVOICE');
  await page.getByRole('button', { name: 'Search sub-folders' }).click();
  await page.getByText(`2 found for “INVOICE” below /${ROOT}`).waitFor();
  assert.deepEqual(await shownNames(), ['Invoice-7.pdf', 'invoice-8.pdf']);
  await row('Invoice-7.pdf').getByText('deep/er').waitFor();
  await page.getByLabel('Find in this folder').fill('*.pdf');
  await page.keyboard.press('Enter');
  await page.getByText('3 found for “*.pdf”').waitFor();
  await openMenu('letter.pdf');
  await choose('Show in its folder');
  await page.waitForURL(/path=%2Fwork%2Fdeep$/);
  await focusIsOn('letter.pdf');

  await openFolder();
  await has('invoice-8.pdf');
  await page.route('**/api/list/sandbox?**recursive=true**', () => undefined);
  await page.getByLabel('Find in this folder').fill('slow');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped. 0 found for “slow” so far').waitFor();
  await page.getByRole('button', { name: 'Back to the folder' }).click();
  await page.unroute('**/api/list/sandbox?**recursive=true**');
});

test('each kind has its icon; rights, owner and group are columns of choice, and are kept', async () => {
  mkdirSync(onDisk('folder'));
  for (const name of ['a.png', 'b.zip', 'c.csv', 'd.bin']) writeFileSync(onDisk(name), 'x', { mode: 0o640 });
  symlinkSync('d.bin', onDisk('e.lnk'));
  await openFolder();
  await has('a.png');
  const icons = await page.evaluate<string[]>(
    `[...document.querySelectorAll('.file-rows .file-name svg path')].map((one) => one.getAttribute('d'))`,
  );
  assert.equal(new Set(icons).size, 6, 'six kinds');
  await row('e.lnk').getByLabel('Link').waitFor();
  await page.getByRole('button', { name: 'Columns' }).click();
  for (const name of ['Rights', 'Owner', 'Group']) await page.getByRole('menuitemcheckbox', { name }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Size' }).click();
  await page.keyboard.press('Escape');
  await row('a.png').getByText('0640').waitFor();
  await openFolder('/folder');
  await openFolder();
  await row('a.png').getByText('0640').waitFor();
  const heads = await grid().getByRole('columnheader').allInnerTexts();
  assert.deepEqual(
    heads.slice(1, -1).map((head) => head.trim()),
    ['Name', 'Changed', 'Rights', 'Owner', 'Group'],
  );
  await row('a.png').getByRole('button', { name: 'a.png', exact: true }).click();
  await dialog()
    .getByText(/ · 0640 \S/)
    .waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitem', { name: 'The usual columns' }).click();
  await grid().getByRole('columnheader', { name: 'Size' }).waitFor();
});

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A large JPEG of a camera: Exif data in the order of `isLittle`, whose second directory points at a small picture. */
function cameraPicture(isLittle: boolean): Buffer {
  const [word, long] = [Buffer.alloc(2), Buffer.alloc(4)];
  const w = (value: number): Buffer =>
    Buffer.from(word.fill(0).subarray(0, isLittle ? word.writeUInt16LE(value) : word.writeUInt16BE(value)));
  const l = (value: number): Buffer =>
    Buffer.from(long.fill(0).subarray(0, isLittle ? long.writeUInt32LE(value) : long.writeUInt32BE(value)));
  const entry = (tag: number, value: number): Buffer => Buffer.concat([w(tag), w(4), l(1), l(value)]);
  const start = Buffer.concat([Buffer.from(isLittle ? 'II' : 'MM'), w(42), l(8), w(0), l(14)]);
  const second = Buffer.concat([w(2), entry(0x0201, 44), entry(0x0202, PNG.length), l(0)]);
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), start, second, PNG]);
  const length = Buffer.from([(exif.length + 2) >> 8, (exif.length + 2) & 0xff]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8, 0xff, 0xe1]),
    length,
    exif,
    Buffer.from([0xff, 0xda]),
    Buffer.alloc(400_000),
  ]);
}

test('thumbnails are read on request alone: one range of an image in view, two at once, each of them once', async () => {
  writeFileSync(onDisk('camera-1.jpg'), cameraPicture(true));
  writeFileSync(onDisk('camera-2.jpg'), cameraPicture(false));
  for (const name of ['a.png', 'b.png', 'c.png', 'text.txt', 'drawing.svg']) writeFileSync(onDisk(name), PNG);
  writeFileSync(onDisk('large.png'), Buffer.alloc(300_000));
  writeFileSync(onDisk('broken.gif'), 'no image');
  for (let number = 0; number < 200; number++) writeFileSync(onDisk(`z-${number}.png`), PNG);
  let [open, most] = [0, 0];
  const ranges = new Map<string, string[]>();
  await page.route('**/api/download/**', async (route) => {
    const name = path.basename(new URL(route.request().url()).searchParams.get('path') ?? '');
    ranges.set(name, [...(ranges.get(name) ?? []), (await route.request().headerValue('range')) ?? '']);
    most = Math.max(most, (open += 1));
    const response = await route.fetch();
    open -= 1;
    await route.fulfill({ response });
  });
  const pictures = () => grid().locator('img.thumbnail');
  await openFolder();
  await has('camera-1.jpg');
  assert.equal(await pictures().count(), 0);
  assert.equal(ranges.size, 0, 'nothing is read while they are off');
  await page.getByRole('button', { name: 'Thumbnails' }).click();
  for (const name of ['a.png', 'camera-1.jpg', 'camera-2.jpg', 'z-0.png'])
    await row(name).locator('img.thumbnail').waitFor();
  assert.deepEqual(ranges.get('camera-1.jpg'), ['bytes=0-65535']);
  assert.deepEqual(ranges.get('a.png'), [`bytes=0-${PNG.length - 1}`]);
  for (const name of ['large.png', 'text.txt', 'drawing.svg', 'z-150.png']) assert.equal(ranges.has(name), false, name);
  await row('broken.gif').locator('svg').first().waitFor();
  assert.ok(most <= 2, `${most} at once`);
  await page.getByRole('button', { name: 'Refresh the folder' }).click();
  await page.getByRole('button', { name: 'Thumbnails' }).click();
  await eventually(async () => (await pictures().count()) === 0, 'they are off');
  await page.getByRole('button', { name: 'Thumbnails' }).click();
  await row('a.png').locator('img.thumbnail').waitFor();
  assert.equal(ranges.get('a.png')?.length, 1, 'kept in memory');
  await page.getByRole('button', { name: 'Thumbnails' }).click();
  // A request of a picture may still be under way.
  await page.unrouteAll({ behavior: 'wait' });
});

test('a tab that becomes visible reads the folder again, once', async () => {
  writeFileSync(onDisk('old.txt'), 'x');
  const { page: other, context } = await desk.open({ loggedInLike: window.context });
  await other.goto(`/files/sandbox?path=/${ROOT}`);
  await other.getByRole('button', { name: 'old.txt', exact: true }).waitFor();
  const reads: string[] = [];
  other.on('request', (request) => request.url().includes('/api/list/') && reads.push(request.url()));
  writeFileSync(onDisk('new.txt'), 'x');
  await other.clock.setFixedTime(Date.now() + 60_000);
  for (let flips = 0; flips < 5; flips++) await other.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
  await other.getByRole('button', { name: 'new.txt', exact: true }).waitFor();
  for (let flips = 0; flips < 5; flips++) await other.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
  assert.equal(reads.length, 1);
  await context.close();
});

test('a small text is changed and saved, asks before changes are discarded, and keeps its line ends', async () => {
  writeFileSync(onDisk('hosts.txt'), 'one\r\ntwo\r\n');
  await openFolder();
  await openMenu('hosts.txt');
  await choose('Edit');
  const text = dialog().getByLabel('Text of the file');
  await text.fill('one\nthree\n');
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard changes?' }).waitFor();
  await page.getByRole('button', { name: 'Keep editing' }).click();
  assert.equal(await text.inputValue(), 'one\nthree\n');
  await dialog().getByRole('button', { name: 'Save' }).click();
  await dialog().getByLabel('Content').waitFor();
  assert.equal(readFileSync(onDisk('hosts.txt'), 'utf8'), 'one\r\nthree\r\n');
  await page.keyboard.press('Escape');
});

test('a text that was changed by another client meanwhile is not overwritten without asking', async () => {
  writeFileSync(onDisk('shared.txt'), 'mine\n');
  await openFolder();
  await row('shared.txt').getByRole('button', { name: 'shared.txt', exact: true }).click();
  await dialog().getByRole('button', { name: 'Edit' }).click();
  await dialog().getByLabel('Text of the file').fill('mine, longer\n');
  writeFileSync(onDisk('shared.txt'), 'your\n');
  await page.keyboard.press('Control+s');
  await dialog().getByText('The file changed since you opened it').waitFor();
  assert.equal(readFileSync(onDisk('shared.txt'), 'utf8'), 'your\n');
  await dialog().getByRole('button', { name: 'Overwrite it' }).click();
  await dialog().getByLabel('Content').waitFor();
  assert.equal(readFileSync(onDisk('shared.txt'), 'utf8'), 'mine, longer\n');
  await page.keyboard.press('Escape');
});

test('JSON folds, CSV is a table, a log shows its end and continues', async () => {
  writeFileSync(onDisk('data.json'), JSON.stringify({ list: [1, { deep: { deeper: 'found' } }], ['__proto__']: 1 }));
  writeFileSync(onDisk('people.csv'), 'name,town\nAda,"London, UK"\n');
  writeFileSync(onDisk('app.log'), `${'an old line\n'.repeat(40_000)}the last line\n`);
  await openFolder();
  const openPreview = async (name: string): Promise<void> =>
    row(name).getByRole('button', { name, exact: true }).click();
  await openPreview('data.json');
  const tree = dialog().getByRole('region', { name: 'Content' });
  await tree.getByText('list:').waitFor();
  assert.equal(await tree.getByText('"found"').count(), 0, 'deep parts are folded');
  for (const name of ['1:', 'deep:']) await tree.locator('summary').filter({ hasText: name }).last().click();
  await tree.getByText('"found"').waitFor();
  await dialog().getByRole('button', { name: 'As text' }).click();
  await dialog().locator('pre').getByText('"deeper"').waitFor();
  await page.keyboard.press('Escape');

  await openPreview('people.csv');
  await dialog().getByRole('cell', { name: 'London, UK' }).waitFor();
  await page.keyboard.press('Escape');

  await openPreview('app.log');
  const log = dialog().getByLabel('Content');
  await log.getByText('the last line').waitFor();
  assert.ok((await log.innerText()).startsWith('an old line\n'), 'it begins with a whole line');
  await dialog().getByRole('button', { name: 'Follow' }).click();
  writeFileSync(onDisk('app.log'), 'one more line\n', { flag: 'a' });
  await log.getByText('one more line').waitFor();
  writeFileSync(onDisk('app.log'), 'a new log\n');
  await eventually(async () => (await log.innerText()).trim() === 'a new log', 'it was turned over');
  await page.keyboard.press('Escape');
  await openPreview('app.log');
  await log.getByText('a new log').waitFor();
  await page.keyboard.press('Escape');
});

test('a log is updated when the page reloads its data, and following continues', async () => {
  writeFileSync(onDisk('app.log'), 'the first line\n');
  await openFolder();
  await row('app.log').getByRole('button', { name: 'app.log', exact: true }).click();
  const log = dialog().getByLabel('Content');
  await log.getByText('the first line').waitFor();
  /** The page reloads everything once the gateway answers again. Only its check of the gateway fails here. */
  const reload = async (): Promise<void> => {
    await page.route('**/healthz', (route) => route.abort());
    await page.evaluate("dispatchEvent(new Event('offline'))");
    await page.getByRole('status').filter({ hasText: 'The gateway cannot be reached.' }).waitFor();
    await page.evaluate("dispatchEvent(new Event('online'))");
    const reloaded = page.waitForResponse(
      (answer) => answer.request().headers()['range']?.startsWith('bytes=-') === true,
    );
    await page.unroute('**/healthz');
    await reloaded;
  };
  writeFileSync(onDisk('app.log'), 'the second line\n', { flag: 'a' });
  await reload();
  await log.getByText('the second line').waitFor();
  const follow = dialog().getByRole('button', { name: 'Follow' });
  await follow.click();
  await reload();
  writeFileSync(onDisk('app.log'), 'the third line\n', { flag: 'a' });
  await log.getByText('the third line').waitFor();
  assert.equal(await follow.getAttribute('aria-pressed'), 'true');
});

test('a PDF is shown only by the browser, and a web page that pretends to be one never runs', async () => {
  const pdf = '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n';
  writeFileSync(onDisk('real.pdf'), `${pdf}trailer<</Root 1 0 R>>\n%%EOF`);
  writeFileSync(onDisk('page.pdf'), '<script>parent.document.title = "owned"</script>');
  writeFileSync(onDisk('both.pdf'), '%PDF-1.4 <html><script>parent.document.title = "owned"</script>');
  writeFileSync(
    onDisk('page.svg'),
    '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "owned"</script></svg>',
  );
  writeFileSync(onDisk('<img src=x onerror=alert(1)>.html'), '<script>document.title = "owned"</script>');
  await openFolder();
  const hasViewer = await page.evaluate<boolean>('navigator.pdfViewerEnabled');
  for (const name of ['real.pdf', 'both.pdf']) {
    await row(name).getByRole('button', { name, exact: true }).click();
    const frame = dialog().locator('iframe');
    if (hasViewer) {
      await frame.waitFor();
      assert.match((await frame.getAttribute('src')) ?? '', /^blob:/);
    } else await dialog().getByText('This browser cannot show PDFs').waitFor();
    // The viewer takes the focus at some moment while it loads, and with it a key that is pressed then.
    await eventually(async () => {
      await page.keyboard.press('Escape');
      return (await dialog().count()) === 0;
    }, 'Escape closes the preview');
  }
  await row('page.pdf').getByRole('button', { name: 'page.pdf', exact: true }).click();
  await dialog().getByText('This is not a PDF').waitFor();
  await page.keyboard.press('Escape');
  await row('<img src=x onerror=alert(1)>.html').getByRole('button').first().click();
  await dialog().locator('pre').getByText('owned').waitFor();
  await page.keyboard.press('Escape');
  assert.doesNotMatch(await page.title(), /owned/);
  // The viewer is a part of the browser.
  assert.deepEqual(
    window.faults.filter((fault) => !/^asks chrome(-extension)?:/.test(fault)),
    [],
  );
});

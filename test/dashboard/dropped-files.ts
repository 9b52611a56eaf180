/** Files that are dropped on a page by script. */
import assert from 'node:assert/strict';
import type { JSHandle, Page } from 'playwright-core';

export const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `file-${String(index).padStart(4, '0')}.txt`);

/** Like a user who drops them. */
export async function dropFiles(page: Page, names: readonly string[], content: string): Promise<void> {
  const transfer = await holdFiles(page, names, content);
  await dropHeld(page, transfer);
  await transfer.dispose();
}

/** The dragged files: the content of each is `content` and its name. */
export function holdFiles(page: Page, names: readonly string[], content: string): Promise<JSHandle> {
  return page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    for (const name of ${JSON.stringify(names)}) transfer.items.add(new File([${JSON.stringify(content)} + name], name));
    return transfer;
  })()`);
}

export async function dropHeld(page: Page, transfer: JSHandle): Promise<void> {
  await page.locator('.drop-zone').dispatchEvent('drop', { dataTransfer: transfer });
}

/** Drops files or folders of this disk, as the browser takes them from a file manager. */
export async function dropLocal(page: Page, place: string, paths: readonly string[]): Promise<void> {
  const { x, y, width } = (await page.locator(place).boundingBox()) ?? assert.fail(place);
  const browser = await page.context().newCDPSession(page);
  const data = { items: [], files: [...paths], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await browser.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + 1, data });
  await browser.detach();
}

/** Drops a local folder `album`, in which the browser cannot read the folder `locked`. */
export async function dropUnreadable(page: Page, place: string): Promise<void> {
  await page.locator(place).waitFor();
  await page.evaluate(`(() => {
    const folder = (name, readEntries) => ({ isFile: false, isDirectory: true, name, createReader: () => ({ readEntries }) });
    const locked = folder('locked', (_done, failed) => failed(new DOMException('raw words', 'NotFoundError')));
    const entries = [locked];
    const album = folder('album', (done) => done(entries.splice(0)));
    const drop = new Event('drop', { bubbles: true });
    drop.dataTransfer = { types: ['Files'], files: [], items: [{ kind: 'file', webkitGetAsEntry: () => album }] };
    document.querySelector(${JSON.stringify(place)}).dispatchEvent(drop);
  })()`);
}

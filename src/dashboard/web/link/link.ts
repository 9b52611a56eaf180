/**
 * The page of a link. Its times are in the reader's time zone. Dropped or chosen files go to the page's address, one
 * after another.
 */
import { Turns } from '../../../base/turns.ts';
import { visible } from '../../../base/visible.ts';
import { type DroppedFile, droppedFiles, pickedFiles, UnreadablePath } from '../sending/dropped.ts';
import type { PageData } from './page-data.ts';
import { saveReceipt } from './receipt.ts';
import { Row } from './row.ts';
import { Total } from './total.ts';

for (const time of document.querySelectorAll('time')) {
  const format = { dateStyle: 'long', timeStyle: 'short' } as const;
  time.textContent = new Intl.DateTimeFormat(document.documentElement.lang, format).format(new Date(time.dateTime));
}

const zone = document.querySelector<HTMLElement>('.drop');
const list = document.querySelector<HTMLElement>('.files');
const status = document.querySelector<HTMLElement>('.total');
if (zone !== null && list !== null && status !== null) open(zone, list, status);

function open(drop: HTMLElement, list: HTMLElement, status: HTMLElement): void {
  const data = JSON.parse(drop.dataset['page'] ?? '') as PageData;
  const rows: Row[] = [];
  const queue: Row[] = [];
  const total = new Total(status, rows, data);
  const receipt = document.createElement('button');
  receipt.type = 'button';
  receipt.textContent = data.words.receipt.save;
  receipt.addEventListener('click', () => saveReceipt(rows, data));
  let isBusy = false;

  const work = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    receipt.remove();
    for (let row = queue.shift(); row !== undefined; row = queue.shift()) await row.send();
    isBusy = false;
    total.end();
    if (rows.some(({ stored }) => stored !== undefined)) status.after(receipt);
  };
  const add = async (
    found: AsyncIterable<readonly DroppedFile[]> | Iterable<readonly DroppedFile[]>,
  ): Promise<void> => {
    const turns = new Turns();
    try {
      for await (const files of found) {
        for (const file of data.isOne ? files.slice(0, 1) : files) {
          const onAgain = (): void => {
            queue.push(row);
            void work();
          };
          const row = new Row(file, data, { onAgain, onBytes: () => total.show() });
          rows.push(row);
          list.append(row.element);
          if (row.mayGo) queue.push(row);
          if (!turns.isOver()) continue;
          void work();
          await turns.next();
        }
        if (queue.length > 0) void work();
      }
    } catch (error) {
      if (!(error instanceof UnreadablePath)) throw error;
      const failure = document.createElement('li');
      failure.className = 'failed';
      failure.setAttribute('role', 'alert');
      failure.textContent = data.words.states.unreadable.replace('{path}', () => visible(error.path));
      list.append(failure);
      if (queue.length > 0) void work();
    }
  };

  for (const chooser of drop.querySelectorAll('input')) {
    chooser.addEventListener('change', () => {
      void add([pickedFiles(chooser.files ?? [])]);
      chooser.value = '';
    });
  }
  // The whole page accepts drops. Otherwise a file dropped beside the zone would replace the page.
  for (const type of ['dragenter', 'dragover'] as const) {
    document.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add('over');
    });
  }
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) drop.classList.remove('over');
  });
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    const transfer = event.dataTransfer;
    if (transfer !== null) void add(data.takesFolders ? droppedFiles(transfer) : [pickedFiles(transfer.files)]);
  });
  addEventListener('beforeunload', (event) => {
    if (isBusy) event.preventDefault();
  });
}

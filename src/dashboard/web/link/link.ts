/** The page of a link. Its times are in the reader's time zone. Dropped or chosen files go to the page's address by PUT, one after another. */
import { visible } from '../../../base/visible.ts';

/** The data that the gateway embeds in the page (src/links/page.ts). */
interface PageData {
  readonly words: {
    readonly states: Readonly<Record<'waiting' | 'sending' | 'storing' | 'stored' | 'tooLarge' | 'again', string>>;
    readonly codes: Readonly<Record<string, string>>;
    readonly server: string;
    readonly network: string;
  };
  readonly language: string;
  /** 0 = no limit. */
  readonly maxBytes: number;
  /** The link accepts a single file. */
  readonly isOne: boolean;
}

for (const time of document.querySelectorAll('time')) {
  const format = { dateStyle: 'long', timeStyle: 'short' } as const;
  time.textContent = new Intl.DateTimeFormat(document.documentElement.lang, format).format(new Date(time.dateTime));
}

const zone = document.querySelector<HTMLElement>('.drop');
const list = document.querySelector<HTMLElement>('.files');
const input = document.querySelector<HTMLInputElement>('input[type=file]');
if (zone !== null && list !== null && input !== null) open(zone, list, input);

function open(drop: HTMLElement, rows: HTMLElement, chooser: HTMLInputElement): void {
  const data = JSON.parse(drop.dataset['page'] ?? '') as PageData;
  const queue: Row[] = [];
  let isBusy = false;

  const work = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    for (let row = queue.shift(); row !== undefined; row = queue.shift()) await row.send();
    isBusy = false;
  };
  const add = (files: Iterable<File>): void => {
    for (const file of data.isOne ? [...files].slice(0, 1) : files) {
      const row = new Row(file, data, () => {
        queue.push(row);
        void work();
      });
      rows.append(row.element);
      if (row.mayGo) queue.push(row);
    }
    void work();
  };

  chooser.addEventListener('change', () => {
    add(chooser.files ?? []);
    chooser.value = '';
  });
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
    add(event.dataTransfer?.files ?? []);
  });
  addEventListener('beforeunload', (event) => {
    if (isBusy) event.preventDefault();
  });
}

/** Errors that a retry would meet again. */
const FINAL = new Set(['too_large', 'digest_mismatch', 'gone', 'unknown_item', 'bad_path', 'bad_request', 'forbidden']);

/** A file in the list and its upload. */
class Row {
  readonly #file: File;
  readonly #data: PageData;
  readonly #onAgain: () => void;
  readonly element = document.createElement('li');
  readonly mayGo: boolean;
  readonly #bar = document.createElement('progress');
  readonly #state = document.createElement('p');

  constructor(file: File, data: PageData, onAgain: () => void) {
    this.#file = file;
    this.#data = data;
    this.#onAgain = onAgain;

    const name = document.createElement('bdi');
    name.textContent = visible(file.name);
    this.#bar.max = 1;
    this.#bar.value = 0;
    this.#bar.setAttribute('aria-label', visible(file.name));
    this.element.append(name, this.#bar, this.#state);
    const { maxBytes, words } = data;
    this.mayGo = maxBytes === 0 || file.size <= maxBytes;
    if (this.mayGo) this.#say(words.states.waiting);
    else this.#fail(words.states.tooLarge.replace('{most}', this.#bytes(maxBytes)));
  }

  /** Never rejects. */
  send(): Promise<void> {
    const { states } = this.#data.words;
    this.element.className = '';
    return new Promise((done) => {
      const request = new XMLHttpRequest();
      request.upload.addEventListener('progress', ({ loaded, total }) => this.#moved(loaded, total));
      request.upload.addEventListener('load', () => this.#say(states.storing));
      request.addEventListener('loadend', () => {
        this.#end(request);
        done();
      });
      request.open('PUT', `${location.pathname}?filename=${encodeURIComponent(this.#file.name)}`);
      request.setRequestHeader('Content-Type', 'application/octet-stream');
      request.send(this.#file);
    });
  }

  #moved(loaded: number, total: number): void {
    const part = total === 0 ? 1 : loaded / total;
    this.#bar.value = part;
    this.#say(this.#data.words.states.sending.replace('{percent}', String(Math.floor(part * 100))));
  }

  #end(request: XMLHttpRequest): void {
    const { states, codes, server, network } = this.#data.words;
    const { status } = request;
    if (status === 201) {
      const { filename } = JSON.parse(request.responseText) as { readonly filename: string };
      this.element.className = 'done';
      this.#bar.value = 1;
      this.#say(states.stored.replace('{name}', () => visible(filename)));
      return;
    }
    const code = status === 0 ? '' : (request.getResponseHeader('X-Error-Code') ?? '');
    this.#fail(status === 0 ? network : (codes[code] ?? server), !FINAL.has(code));
  }

  #fail(text: string, mayTryAgain = false): void {
    this.element.className = 'failed';
    this.#say(text);
    this.#state.setAttribute('role', 'alert');
    if (!mayTryAgain) return;
    const again = document.createElement('button');
    again.type = 'button';
    again.textContent = this.#data.words.states.again;
    again.addEventListener('click', () => {
      again.remove();
      this.#state.removeAttribute('role');
      this.#say(this.#data.words.states.waiting);
      this.#onAgain();
    });
    this.element.append(again);
  }

  #say(text: string): void {
    this.#state.textContent = text;
  }

  #bytes(most: number): string {
    const unit = { style: 'unit', unit: 'megabyte', maximumFractionDigits: 3 } as const;
    return new Intl.NumberFormat(this.#data.language, unit).format(most / 1_000_000);
  }
}

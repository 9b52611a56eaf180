/** One file of the page: its row, and its upload by PUT. */
import { visible } from '../../../base/visible.ts';
import type { PageData } from './page-data.ts';

/** Errors that a retry would meet again. */
const FINAL = new Set(['too_large', 'digest_mismatch', 'gone', 'unknown_item', 'bad_path', 'bad_request', 'forbidden']);

interface RowHooks {
  readonly onAgain: () => void;
  readonly onBytes: () => void;
}

interface StoredFile {
  readonly name: string;
  readonly size: number;
  readonly at: Date;
  /** SHA-256 in base64, as the gateway reports it. */
  readonly digest: string | undefined;
}

/** A file in the list and its upload. */
export class Row {
  readonly #file: File;
  readonly #data: PageData;
  readonly #hooks: RowHooks;
  /** What the gateway has stored; undefined before. */
  stored: StoredFile | undefined;
  sentBytes = 0;
  readonly element = document.createElement('li');
  readonly mayGo: boolean;
  readonly #bar = document.createElement('progress');
  readonly #state = document.createElement('p');

  constructor(file: File, data: PageData, hooks: RowHooks) {
    this.#file = file;
    this.#data = data;
    this.#hooks = hooks;

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

  get size(): number {
    return this.#file.size;
  }

  get hasFailed(): boolean {
    return this.element.className === 'failed';
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
      request.setRequestHeader('Want-Repr-Digest', 'sha-256=1');
      request.send(this.#file);
    });
  }

  #moved(loaded: number, total: number): void {
    const part = total === 0 ? 1 : loaded / total;
    this.sentBytes = loaded;
    this.#hooks.onBytes();
    this.#bar.value = part;
    this.#say(this.#data.words.states.sending.replace('{percent}', String(Math.floor(part * 100))));
  }

  #end(request: XMLHttpRequest): void {
    const { states, codes, server, network } = this.#data.words;
    const { status } = request;
    if (status === 201) {
      const answer = JSON.parse(request.responseText) as { readonly filename: string; readonly size: number };
      const digest = /sha-256=:([A-Za-z0-9+/=]+):/.exec(request.getResponseHeader('Repr-Digest') ?? '')?.[1];
      this.stored = { name: answer.filename, size: answer.size, at: new Date(), digest };
      this.sentBytes = this.#file.size;
      this.element.className = 'done';
      this.#bar.value = 1;
      this.#say(states.stored.replace('{name}', () => visible(answer.filename)));
      return;
    }
    const code = status === 0 ? '' : (request.getResponseHeader('X-Error-Code') ?? '');
    this.#fail(status === 0 ? network : (codes[code] ?? server), !FINAL.has(code));
  }

  #fail(text: string, mayTryAgain = false): void {
    this.sentBytes = 0;
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
      this.#hooks.onAgain();
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

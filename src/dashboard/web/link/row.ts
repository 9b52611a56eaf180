/** One file of the page: its row, and its upload. */
import { visible } from '../../../base/visible.ts';
import { sizeFormat } from '../../../contract/units.ts';
import { ask, Refused } from './ask.ts';
import type { DroppedFile } from '../sending/dropped.ts';
import type { PageData } from './page-data.ts';
import { namesOf, PIECES_FROM_BYTES, sendInPieces } from './pieces.ts';

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
  /** The folder below that of the link; '' = that one. */
  readonly #below: string;
  readonly #data: PageData;
  readonly #hooks: RowHooks;
  /** What the gateway has stored; undefined before. */
  stored: StoredFile | undefined;
  sentBytes = 0;
  /** Read once: for a file of the disk, the page waits for the browser's answer. */
  readonly size: number;
  readonly element = document.createElement('li');
  readonly mayGo: boolean;
  readonly #bar = document.createElement('progress');
  readonly #state = document.createElement('p');

  constructor({ file, below }: DroppedFile, data: PageData, hooks: RowHooks) {
    this.#file = file;
    this.#below = below;
    this.size = file.size;
    this.#data = data;
    this.#hooks = hooks;

    const name = document.createElement('bdi');
    name.textContent = visible(this.#withFolder(file.name));
    this.#bar.max = 1;
    this.#bar.value = 0;
    this.#bar.setAttribute('aria-label', name.textContent);
    this.element.append(name, this.#bar, this.#state);
    const { maxBytes, words, language } = data;
    this.mayGo = maxBytes === 0 || this.size <= maxBytes;
    if (this.mayGo) this.#say(words.states.waiting);
    else this.#fail(words.states.tooLarge.replace('{most}', sizeFormat(language)(maxBytes)));
  }

  get hasFailed(): boolean {
    return this.element.className === 'failed';
  }

  /** Never rejects. */
  async send(): Promise<void> {
    const { states, codes, server, network } = this.#data.words;
    this.element.className = '';
    try {
      const stored = await this.#deliver();
      this.stored = stored;
      this.sentBytes = this.size;
      this.element.className = 'done';
      this.#bar.value = 1;
      this.#say(states.stored.replace('{name}', () => visible(stored.name)));
    } catch (error) {
      const { status, code } = error instanceof Refused ? error : { status: 500, code: '' };
      this.#fail(status === 0 ? network : (codes[code] ?? server), !FINAL.has(code));
    }
  }

  async #deliver(): Promise<StoredFile> {
    const file = this.#file;
    const { filename, words } = this.#data;
    const onBytes = (sent: number): void => this.#moved(sent);
    if (this.size >= PIECES_FROM_BYTES) {
      const digest = await sendInPieces(
        { file, below: this.#below },
        { onBytes, onBreak: () => this.#say(words.states.broken) },
      );
      if (digest !== undefined) return storedAs(this.#withFolder(filename ?? file.name), this.size, digest);
    }
    const answer = await ask({
      method: 'PUT',
      target: `${location.pathname}?${new URLSearchParams(namesOf(file, this.#below)).toString()}`,
      headers: { 'Content-Type': 'application/octet-stream', 'Want-Repr-Digest': 'sha-256=1' },
      body: file,
      onBytes,
    });
    const { filename: name, size } = JSON.parse(answer.responseText) as {
      readonly filename: string;
      readonly size: number;
    };
    return storedAs(this.#withFolder(name), size, answer.getResponseHeader('Repr-Digest') ?? '');
  }

  #withFolder(name: string): string {
    return this.#below === '' ? name : `${this.#below}/${name}`;
  }

  #moved(sent: number): void {
    const { sending, storing } = this.#data.words.states;
    const part = this.size === 0 ? 1 : sent / this.size;
    this.sentBytes = sent;
    this.#hooks.onBytes();
    this.#bar.value = part;
    this.#say(part < 1 ? sending.replace('{percent}', String(Math.floor(part * 100))) : storing);
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
}

function storedAs(name: string, size: number, reprDigest: string): StoredFile {
  return { name, size, at: new Date(), digest: /sha-256=:([A-Za-z0-9+/=]+):/.exec(reprDigest)?.[1] };
}

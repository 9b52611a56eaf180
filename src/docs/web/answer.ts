/** Sends a request and shows the answer, only as text; a large or binary answer as its size and a download. */
import { sizeFormat } from '../../contract/units.ts';
import { button, copyButton, make } from './dom.ts';

/** Characters of a text that are shown; the rest is only in the download. */
const SHOWN_CHARACTERS = 100_000;
/** The maximum that is held in a page's memory. */
const HELD_BYTES = 64 * 1024 * 1024;
const sizeOf = sizeFormat('en');
const TEXT = /^(text\/|application\/(.*json|x-ndjson|jose|xml|yaml))/;

interface Sending {
  readonly target: string;
  readonly request: RequestInit;
  /** The addresses of the explanations of error codes. */
  readonly errors: Readonly<Record<string, string>>;
}

/** Fills `place`. Ends when the answer has ended, was stopped or broke off. */
export async function exchange(place: HTMLElement, { target, request, errors }: Sending): Promise<void> {
  const controller = new AbortController();
  const stop = button('Stop', () => controller.abort(), { class: 'stop' });
  const status = make('p', { class: 'status', role: 'status' }, 'Sent, waiting …');
  place.replaceChildren(make('div', { class: 'line' }, status, stop));
  const began = performance.now();
  const passed = (): string => `${Math.round(performance.now() - began)} ms`;
  try {
    const answer = await fetch(target, { ...request, signal: controller.signal, cache: 'no-store' });
    const head = `${answer.status} ${answer.statusText}`.trim();
    status.textContent = `${head} · ${passed()} · reading …`;
    status.classList.add(answer.ok ? 'good' : 'bad');
    place.append(explained(answer.headers.get('X-Error-Code'), errors), headersOf(answer));
    const body = new Body(answer);
    place.append(body.element);
    const whole = await body.read(controller.signal);
    status.textContent = `${head} · ${passed()} · ${sizeOf(body.bytes)}${whole === 'whole' ? '' : `, ${whole}`}`;
    body.finish(target);
  } catch (error) {
    status.classList.add('bad');
    status.textContent = controller.signal.aborted
      ? `Stopped after ${passed()}`
      : `No answer: ${error instanceof Error ? error.message : String(error)}`;
  }
  stop.remove();
}

function explained(code: string | null, errors: Sending['errors']): HTMLElement {
  if (code === null) return make('span');
  const address = errors[code];
  const name = make('code', {}, code);
  return make('p', {}, 'Error code ', address === undefined ? name : make('a', { href: address }, name));
}

function headersOf({ headers }: Response): HTMLElement {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  const text = make('pre', { tabindex: '0' }, make('code', {}, lines));
  return make('details', {}, make('summary', {}, `${[...headers].length} header fields`), text);
}

class Body {
  readonly #answer: Response;
  readonly element = make('div', { class: 'answer-body' });
  bytes = 0;
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  readonly #isText: boolean;
  readonly #type: string;
  readonly #decoder = new TextDecoder();
  readonly #code = make('code');
  #shown = 0;

  constructor(answer: Response) {
    this.#answer = answer;

    this.#type = answer.headers.get('Content-Type') ?? '';
    this.#isText = TEXT.test(this.#type);
    if (this.#isText) this.element.append(make('div', { class: 'code' }, make('pre', { tabindex: '0' }, this.#code)));
  }

  async read(signal: AbortSignal): Promise<'whole' | 'stopped' | 'cut here: curl takes all of it'> {
    const reader = this.#answer.body?.getReader();
    try {
      for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
        this.#take(piece.value);
        if (this.bytes > HELD_BYTES) {
          await reader?.cancel();
          return 'cut here: curl takes all of it';
        }
      }
      return 'whole';
    } catch (error) {
      if (signal.aborted) return 'stopped';
      throw error;
    }
  }

  #take(piece: Uint8Array<ArrayBuffer>): void {
    this.bytes += piece.length;
    this.#pieces.push(piece);
    if (!this.#isText || this.#shown >= SHOWN_CHARACTERS) return;
    const text = this.#decoder.decode(piece, { stream: true }).slice(0, SHOWN_CHARACTERS - this.#shown);
    this.#shown += text.length;
    this.#code.append(text);
  }

  finish(target: string): void {
    if (this.bytes === 0) return this.element.replaceChildren(make('p', { class: 'hint' }, 'No body.'));
    if (this.#isText) {
      const text = this.#code.textContent;
      if (/json$/.test(this.#type.split(';')[0] ?? '')) this.#code.textContent = indented(text);
      this.#code.parentElement?.parentElement?.append(copyButton(() => this.#code.textContent));
      if (this.#shown < SHOWN_CHARACTERS) return;
    }
    const address = URL.createObjectURL(new Blob(this.#pieces, { type: 'application/octet-stream' }));
    const name = nameOf(this.#answer.headers.get('Content-Disposition'), target);
    const what = this.#isText ? 'The text is longer than what is shown. ' : `${this.#type || 'Bytes'}, not shown. `;
    const link = make('a', { href: address, download: name }, `Download ${name} (${sizeOf(this.bytes)})`);
    this.element.append(make('p', {}, what, link));
  }
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function nameOf(disposition: string | null, target: string): string {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  const plain = /filename="([^"]*)"/.exec(disposition ?? '')?.[1];
  const named = encoded === undefined ? plain : decodeURIComponent(encoded);
  return named ?? target.split('?')[0]?.split('/').at(-1) ?? 'answer';
}

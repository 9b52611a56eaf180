/** One call: made, made again where that is safe, and its answer or its error. */
import { retryDelay } from '../base/retry-schedule.js';
import { NOT_BEGUN, PASSING } from '../contract/derived/error-lists.js';
import { canRepeat, type Progress, sentBody, type Turns, type UploadBody } from './body.js';
import { SilenceError } from './causes.js';
import { errorOf, FtgError, networkError } from './errors.js';
import { within } from './lines.js';
import { wait } from './wait.js';

export interface RetryOptions {
  /** Tries in all, the first included. Default 4; 1 = no second one. */
  readonly attempts?: number | undefined;
  /** Milliseconds before the second try; it doubles from there. Default 500. */
  readonly delayMs?: number | undefined;
  /** Longest wait in milliseconds; a Retry-After beyond it ends the tries. Default 60,000. */
  readonly maxDelayMs?: number | undefined;
}

/**
 * repeatable: the second run ends as the first one would have; an Idempotency-Key makes it so where the operation alone
 * does not. once: a second run could do it twice, so only what surely was not begun is sent again. never: the caller has
 * another way.
 */
type Repetition = 'repeatable' | 'once' | 'never';

const REPEATED_ALWAYS: readonly string[] = NOT_BEGUN;
const REPEATED: readonly string[] = [...PASSING, 'network_error'];
/** A load balancer without a gateway behind it. */
const PASSING_STATUSES: readonly number[] = [502, 503, 504];

/** Milliseconds to wait before the next try; undefined = give up. `attempt` counts from 1. */
function delayBefore(
  error: FtgError,
  repetition: Repetition,
  attempt: number,
  { attempts = 4, delayMs = 500, maxDelayMs = 60_000 }: RetryOptions,
): number | undefined {
  if (attempt >= attempts || !isPassing(error, repetition)) return undefined;
  if (error.retryAfter !== undefined) {
    const asked = error.retryAfter * 1_000;
    return asked <= maxDelayMs ? asked : undefined;
  }
  return retryDelay({ firstMs: delayMs, longestMs: maxDelayMs, spread: [0.5, 1] }, attempt);
}

function isPassing({ code, status }: FtgError, repetition: Repetition): boolean {
  if (repetition === 'never') return false;
  if (repetition === 'once') return REPEATED_ALWAYS.includes(code);
  return REPEATED.includes(code) || (code === 'invalid_answer' && PASSING_STATUSES.includes(status));
}

export interface ClientOptions {
  /** Where the gateway is, such as `https://files.example.com`. */
  readonly baseUrl: string;
  /** `ftg_…` */
  readonly apiKey: string;
  readonly retry?: RetryOptions | undefined;
  /** For calls that set none themselves: see CallOptions. */
  readonly timeoutMs?: number | undefined;
  /** In place of the fetch of the platform. */
  readonly fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  /** Ends the call, its waits included, with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Appears in the answer and in the log of the gateway. */
  readonly requestId?: string | undefined;
  /**
   * Milliseconds in which nothing moves, up or down, before a try fails with `network_error` and the reason `timeout`.
   * Default 120,000, and 300,000 for the answer to a change; 0 = no limit. How long a transfer takes as a whole, `signal` limits.
   */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 120_000;
/** For changes: the gateway may work in silence between the last byte of the body and its answer. */
const WORKING_TIMEOUT_MS = 300_000;

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Call {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly json?: object;
  readonly upload?: {
    readonly body: UploadBody;
    readonly size?: number | undefined;
    readonly onProgress?: Progress | undefined;
  };
  readonly repetition: Repetition;
  /** Sent with an Idempotency-Key: the caller's, else one of its own for all tries. */
  readonly idempotencyKey?: string | true | undefined;
  readonly options: CallOptions;
  /** Statuses that are answers too. */
  readonly accept?: readonly number[];
}

export class Transport {
  readonly #options: ClientOptions;
  readonly #base: string;
  readonly #host: string;
  readonly #fetch: typeof fetch;

  /** @throws TypeError where the address or the key cannot be one */
  constructor(options: ClientOptions) {
    this.#options = options;

    const { baseUrl, apiKey } = options;
    this.#base = baseUrl.replace(/\/+$/, '');
    this.#host = hostOf(baseUrl);
    // Headers would tell the key in its complaint.
    if (!/^[\x21-\x7e]*$/.test(apiKey)) throw new TypeError('apiKey holds a character that no API key has');
    // A method of the platform must be called as its own.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** Milliseconds to wait after so many failures of something that goes on where it was; undefined = give up. */
  delayAfter(error: FtgError, failures: number): number | undefined {
    return delayBefore(error, 'repeatable', failures, this.#options.retry ?? {});
  }

  /** Milliseconds in which nothing moves; 0 = any time. */
  timeoutOf(options: CallOptions, byDefault = TIMEOUT_MS): number {
    return options.timeoutMs ?? this.#options.timeoutMs ?? byDefault;
  }

  json<T>(call: Call): Promise<T> {
    return this.send(call, async (response) => JSON.parse(await this.text(response, call.options)) as T);
  }

  /** All of an answer. */
  async text(response: Response, options: CallOptions): Promise<string> {
    const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
    const decoder = new TextDecoder();
    let text = '';
    try {
      for (;;) {
        const next = await within(this.timeoutOf(options), reader?.read() ?? Promise.resolve(END));
        if (next.done) return text + decoder.decode();
        text += decoder.decode(next.value, { stream: true });
      }
    } catch (thrown) {
      await reader?.cancel().catch(() => undefined);
      throw thrown;
    }
  }

  /** Resolves to what `read` makes of a good answer. Rejects with FtgError, or the reason of the call's signal. */
  async send<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const { signal } = call.options;
    const headers = this.#headersOf(call);
    const isFinal = call.upload !== undefined && !canRepeat(call.upload.body);
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await this.#once(call, headers, read);
      } catch (thrown) {
        signal?.throwIfAborted();
        const error = thrown instanceof FtgError ? thrown : networkError(thrown, { host: this.#host });
        const delay = isFinal ? undefined : delayBefore(error, call.repetition, attempt, this.#options.retry ?? {});
        if (delay === undefined) throw error;
        await wait(delay, signal);
      }
    }
  }

  async #once<T>(call: Call, headers: Headers, read: (response: Response) => Promise<T>): Promise<T> {
    const { accept = [] } = call;
    const response = await this.#head(call, headers);
    if (!response.ok && !accept.includes(response.status))
      throw await errorOf(response, this.text(response, call.options));
    try {
      return await read(response);
    } catch (thrown) {
      if (thrown instanceof FtgError) throw thrown;
      const requestId = response.headers.get('x-request-id') ?? undefined;
      throw networkError(thrown, { requestId, host: this.#host });
    }
  }

  /** Sends the call; resolves with the answer as soon as its head is there. */
  async #head(call: Call, headers: Headers): Promise<Response> {
    const { method, upload, json, options } = call;
    const { signal } = options;
    const moving = this.timeoutOf(options);
    const isReading = method === 'GET' || method === 'HEAD';
    const working = isReading ? moving : this.timeoutOf(options, WORKING_TIMEOUT_MS);
    const silence = new Silence();
    const turns: Turns = {
      source: () => silence.stop(),
      network: () => silence.start(moving),
      gateway: () => silence.start(working),
    };
    try {
      const sending = upload && { ...upload, signal, turns };
      const sent = sending && (await fromCaller(sentBody(sending.body, sending)));
      // A stream has no length of its own; browsers, which stream none, do not let it be set.
      if (sent?.isStream === true && sent.size !== undefined) headers.set('Content-Length', String(sent.size));
      // A redirect must not carry a change to another place. It also lets fetch keep no byte of a stream for a second try (Fetch, 4.5).
      const redirect = isReading ? 'follow' : 'error';
      const init: RequestInit = { method, headers, redirect, signal: silence.with(signal) };
      if (sent !== undefined) init.body = sent.body;
      if (sent?.isStream === true) Object.assign(init, { duplex: 'half', window: null });
      if (json !== undefined) init.body = JSON.stringify(json);
      if (sent === undefined || sent.isStream) turns.gateway();
      return await this.#fetch(this.#base + call.path + search(call.query), init);
    } finally {
      silence.end();
    }
  }

  #headersOf({ headers = {}, json, idempotencyKey, options }: Call): Headers {
    const all = new Headers({ Authorization: `Bearer ${this.#options.apiKey}` });
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value);
    if (json !== undefined) all.set('Content-Type', 'application/json');
    if (options.requestId !== undefined) all.set('X-Request-Id', options.requestId);
    if (idempotencyKey !== undefined) {
      all.set('Idempotency-Key', idempotencyKey === true ? newKey() : idempotencyKey);
    }
    return all;
  }
}

const END = { done: true, value: undefined } as const;

/** Ends a call in which nothing moves, until its answer begins. */
class Silence {
  readonly #ending = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  with(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#ending.signal : AbortSignal.any([signal, this.#ending.signal]);
  }

  /** 0 = any time. */
  start(milliseconds: number): void {
    this.stop();
    if (this.#isOver || milliseconds === 0) return;
    this.#timer = setTimeout(() => this.#ending.abort(new SilenceError(milliseconds)), milliseconds);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Bytes of the body may go on to be asked for. */
  end(): void {
    this.stop();
    this.#isOver = true;
  }
}

function hostOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.host;
  throw new TypeError(`baseUrl must be an http or https URL such as https://files.example.com, not "${baseUrl}"`);
}

/** A failure of the caller's own body is neither the gateway's nor the network's, and is not tried again. */
async function fromCaller<T>(body: Promise<T>): Promise<T> {
  try {
    return await body;
  } catch (cause) {
    throw new FtgError('the body of the upload could not be made', { status: 0, code: 'invalid_body', cause });
  }
}

function search(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) parameters.append(name, String(one));
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

/** crypto.randomUUID is there in secure contexts alone; this is everywhere. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

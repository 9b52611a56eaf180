/** Sends calls, retries them if that is safe, and returns the answer or the error. */
import { retryDelay } from '../base/retry-schedule.js';
import { NOT_BEGUN, PASSING } from '../contract/derived/error-lists.js';
import { canRepeat, type Progress, sentBody, type Turns, type UploadBody } from './body.js';
import { SilenceError } from './causes.js';
import { errorOf, FtgError, networkError } from './errors.js';
import { within } from './lines.js';
import { wait } from './wait.js';

export interface RetryOptions {
  /** Attempts in total, including the first. Default 4; 1 = no retry. */
  readonly attempts?: number | undefined;
  /** Milliseconds before the first retry, doubled for each further one. Default 500. */
  readonly delayMs?: number | undefined;
  /** The longest wait in milliseconds; a longer Retry-After ends the attempts. Default 60,000. */
  readonly maxDelayMs?: number | undefined;
}

/**
 * repeatable: a second run has the same result as the first, by itself or through an Idempotency-Key. once: a second
 * run could act twice, so a call is retried only if it certainly has not begun. never: the caller retries in its own
 * way.
 */
type Repetition = 'repeatable' | 'once' | 'never';

const REPEATED_ALWAYS: readonly string[] = NOT_BEGUN;
const REPEATED: readonly string[] = [...PASSING, 'network_error'];
/** A load balancer without a gateway behind it. */
const PASSING_STATUSES: readonly number[] = [502, 503, 504];

/** Milliseconds to wait before the next attempt; undefined = give up. `attempt` counts from 1. */
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
  /** The address of the gateway, such as `https://files.example.com`. */
  readonly baseUrl: string;
  /** `ftg_…` */
  readonly apiKey: string;
  readonly retry?: RetryOptions | undefined;
  /** Defaults for calls: see CallOptions. */
  readonly timeoutMs?: number | undefined;
  /** Replaces the platform's fetch. */
  readonly fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  /** Ends the call, including its waits, with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Appears in the answer and in the gateway's log. */
  readonly requestId?: string | undefined;
  /**
   * Milliseconds without any progress, up or down, before an attempt fails with `network_error` and the reason
   * `timeout`. Default 120,000, and 300,000 for the answer to a change; 0 = no limit. `signal` limits the total time of
   * a transfer.
   */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 120_000;
/** For changes: between the last byte of the body and the answer, the gateway may work in silence. */
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
  /** Sent with an Idempotency-Key: the caller's, or one that is generated for all attempts. */
  readonly idempotencyKey?: string | true | undefined;
  readonly options: CallOptions;
  /** Statuses that do not count as errors. */
  readonly accept?: readonly number[];
}

export class Transport {
  readonly #options: ClientOptions;
  readonly #base: string;
  readonly #host: string;
  readonly #fetch: typeof fetch;

  /** @throws TypeError if the address or the key is invalid */
  constructor(options: ClientOptions) {
    this.#options = options;

    const { baseUrl, apiKey } = options;
    this.#base = baseUrl.replace(/\/+$/, '');
    this.#host = hostOf(baseUrl);
    // An error of Headers would contain the key.
    if (!/^[\x21-\x7e]*$/.test(apiKey)) throw new TypeError('apiKey holds a character that no API key has');
    // fetch must be called as a method of the platform.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** Milliseconds to wait after this number of consecutive failures of a resumable call; undefined = give up. */
  delayAfter(error: FtgError, failures: number): number | undefined {
    return delayBefore(error, 'repeatable', failures, this.#options.retry ?? {});
  }

  /** The longest time without progress in milliseconds; 0 = no limit. */
  timeoutOf(options: CallOptions, byDefault = TIMEOUT_MS): number {
    return options.timeoutMs ?? this.#options.timeoutMs ?? byDefault;
  }

  json<T>(call: Call): Promise<T> {
    return this.send(call, async (response) => JSON.parse(await this.text(response, call.options)) as T);
  }

  /** The whole text of an answer. */
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

  /**
   * Resolves with the result of `read` for a good answer. Rejects with FtgError, or the reason of the call's signal.
   */
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

  /** Sends the call; resolves with the answer as soon as its head has arrived. */
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
      // A stream has no length of its own. Browsers do not allow this header, and do not stream.
      if (sent?.isStream === true && sent.size !== undefined) headers.set('Content-Length', String(sent.size));
      // A change must not be redirected to another address. Without redirects, fetch also keeps no bytes of a stream
      // for a second attempt (Fetch, 4.5).
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

/** Ends a call without progress, until its answer begins. */
class Silence {
  readonly #ending = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  with(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#ending.signal : AbortSignal.any([signal, this.#ending.signal]);
  }

  /** 0 = no limit. */
  start(milliseconds: number): void {
    this.stop();
    if (this.#isOver || milliseconds === 0) return;
    this.#timer = setTimeout(() => this.#ending.abort(new SilenceError(milliseconds)), milliseconds);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the limit for good: bytes of the body may still be requested. */
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

/** A failure of the caller's own body is not the gateway's or the network's, and is not retried. */
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

/** crypto.randomUUID exists only in secure contexts; this function works everywhere. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** One call: made, made again where that is safe, and its answer or its error. */
import { canRepeat, sentBody, type Progress, type UploadBody } from './body.js';
import { errorOf, FtgError, networkError } from './errors.js';
import { delayBefore, wait, type Repetition, type RetryOptions } from './retry.js';

export interface ClientOptions {
  /** Where the gateway is, such as `https://files.example.com`. */
  readonly baseUrl: string;
  /** `ftg_…` */
  readonly apiKey: string;
  readonly retry?: RetryOptions;
  /** In place of the fetch of the platform. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call, its waits included, with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Stands in the answer and in the log of the gateway. */
  readonly requestId?: string;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

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
  private readonly base: string;
  private readonly fetch: typeof fetch;

  constructor(private readonly options: ClientOptions) {
    this.base = options.baseUrl.replace(/\/+$/, '');
    // A method of the platform must be called as its own.
    this.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  json<T>(call: Call): Promise<T> {
    return this.send(call, async (response) => (await response.json()) as T);
  }

  /** Resolves to what `read` makes of a good answer. Rejects with FtgError, or the reason of the call's signal. */
  async send<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const { signal } = call.options;
    const headers = this.headersOf(call);
    const isFinal = call.upload !== undefined && !canRepeat(call.upload.body);
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await this.once(call, headers, read);
      } catch (thrown) {
        signal?.throwIfAborted();
        const error = thrown instanceof FtgError ? thrown : networkError(thrown);
        const delay = isFinal ? undefined : delayBefore(error, call.repetition, attempt, this.options.retry ?? {});
        if (delay === undefined) throw error;
        await wait(delay, signal);
      }
    }
  }

  private async once<T>(call: Call, headers: Headers, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, upload, json, accept = [], options } = call;
    const { signal } = options;
    const sent = upload === undefined ? undefined : await fromCaller(sentBody(upload.body, { ...upload, signal }));
    // A stream has no length of its own; browsers, which stream none, do not let it be set.
    if (sent?.isStream === true && sent.size !== undefined) headers.set('Content-Length', String(sent.size));
    const init: RequestInit = { method, headers, signal: signal ?? null };
    if (sent !== undefined) init.body = sent.body;
    // Without a way to be sent again, the body is not kept: fetch would hold every byte for a redirect (Fetch, 4.5).
    if (sent?.isStream === true) Object.assign(init, { duplex: 'half', redirect: 'error', window: null });
    if (json !== undefined) init.body = JSON.stringify(json);
    const response = await this.fetch(this.base + call.path + search(call.query), init);
    if (!response.ok && !accept.includes(response.status)) throw await errorOf(response);
    try {
      return await read(response);
    } catch (thrown) {
      throw thrown instanceof FtgError
        ? thrown
        : networkError(thrown, response.headers.get('x-request-id') ?? undefined);
    }
  }

  private headersOf({ headers = {}, json, idempotencyKey, options }: Call): Headers {
    const all = new Headers({ Authorization: `Bearer ${this.options.apiKey}` });
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value);
    if (json !== undefined) all.set('Content-Type', 'application/json');
    if (options.requestId !== undefined) all.set('X-Request-Id', options.requestId);
    if (idempotencyKey !== undefined) {
      all.set('Idempotency-Key', idempotencyKey === true ? newKey() : idempotencyKey);
    }
    return all;
  }
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
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

/** crypto.randomUUID is there in secure contexts alone; this is everywhere. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

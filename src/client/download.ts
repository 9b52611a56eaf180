/// <reference lib="esnext.disposable" preserve="true" />
/** A file that is being downloaded from the gateway. */
import type { Progress } from './body.js';
import type { FileOptions } from './calls.js';
import { FtgError, networkError } from './errors.js';
import { type FileVersion, SameFile, versionOf } from './file-version.js';
import { within } from './lines.js';
import type { Call, Transport } from './transport.js';
import type * as api from './types.js';
import { wait } from './wait.js';

export interface DownloadOptions extends FileOptions, Omit<api.DownloadQuery, 'path' | 'rawName' | 'format'> {
  /** First and last byte, both inclusive; without `end`, the rest of the file. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined;
  /**
   * The first bytes already exist, from this `version` of a Download: only the rest is sent. Rejects with FtgError
   * `file_changed` if the file is another one now. Takes precedence over `range`.
   */
  readonly resume?: { readonly bytes: number; readonly version: FileVersion } | undefined;
  /** The ETag of the caller's copy. */
  readonly ifNoneMatch?: string | undefined;
  readonly onProgress?: Progress | undefined;
}

interface Facts {
  readonly onProgress: Progress | undefined;
  readonly signal: AbortSignal | undefined;
  /** The longest silence in milliseconds while a byte is awaited; 0 = no limit. */
  readonly silenceMs: number;
  /** If absent, a cut download cannot continue. */
  readonly file?: SameFile | undefined;
  /** The number of bytes that the caller already has. */
  readonly had?: number | undefined;
}

// Older browsers lack both symbols; TypeScript's helpers for `using` use these names in that case.
const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
const ASYNC_DISPOSE: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/**
 * A download. After a broken line, the body continues after the last received byte, if the file has a `version` and
 * still is this version. The body is read once, through `body` or one of the methods. It fails with FtgError
 * `network_error` if it cannot continue, and with `file_changed` if the file is another one by then: a cut download
 * never seems complete. A caller that does not read to the end releases it by `await using`, `cancel()` or a signal;
 * otherwise its connection stays open until its time limit.
 */
export class Download {
  /** 206 for a range, 304 for a file that the caller already has (its body is empty). */
  readonly status: number;
  readonly isNotModified: boolean;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** Bytes of the body. */
  readonly length: number | undefined;
  readonly etag: string | undefined;
  readonly lastModified: Date | undefined;
  /** The version of the file; undefined if a later version might look the same: then the download cannot be resumed. */
  readonly version: FileVersion | undefined;
  readonly requestId: string | undefined;
  readonly body: ReadableStream<Uint8Array>;
  readonly #source: Body;

  constructor(response: Response, facts: Facts) {
    const field = (name: string): string | undefined => response.headers.get(name) ?? undefined;
    this.status = response.status;
    this.isNotModified = response.status === 304;
    this.filename = filenameIn(field('content-disposition'));
    this.contentType = field('content-type');
    const length = field('content-length');
    this.length = length === undefined ? undefined : Number(length);
    this.etag = field('etag');
    const changed = field('last-modified');
    this.lastModified = changed === undefined ? undefined : new Date(changed);
    this.version = facts.file?.version;
    this.requestId = field('x-request-id');
    const isPlain = field('content-encoding') === undefined && !this.isNotModified;
    this.#source = new Body(response, isPlain ? this.length : undefined, facts);
    this.body = this.#source.stream();
  }

  /** Abandons the unread rest: a pending read fails. After the end it does nothing. */
  cancel(): Promise<void> {
    return this.#source.giveUp();
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.cancel();
  }

  [DISPOSE](): void {
    void this.cancel();
  }

  async blob(): Promise<Blob> {
    const blob = await new Response(this.body).blob();
    return this.contentType === undefined ? blob : blob.slice(0, blob.size, this.contentType);
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await new Response(this.body).arrayBuffer());
  }

  text(): Promise<string> {
    return new Response(this.body).text();
  }
}

/** `call` is a plain GET of the file. */
export async function openDownload(transport: Transport, call: Call, options: DownloadOptions): Promise<Download> {
  const { range, resume, ifNoneMatch, onProgress, signal } = options;
  const facts = { onProgress, signal, silenceMs: transport.timeoutOf(options) };
  if (resume !== undefined) {
    const { bytes: had, version } = resume;
    const file = new SameFile(transport, call, version);
    return new Download(await file.bytes(had, version.size - 1, signal), { ...facts, file, had });
  }
  const headers = {
    Range: range === undefined ? undefined : `bytes=${range.start}-${range.end ?? ''}`,
    'If-None-Match': ifNoneMatch,
  };
  return transport.send({ ...call, headers, accept: [304] }, async (response) => {
    const version = response.status === 304 ? undefined : versionOf(response);
    return new Download(response, { ...facts, file: version && new SameFile(transport, call, version) });
  });
}

/** The bytes; every failure is an FtgError. */
class Body {
  readonly #length: number | undefined;
  readonly #facts: Facts;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #requestId: string | undefined;
  /** The offset of the body's first byte in the file. */
  readonly #first: number;
  #bytes = 0;
  #failures = 0;
  #hasResumed: boolean;
  readonly #left = new AbortController();

  constructor(response: Response, length: number | undefined, facts: Facts) {
    this.#length = length;
    this.#facts = facts;

    this.#take(response);
    this.#requestId = response.headers.get('x-request-id') ?? undefined;
    this.#first = Number(/^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1] ?? 0);
    this.#hasResumed = facts.had !== undefined;
  }

  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const chunk = await this.#next();
            if (chunk === undefined) return controller.close();
            controller.enqueue(chunk);
          } catch (thrown) {
            const { signal } = this.#facts;
            controller.error(signal?.aborted === true ? signal.reason : thrown);
          }
        },
        cancel: () => this.giveUp(),
      },
      // Nothing is read before the reader needs it.
      { highWaterMark: 0 },
    );
  }

  async giveUp(): Promise<void> {
    this.#left.abort(new Error('the download was given up'));
    await this.#reader?.cancel().catch(() => undefined);
  }

  #take({ body }: Response): void {
    this.#reader = (body as ReadableStream<Uint8Array> | null)?.getReader();
  }

  /** undefined at the end. */
  async #next(): Promise<Uint8Array | undefined> {
    const { file, onProgress, had = 0 } = this.#facts;
    const length = this.#length;
    for (;;) {
      const chunk = await this.#read();
      if (chunk instanceof FtgError) {
        await this.#goOn(chunk);
      } else if (chunk === undefined) {
        if (this.#hasResumed) await file?.confirm(this.#signal());
        return undefined;
      } else {
        this.#failures = 0;
        this.#bytes += chunk.byteLength;
        onProgress?.({ bytes: had + this.#bytes, total: length === undefined ? undefined : had + length });
        return chunk;
      }
    }
  }

  async #read(): Promise<Uint8Array | undefined | FtgError> {
    const bytes = this.#bytes;
    const length = this.#length;
    try {
      const next = await within(this.#facts.silenceMs, this.#reader?.read() ?? Promise.resolve(undefined));
      this.#left.signal.throwIfAborted();
      if (next !== undefined && !next.done) return next.value;
      if (length === undefined || bytes === length) return undefined;
      throw new Error(`the body ended after ${bytes} of ${length} bytes`);
    } catch (thrown) {
      return networkError(thrown, { requestId: this.#requestId });
    }
  }

  async #goOn(error: FtgError): Promise<void> {
    const { file } = this.#facts;
    const first = this.#first;
    const bytes = this.#bytes;
    const length = this.#length;
    const signal = this.#signal();
    // The connection of a silent line is still open.
    await this.#reader?.cancel().catch(() => undefined);
    signal.throwIfAborted();
    this.#failures += 1;
    const delay = file?.delayAfter(error, this.#failures);
    if (file === undefined || delay === undefined || length === undefined || bytes >= length) throw error;
    await wait(delay, signal);
    this.#take(await file.bytes(first + bytes, first + length - 1, signal));
    this.#hasResumed = true;
  }

  /** Ends with the caller's signal, and once the reader stops. */
  #signal(): AbortSignal {
    const { signal } = this.#facts;
    return signal === undefined ? this.#left.signal : AbortSignal.any([signal, this.#left.signal]);
  }
}

/** RFC 6266: `filename*` takes precedence over `filename`. */
function filenameIn(disposition: string | undefined): string | undefined {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (extended !== undefined) return decodeURIComponent(extended);
  const quoted = /filename="((?:[^"\\]|\\.)*)"/i.exec(disposition ?? '')?.[1];
  return quoted?.replace(/\\(.)/g, '$1') ?? /filename=([^;\s]+)/i.exec(disposition ?? '')?.[1];
}

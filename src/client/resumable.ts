/** Uploads that continue after an interruption (tus 1.0.0). */
import { type Bytes, type Progress, sentBody } from './body.js';
import { reading } from './calls.js';
import { FtgError } from './errors.js';
import type { Call, CallOptions, Transport } from './transport.js';
import type * as api from './types.js';
import { wait } from './wait.js';

/** Bytes of a known number, readable from any offset. */
export interface ResumableBody {
  readonly size: number;
  from(offset: number): Bytes | Promise<Bytes>;
}

export interface ResumableOptions extends CallOptions, Omit<api.UploadQuery, 'filename'> {
  readonly filename: string;
  /** The URL of an earlier upload: it is resumed, or started again if nothing is left of it. */
  readonly url?: string | undefined;
  /** Called with the URL of a new upload, before its first byte. With it, another process can resume the upload. */
  readonly onUrl?: ((url: string) => void) | undefined;
  /** Bytes of one request; default: all remaining bytes. A browser reports progress only between two requests. */
  readonly pieceBytes?: number | undefined;
  readonly onProgress?: Progress | undefined;
}

const VERSION = { 'Tus-Resumable': '1.0.0' };

/** One upload, from its start or its current offset to its end. */
export class ResumableUpload {
  readonly #transport: Transport;
  readonly #connectionId: string;
  readonly #body: ResumableBody;
  readonly #options: ResumableOptions;
  #url: string | undefined;

  constructor(transport: Transport, connectionId: string, body: ResumableBody, options: ResumableOptions) {
    this.#transport = transport;
    this.#connectionId = connectionId;
    this.#body = body;
    this.#options = options;

    this.#url = options.url;
  }

  /** Retries as long as bytes get through between two failures. Rejects with FtgError, or the signal's reason. */
  async run(): Promise<api.TransferItem> {
    let reached = 0;
    let failures = 0;
    for (;;) {
      try {
        return await this.#transfer(
          await this.#send((offset) => {
            if (offset > reached) failures = 0;
            reached = Math.max(reached, offset);
          }),
        );
      } catch (thrown) {
        const { signal } = this.#options;
        signal?.throwIfAborted();
        if (!(thrown instanceof FtgError)) throw thrown;
        failures += 1;
        const delay = this.#transport.delayAfter(thrown, failures);
        if (delay === undefined) throw thrown;
        await wait(delay, signal);
      }
    }
  }

  /** Resolves with the id of its transfer. */
  async #send(onOffset: (offset: number) => void): Promise<string> {
    let at = await this.#find();
    for (;;) {
      onOffset(at.offset);
      if (at.transferId !== undefined) return at.transferId;
      at = await this.#sendPiece(at.offset);
    }
  }

  async #find(): Promise<Stand> {
    const url = this.#url;
    if (url === undefined) return this.#begin();
    try {
      return await this.#call({ method: 'HEAD', path: url, headers: VERSION, repetition: 'repeatable' });
    } catch (error) {
      if (!(error instanceof FtgError) || error.code !== 'unknown_upload') throw error;
      return this.#begin();
    }
  }

  async #begin(): Promise<Stand> {
    const { path, filename, overwrite, filename_template, mtime, onUrl } = this.#options;
    const pairs = Object.entries({ filename, path, overwrite, filename_template, mtime })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name} ${base64(String(value))}`);
    const headers = { ...VERSION, 'Upload-Length': String(this.#body.size), 'Upload-Metadata': pairs.join(',') };
    const target = `/api/uploads/${encodeURIComponent(this.#connectionId)}`;
    const state = await this.#call({ method: 'POST', path: target, headers, repetition: 'once' });
    if (state.url === undefined) throw noAnswer();
    this.#url = state.url;
    onUrl?.(state.url);
    return state;
  }

  async #sendPiece(offset: number): Promise<Stand> {
    const { pieceBytes = Infinity, onProgress } = this.#options;
    const { size: total } = this.#body;
    const size = Math.min(pieceBytes, total - offset);
    const all = await this.#body.from(offset);
    const body = size < total - offset ? await cut(all, size) : all;
    const headers = { ...VERSION, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) };
    const progress: Progress = ({ bytes }) => onProgress?.({ bytes: offset + bytes, total });
    return this.#call({
      method: 'PATCH',
      path: this.#url ?? '',
      headers,
      repetition: 'never',
      upload: { body, size, ...(onProgress === undefined ? {} : { onProgress: progress }) },
    });
  }

  #call(call: Omit<Call, 'options'>): Promise<Stand> {
    return this.#transport.send({ ...call, options: this.#options }, async ({ headers }) => {
      const offset = headers.get('upload-offset');
      if (offset === null) throw noAnswer();
      const [url, transferId] = [headers.get('location'), headers.get('x-transfer-id')];
      return { offset: Number(offset), url: url ?? undefined, transferId: transferId ?? undefined };
    });
  }

  async #transfer(id: string): Promise<api.TransferItem> {
    type Answer = { readonly transfer: api.TransferItem };
    const path = `/api/transfers/${encodeURIComponent(id)}`;
    return (await this.#transport.json<Answer>(reading(path, this.#options))).transfer;
  }
}

interface Stand {
  readonly offset: number;
  readonly url: string | undefined;
  /** Set once the file is complete. */
  readonly transferId: string | undefined;
}

async function cut(bytes: Bytes, size: number): Promise<Bytes> {
  const { body } = await sentBody(bytes, {});
  return body instanceof Blob ? body.slice(0, size) : firstOf(body as ReadableStream<Uint8Array>, size);
}

async function* firstOf(stream: ReadableStream<Uint8Array>, size: number): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader();
  try {
    for (let left = size; left > 0;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value.subarray(0, left);
      left -= value.byteLength;
    }
  } finally {
    await reader.cancel();
  }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function noAnswer(): FtgError {
  return new FtgError('the answer is none of resumable uploads', { status: 0, code: 'invalid_answer' });
}

/** Uploads that continue after an interruption (tus 1.0.0). */
import { type Bytes, type Progress, sentBody } from './body.js';
import { fieldsOf, reading } from './calls.js';
import { FtgError } from './errors.js';
import type { Call, CallOptions, Transport } from './transport.js';
import { sendByTus, type TusLine } from './tus.js';
import type * as api from './types.js';

/** Bytes of a known number, readable from any offset. */
export interface ResumableBody {
  readonly size: number;
  from(offset: number): Bytes | Promise<Bytes>;
}

export interface ResumableOptions extends CallOptions, Omit<api.UploadNaming, 'filename'> {
  readonly filename: string;
  /** The URL of an earlier upload: it is resumed, or started again if nothing is left of it. */
  readonly url?: string | undefined;
  /** Called with the URL of a new upload, before its first byte. With it, another process can resume the upload. */
  readonly onUrl?: ((url: string) => void) | undefined;
  /** Bytes of one request; default: all remaining bytes. A browser reports progress only between two requests. */
  readonly pieceBytes?: number | undefined;
  readonly onProgress?: Progress | undefined;
}

const REPETITION = { POST: 'once', HEAD: 'repeatable', PATCH: 'never' } as const;

/** Retries as long as bytes get through between two failures. Rejects with FtgError, or the signal's reason. */
export async function uploadResumable(
  transport: Transport,
  connectionId: string,
  body: ResumableBody,
  options: ResumableOptions,
): Promise<api.TransferItem> {
  const { url, onUrl, onProgress, pieceBytes = Infinity, ...others } = options;
  const { size: total } = body;
  const line: TusLine<Bytes> = {
    send: ({ piece, ...request }) => {
      const upload: Call['upload'] = piece && {
        body: piece.body,
        size: piece.size,
        ...(onProgress && { onProgress: ({ bytes }) => piece.onBytes(bytes) }),
      };
      const call = { ...request, ...(upload && { upload }), repetition: REPETITION[request.method], options };
      return transport.send(call, async ({ headers }) => {
        return (name) => headers.get(name);
      });
    },
    notOurs: noAnswer,
    delayAfter: (error, failures) => (error instanceof FtgError ? transport.delayAfter(error, failures) : undefined),
  };
  const fields = await sendByTus(line, {
    path: `/api/uploads/${encodeURIComponent(connectionId)}`,
    size: total,
    metadata: fieldsOf(others),
    url,
    onUrl,
    signal: options.signal,
    onBytes: (bytes) => onProgress?.({ bytes, total }),
    piece: async (offset) => {
      const size = Math.min(pieceBytes, total - offset);
      const all = await body.from(offset);
      return { body: size < total - offset ? await cut(all, size) : all, size };
    },
  });
  type Answer = { readonly transfer: api.TransferItem };
  const at = `/api/transfers/${encodeURIComponent(fields('x-transfer-id') ?? '')}`;
  return (await transport.json<Answer>(reading(at, options))).transfer;
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

function noAnswer(): FtgError {
  return new FtgError('the answer is none of resumable uploads', { status: 0, code: 'invalid_answer' });
}

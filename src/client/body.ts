/** Bodies of uploads: converts the caller's bytes into a body for fetch. */

/** Called with the bytes moved so far; `total` is undefined if it is unknown. */
export type Progress = (progress: { readonly bytes: number; readonly total: number | undefined }) => void;

/** A Node Readable is an async iterable of bytes too. */
export type Bytes = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | string;

/** A function is called for each attempt, so that a stream can be sent again. */
export type UploadBody = Bytes | (() => Bytes | Promise<Bytes>);

/** Called when the upload begins to wait for the source, the network or the gateway. */
export interface Turns {
  source(): void;
  network(): void;
  /** All bytes have been handed to the network. */
  gateway(): void;
}

interface SendingOptions {
  /** The size of a stream in bytes, if the caller knows it. */
  readonly size?: number | undefined;
  readonly onProgress?: Progress | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly turns?: Turns | undefined;
}

interface SentBody {
  readonly body: NonNullable<RequestInit['body']>;
  /** Bytes; undefined for a stream of unknown size. */
  readonly size: number | undefined;
  readonly isStream: boolean;
}

/** Whether another attempt can send the same bytes. */
export function canRepeat(body: UploadBody): boolean {
  return (
    typeof body === 'function' ||
    typeof body === 'string' ||
    body instanceof Blob ||
    body instanceof Uint8Array ||
    body instanceof ArrayBuffer
  );
}

export async function sentBody(given: UploadBody, options: SendingOptions): Promise<SentBody> {
  const { size, onProgress, turns } = options;
  const bytes = typeof given === 'function' ? await given() : given;
  const whole = wholeOf(bytes);
  if (whole !== undefined) {
    const isWatched = onProgress !== undefined || (turns !== undefined && whole.size > PIECE_BYTES);
    if (!isWatched || !STREAMS_REQUESTS) return { body: whole, size: whole.size, isStream: false };
    return { body: counted(whole.stream(), options, whole.size), size: whole.size, isStream: true };
  }
  const stream = streamOf(bytes as Exclude<Bytes, string | Blob | Uint8Array | ArrayBuffer>);
  if (STREAMS_REQUESTS) return { body: counted(stream, options, size), size, isStream: true };
  // A browser that cannot stream a request keeps a large Blob on disk.
  const blob = await new Response(stream).blob();
  return { body: blob, size: blob.size, isStream: false };
}

function wholeOf(bytes: Bytes): Blob | undefined {
  if (bytes instanceof Blob) return bytes;
  const isWhole = typeof bytes === 'string' || bytes instanceof Uint8Array || bytes instanceof ArrayBuffer;
  return isWhole ? new Blob([bytes]) : undefined;
}

function streamOf(bytes: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  if (bytes instanceof ReadableStream) return bytes;
  const chunks = bytes[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel(reason) {
      await chunks.return?.(reason);
    },
  });
}

/** The size of the pieces in which a body is passed on, so that even a body in memory reports progress. */
const PIECE_BYTES = 64 * 1024;

/** Passes on `stream` in pieces and reports each one; ends with the signal, even without a reader. */
function counted(
  stream: ReadableStream<Uint8Array>,
  { onProgress, signal, turns }: SendingOptions,
  total: number | undefined,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let rest = new Uint8Array(0);
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        turns?.source();
        while (rest.byteLength === 0) {
          signal?.throwIfAborted();
          const next = await reader.read();
          if (next.done) {
            turns?.gateway();
            return controller.close();
          }
          rest = new Uint8Array(next.value.buffer as ArrayBuffer, next.value.byteOffset, next.value.byteLength);
        }
        const piece = rest.subarray(0, PIECE_BYTES);
        rest = rest.subarray(piece.byteLength);
        bytes += piece.byteLength;
        onProgress?.({ bytes, total });
        turns?.network();
        controller.enqueue(piece);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/**
 * Node streams every request. Browsers cannot stream over HTTP/1.1, and a server's version is known only after the
 * request has begun. So in browsers, the body is sent as a Blob.
 */
const STREAMS_REQUESTS =
  typeof (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node === 'string';

/** A file on its way from the gateway. */
import type { Progress } from './body.js';
import { networkError } from './errors.js';

/** The body is read once, by `body` or by one of the methods. A cut one fails with FtgError `network_error`: it never looks whole. */
export class Download {
  /** 206 for a range, 304 for a file that the caller has already (its body is empty). */
  readonly status: number;
  readonly isNotModified: boolean;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** Bytes of the body. */
  readonly length: number | undefined;
  readonly etag: string | undefined;
  readonly lastModified: Date | undefined;
  readonly requestId: string | undefined;
  readonly body: ReadableStream<Uint8Array>;

  constructor(response: Response, onProgress: Progress | undefined, signal: AbortSignal | undefined) {
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
    this.requestId = field('x-request-id');
    const isPlain = field('content-encoding') === undefined && !this.isNotModified;
    this.body = guarded(response, isPlain ? this.length : undefined, onProgress, signal);
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

/** The body, whose failures are FtgErrors, and which fails when it ends before its announced length. */
function guarded(
  response: Response,
  length: number | undefined,
  onProgress: Progress | undefined,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  const requestId = response.headers.get('x-request-id') ?? undefined;
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await reader?.read();
          if (next === undefined || next.done) {
            if (length !== undefined && bytes !== length)
              throw new Error(`the body ended after ${bytes} of ${length} bytes`);
            controller.close();
            return;
          }
          bytes += next.value.byteLength;
          onProgress?.({ bytes, total: length });
          controller.enqueue(next.value);
        } catch (thrown) {
          controller.error(signal?.aborted === true ? signal.reason : networkError(thrown, requestId));
        }
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    // Nothing is read ahead of the reader.
    { highWaterMark: 0 },
  );
}

/** RFC 6266: `filename*` counts before `filename`. */
function filenameIn(disposition: string | undefined): string | undefined {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (extended !== undefined) return decodeURIComponent(extended);
  const quoted = /filename="((?:[^"\\]|\\.)*)"/i.exec(disposition ?? '')?.[1];
  return quoted?.replace(/\\(.)/g, '$1') ?? /filename=([^;\s]+)/i.exec(disposition ?? '')?.[1];
}

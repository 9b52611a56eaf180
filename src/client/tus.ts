/** Sends an upload that continues after an interruption (tus 1.0.0), for the client and the pages of the gateway. */
import { PIECE_TYPE, TUS_VERSION } from '../contract/tus.js';
import { wait } from './wait.js';

/** Reads the header fields of an answer. */
type Fields = (name: string) => string | null;

interface BytesOf<Body> {
  readonly body: Body;
  readonly size: number;
}

interface TusRequest<Body> {
  readonly method: 'POST' | 'HEAD' | 'PATCH';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly piece?: BytesOf<Body> & { readonly onBytes: (bytes: number) => void };
}

/** How requests are sent. */
export interface TusLine<Body> {
  /** Rejects if there is no answer, or an error. */
  send(request: TusRequest<Body>): Promise<Fields>;
  /** The error for a successful answer that is not the gateway's, as from a proxy. */
  readonly notOurs: () => Error;
  /** Milliseconds to wait after this number of failures without progress between them; undefined = give up. */
  delayAfter(error: unknown, failures: number): number | undefined;
}

interface TusUpload<Body> {
  /** Where uploads begin. */
  readonly path: string;
  readonly size: number;
  readonly metadata: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Header fields of the request that begins it. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The URL of an earlier upload. */
  readonly url: string | undefined;
  /** Called with the URL of a new upload, before its first byte. */
  readonly onUrl: ((url: string) => void | Promise<void>) | undefined;
  /** The bytes of one request. */
  piece(offset: number): BytesOf<Body> | Promise<BytesOf<Body>>;
  /** Called with the bytes of the file that are sent. */
  readonly onBytes: (bytes: number) => void;
  readonly signal: AbortSignal | undefined;
}

/** An upload that has begun, and the answer that says how far it is. */
interface Found {
  readonly at: string;
  readonly fields: Fields;
}

export const VERSION = { 'Tus-Resumable': TUS_VERSION };

/**
 * Sends a file from its start, or from where an earlier upload stopped. Resolves with the answer that says that it is
 * complete. Continues as long as bytes get through between two failures.
 */
export async function sendByTus<Body>(line: TusLine<Body>, upload: TusUpload<Body>): Promise<Fields> {
  const { path, size, signal, onUrl, onBytes } = upload;
  let { url } = upload;

  const send = async (request: TusRequest<Body>): Promise<Fields> => {
    const fields = await line.send(request);
    if (fields('upload-offset') === null) throw line.notOurs();
    return fields;
  };

  const begin = async (): Promise<Found> => {
    const pairs = Object.entries(upload.metadata)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name} ${base64(String(value))}`);
    const headers = { 'Upload-Length': String(size), 'Upload-Metadata': pairs.join(',') };
    const fields = await send({ method: 'POST', path, headers: { ...VERSION, ...upload.headers, ...headers } });
    const begun = fields('location');
    if (begun === null) throw line.notOurs();
    url = begun;
    await onUrl?.(begun);
    return { at: begun, fields };
  };

  const find = async (): Promise<Found> => {
    if (url === undefined) return begin();
    try {
      return { at: url, fields: await send({ method: 'HEAD', path: url, headers: VERSION }) };
    } catch (error) {
      if (codeOf(error) !== 'unknown_upload') throw error;
      return begin();
    }
  };

  const sendPiece = async (at: string, offset: number): Promise<Fields> => {
    const piece = await upload.piece(offset);
    return send({
      method: 'PATCH',
      path: at,
      headers: { ...VERSION, 'Content-Type': PIECE_TYPE, 'Upload-Offset': String(offset) },
      piece: { ...piece, onBytes: (bytes) => onBytes(offset + bytes) },
    });
  };

  let reached = 0;
  for (let failures = 0; ;) {
    try {
      for (let { at, fields } = await find(); ;) {
        const offset = Number(fields('upload-offset'));
        if (offset > reached) failures = 0;
        reached = Math.max(reached, offset);
        onBytes(offset);
        if (fields('x-transfer-id') !== null) return fields;
        fields = await sendPiece(at, offset);
      }
    } catch (error) {
      signal?.throwIfAborted();
      failures += 1;
      const delay = line.delayAfter(error, failures);
      if (delay === undefined) throw error;
      await wait(delay, signal);
    }
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

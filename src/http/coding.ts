/** Compresses answers for clients that accept it (RFC 9110, 8.4 and 12.5.3). */
import { pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { HttpAnswer, HttpRequest } from './types.js';

/** Higher levels take twice the time and save 3 % of a listing. */
const LEVEL = 2;
/** The windows and tables of one deflater at these settings. */
const DEFLATER_BYTES = 288 * 1024;

/** Whether a client accepts this coding. */
export function takesCoding(accepted: string | undefined, coding: string): boolean {
  return (accepted ?? '').split(',').some((part) => {
    const [name, weight] = part.split(';');
    return name?.trim().toLowerCase() === coding && !/^\s*q=0(\.0*)?\s*$/i.test(weight ?? '');
  });
}

/**
 * Sends a body of unknown length, which is a long one, as gzip if the client accepts it; short ones are not changed.
 * The work is done in zlib's threads, and each piece of an answer `asItComes` is sent at once.
 */
export function compressed(request: HttpRequest, answer: HttpAnswer, asItComes = false): HttpAnswer {
  const { body } = answer;
  if (typeof body !== 'object' || !('stream' in body) || body.length !== undefined) return answer;
  const headers = { ...answer.headers, Vary: varying(answer.headers?.['Vary'], 'Accept-Encoding') };
  const isTaken = takesCoding(request.headers.get('accept-encoding'), 'gzip');
  // If memory is short, uncompressed bytes need less of it.
  if (!isTaken || !request.claims.memory.hold().stretch(DEFLATER_BYTES)) return { ...answer, headers };
  const flush = asItComes ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH;
  const stream = createGzip({ level: LEVEL, flush });
  // A failure destroys both; the reader of the stream gets it, now or later.
  stream.on('error', () => undefined);
  pipeline(body.stream, stream, () => undefined);
  return { ...answer, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: { stream, length: undefined } };
}

/** The Vary fields of an answer, with one more. */
export function varying(known: string | readonly string[] | undefined, field: string): string {
  return [known ?? []].flat().concat(field).join(', ');
}

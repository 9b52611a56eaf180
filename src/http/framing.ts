/** Refuses ambiguous requests, which two readers could understand differently. */
import { type GatewayError, refusal } from '../base/errors.js';
import type { RequestHead } from './front-end.js';

/** Fields that define where a request ends. A front end may use the first of differing Content-Lengths. */
const FRAMING = ['content-length', 'transfer-encoding'];
/** Other fields whose repetition makes a request ambiguous. */
const SINGLE = ['host', 'authorization', 'content-type'];

/** Refuses requests whose length is ambiguous (RFC 9112, 6.3). */
export function framingMistake(
  headers: ReadonlyMap<string, string>,
  repeated: ReadonlySet<string>,
): GatewayError | undefined {
  const twice = repeated.size === 0 ? undefined : FRAMING.find((name) => repeated.has(name));
  if (twice !== undefined) return refusal('bad_request', `the field ${twice} appears twice in the request`);
  const length = headers.get('content-length');
  const coding = headers.get('transfer-encoding');
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    return refusal('bad_request', 'Content-Length is not a number of bytes');
  if (length !== undefined && coding !== undefined)
    return refusal('bad_request', 'Content-Length and Transfer-Encoding exclude each other');
  // The front end would take the bytes of any other coding for the content itself.
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    return refusal('bad_request', 'the only Transfer-Encoding understood here is chunked');
  }
  return undefined;
}

export function repeatedField(repeated: ReadonlySet<string>): GatewayError | undefined {
  const name = repeated.size === 0 ? undefined : SINGLE.find((one) => repeated.has(one));
  return name === undefined ? undefined : refusal('bad_request', `the field ${name} appears twice in the request`);
}

/** Refuses what the parser of node:http refuses and uWebSockets.js accepts. */
export function headMistake({ method, headers }: Pick<RequestHead, 'method' | 'headers'>): GatewayError | undefined {
  if (method !== method.toUpperCase()) return refusal('bad_request', 'a method has capital letters');
  for (const value of headers.values()) {
    if (value.includes('\r')) return refusal('bad_request', 'a field of the request holds a carriage return');
  }
  return undefined;
}

/** JSON bodies that the router holds whole: bounded in size, in time, and in the memory of whoever sends them. */
import { GatewayError } from '../errors.js';
import type { HttpRequest } from './types.js';

interface BodyBounds {
  readonly maxBytes: number;
  /** For all of it, however steadily it comes. */
  readonly withinMs: number;
}

export const SIGNED_BODY: BodyBounds = { maxBytes: 1024 * 1024, withinMs: 60_000 };
/** Of somebody unknown: a login is a few hundred bytes. */
export const UNSIGNED_BODY: BodyBounds = { maxBytes: 16 * 1024, withinMs: 10_000 };

/** Errors: unsupported_media_type; too_large; share_exceeded, overloaded. */
export async function readWhole(request: HttpRequest, { maxBytes, withinMs }: BodyBounds): Promise<Buffer> {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new GatewayError('unsupported_media_type', 'this endpoint takes application/json', { step: 'request' });
  }
  const tooLarge = (): GatewayError =>
    new GatewayError('too_large', `the body is larger than ${maxBytes} bytes`, { step: 'request' });
  if ((request.contentLength ?? 0) > maxBytes) throw tooLarge();
  request.expectBodyWithin(withinMs);
  // Until the request is over: what is parsed from it lives as long.
  const held = request.claims.memory.hold();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    held.require(length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

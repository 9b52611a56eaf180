/** JSON bodies that the router holds whole: bounded in size, in time, and in the memory of whoever sends them. */
import { within } from '../base/deadline.js';
import { GatewayError } from '../base/errors.js';
import type { HttpRequest } from './types.js';

interface BodyBounds {
  readonly maxBytes: number;
  /** For all of it, however steadily it comes. */
  readonly withinMs: number;
}

const SIGNED_BODY: BodyBounds = { maxBytes: 1024 * 1024, withinMs: 60_000 };
/** Of somebody unknown: a login is a few hundred bytes. */
const UNSIGNED_BODY: BodyBounds = { maxBytes: 16 * 1024, withinMs: 10_000 };

/** A body that is here by then has waited for nobody. */
const PROMPT_MS = 250;

/** Errors: unsupported_media_type; too_large; share_exceeded, overloaded. */
export function readSigned(request: HttpRequest): Promise<Buffer> {
  return readWhole(request, SIGNED_BODY);
}

/**
 * Of somebody unknown. Those who let us wait share a few places by address; a login that comes at once needs none, so
 * that nobody at the same address can keep it out. Errors: as readSigned.
 */
export async function readUnsigned(request: HttpRequest): Promise<Buffer> {
  const whole = readWhole(request, UNSIGNED_BODY);
  await within(whole, PROMPT_MS, () => request.claims.admitUnsigned());
  return whole;
}

/** Errors: as readSigned. */
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

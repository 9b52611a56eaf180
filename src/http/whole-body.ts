/** Bodies that are held whole: bounded in size, in time, and in the memory of their sender. */
import { GatewayError, refusal } from '../base/errors.js';
import { BodyReader } from './body/body-reader.js';
import type { HttpRequest } from './types.js';

export interface BodyBounds {
  readonly maxBytes: number;
  /** Time limit for all of it, however steadily it arrives. */
  readonly withinMs: number;
}

/** Errors: unsupported_media_type; too_large; share_exceeded, overloaded. */
export async function readWholeBody(request: HttpRequest, { maxBytes, withinMs }: BodyBounds): Promise<Buffer> {
  requireJsonType(request);
  const tooLarge = (): GatewayError => refusal('too_large', `the body is larger than ${maxBytes} bytes`);
  if ((request.contentLength ?? 0) > maxBytes) throw tooLarge();
  request.expectBodyWithin(withinMs);
  return isAnnouncedShort(request) ? takeShort(request) : gather(request, maxBytes, tooLarge);
}

/** @throws GatewayError unsupported_media_type */
export function requireJsonType({ headers }: HttpRequest): void {
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return;
  throw refusal('unsupported_media_type', 'this endpoint takes application/json');
}

/** Up to this size a body of known length is taken in one piece: streams cost more than the bytes. */
const SHORT_BODY_BYTES = 64 * 1024;

export function isAnnouncedShort({ contentLength, hasBody }: HttpRequest): boolean {
  return !hasBody || (contentLength ?? Infinity) <= SHORT_BODY_BYTES;
}

/** Whether it arrived together with its head, as short bodies do. */
export function isHereWhole({ body }: HttpRequest): boolean {
  return body instanceof BodyReader && body.complete && !body.destroyed;
}

/** Takes a body that is announced to be short. Rejects as the body does. */
export function takeShort(request: HttpRequest): Promise<Buffer> {
  const { body } = request;
  return body instanceof BodyReader
    ? body.takeWhole()
    : gather(request, Infinity, () => new GatewayError('internal', 'the body has no bound'));
}

async function gather({ body, claims }: HttpRequest, maxBytes: number, tooLarge: () => GatewayError): Promise<Buffer> {
  // Held until the request is over: the parsed value lives as long.
  const held = claims.memory.hold();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    held.require(length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

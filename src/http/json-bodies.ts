/**
 * JSON bodies that the router reads: their size and time are bounded, more tightly before the sender is authenticated.
 */
import { within } from '../base/deadline.js';
import type { HttpRequest } from './types.js';
import { type BodyBounds, readWholeBody } from './whole-body.js';

const SIGNED_BODY: BodyBounds = { maxBytes: 1024 * 1024, withinMs: 60_000 };
/** The sender is not authenticated yet: a login has a few hundred bytes. */
const UNSIGNED_BODY: BodyBounds = { maxBytes: 16 * 1024, withinMs: 10_000 };

/** A body that has arrived by then needs no place. */
const PROMPT_MS = 250;

/** Errors: those of readWhole. */
export function readSigned(request: HttpRequest): Promise<Buffer> {
  return readWholeBody(request, SIGNED_BODY);
}

/**
 * Reads a body whose sender is not authenticated yet. Slow ones share a few places by address. A login that arrives at
 * once needs none, so that others at the same address cannot block it. Errors: those of readWhole.
 */
export async function readUnsigned(request: HttpRequest): Promise<Buffer> {
  const whole = readWholeBody(request, UNSIGNED_BODY);
  await within(whole, PROMPT_MS, () => request.claims.admitUnsigned());
  return whole;
}

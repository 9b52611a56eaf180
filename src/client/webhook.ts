/** Checks that a webhook came from the gateway, unchanged and just now (Standard Webhooks). */
import type { WebhookEvent } from './types.js';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

export interface WebhookOptions {
  /** The largest difference between its timestamp and now, in seconds, in either direction. Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /** Milliseconds since the epoch; for tests. */
  readonly now?: number | undefined;
}

/** Header fields in any common form; names in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const PREFIX = 'whsec_';
const PARSED =
  'the body is no text and no bytes, so something has parsed it already, and the signature covers the bytes as they came: ' +
  "give express.raw({ type: 'application/json' }) in Express, request.text() in Next.js and Hono, request.rawBody in serverless " +
  'functions, or buffer(request) of node:stream/consumers';

/**
 * Returns the event of a webhook request. `secret` (`whsec_…`) belongs to the watched folder or the webhook; `body` is
 * the received text, not parsed and serialized again. @throws WebhookVerificationError
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceSeconds = 300, now = Date.now() }: WebhookOptions = {},
): Promise<WebhookEvent> {
  if (typeof body !== 'string' && !((body as unknown) instanceof Uint8Array))
    throw new WebhookVerificationError(PARSED);
  const id = field(headers, 'webhook-id');
  const timestamp = field(headers, 'webhook-timestamp');
  const signatures = field(headers, 'webhook-signature');
  if (!/^\d+$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is no number of seconds');
  const off = Math.round(now / 1_000 - Number(timestamp));
  if (Math.abs(off) > toleranceSeconds) {
    const text = `webhook-timestamp is ${Math.abs(off)} s ${off > 0 ? 'old' : 'ahead'}, and ${toleranceSeconds} are allowed`;
    throw new WebhookVerificationError(`${text}: was it sent again by somebody, or is a clock wrong?`);
  }
  const encoder = new TextEncoder();
  const content = typeof body === 'string' ? encoder.encode(body) : body;
  const signed = joined(encoder.encode(`${id}.${timestamp}.`), content);
  const key = await hmacKey(secret);
  for (const signature of signatures.split(' ')) {
    const [version, text = ''] = signature.split(',', 2);
    const bytes = version === 'v1' ? decoded(text) : undefined;
    // WebCrypto compares in constant time.
    if (bytes !== undefined && (await crypto.subtle.verify('HMAC', key, bytes, signed))) {
      return JSON.parse(new TextDecoder().decode(content)) as WebhookEvent;
    }
  }
  throw new WebhookVerificationError(
    'no signature in webhook-signature is right: the secret is that of another watched folder or webhook, or the body is ' +
      'not the bytes that came (a parsed body, turned back into JSON, is often not the same)',
  );
}

function hmacKey(secret: string): Promise<Awaited<ReturnType<typeof crypto.subtle.importKey>>> {
  const text: unknown = secret;
  const bytes = typeof text === 'string' ? decoded(text.replace(PREFIX, '')) : undefined;
  if (bytes === undefined || bytes.length === 0)
    throw new TypeError(`the webhook secret must be ${PREFIX} and base64: is the variable that holds it set?`);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function field(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(`the header field ${name} is missing: is this a webhook of the gateway?`);
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

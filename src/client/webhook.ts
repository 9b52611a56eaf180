/** Checks that a webhook came from the gateway, unchanged and just now (Standard Webhooks). */
import type { WebhookEvent } from './types.js';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

export interface WebhookOptions {
  /** How far its timestamp may be from now, either way. Default 300. */
  readonly toleranceSeconds?: number;
  /** Milliseconds of the epoch; for tests. */
  readonly now?: number;
}

/** Header fields in any of the usual forms; names in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const PREFIX = 'whsec_';

/**
 * The event of a webhook request. `secret` (`whsec_…`) belongs to the watched folder; `body` is the body as it came, not
 * parsed and written again. @throws WebhookVerificationError
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceSeconds = 300, now = Date.now() }: WebhookOptions = {},
): Promise<WebhookEvent> {
  const id = field(headers, 'webhook-id');
  const timestamp = field(headers, 'webhook-timestamp');
  const signatures = field(headers, 'webhook-signature');
  if (!/^\d+$/.test(timestamp) || Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError('webhook-timestamp is too far from now');
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
  throw new WebhookVerificationError('no signature in webhook-signature is right');
}

function hmacKey(secret: string): Promise<Awaited<ReturnType<typeof crypto.subtle.importKey>>> {
  const bytes = decoded(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (bytes === undefined || bytes.length === 0) throw new TypeError('the webhook secret must be whsec_ and base64');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function field(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(`the header field ${name} is missing`);
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

/** Standard Webhooks: `v1,` and base64 of HMAC-SHA256 over id, timestamp and body. */
import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/** The value of `webhook-signature`: one signature a secret, so that receivers can change over at leisure. */
export function signatures(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}

/** Webhook verification, compared with a signature made by other software; and everything that must be refused. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { verifyWebhook, WebhookVerificationError } from '../../src/client/index.js';

const KEY = Buffer.alloc(24, 7);
const SECRET = `whsec_${KEY.toString('base64')}`;
const BODY = JSON.stringify({
  type: 'watched_folder.files_detected',
  timestamp: '2026-01-31T12:00:00Z',
  data: { files: [] },
});
const NOW = Date.parse('2026-01-31T12:00:00Z');
const AT = String(NOW / 1_000);

function signature(id = 'm', at = AT, body: string | Buffer = BODY, key = KEY): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64')}`;
}

const headers = { 'webhook-id': 'm', 'webhook-timestamp': AT, 'webhook-signature': signature() };

test('a valid signature gives the event, from any form of header fields and body', async () => {
  const event = await verifyWebhook(SECRET, headers, BODY, { now: NOW });
  assert.equal(event.type, 'watched_folder.files_detected');
  await verifyWebhook(SECRET, new Headers(headers), Buffer.from(BODY), { now: NOW });
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  await verifyWebhook(SECRET, upper, BODY, { now: NOW });
});

test('one valid signature among several is enough, while a secret is replaced', async () => {
  const other = signature('m', AT, BODY, Buffer.alloc(24, 8));
  const both = { ...headers, 'webhook-signature': `${other} v1a,AAAA ${signature()}` };
  await verifyWebhook(SECRET, both, BODY, { now: NOW });
});

const refused: Record<string, { headers?: Record<string, string>; body?: string; secret?: string; now?: number }> = {
  'another body': { body: `${BODY} ` },
  'another id': { headers: { ...headers, 'webhook-id': 'n' } },
  'another secret': { secret: `whsec_${Buffer.alloc(24, 8).toString('base64')}` },
  'an old timestamp': { now: NOW + 301_000 },
  'a timestamp of the future': { now: NOW - 301_000 },
  'another timestamp': { headers: { ...headers, 'webhook-timestamp': String(NOW / 1_000 + 1) } },
  'a timestamp that is no number': { headers: { ...headers, 'webhook-timestamp': `${AT}x` } },
  'a signature that is no base64': { headers: { ...headers, 'webhook-signature': 'v1,%%%' } },
  'a shortened signature': { headers: { ...headers, 'webhook-signature': signature().slice(0, 20) } },
  'another version': { headers: { ...headers, 'webhook-signature': signature().replace('v1', 'v2') } },
  'no signature': { headers: { 'webhook-id': 'm', 'webhook-timestamp': AT } },
};

for (const [name, { headers: given = headers, body = BODY, secret = SECRET, now = NOW }] of Object.entries(refused)) {
  test(`refused: ${name}`, async () => {
    await assert.rejects(verifyWebhook(secret, given, body, { now }), WebhookVerificationError);
  });
}

test('a parsed body, a missing secret and a wrong clock are named', async () => {
  const verify = (body: unknown, secret: unknown = SECRET, now = NOW): Promise<unknown> =>
    verifyWebhook(secret as string, headers, body as string, { now });
  await assert.rejects(verify(JSON.parse(BODY)), /parsed it already.*express\.raw/);
  await assert.rejects(verify(undefined), /parsed it already/);
  await assert.rejects(verify(JSON.stringify(JSON.parse(BODY), null, 2)), /turned back into JSON/);
  for (const secret of [null, '', 'whsec_']) await assert.rejects(verify(BODY, secret), /is the variable/);
  await assert.rejects(verify(BODY, SECRET, NOW + 400_000), /is 400 s old, and 300 are allowed/);
});

test('the caller sets the tolerance', async () => {
  await verifyWebhook(SECRET, headers, BODY, { now: NOW + 3_000_000, toleranceSeconds: 3_600 });
});

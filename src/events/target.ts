/** Checks the URL of a receiver before it is stored. */
import { hasCode } from '../base/errors.js';
import type { Dialer } from '../remotes/dial/dial.js';
import { parseWebhookUrl } from './send.js';

const RESOLVE_MS = 5000;

/** Checks the URL of a receiver; `field` is its name in a refusal. Errors: bad_request, address_denied */
export type CheckTarget = (url: string, owner: string, signal: AbortSignal, field?: string) => Promise<URL>;

export async function checkTarget(
  { dialer, requireHttps }: { readonly dialer: Pick<Dialer, 'check'>; readonly requireHttps: boolean },
  webhookUrl: string,
  {
    owner,
    signal,
    field,
  }: { readonly owner: string; readonly signal: AbortSignal; readonly field?: string | undefined },
): Promise<URL> {
  const url = parseWebhookUrl(webhookUrl, requireHttps, field);
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  try {
    await dialer.check(url.hostname, port, { purpose: 'webhook', owner, signal, timeoutMs: RESOLVE_MS });
  } catch (error) {
    // The name may resolve later; each delivery checks the address again.
    if (!hasCode(error, 'dns_failed', 'connect_timeout')) throw error;
  }
  return url;
}

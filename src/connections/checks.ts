/** What no schema can say of the fields of connections (contract/thing.ts: Check). */
import tls from 'node:tls';
import { FORMATS } from '../base/formats.js';
import type { Check } from '../contract/thing.js';
import { excessOf, wordsOf } from './private-key-bounds.js';

const CHECKS: Readonly<Record<Check, (value: string) => string | undefined>> = {
  host: (host) => (FORMATS.host(host) ? undefined : 'must be a host name or an IP address, without protocol and port'),
  endpoint: (url) =>
    url !== '' && FORMATS['http-url-or-empty'](url)
      ? undefined
      : 'must be an http or https URL without login and query, or null for AWS',
  certificates: (ca) => (isCertificate(ca) ? undefined : 'must hold certificates in PEM form, or be null'),
  privateKey: (key) => {
    const over = excessOf(key);
    return over === undefined ? undefined : `cannot be used: ${wordsOf(over)}`;
  },
};

/** Why a text is refused that fits the schema of its field. */
export function refusalOf(check: Check | undefined, value: unknown): string | undefined {
  return check === undefined || typeof value !== 'string' ? undefined : CHECKS[check](value);
}

function isCertificate(ca: string): boolean {
  try {
    tls.createSecureContext({ ca });
    return ca.includes('-----BEGIN CERTIFICATE-----');
  } catch {
    return false;
  }
}

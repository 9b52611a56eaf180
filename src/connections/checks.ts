/** Rules for fields of connections that no schema can express (contract/thing.ts: Check). */
import tls from 'node:tls';
import { encodingName } from '../base/encoding.js';
import { modeRefusal } from '../base/file-mode.js';
import { FORMATS } from '../base/formats.js';
import { hoursRefusal } from '../base/hours.js';
import { isTimeZone } from '../base/time-zone.js';
import type { Check } from '../contract/thing.js';
import { excessOf, excessText } from './private-key-bounds.js';
import { readSshCertificate } from './ssh-certificate.js';
import { readPublicKey } from './ssh-public-key.js';

const CHECKS: Readonly<Record<Check, (value: string) => string | undefined>> = {
  host: (host) => (FORMATS.host(host) ? undefined : 'must be a host name or an IP address, without protocol and port'),
  endpoint: (url) =>
    url !== '' && FORMATS['http-url-or-empty'](url)
      ? undefined
      : 'must be an http or https URL without login and query, or null for AWS',
  certificates: (ca) => (isCertificate(ca) ? undefined : 'must hold certificates in PEM form, or be null'),
  timeZone: (zone) =>
    isTimeZone(zone) ? undefined : 'must be a name of the IANA database, such as "Europe/Berlin", or null',
  encoding: (label) =>
    encodingName(label) === undefined
      ? 'must be a label of the WHATWG Encoding Standard, such as "utf-8", "windows-1251", "iso-8859-15", "shift_jis", "gbk" or "euc-kr"; UTF-16 and ISO-2022-JP cannot be used, since FTP needs the bytes of ASCII'
      : undefined,
  sshCertificate: (certificate) => objectionOf(() => readSshCertificate(certificate)),
  sshPublicKey: (key) => objectionOf(() => readPublicKey(key)),
  hours: hoursRefusal,
  fileMode: (mode) => modeRefusal('file', mode),
  folderMode: (mode) => modeRefusal('folder', mode),
  privateKey: (key) => {
    const over = excessOf(key);
    return over === undefined ? undefined : `cannot be used: ${excessText(over)}`;
  },
};

/** The reason why a text, or one of a list, is refused although it fits the schema of its field. */
export function refusalOf(check: Check | undefined, value: unknown): string | undefined {
  if (check === undefined) return undefined;
  for (const text of Array.isArray(value) ? value : [value]) {
    const refusal = typeof text === 'string' ? CHECKS[check](text) : undefined;
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function objectionOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function isCertificate(ca: string): boolean {
  try {
    tls.createSecureContext({ ca });
    return ca.includes('-----BEGIN CERTIFICATE-----');
  } catch {
    return false;
  }
}

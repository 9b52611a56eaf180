/** What is wrong with the address and the secrets of a connection. Each text says what would be correct. */
import { t } from '../../texts/texts.ts';
import type { Draft } from '../../ui/draft.ts';
import { isWebAddress } from '../../ui/faults.ts';

/** Faults by field. `isKept`: the gateway has this secret. */
export function addressFaults(draft: Draft, isKept: (secret: string) => boolean): Readonly<Record<string, string>> {
  const { faults } = t.connection;
  const textOf = (name: string): string => String(draft[name] ?? '').trim();
  const [host, endpoint, key] = [textOf('host'), textOf('endpoint'), textOf('privateKey')];
  const keyFault = key === '' ? undefined : faultOfKey(key);
  const needsPassphrase =
    key !== '' && keyFault === undefined && isEncrypted(key) && draft['passphrase'] === '' && !isKept('passphrase');
  const found = {
    host: host === '' ? undefined : faultOfHost(host),
    endpoint: endpoint === '' || isPlainAddress(endpoint) ? undefined : faults.endpoint,
    privateKey: keyFault,
    passphrase: needsPassphrase ? faults.passphrase : undefined,
  };
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, fault]) => (fault === undefined ? [] : [[name, fault]])),
  );
}

function faultOfHost(host: string): string | undefined {
  const { faults } = t.connection;
  if (host.includes('://')) return faults.hostScheme;
  if (/\s/.test(host)) return faults.hostSpace;
  if (/^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.?$/u.test(host)) return undefined;
  // An IPv6 address has at least two colons; with only one, a port follows it.
  if (/^[\da-f:]*:[\da-f:]*:[\da-f:.]*$/i.test(host)) return undefined;
  return /^[^:]+:\d+$/.test(host) ? faults.hostPort : faults.host;
}

function isPlainAddress(text: string): boolean {
  if (!isWebAddress(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username + password + search + hash === '';
}

function faultOfKey(key: string): string | undefined {
  const { faults } = t.connection;
  if (/^(?:(?:ssh|ecdsa|sk)-\S+ |---- BEGIN SSH2 PUBLIC|-----BEGIN [A-Z ]*PUBLIC)/.test(key)) return faults.publicKey;
  if (/^-----BEGIN CERTIFICATE/.test(key)) return faults.certificate;
  if (key.startsWith('PuTTY-User-Key-File-')) return /^Private-MAC:/m.test(key) ? undefined : faults.cutKey;
  if (!/^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) return faults.noKey;
  return /-----END [A-Z ]*PRIVATE KEY-----$/.test(key) ? undefined : faults.cutKey;
}

/** Whether a passphrase opens the key. In OpenSSH's own format, the name of the cipher comes first. */
function isEncrypted(key: string): boolean {
  if (/^Encryption: (?!none)/m.test(key)) return true;
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(key)) return true;
  const [, body = ''] = /^-----BEGIN OPENSSH PRIVATE KEY-----\s+(\S+)/.exec(key) ?? [];
  return body !== '' && !body.startsWith(UNENCRYPTED);
}

/** `openssh-key-v1`, and the cipher `none`. */
const UNENCRYPTED = btoa('openssh-key-v1\0\0\0\0\x04none').slice(0, 30);

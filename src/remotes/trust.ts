/** Trust in servers: pinned host keys, the first key if none is pinned, and the keys that replace them. */
import { HOUR_MS } from '../contract/units.js';
import { GatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import type { SshCertificate } from '../connections/ssh-certificate.js';
import { type AnnouncedKey, type HostKey, KEY_GONE_AFTER_MS } from '../connections/host-keys.js';

/** What the program knows about servers and keeps for the next session. */
export interface Trust {
  /**
   * Decides about a host key (`SHA256:…`) that the server showed: it must match a pinned key, or be certified; if none is
   * pinned and the connection has no authorities, the first one is stored durably and trusted. Resolves, or rejects with
   * host_key_mismatch naming both fingerprints.
   */
  checkHostKey(connection: Connection, fingerprint: string, certified?: Certified): Promise<void>;
  /**
   * Gets what a server whose trusted key is `shown` announces: keys that are known already or have been proven. Absent
   * = the server is not asked.
   */
  announced?(connection: Connection, shown: string, keys: readonly HostKey[]): Promise<void>;
}

/** The result of looking for a certificate of the host key, for a connection with authorities. */
export type Certified = { readonly certificate: SshCertificate } | { readonly objection: string };

/** The time when a key was last seen is accurate to this. */
const SEEN_EVERY_MS = HOUR_MS;

/** `pins.pinHostKey` stores a first key unless another one was stored meanwhile, and resolves with the stored ones. */
export function trustOnFirstUse(
  pins: { pinHostKey(connectionId: string, fingerprint: string): Promise<readonly string[]> },
  announced: { note(connection: Connection, shown: string, keys: readonly HostKey[]): Promise<void> },
): Trust {
  return {
    checkHostKey: async (connection, fingerprint, certified) => {
      if (judgeHostKey(connection, fingerprint, certified) !== 'new') return;
      const pinned = await pins.pinHostKey(connection.id, fingerprint);
      if (pinned.includes(fingerprint)) return;
      throw hostKeyMismatch(connection, pinned, fingerprint);
    },
    announced: async (connection, shown, keys) => {
      if (isNews(connection, shown, keys)) await announced.note(connection, shown, keys);
    },
  };
}

/**
 * Compares a shown key with what the connection trusts now. `new`: nothing is pinned, and no authority decides.
 * @throws GatewayError host_key_mismatch
 */
export function judgeHostKey(
  connection: Connection,
  fingerprint: string,
  certified?: Certified,
): 'pinned' | 'certified' | 'new' {
  const known = 'hostKeys' in connection ? connection.hostKeys : [];
  if (known.includes(fingerprint)) return 'pinned';
  if (certified !== undefined) {
    requireCertificate(connection, fingerprint, certified);
    return 'certified';
  }
  if (known.length === 0) return 'new';
  throw hostKeyMismatch(connection, known, fingerprint);
}

function requireCertificate(connection: Connection, fingerprint: string, certified: Certified): void {
  if ('certificate' in certified) return;
  const known = 'hostKeys' in connection && connection.hostKeys.length > 0 ? ' and is not pinned' : '';
  const text = `the server of connection ${connection.id} shows host key ${fingerprint}, which no authority in hostCa certifies${known}: ${certified.objection}`;
  throw new GatewayError('host_key_mismatch', text, { step: 'login' });
}

/** Whether there is anything to write: each session gets an announcement, nearly always the same one. */
function isNews(connection: Connection, shown: string, keys: readonly HostKey[]): boolean {
  if (!('hostKeys' in connection)) return false;
  const { hostKeys, announcedKeys = [], hostKeyRotation } = connection;
  const now = Date.now();
  const ageOf = ({ lastSeenAt }: AnnouncedKey): number => now - lastSeenAt.getTime();
  const seen = new Set(keys.map(({ fingerprint }) => fingerprint));
  const known = new Map(announcedKeys.map((key) => [key.fingerprint, key]));
  const isAccepting = hostKeyRotation === 'accept';
  return (
    keys.some(({ fingerprint }) => {
      const key = known.get(fingerprint);
      if (key === undefined || ageOf(key) > SEEN_EVERY_MS) return true;
      return isAccepting && !key.isRejected && !hostKeys.includes(fingerprint);
    }) ||
    announcedKeys.some((key) => {
      if (seen.has(key.fingerprint) || key.fingerprint === shown) return false;
      if (hostKeys.includes(key.fingerprint)) return isAccepting && ageOf(key) > KEY_GONE_AFTER_MS;
      return !key.isRejected;
    })
  );
}

function hostKeyMismatch(connection: Connection, pinned: readonly string[], fingerprint: string): GatewayError {
  const text = `the server of connection ${connection.id} shows host key ${fingerprint}, but ${pinned.join(' or ')} is pinned (hostKey)`;
  return new GatewayError('host_key_mismatch', text + waitingWords(connection, fingerprint), { step: 'login' });
}

/** The text for a key that was announced and proven but not accepted; otherwise "". */
function waitingWords(connection: Connection, fingerprint: string): string {
  const keys = 'hostKeys' in connection ? connection.announcedKeys : undefined;
  const key = keys?.find((one) => one.fingerprint === fingerprint);
  if (key === undefined || key.isRejected) return '';
  return `; under a pinned key the server announced this one and proved that it is its own, ${key.lastSeenAt.toISOString()} the last time: it waits to be accepted`;
}

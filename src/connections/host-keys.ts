/** Host keys of servers, and announced keys. */
import { DAY_MS } from '../contract/units.js';

export interface HostKey {
  /** `SHA256:…` */
  readonly fingerprint: string;
  /** Such as `ssh-ed25519`. */
  readonly algorithm: string;
}

/** A key that the server has announced in a session with a trusted key, and proven to be its own. */
export interface AnnouncedKey {
  readonly fingerprint: string;
  /** The owner has rejected it. */
  readonly isRejected: boolean;
  readonly lastSeenAt: Date;
}

/**
 * A trusted key is forgotten after this long without an announcement. Several servers with one name announce their keys
 * in turns.
 */
export const KEY_GONE_AFTER_MS = 7 * DAY_MS;

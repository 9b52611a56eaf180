/** Host keys of servers, and those that are announced to follow them. */
export interface HostKey {
  /** `SHA256:…` */
  readonly fingerprint: string;
  /** Such as `ssh-ed25519`. */
  readonly algorithm: string;
}

/** One that the server has announced on a session of a trusted one, and proven to be its own. */
export interface AnnouncedKey {
  readonly fingerprint: string;
  /** Its owner does not want it. */
  readonly isRejected: boolean;
  readonly lastSeenAt: Date;
}

/** A trusted key that the server has not announced for so long has gone; servers that share a name announce in turns. */
export const KEY_GONE_AFTER_MS = 7 * 86_400_000;

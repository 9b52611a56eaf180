/** Who is the server: host keys that are pinned, and the first one where none is. */
import { GatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';

/** What the program knows of servers and keeps for the next session. */
export interface Trust {
  /**
   * Decides about a host key (`SHA256:…`) that the server showed: pinned ones must match; with none pinned the first
   * one is stored durably and trusted. Resolves, or rejects with host_key_mismatch naming both fingerprints.
   */
  checkHostKey(connection: Connection, fingerprint: string): Promise<void>;
}

/** `pins.pinHostKey` stores a first key unless another one was stored meanwhile, and resolves to those that are. */
export function trustOnFirstUse(pins: {
  pinHostKey(connectionId: string, fingerprint: string): Promise<readonly string[]>;
}): Trust {
  return {
    checkHostKey: async (connection, fingerprint) => {
      const known = 'hostKeys' in connection ? connection.hostKeys : [];
      const pinned = known.length > 0 ? known : await pins.pinHostKey(connection.id, fingerprint);
      if (pinned.includes(fingerprint)) return;
      throw new GatewayError(
        'host_key_mismatch',
        `the server of connection ${connection.id} shows host key ${fingerprint}, but ${pinned.join(' or ')} is pinned (hostKey)`,
        { step: 'login' },
      );
    },
  };
}

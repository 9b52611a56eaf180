import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from './secrets.js';

/** Too many bits to guess. */
const BYTES = 16;

/**
 * Signs values that clients get from the gateway and send back: any node recognizes them, and clients cannot forge
 * them.
 */
export class Signatures {
  readonly #keyring: Keyring;

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  /** A new master key invalidates them. `purpose` separates the signatures of one kind from all others. */
  sign(purpose: string, content: string): Buffer {
    return this.#keyring.mac(purpose, content).subarray(0, BYTES);
  }

  isSigned(purpose: string, content: string, signature: Buffer): boolean {
    return signature.length === BYTES && timingSafeEqual(this.sign(purpose, content), signature);
  }
}

import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from './secrets.js';

/** Enough that nobody hits upon one. */
const BYTES = 16;

/** Signs what the gateway gives to clients and takes back from them: any node knows it again, nobody else can make it. */
export class Signatures {
  readonly #keyring: Keyring;

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  /** A new master key ends them. `purpose` keeps those of one kind apart from all others. */
  sign(purpose: string, content: string): Buffer {
    return this.#keyring.mac(purpose, content).subarray(0, BYTES);
  }

  isSigned(purpose: string, content: string, signature: Buffer): boolean {
    return signature.length === BYTES && timingSafeEqual(this.sign(purpose, content), signature);
  }
}

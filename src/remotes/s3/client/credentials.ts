/** The credentials that sign requests. */
import { MINUTE_MS } from '../../../contract/units.js';
import { orAbort } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import { toGatewayError } from '../../../base/errors.js';
import type { Keys } from '../../../base/aws-signature.js';

export interface HeldKeys extends Keys {
  /** Whose they are, in words; absent: the connection's own. */
  readonly holder?: string;
}

export interface TemporaryKeys extends HeldKeys {
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface Credentials {
  /** Those that are valid now; undefined: they must be waited for. */
  atHand(): HeldKeys | undefined;
  /** Rejects with the reason why there are none. */
  get(signal?: EndSignal): Promise<HeldKeys & Partial<TemporaryKeys>>;
  /** Those at hand were refused: the next request gets others, if there can be others. */
  refused(): void;
}

export class FixedCredentials implements Credentials {
  readonly #keys: HeldKeys;

  constructor(keys: HeldKeys) {
    this.#keys = keys;
  }

  atHand(): HeldKeys {
    return this.#keys;
  }

  async get(): Promise<HeldKeys> {
    return this.#keys;
  }

  refused(): void {}
}

/** Longer than an outage of ten minutes of the service that issues them. */
const RENEWED_BEFORE_MS = 15 * MINUTE_MS;
const PAUSE_MS = 30_000;

/**
 * Credentials that expire. They are renewed when they are used and have a quarter of an hour left. If that fails, those
 * that are still valid are used on, and the renewal is tried again.
 */
export class RenewedCredentials implements Credentials {
  readonly #issue: () => Promise<TemporaryKeys>;
  readonly #failed: (error: Error) => void;
  #keys: TemporaryKeys | undefined;
  #issuing: Promise<TemporaryKeys> | undefined;
  #triedAt = -Infinity;

  constructor(issue: () => Promise<TemporaryKeys>, failed: (error: Error) => void) {
    this.#issue = issue;
    this.#failed = failed;
  }

  atHand(): TemporaryKeys | undefined {
    const keys = this.#keys;
    const time = Date.now();
    if (keys === undefined || keys.expiresAt <= time) return undefined;
    if (keys.expiresAt - time < RENEWED_BEFORE_MS && time - this.#triedAt >= PAUSE_MS) {
      this.#renew().catch((error: unknown) => this.#failed(toGatewayError(error)));
    }
    return keys;
  }

  async get(signal?: EndSignal): Promise<TemporaryKeys> {
    const keys = this.atHand();
    if (keys !== undefined) return keys;
    return signal === undefined ? this.#renew() : orAbort(this.#renew(), signal);
  }

  refused(): void {
    // Younger ones may not be those that were refused, and a store that refuses all must not make each request ask.
    if (Date.now() - this.#triedAt >= PAUSE_MS) this.#keys = undefined;
  }

  /** One at a time, for all who wait. */
  #renew(): Promise<TemporaryKeys> {
    this.#issuing ??= this.#tryToRenew().finally(() => {
      this.#issuing = undefined;
    });
    return this.#issuing;
  }

  async #tryToRenew(): Promise<TemporaryKeys> {
    this.#triedAt = Date.now();
    this.#keys = await this.#issue();
    return this.#keys;
  }
}

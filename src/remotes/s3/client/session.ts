import type { EndSignal } from '../../../base/ending.js';
import type { Session } from '../../../pools/session.js';
import type { Seen } from './bounded-handler.js';
import type { LeaseGate } from './socket-gate.js';
import type { SharedClient } from './client.js';

/** The right to send requests through a client whose sockets are bounded by the pool's limit. */
export interface S3Lease extends Pick<SharedClient, 'client' | 'requests' | 'traits' | 'credentials'> {
  /** From its own answers: the sockets are shared, and may lead to a store that has changed its certificate. */
  readonly seen: Seen;
  readonly gate: LeaseGate;
}

/**
 * A slot, not a socket: HTTP keeps no login, so a session costs nothing to open, cannot fail and is never checked. It
 * holds a share of the client, whose keep-alive sockets end with the last session.
 */
export class S3Session implements Session<S3Lease> {
  readonly #shared: SharedClient;
  readonly capacity = 1;
  readonly #listeners: (() => void)[] = [];
  #alive = true;

  constructor(shared: SharedClient) {
    this.#shared = shared;
  }

  get alive(): boolean {
    return this.#alive;
  }

  async lease(signal: EndSignal): Promise<S3Lease> {
    signal.throwIfAborted();
    return this.leaseNow();
  }

  leaseNow(): S3Lease {
    const { client, requests, traits, credentials, gate } = this.#shared;
    return { client, requests, traits, credentials, seen: { proof: {} }, gate: gate.openLease() };
  }

  release(lease: S3Lease): void {
    // A cut request closed its own socket: in every case the slot is as good as before.
    lease.gate.close();
  }

  async check(): Promise<void> {
    // Nothing to check: the next request dials if no socket is left.
  }

  close(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#shared.release();
    for (const listener of this.#listeners) listener();
  }

  onClose(listener: () => void): void {
    if (this.#alive) this.#listeners.push(listener);
    else queueMicrotask(listener);
  }
}

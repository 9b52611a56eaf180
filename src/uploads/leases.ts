/** The leases that requests of this node hold in the database: renewed while they are held, and fenced if they cannot be. */
import { GatewayError, goneOn, refusal } from '../base/errors.js';
import { Periodic } from '../base/periodic.js';

const RENEW_EVERY_MS = 1_000;
/** Below the 12 s of a lease: one that is not renewed for this long may soon be taken over. */
const FENCE_MS = 9_000;
/** A lease that has expired by the database's clock, and is not renewed within this time, belongs to a dead writer. */
export const LAPSED_MS = 2 * RENEW_EVERY_MS;
/** By then a writer that was asked has ended, and a dead writer's lease has expired. */
export const PATIENCE_MS = 25_000;

export interface WriterLease {
  readonly writer: string;
  /** Another request waits for its end. */
  asked: (reason: GatewayError) => void;
  /** It may belong to another request now: nothing may be written any more. */
  lost: (reason: GatewayError) => void;
}

/** Answers for those that are still held, by writer. */
type Renewed = ReadonlyMap<string, { readonly isAsked: boolean }>;

export class WriterLeases<L extends WriterLease> {
  readonly #renewInStore: (leases: readonly L[]) => Promise<Renewed>;
  readonly #held = new Map<string, { readonly lease: L; renewedAt: number }>();
  readonly #fencing = new Periodic(() => this.#fence(), RENEW_EVERY_MS);
  readonly #renewing = new Periodic(() => this.#renew([...this]), RENEW_EVERY_MS);

  /** `renew`: stores the renewal of all of them at once. */
  constructor(renew: (leases: readonly L[]) => Promise<Renewed>) {
    this.#renewInStore = renew;
  }

  *[Symbol.iterator](): Generator<L> {
    for (const { lease } of this.#held.values()) yield lease;
  }

  /** `since`: when it was asked for, on the clock of performance.now(). */
  add(lease: L, since: number): void {
    this.#fencing.start();
    this.#renewing.start();
    this.#held.set(lease.writer, { lease, renewedAt: since });
  }

  remove({ writer }: WriterLease): void {
    this.#held.delete(writer);
    if (this.#held.size > 0) return;
    void this.#fencing.stop();
    void this.#renewing.stop();
  }

  /** Renews a lease that was granted late; otherwise the fence could end it before its first renewal. */
  async freshen(lease: L): Promise<void> {
    const renewedAt = this.#held.get(lease.writer)?.renewedAt ?? Infinity;
    if (performance.now() - renewedAt > RENEW_EVERY_MS) await this.#renew([lease]);
  }

  /** Also runs while a renewal waits for the database. */
  #fence(): void {
    const now = performance.now();
    for (const { lease, renewedAt } of this.#held.values()) if (now - renewedAt > FENCE_MS) lease.lost(unrenewed());
  }

  async #renew(leases: readonly L[]): Promise<void> {
    const now = performance.now();
    try {
      const renewed = await this.#renewInStore(leases);
      for (const lease of leases) {
        const held = this.#held.get(lease.writer);
        if (held === undefined) continue;
        const answer = renewed.get(lease.writer);
        if (answer === undefined) lease.lost(goneOn());
        else held.renewedAt = now;
        if (answer?.isAsked === true) lease.asked(goneOn());
      }
    } catch {
      // If renewals keep failing, the fence ends them.
    }
  }
}

export const locked = (): GatewayError => refusal('upload_locked', 'another request is writing to this upload');

/** The client may try again: no other request needs to have the lease. */
const unrenewed = (): GatewayError =>
  new GatewayError('database_away', 'the lease of the upload could not be renewed in time', {
    step: 'transfer',
    retryAfterMs: RENEW_EVERY_MS,
  });

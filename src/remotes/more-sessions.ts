/** A lease that an operation has in addition to its own, on a session that nothing else uses. */
export interface SpareLease<Lease> {
  readonly item: Lease;
  /**
   * Calls `listener`, at once if it is late, when others wait for a session. The holder then asks for nothing more on
   * this one, and releases it soon.
   */
  onRecall(listener: () => void): void;
  /** Call exactly once. `discard` closes what was leased. */
  release(fate: 'keep' | 'discard'): void;
}

/** More sessions for one operation, as long as no other operation waits for them. */
export interface MoreSessions<Lease> {
  /** How many one file may use beyond its own: `streams.connectionsPerFile` - 1. */
  readonly most: number;
  /** An idle session, or one that is opened now; undefined if there is none to spare. Never rejects. */
  take(): Promise<SpareLease<Lease> | undefined>;
}

export const NO_MORE_SESSIONS: MoreSessions<never> = { most: 0, take: () => Promise.resolve(undefined) };

/** Others wait for the session of a spare lease, or will. */
export class Recall {
  #isCalled = false;
  #listener: (() => void) | undefined;

  call(): void {
    this.#isCalled = true;
    this.#listener?.();
  }

  listen(listener: () => void): void {
    this.#listener = listener;
    if (this.#isCalled) listener();
  }
}

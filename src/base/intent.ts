/** Remembers that something was begun, for a request that repeats it (Idempotency-Key). */
export interface Intent {
  /** Call before anything is done; resolves when the transfer is stored durably. */
  begin(transferId: string): Promise<void>;
  /** It failed with an unknown outcome: repetitions get that answer and do not run. */
  lose(): void;
}

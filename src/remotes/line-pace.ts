/** Bytes that the kernels on both sides may still hold after our last byte has left the process. */
const KERNEL_BUFFER_BYTES = 16_777_216;
const MAX_DRAIN_MS = 600_000;

/**
 * Measures how fast a connection takes the bytes of an upload. Idle time does not count: a slow source says nothing
 * about the connection.
 */
export class LinePace {
  #bytes = 0;
  #fullMs = 0;
  #fullSince: number | undefined;

  sent(bytes: number, hasRoom: boolean): void {
    this.#bytes += bytes;
    if (!hasRoom) this.#fullSince ??= performance.now();
  }

  /** The connection can take bytes again. */
  drained(): void {
    if (this.#fullSince === undefined) return;
    this.#fullMs += performance.now() - this.#fullSince;
    this.#fullSince = undefined;
  }

  /** Time that bytes outside the process may still need to reach the other side. */
  get drainMs(): number {
    if (this.#bytes === 0) return 0;
    return Math.min((Math.min(this.#bytes, KERNEL_BUFFER_BYTES) / this.#bytes) * this.#fullMs, MAX_DRAIN_MS);
  }
}

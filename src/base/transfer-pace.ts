/** Samples older than this are forgotten. */
const KEPT_MS = 60_000;
/** The share of a period that must have been the other side's turn; with less, no rate is known. */
const LEAST_TURN = 0.9;

interface Sample {
  readonly at: number;
  readonly bytes: number;
  /** Milliseconds so far that were the other side's turn. */
  readonly turnMs: number;
}

/**
 * Measures how fast the other side of a transfer (a client, the server of a url) moves bytes while it is its turn. Time
 * that the gateway or the remote server takes does not count. It is sampled about once a second.
 */
export class TransferPace {
  readonly #samples: Sample[];

  /** `now` in milliseconds. */
  constructor(now: number) {
    this.#samples = [{ at: now, bytes: 0, turnMs: 0 }];
  }

  /** `bytes` counts all that have been moved. */
  sample(isItsTurn: boolean, bytes: number, now: number): void {
    const last = this.#samples.at(-1);
    const turnMs = (last?.turnMs ?? 0) + (isItsTurn ? now - (last?.at ?? now) : 0);
    this.#samples.push({ at: now, bytes, turnMs });
    // One older sample is kept, so that the whole period can be measured.
    while ((this.#samples[1]?.at ?? now) < now - KEPT_MS) this.#samples.shift();
  }

  /** The rate over the last `overMs`, at most 60,000; undefined: not known for that long, or others were as slow. */
  bytesPerSecond(overMs: number): number | undefined {
    const last = this.#samples.at(-1);
    if (last === undefined) return undefined;
    const first = this.#samples.findLast(({ at }) => last.at - at >= overMs);
    if (first === undefined) return undefined;
    const elapsedMs = last.at - first.at;
    if (last.turnMs - first.turnMs < elapsedMs * LEAST_TURN) return undefined;
    return ((last.bytes - first.bytes) * 1_000) / elapsedMs;
  }
}

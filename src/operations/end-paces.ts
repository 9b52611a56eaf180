/**
 * Measures how fast the two ends of an operation move bytes: a slow end must not hold a session of the other one that
 * others wait for.
 */
import { Periodic } from '../base/periodic.js';
import { TransferPace } from '../base/transfer-pace.js';

/** The source may also be the server of a url. */
export type End = 'source' | 'target';

const SAMPLE_EVERY_MS = 1_000;

export class EndPaces {
  readonly #paces = new Map<End, TransferPace>();

  /**
   * `isItsTurn`: whether the operation waits only for this end; `moved`: bytes so far. Call the returned function to
   * end it.
   */
  watch(end: End, isItsTurn: () => boolean, moved: () => number): () => void {
    const pace = new TransferPace(performance.now());
    this.#paces.set(end, pace);
    const sample = (): void => pace.sample(isItsTurn(), moved(), performance.now());
    const sampling = new Periodic(sample, SAMPLE_EVERY_MS).start();
    return () => {
      void sampling.stop();
      if (this.#paces.get(end) === pace) this.#paces.delete(end);
    };
  }

  /** undefined: the operation does not wait for this end, or not for that long. */
  bytesPerSecond(end: End, overMs: number): number | undefined {
    return this.#paces.get(end)?.bytesPerSecond(overMs);
  }
}

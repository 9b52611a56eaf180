/** The offset of LIST's times from UTC, in summer and in winter, learned from files whose exact time MDTM gives. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../contract/units.js';

interface Sample {
  /** Read as if the server's clock showed UTC. */
  readonly listedMs: number;
  readonly offsetMs: number;
}

/** No zone changes twice within this many days: two samples that agree are valid for all times between them. */
const SPAN_MS = 120 * DAY_MS;
const MOST_SAMPLES = 500;
export const QUARTER_HOUR_MS = 900_000;
/** UTC+14 and UTC-12 are the outermost zones. */
const MOST_OFFSET_MS = 15 * HOUR_MS;

/**
 * Compares the two times of one file. Undefined if they do not differ by a zone (whole quarters of an hour): the file
 * has changed meanwhile.
 */
export function offsetBetween(listed: Date, exact: Date): number | undefined {
  const difference = listed.getTime() - Math.floor(exact.getTime() / MINUTE_MS) * MINUTE_MS;
  const offset = Math.round(difference / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
  // `+ 0` turns -0 into 0.
  return Math.abs(difference - offset) > MINUTE_MS || Math.abs(offset) > MOST_OFFSET_MS ? undefined : offset + 0;
}

export class ListZone {
  /** Sorted by time. */
  readonly #samples: Sample[] = [];

  get isUnknown(): boolean {
    return this.#samples.length === 0;
  }

  /** The newest known offset. */
  get offsetNowMs(): number {
    return this.#samples.at(-1)?.offsetMs ?? 0;
  }

  add(sample: Sample): void {
    const at = this.#after(sample.listedMs);
    if (this.#samples[at - 1]?.listedMs === sample.listedMs) this.#samples[at - 1] = sample;
    else this.#samples.splice(at, 0, sample);
    if (this.#samples.length > MOST_SAMPLES) this.#samples.shift();
  }

  /** The offset of the nearest sample; undefined if there is none. */
  offsetAt(listedMs: number): number | undefined {
    const at = this.#after(listedMs);
    const [before, behind] = [this.#samples[at - 1], this.#samples[at]];
    if (before === undefined || behind === undefined) return (before ?? behind)?.offsetMs;
    return listedMs - before.listedMs <= behind.listedMs - listedMs ? before.offsetMs : behind.offsetMs;
  }

  isCertain(listedMs: number): boolean {
    const at = this.#after(listedMs);
    const [before, behind] = [this.#samples[at - 1], this.#samples[at]];
    if (before?.listedMs === listedMs) return true;
    if (before === undefined || behind === undefined) return false;
    return before.offsetMs === behind.offsetMs && behind.listedMs - before.listedMs <= SPAN_MS;
  }

  /** The time, of these sorted ones, whose sample decides most of the uncertain ones; undefined if all are certain. */
  nextToAsk(times: readonly number[]): number | undefined {
    const open = times.filter((time) => !this.isCertain(time));
    const [first, last] = [open[0], open.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const ends = [this.#samples[0]?.listedMs, this.#samples.at(-1)?.listedMs];
    if (ends[1] === undefined || last > ends[1]) return last;
    if (ends[0] === undefined || first < ends[0]) return first;
    // Among the times between the same two samples, the middle one decides half of them.
    const until = this.#samples[this.#after(first)]?.listedMs ?? Infinity;
    const gap = open.filter((time) => time < until);
    return gap[gap.length >> 1];
  }

  /** The index of the first later sample. */
  #after(listedMs: number): number {
    let [low, high] = [0, this.#samples.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#samples[middle]?.listedMs ?? Infinity) <= listedMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The offset of LIST's times from UTC, in summer and in winter, learned from files whose exact time MDTM gives. */

interface Sample {
  /** As if the server's clock showed UTC. */
  readonly listedMs: number;
  readonly offsetMs: number;
}

const DAY_MS = 86_400_000;
/** No zone changes twice within so many days: two samples that agree speak for all between them. */
const SPAN_MS = 120 * DAY_MS;
const MOST_SAMPLES = 500;
const MINUTE_MS = 60_000;
const QUARTER_HOUR_MS = 900_000;
/** UTC+14 and UTC-12 are the outermost zones. */
const MOST_OFFSET_MS = 15 * 3_600_000;

/** From one file's two times. Undefined where they are of no zone, whole quarters of an hour: the file has changed meanwhile. */
export function offsetBetween(listed: Date, exact: Date): number | undefined {
  const difference = listed.getTime() - Math.floor(exact.getTime() / MINUTE_MS) * MINUTE_MS;
  const offset = Math.round(difference / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
  // `+ 0` makes no zero of a negative one.
  return Math.abs(difference - offset) > MINUTE_MS || Math.abs(offset) > MOST_OFFSET_MS ? undefined : offset + 0;
}

export class ListZone {
  /** In the order of their times. */
  readonly #samples: Sample[] = [];

  get isUnknown(): boolean {
    return this.#samples.length === 0;
  }

  /** The newest one known. */
  get offsetNowMs(): number {
    return this.#samples.at(-1)?.offsetMs ?? 0;
  }

  add(sample: Sample): void {
    const at = this.#after(sample.listedMs);
    if (this.#samples[at - 1]?.listedMs === sample.listedMs) this.#samples[at - 1] = sample;
    else this.#samples.splice(at, 0, sample);
    if (this.#samples.length > MOST_SAMPLES) this.#samples.shift();
  }

  /** That of the nearest sample; undefined where there is none. */
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

  /** Which of these times, in their order, says most about those that are not certain; undefined where all are. */
  nextToAsk(times: readonly number[]): number | undefined {
    const open = times.filter((time) => !this.isCertain(time));
    const [first, last] = [open[0], open.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const ends = [this.#samples[0]?.listedMs, this.#samples.at(-1)?.listedMs];
    if (ends[1] === undefined || last > ends[1]) return last;
    if (ends[0] === undefined || first < ends[0]) return first;
    // Of those between the same two samples: half of them follow from it.
    const until = this.#samples[this.#after(first)]?.listedMs ?? Infinity;
    const gap = open.filter((time) => time < until);
    return gap[gap.length >> 1];
  }

  /** The index of the first later one. */
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

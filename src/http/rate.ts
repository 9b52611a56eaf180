/** What a limit of requests in a time answers. */

export interface Taken {
  readonly isOver: boolean;
  /** What is left of the window's points. */
  readonly remaining: number;
  readonly msBeforeNext: number;
}

/** Takes one point of `key`, an API key's id or an address. */
export type Limiter = (key: string) => Promise<Taken>;

/** How many bad keys and sessions have come from an address in this minute. */
export interface Failures {
  /** Counts one; `count` includes it. */
  take(address: string): Promise<{ readonly count: number; readonly msBeforeNext: number }>;
  /** It was none. */
  giveBack(address: string): Promise<void>;
}

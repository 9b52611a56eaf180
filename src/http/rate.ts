/** What a limit of requests in a time answers. */

export interface Taken {
  readonly isOver: boolean;
  /** What is left of the window's points. */
  readonly remaining: number;
  readonly msBeforeNext: number;
}

/** Takes one point of `key`, an API key's id or an address. */
export type Limiter = (key: string) => Promise<Taken>;

import { within } from '../../base/deadline.js';

/** Nothing came back in time; over a connection to a database that means a dead line. */
export class Silence extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** The result of `work`, or a Silence after `ms`. */
export function answerWithin<T>(work: PromiseLike<T>, ms: number): Promise<T> {
  return within(work, ms, () => {
    throw new Silence(ms);
  });
}

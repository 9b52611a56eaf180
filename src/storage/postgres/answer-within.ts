/** Nothing came back in time; over a connection to a database that means a dead line. */
export class Silence extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** The result of `work`, or a Silence after `ms`. */
export async function answerWithin<T>(work: PromiseLike<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Silence(ms)), ms);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** What went wrong, in words that say what to do: the same as the dashboard shows. */
import { errorMeanings } from '../base/error-meanings.js';
import type { FtgError } from '../client/index.js';
import { requestErrors } from './request-errors.js';

const MEANINGS: Readonly<Record<string, readonly [meaning: string, remedy: string] | undefined>> = {
  ...errorMeanings,
  ...requestErrors,
};

interface Explanation {
  readonly means: string;
  readonly remedy: string;
}

export function explain(code: string): Explanation | undefined {
  const [means, remedy] = (Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined) ?? [];
  return means === undefined || remedy === undefined ? undefined : { means, remedy };
}

/** A failed call as an agent needs it. */
export function factsOf(error: FtgError): object {
  const { message, code, status, requestId, retryAfter } = error;
  return { error: message, code, status, requestId, retryAfter, ...explain(code) };
}

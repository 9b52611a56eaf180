/** What went wrong, in words that say what to do: the same as the dashboard shows. */
import type { FtgError } from '../client/index.js';
import { textsOfError } from '../contract/errors.js';

interface Explanation {
  readonly means: string;
  readonly remedy: string;
}

export function explain(code: string): Explanation | undefined {
  const texts = textsOfError(code);
  return texts === undefined ? undefined : { means: texts.meaning, remedy: texts.remedy };
}

/** A failed call as an agent needs it. */
export function factsOf(error: FtgError): object {
  const { message, code, status, requestId, retryAfter } = error;
  return { error: message, code, status, requestId, retryAfter, ...explain(code) };
}

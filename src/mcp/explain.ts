/** Explains errors with a remedy: the same texts as in the dashboard. */
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

/** The facts of a failed call for an agent. */
export function errorFactsOf(error: FtgError): object {
  const { message, code, status, requestId, retryAfter } = error;
  return { error: message, code, status, requestId, retryAfter, ...explain(code) };
}

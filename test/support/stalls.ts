/**
 * Work that must not stall, under a stall limit that is short, so that a test of it is: a busy machine may starve a real
 * server for as long. A defect stalls each time.
 */
import assert from 'node:assert/strict';
import { GatewayError, hasCode } from '../../src/base/errors.js';
import type { ApiAnswer } from './gateway.js';

const MOST_TRIES = 5;

/** Repeats `work` if it throws a stall, and only then. */
export async function despiteStalls<T>(work: (tries: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work(tries);
    } catch (error) {
      if (tries === MOST_TRIES || !hasCode(error, 'stall_timeout')) throw error;
    }
  }
}

/**
 * The answer, if it has this status.
 * @throws GatewayError stall_timeout if it says so, for `despiteStalls`
 */
export function answered(answer: ApiAnswer, status = 200): ApiAnswer {
  if (answer.headers['x-error-code'] === 'stall_timeout') throw new GatewayError('stall_timeout', answer.text);
  assert.equal(answer.status, status, answer.text);
  return answer;
}

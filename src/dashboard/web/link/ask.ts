/** Requests of the page of a link. */
import { parseRetryAfter } from '../../../base/retry-schedule.ts';
import { isGood, send, type Sending } from '../sending/send.ts';

/** The answer was an error, or none came: then the status is 0. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly askedMs: number | undefined,
  ) {
    super(code);
  }
}

/** @throws Refused */
export async function ask(sending: Sending): Promise<XMLHttpRequest> {
  const answer = await send(sending);
  if (isGood(answer)) return answer;
  const askedMs = parseRetryAfter(answer.getResponseHeader('Retry-After'), Date.now());
  throw new Refused(answer.status, answer.getResponseHeader('X-Error-Code') ?? '', askedMs);
}

/** Why the session ended while the page is open. The reason stays until the user has logged in again. */
import { type SessionEnd as End, SESSION_ENDS } from '../../../contract/login.ts';
import { store } from '../store.ts';

/** `unknown` if the gateway gives no reason. */
export type SessionEnd = End | 'unknown';

const ended = store<SessionEnd | undefined>(undefined);

export function toSessionEnd(word: string | null): SessionEnd {
  return SESSION_ENDS.find((one) => one === word) ?? 'unknown';
}

/** Undefined if the user is logged in again, or if the page shows the login itself. */
export const { set: setSessionEnd, get: sessionEnd, use: useSessionEnd } = ended;

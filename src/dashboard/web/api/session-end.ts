/** Why the session ended while the page is open. The reason stays until the user has logged in again. */
import { store } from '../store.ts';

/** The gateway's names; `unknown` if it gives no reason. */
const SESSION_ENDS = ['idle', 'expired', 'elsewhere', 'password_changed', 'logged_out'] as const;
export type SessionEnd = (typeof SESSION_ENDS)[number] | 'unknown';

const ended = store<SessionEnd | undefined>(undefined);

export function toSessionEnd(word: string | null): SessionEnd {
  return SESSION_ENDS.find((one) => one === word) ?? 'unknown';
}

/** Undefined if the user is logged in again, or if the page shows the login itself. */
export const { set: setSessionEnd, get: sessionEnd, use: useSessionEnd } = ended;

/** The end of the session while the page is open: why it ended, until somebody has logged in again. */
import { store } from '../store.ts';

/** As the gateway names them; unknown = it does not say. */
const SESSION_ENDS = ['idle', 'expired', 'elsewhere', 'password_changed', 'logged_out'] as const;
export type SessionEnd = (typeof SESSION_ENDS)[number] | 'unknown';

const ended = store<SessionEnd | undefined>(undefined);

export function toSessionEnd(word: string | null): SessionEnd {
  return SESSION_ENDS.find((one) => one === word) ?? 'unknown';
}

/** undefined: somebody is logged in again, or the page shows the login itself. */
export const { set: setSessionEnd, get: sessionEnd, use: useSessionEnd } = ended;

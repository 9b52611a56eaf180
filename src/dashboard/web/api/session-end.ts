/** The end of the session while the page is open: why it ended, until somebody has logged in again. */
import { useSyncExternalStore } from 'react';

/** As the gateway names them; unknown = it does not say. */
const SESSION_ENDS = ['idle', 'expired', 'elsewhere', 'password_changed', 'logged_out'] as const;
export type SessionEnd = (typeof SESSION_ENDS)[number] | 'unknown';

const listeners = new Set<() => void>();
let ended: SessionEnd | undefined;

export function toSessionEnd(word: string | null): SessionEnd {
  return SESSION_ENDS.find((one) => one === word) ?? 'unknown';
}

/** undefined: somebody is logged in again, or the page shows the login itself. */
export function setSessionEnd(why: SessionEnd | undefined): void {
  if (ended === why) return;
  ended = why;
  for (const listener of listeners) listener();
}

export function sessionEnd(): SessionEnd | undefined {
  return ended;
}

export function useSessionEnd(): SessionEnd | undefined {
  return useSyncExternalStore(subscribe, sessionEnd);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

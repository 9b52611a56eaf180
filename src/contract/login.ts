/** Logins of owners. */

/** How many characters a new password has. */
export const NEW_PASSWORD = { minLength: 12, maxLength: 200 } as const;

const ENDED_EARLY = ['elsewhere', 'password_changed', 'logged_out'] as const;
export type EarlyEnd = (typeof ENDED_EARLY)[number];
/** Why a login session is over. */
export const SESSION_ENDS = ['idle', 'expired', ...ENDED_EARLY] as const;
export type SessionEnd = (typeof SESSION_ENDS)[number];

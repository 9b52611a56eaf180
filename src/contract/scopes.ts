/** The scopes of API keys. This module imports no schemas, because the dashboard and `ftg` use it, too. */
/** The scopes of a key in the configuration that lists none. */
export const SCOPES = ['read', 'write', 'exec', 'watch'] as const;
/** `admin` allows the management API; a key gets it only by explicit request. */
export const ALL_SCOPES = [...SCOPES, 'admin'] as const;
export type Scope = (typeof ALL_SCOPES)[number];

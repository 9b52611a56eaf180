/** Who may do what: a word shared by configuration, storage, HTTP and transfers. */
export type Scope = 'read' | 'write' | 'exec' | 'watch' | 'admin';
/** What a key has when nobody says otherwise. */
export const SCOPES: readonly Scope[] = ['read', 'write', 'exec', 'watch'];
/** `admin` opens the management API; it must be asked for by name. */
export const ALL_SCOPES: readonly Scope[] = [...SCOPES, 'admin'];

/** Who asks: the result of a good bearer key or of a login session. */
export interface Caller {
  readonly accountId: string;
  readonly email: string;
  readonly plan: string;
  /** Of the key; of the session, where there is one instead. */
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** Connections this key may use; empty = all of the account. */
  readonly connections: readonly string[];
  /** Present when a login session asks. */
  readonly session?: { readonly id: string; readonly csrfToken: string };
}

/** The key that asks; null: the account's owner does. */
export function keyOf({ session, keyId }: Caller): string | null {
  return session === undefined ? keyId : null;
}

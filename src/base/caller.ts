/** Who asks: a word shared by storage, HTTP and transfers. */
import type { Scope } from '../contract/api-key.js';

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

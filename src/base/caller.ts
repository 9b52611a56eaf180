/** Who asks: a word shared by storage, HTTP and transfers. */
import type { Scope } from '../contract/api-key.js';
import { refusal } from './errors.js';

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

/** Whether the key may use all of these connections. */
export function mayUse({ connections }: Pick<Caller, 'connections'>, named: readonly string[]): boolean {
  return connections.length === 0 || named.every((id) => connections.includes(id));
}

/** @throws GatewayError forbidden */
export function requireUse(caller: Caller, connectionId: string): void {
  if (!mayUse(caller, [connectionId])) {
    throw refusal('forbidden', `this API key is not for connection ${connectionId}`);
  }
}

/** What a list shows the key; undefined = all connections. */
export function connectionsFor({ connections }: Pick<Caller, 'connections'>): readonly string[] | undefined {
  return connections.length === 0 ? undefined : connections;
}

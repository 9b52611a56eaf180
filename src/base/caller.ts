/** The caller of a request: a type shared by storage, HTTP and transfers. */
import type { Scope } from '../contract/scopes.js';
import { refusal } from './errors.js';

/** The caller of a request, from a valid bearer key or a login session. */
export interface Caller {
  readonly accountId: string;
  readonly email: string;
  readonly plan: string;
  /** Id of the key, or of the session. */
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** Connections that this key may use; empty = all of the account. */
  readonly connections: readonly string[];
  /** Present if the caller uses a login session. */
  readonly session?: { readonly id: string; readonly csrfToken: string };
}

/** The id of the key; null: the account's owner asks. */
export function apiKeyIdOf({ session, keyId }: Caller): string | null {
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

/** The connections that a list shows to the key; undefined = all. */
export function connectionsFor({ connections }: Pick<Caller, 'connections'>): readonly string[] | undefined {
  return connections.length === 0 ? undefined : connections;
}

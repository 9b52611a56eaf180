/** What every use of a connection begins with: it exists, and it is switched on. */
import { refusal, unknown } from '../base/errors.js';

interface Finder<C> {
  find(accountId: string, id: string): Promise<C | undefined>;
}

/** @throws GatewayError unknown_connection, also for another account's */
export async function requireConnection<C>(connections: Finder<C>, accountId: string, id: string): Promise<C> {
  const connection = await connections.find(accountId, id);
  if (connection === undefined) throw unknown('connection', id);
  return connection;
}

/** @throws GatewayError connection_inactive */
export function requireActive({ id, isActive }: { readonly id: string; readonly isActive: boolean }): void {
  if (!isActive) throw refusal('connection_inactive', `connection ${id} is not active`);
}

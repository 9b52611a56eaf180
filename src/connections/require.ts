/** What every use of a connection begins with: it exists, and it is switched on. */
import { GatewayError, refusal, unknown } from '../base/errors.js';
import { hoursBegin, hoursMeet } from '../base/hours.js';

interface Finder<C> {
  find(accountId: string, id: string): Promise<C | undefined>;
}

/** @throws GatewayError unknown_connection, even if another account has it */
export async function requireConnection<C>(connections: Finder<C>, accountId: string, id: string): Promise<C> {
  const connection = await connections.find(accountId, id);
  if (connection === undefined) throw unknown('connection', id);
  return connection;
}

interface FromFile {
  readonly isConfigured?: boolean;
  readonly hasConfiguredSecrets?: boolean;
}

/** Whether its login is the operator's: the configuration has it, or has lost it since. */
export function hasOperatorsLogin({ isConfigured = false, hasConfiguredSecrets = false }: FromFile): boolean {
  return isConfigured || hasConfiguredSecrets;
}

/** @throws GatewayError connection_inactive */
export function requireActive({ id, isActive }: { readonly id: string; readonly isActive: boolean }): void {
  if (!isActive) throw refusal('connection_inactive', `connection ${id} is not active`);
}

interface WithHours {
  readonly id: string;
  readonly hours?: string | undefined;
}

/**
 * Until when a use of these connections has to wait for their hours; undefined = now is in all of them. They may have
 * other hours in common only later: look again then.
 */
export function closedUntil(...connections: readonly WithHours[]): Date | undefined {
  const now = Date.now();
  const begins = connections.map(({ hours }) => (hours === undefined ? undefined : hoursBegin(hours, now)));
  const last = Math.max(...begins.map((at) => at ?? now));
  return last > now ? new Date(last) : undefined;
}

/** Work on both would wait for ever. @throws GatewayError bad_request */
export function requireCommonHours(one: WithHours, other: WithHours): void {
  const hours = [one, other].flatMap((connection) => connection.hours ?? []);
  if (hoursMeet(hours, Date.now())) return;
  throw refusal(
    'bad_request',
    `connections ${one.id} and ${other.id} may never be used at the same time: ${hours.join(', and ')}`,
  );
}

const LOOK_AGAIN_MS = 60_000;

/** The next look at connections that are closed until then: their hours may be changed meanwhile. */
export function nextLookMs(closed: Date): number {
  return Math.min(closed.getTime() - Date.now(), LOOK_AGAIN_MS);
}

/** @throws GatewayError outside_hours */
export function requireOpen(connection: WithHours): void {
  const opensAt = closedUntil(connection);
  if (opensAt === undefined) return;
  const { id, hours = '' } = connection;
  const text = `connection ${id} may be used ${hours}, next from ${opensAt.toISOString()} on`;
  const retryAfterMs = opensAt.getTime() - Date.now();
  throw new GatewayError('outside_hours', text, { step: 'request', retryAfterMs });
}

/** Operations on connections whose secrets are read from elsewhere, and may change there at any time. */
import { orAbort } from '../base/deadline.js';
import type { EndSignal } from '../base/ending.js';
import type { GatewayError } from '../base/errors.js';
import { hasCode, toGatewayError } from '../base/errors.js';
import type { Connection, Referring } from '../connections/connection.js';

/** What knows the present secrets of connections. */
export interface PresentSecrets {
  /** The connection with the secrets as they are known now; the same object if nothing differs. */
  known<C extends Referring>(connection: C): C;
  /** The same, after secrets were read that are not known yet. @throws GatewayError login_refused */
  present<C extends Referring>(connection: C): Promise<C>;
  /** The same, after a login was refused. */
  renewed<C extends Referring>(connection: C): Promise<C>;
  /** The error of a refused login, with the references that its secrets came from. */
  explained(refused: GatewayError, connections: readonly Referring[]): GatewayError;
}

/** Whether a secret of one of them, or of a jump host on its way, is read from elsewhere. */
export function haveReferences(connections: readonly Connection[]): boolean {
  return connections.some(
    ({ references, jump }) => references !== undefined || (jump !== undefined && haveReferences([jump])),
  );
}

/**
 * Runs it with the present secrets. If a login is refused before `committed` was called, and a secret has changed since,
 * it runs once more.
 */
export async function withPresentSecrets<C extends Referring, R>(
  secrets: PresentSecrets,
  connections: readonly C[],
  signal: EndSignal,
  run: (present: readonly C[], committed: () => void) => Promise<R>,
): Promise<R> {
  const each = (of: (connection: C) => Promise<C>, all: readonly C[]) =>
    orAbort(Promise.all(all.map((connection) => of(connection))), signal);
  const present = await each((connection) => secrets.present(connection), connections);
  let isCommitted = false;
  const committed = (): void => void (isCommitted = true);
  try {
    return await run(present, committed);
  } catch (error) {
    if (!hasCode(error, 'login_refused')) throw error;
    const renewed = await each((connection) => secrets.renewed(connection), present);
    const isUnchanged = renewed.every((connection, index) => connection === present[index]);
    if (isCommitted || isUnchanged) throw secrets.explained(toGatewayError(error), renewed);
    try {
      return await run(renewed, committed);
    } catch (again) {
      throw hasCode(again, 'login_refused') ? secrets.explained(toGatewayError(again), renewed) : again;
    }
  }
}

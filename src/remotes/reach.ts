/** What operations find out about servers: whether they can be reached, and let one in. */
import { type ErrorCode, GatewayError, type Step } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';

export interface Reach {
  /** Work on it has succeeded, or was answered. Called for every operation. */
  reached(connection: Connection): void;
  /** It could not be reached, or did not let us in. */
  failed(connection: Connection, error: GatewayError): void;
}

export const UNHEARD: Reach = { reached: () => undefined, failed: () => undefined };

const REACHING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'dns_failed',
  'unreachable',
  'connect_timeout',
  'stall_timeout',
  'connection_lost',
  'protocol_error',
  'certificate_rejected',
]);
const STEPS: ReadonlySet<Step | undefined> = new Set<Step>(['resolve', 'connect', 'login']);
/** Said by servers alone, and of S3 at any request. */
const LETTING_IN: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['login_refused', 'host_key_mismatch']);

/**
 * An error of opening a session, or of somebody who only looks whether the server is there: silence and nonsense then
 * count wherever they are met, as if it could not be reached.
 */
export function asOfReaching(error: GatewayError): GatewayError {
  if (!REACHING.has(error.code) || isOfReaching(error)) return error;
  const { code, message, remote } = error;
  return new GatewayError(code, message, { step: 'connect', remote, cause: error });
}

/** Whether an error is of reaching a server or logging in there; the data connections of FTP, and URLs, are others. */
export function isOfReaching({ code, step }: GatewayError): boolean {
  return LETTING_IN.has(code) || (REACHING.has(code) && STEPS.has(step));
}

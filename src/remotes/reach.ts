/** What operations learn about servers: whether they can be reached, and accept the login. */
import { type ErrorCode, GatewayError, type Step } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';

export interface Reach {
  /** Work on the server has succeeded or was answered. Called for every operation. */
  reached(connection: Connection): void;
  /** The server could not be reached, or refused the login. */
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
const STEPS: ReadonlySet<Step | undefined> = new Set<Step>(['resolve', 'connect', 'proxy', 'login']);
/** Only servers send these; S3 sends them at any request. */
const LETTING_IN: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['login_refused', 'host_key_mismatch']);

/**
 * Converts an error of opening a session, or of a check whether the server is there: silence and nonsense then count as
 * unreachable at every step.
 */
export function asOfReaching(error: GatewayError): GatewayError {
  if (!REACHING.has(error.code) || isOfReaching(error)) return error;
  const { code, message, remote } = error;
  return new GatewayError(code, message, { step: 'connect', remote, cause: error });
}

/** Whether an error concerns reaching a server or logging in; those of FTP's data connections, and of URLs, do not. */
export function isOfReaching({ code, step }: GatewayError): boolean {
  return LETTING_IN.has(code) || (REACHING.has(code) && STEPS.has(step));
}

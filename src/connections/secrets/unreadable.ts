import { GatewayError } from '../../base/errors.js';

/** The error of a reference that leads to no secret. `why` follows the reference, as in `… does not exist`. */
export function unreadable(why: string): GatewayError {
  return new GatewayError('login_refused', why, { step: 'login' });
}

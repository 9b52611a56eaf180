/** Tokens of continued lists. A token is the last name of a page, so any node takes it, at any time. */
import { isUtf8 } from 'node:buffer';
import { refusal } from '../base/errors.js';

/** The longest path, which a server with folders may hold. */
export const MOST_NAME_BYTES = 4096;

export const tokenOf = (name: string): string => Buffer.from(name).toString('base64url');

/** @throws GatewayError bad_request */
export function nameOfToken(token: string): string {
  const bytes = Buffer.from(token, 'base64url');
  const isOurs = bytes.length <= MOST_NAME_BYTES && isUtf8(bytes) && bytes.toString('base64url') === token;
  if (!isOurs) throw refusal('bad_request', 'continuation-token must be that of an answer');
  return bytes.toString();
}

import type { HttpRequest } from '../../http/types.js';
import { type OwnAddress, ownUrl } from '../own-address.js';

/** Without a public URL, uses the host of the request that creates the link; only that client gets it. */
export function urlOf(address: OwnAddress, request: Pick<HttpRequest, 'headers'>, token: string): string {
  return `${ownUrl(address, request)}/l/${token}`;
}

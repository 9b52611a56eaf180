/** Addresses of the gateway in its own answers. */
import type { HttpRequest } from '../http/types.js';

export interface OwnAddress {
  /** server.publicUrl; "" = taken from the request. */
  readonly publicUrl: string;
  /** The gateway itself serves TLS. */
  readonly isTls: boolean;
}

/** A name or an address, with an optional port: nothing that could change the meaning of a URL. */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Without a slash at its end. Without a public URL, uses the host of the request; "" if that is none. */
export function ownUrl({ publicUrl, isTls }: OwnAddress, { headers }: Pick<HttpRequest, 'headers'>): string {
  if (publicUrl !== '') return publicUrl.replace(/\/+$/, '');
  const host = headers.get('host') ?? '';
  return HOST.test(host) ? `${isTls ? 'https' : 'http'}://${host}` : '';
}

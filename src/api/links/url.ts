import type { HttpRequest } from '../../http/types.js';
import type { LinkServices } from '../services.js';

/** A name or an address, with an optional port: nothing that could change the meaning of a URL. */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Without a public URL, uses the host of the request that creates the link; only that client gets it. */
export function urlOf(
  { publicUrl, isTls }: Pick<LinkServices, 'publicUrl' | 'isTls'>,
  { headers }: Pick<HttpRequest, 'headers'>,
  token: string,
): string {
  const path = `/l/${token}`;
  if (publicUrl !== '') return `${publicUrl.replace(/\/+$/, '')}${path}`;
  const host = headers.get('host') ?? '';
  return HOST.test(host) ? `${isTls ? 'https' : 'http'}://${host}${path}` : path;
}

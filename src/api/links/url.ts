import type { HttpRequest } from '../../http/types.js';
import type { LinkServices } from '../services.js';

/** A name or an address, and perhaps a port: nothing that could change what a URL means. */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Where nobody says how clients see the gateway, as whoever makes the link does: it is told to nobody else. */
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

/** Where programs reach the S3 front. */
import { textOrNull } from '../../contract/schema.js';
import type { HttpRequest } from '../../http/types.js';
import { type OwnAddress, ownUrl } from '../own-address.js';

export interface S3Listeners {
  readonly enabled: boolean;
  /** A port of its own; 0 = none. */
  readonly port: number;
}

export const s3EndpointFields = {
  endpoint: textOrNull('The address of the S3 front; null = it is off (`s3.enabled`).'),
  rootEndpoint: textOrNull(
    'The address of its own port (`s3.port`), for programs that take no path in an endpoint; null = it has none.',
  ),
};

export const s3EndpointExample = {
  endpoint: 'https://gateway.example.com/s3',
  rootEndpoint: 'https://gateway.example.com:9000',
};

interface S3Endpoints {
  readonly endpoint: string | null;
  readonly rootEndpoint: string | null;
}

export function s3EndpointsOf(
  { enabled, port }: S3Listeners,
  address: OwnAddress,
  request: Pick<HttpRequest, 'headers'>,
): S3Endpoints {
  if (!enabled) return { endpoint: null, rootEndpoint: null };
  const url = ownUrl(address, request);
  const isRoot = port !== 0 && URL.canParse(url);
  // A proxy in front of the gateway serves its public address; this port is its own.
  const root = isRoot ? `${address.isTls ? 'https' : 'http'}://${new URL(url).hostname}:${port}` : null;
  return { endpoint: `${url}/s3`, rootEndpoint: root };
}

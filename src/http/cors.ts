/** Access for browsers of other origins (Fetch Standard, CORS protocol): off unless the operator names them. */
import { varying } from './coding.js';
import type { HttpAnswer, HttpHandler, HttpRequest } from './types.js';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = '600';

/** What pages of other origins may reach. */
interface OpenToPages {
  readonly covers: (path: string) => boolean;
  /** Header fields that scripts may read, in addition to the few that they always may. */
  readonly exposed: string;
}

/** Only the API and links. */
const API_TO_PAGES: OpenToPages = {
  covers: (path) => /^\/(api|l)\//.test(path),
  exposed: [
    'Accept-Ranges',
    'Content-Disposition',
    'Content-Range',
    'ETag',
    'Idempotency-Replayed',
    'Location',
    'Preference-Applied',
    'RateLimit',
    'RateLimit-Policy',
    'Repr-Digest',
    'Retry-After',
    'Server-Timing',
    ...['Tus-Extension', 'Tus-Max-Size', 'Tus-Resumable', 'Tus-Version'],
    ...['Upload-Defer-Length', 'Upload-Expires', 'Upload-Length', 'Upload-Metadata', 'Upload-Offset'],
    'X-Error-Code',
    'X-Ignored-Fields',
    'X-Request-Id',
    'X-Transfer-Id',
  ].join(', '),
};

/** All of the S3 front. */
export const S3_TO_PAGES: OpenToPages = {
  covers: () => true,
  exposed: [
    ...['Accept-Ranges', 'Content-Disposition', 'Content-Range', 'ETag', 'Retry-After', 'X-Error-Code', 'X-Incomplete'],
    ...['x-amz-bucket-region', 'x-amz-id-2', 'x-amz-meta-mtime', 'x-amz-request-id'],
    ...['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'].map((algorithm) => `x-amz-checksum-${algorithm}`),
  ].join(', '),
};

/**
 * `handler` for pages of these origins ("*" = any). They send their own key, or have a link: cookies are never used, so
 * that a page can do nothing that its key may not.
 */
export function allowOrigins(
  handler: HttpHandler,
  origins: readonly string[],
  { covers, exposed: fields }: OpenToPages = API_TO_PAGES,
): HttpHandler {
  if (origins.length === 0) return handler;
  const isAllowed = (origin: string): boolean => origins.includes('*') || origins.includes(origin);
  return async (request) => {
    const origin = request.headers.get('origin');
    if (origin === undefined || !covers(request.path) || !isAllowed(origin)) return handler(request);
    const allowed = { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' };
    if (isPreflight(request)) return preflight(request, allowed);
    const answer = await handler(request);
    const { headers } = answer;
    const exposed = { 'Access-Control-Expose-Headers': fields, Vary: varying(headers?.['Vary'], 'Origin') };
    return { ...answer, headers: { ...headers, ...allowed, ...exposed } };
  };
}

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === 'OPTIONS' && headers.has('access-control-request-method');
}

function preflight({ headers }: HttpRequest, allowed: Readonly<Record<string, string>>): HttpAnswer {
  const wanted = headers.get('access-control-request-headers');
  return {
    status: 204,
    headers: {
      ...allowed,
      'Access-Control-Allow-Methods': METHODS,
      ...(wanted === undefined ? {} : { 'Access-Control-Allow-Headers': wanted }),
      'Access-Control-Max-Age': PREFLIGHT_SECONDS,
    },
  };
}

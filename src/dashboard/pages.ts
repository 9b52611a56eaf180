/**
 * Serves the built dashboard. Browsers cache hashed assets forever and fetch index.html on every visit. The build
 * compresses both.
 */
import { readStaticFiles, staticAnswer } from '../http/static-files.js';
import type { Route } from '../http/types.js';
import { SCREENS } from './screens.js';

const SECURITY_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    'frame-src blob:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

/**
 * The routes of the files in `folder`. Each screen's address also answers with index.html, so that links to screens work.
 * There are no routes if nothing was built. A file is read on its first request.
 */
export function dashboardRoutes(folder: string): Route[] {
  const files = readStaticFiles(folder);
  const index = files.get('/index.html');
  if (index === undefined) return [];
  const open = { method: 'GET', access: 'public', body: 'none', head: true, anyQuery: true } as const;
  const page: Route['handle'] = async ({ request }) =>
    staticAnswer(request, index, { ...SECURITY_HEADERS, 'Cache-Control': 'no-store' });
  const named = [...files].filter(([name]) => name !== '/index.html');
  return [
    ...Object.values(SCREENS).map((screen): Route => ({ ...open, path: screen, handle: page })),
    ...named.map(([name, file]): Route => {
      // Names under /assets contain a digest of the content.
      const caching = name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=3600';
      const headers = { ...SECURITY_HEADERS, 'Cache-Control': caching };
      return { ...open, path: name, handle: async ({ request }) => staticAnswer(request, file, headers) };
    }),
  ];
}

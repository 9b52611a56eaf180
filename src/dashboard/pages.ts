/** Serves the built dashboard: hashed assets for ever, index.html fresh on every visit, both compressed at build time. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import mime from 'mime-types';
import { takesCoding } from '../http/coding.js';
import type { HttpAnswer, HttpRequest, Route } from '../http/types.js';
import { SCREENS } from './screens.js';

interface BuiltFile {
  readonly contentType: string;
  readonly plain: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

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
 * The routes of what stands in `folder`: its files, and index.html at the address of every screen, so that a link to one can
 * be opened. Empty where nothing was built. Files are read once, at start.
 */
export function dashboardRoutes(folder: string): Route[] {
  const files = readBuilt(folder);
  const index = files.get('/index.html');
  if (index === undefined) return [];
  const open = { method: 'GET', access: 'public', body: 'none', head: true, anyQuery: true } as const;
  const page: Route['handle'] = async ({ request }) => answer(request, index, 'no-store');
  const named = [...files].filter(([name]) => name !== '/index.html');
  return [
    ...Object.values(SCREENS).map((screen): Route => ({ ...open, path: screen, handle: page })),
    ...named.map(([name, file]): Route => {
      // Names under /assets hold a digest of the content.
      const caching = name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=3600';
      return { ...open, path: name, handle: async ({ request }) => answer(request, file, caching) };
    }),
  ];
}

function readBuilt(folder: string): Map<string, BuiltFile> {
  const bytes = new Map<string, Buffer>();
  for (const entry of listFiles(folder)) bytes.set(`/${entry}`, readFileSync(path.join(folder, entry)));
  const files = new Map<string, BuiltFile>();
  for (const [name, plain] of bytes) {
    if (name.endsWith('.br') || name.endsWith('.gz')) continue;
    const contentType = mime.contentType(path.extname(name)) || 'application/octet-stream';
    files.set(name, { contentType, plain, br: bytes.get(`${name}.br`), gzip: bytes.get(`${name}.gz`) });
  }
  return files;
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'));
  } catch {
    // Not built: the gateway serves its API all the same.
    return [];
  }
}

function answer(request: HttpRequest, file: BuiltFile, caching: string): HttpAnswer {
  const { encoding, body } = encode(request.headers.get('accept-encoding'), file);
  const headers = {
    ...SECURITY_HEADERS,
    'Content-Type': file.contentType,
    'Cache-Control': caching,
    Vary: 'Accept-Encoding',
    ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
  };
  return request.method === 'HEAD' ? { status: 200, headers, headLength: body.length } : { status: 200, headers, body };
}

function encode(accepted: string | undefined, file: BuiltFile): { encoding?: string; body: Buffer } {
  const { br, gzip, plain } = file;
  if (br !== undefined && takesCoding(accepted, 'br')) return { encoding: 'br', body: br };
  if (gzip !== undefined && takesCoding(accepted, 'gzip')) return { encoding: 'gzip', body: gzip };
  return { body: plain };
}

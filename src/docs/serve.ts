/** Serves the documentation that `build.ts` made: its pages and their resources. */
import { refusal } from '../base/errors.js';
import { readStaticFiles, staticAnswer, type StaticFile } from '../http/static-files.js';
import type { HttpAnswer, HttpRequest, Route } from '../http/types.js';

/** A page loads only from this gateway and runs no inline code. */
const PAGE_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};
/** A short lifetime, so that readers soon get the version of an upgrade. */
const FRESH = 'public, max-age=300';
/** For names with a digest of the content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

type Answering = (request: HttpRequest) => HttpAnswer;

interface Site {
  /** All but the reference pages, which are endpoints of the APIs. */
  readonly routes: Route[];
  /** The answer at the address of a reference page. */
  readonly pageOf: (address: string) => Answering;
}

/** `references`: the addresses that are endpoints. A file is read at its first request. */
export function openSite(folder: string, references: readonly string[]): Site {
  const files = new Map([...readStaticFiles(folder)].map(([name, file]) => [name.replace(/\.html$/, ''), file]));
  const open = { method: 'GET', access: 'public', body: 'none', head: true, anyQuery: true } as const;
  const served = [...files].filter(([address]) => !references.includes(address));
  return {
    routes: served.map(([path, file]) => {
      const answering = answer(path, file);
      return { ...open, path, handle: async ({ request }) => answering(request) };
    }),
    pageOf: (address) => {
      const file = files.get(address);
      return file === undefined ? notBuilt : answer(address, file);
    },
  };
}

function answer(address: string, file: StaticFile): Answering {
  const headers = { ...PAGE_HEADERS, 'Cache-Control': address.startsWith('/docs/assets/') ? FOR_EVER : FRESH };
  return (request) => staticAnswer(request, file, headers);
}

function notBuilt(): never {
  throw refusal('unknown_route', 'this gateway was built without its documentation');
}

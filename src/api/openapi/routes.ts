/**
 * The documents of both APIs, made from the whole route table at the first request, and their reference pages, made by
 * the build.
 */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { isNotModified } from '../../http/answer.js';
import type { HttpAnswer, HttpRequest } from '../../http/types.js';
import { type DescribedRoute, endpoint, type Endpoint } from '../endpoint.js';
import { FILE_API, MANAGEMENT_API } from './apis.js';
import { buildDocument, type DocumentOptions } from './document.js';
import type { Api } from './types.js';

type Reference = (request: HttpRequest) => HttpAnswer;

/** The addresses of an API's description. */
interface ReferenceLinks {
  /** Path of the document itself. */
  readonly document: string;
  readonly page: string;
}

const PAGE_HEADERS = [
  'ETag',
  'Vary',
  'Content-Encoding?',
  'Content-Security-Policy',
  'X-Content-Type-Options',
  'Referrer-Policy',
];

const documentAt = (path: string): Endpoint<Reference> =>
  endpoint({
    method: 'GET',
    path,
    access: 'public',
    head: true,
    operationId: 'openApiDocument',
    tag: 'System',
    summary: 'This document',
    description: 'OpenAPI 3.1.',
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'The document.',
        headers: ['ETag'],
        content: {
          'application/json': {
            schema: Type.Unsafe({ type: 'object' }),
            examples: { head: { summary: 'Its beginning', value: { openapi: '3.1.1' } } },
          },
        },
      },
      304: { description: 'The client has it already.', headers: ['ETag'] },
    },
  }).handle(async ({ request }, document: Reference) => document(request));

const pageAt = (path: string): Endpoint<Reference> =>
  endpoint({
    method: 'GET',
    path,
    access: 'public',
    head: true,
    operationId: 'referencePage',
    tag: 'System',
    summary: 'The reference page',
    description:
      'This document for people, with search, guides and a form to try each operation. Nothing is loaded from elsewhere.',
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'The page.',
        headers: PAGE_HEADERS,
        content: { 'text/html': { schema: Type.String(), examples: { head: { value: '<!doctype html>' } } } },
      },
      304: { description: 'The client has it already.', headers: PAGE_HEADERS },
    },
  }).handle(async ({ request }, page: Reference) => page(request));

/** A short lifetime, so that readers soon get the version of an upgrade. */
const CACHING = 'public, max-age=300';

export const FILES: ReferenceLinks = { document: '/openapi.json', page: '/docs' };
export const MANAGEMENT: ReferenceLinks = { document: '/manage/openapi.json', page: '/manage/docs' };

/** `pageOf`: the answer at the address of a reference page. */
export function withReference(
  routes: readonly DescribedRoute[],
  options: DocumentOptions,
  pageOf: (address: string) => Reference,
): DescribedRoute[] {
  const all = [...routes];
  const describe = (api: Api, { document, page }: ReferenceLinks): void => {
    let made: Reference | undefined;
    const make = (): Reference =>
      cached(JSON.stringify(buildDocument(api, all, options)), { 'Content-Type': 'application/json' });
    all.push(documentAt(document).route((request) => (made ??= make())(request)));
    all.push(pageAt(page).route(pageOf(page)));
  };
  describe(FILE_API, FILES);
  describe(MANAGEMENT_API, MANAGEMENT);
  return all;
}

/** A constant text with its ETag. */
function cached(text: string, fields: Readonly<Record<string, string>>): Reference {
  const body = Buffer.from(text);
  const ETag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = { ...fields, ETag, 'Cache-Control': CACHING };
  const started = new Date();
  return ({ headers: asked }) =>
    isNotModified(asked, { entityTag: ETag, lastModified: started, isSettled: true })
      ? { status: 304, headers }
      : { status: 200, headers, body };
}

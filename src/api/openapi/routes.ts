/** The documents of both APIs and their reference pages: made from the whole route table, when somebody asks first. */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { isNotModified } from '../../http/answer.js';
import type { HttpAnswer, HttpRequest } from '../../http/types.js';
import { type DescribedRoute, endpoint, type Endpoint } from '../endpoint.js';
import { FILE_API, MANAGEMENT_API } from './apis.js';
import { buildDocument, type DocumentOptions } from './document.js';
import { type PageLinks, referencePage } from './reference-page.js';
import type { Api } from './types.js';

type Reference = (request: HttpRequest) => HttpAnswer;

const PAGE_HEADERS = ['ETag', 'Content-Security-Policy', 'X-Content-Type-Options', 'Referrer-Policy'];

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
    description: 'This document for people: one page that loads nothing else.',
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

/** A short life, so that what runs after an upgrade is what people read. */
const CACHING = 'public, max-age=300';

const FILES: PageLinks = { document: '/openapi.json', page: '/docs' };
const MANAGEMENT: PageLinks = { document: '/manage/openapi.json', page: '/manage/docs' };

export function withReference(routes: readonly DescribedRoute[], options: DocumentOptions): DescribedRoute[] {
  const all = [...routes];
  const add = ({ route }: Endpoint<Reference>, make: () => Reference): void => {
    let made: Reference | undefined;
    all.push(route((request) => (made ??= make())(request)));
  };
  const describe = (api: Api, own: PageLinks, other: PageLinks & { readonly title: string }): void => {
    add(documentAt(own.document), () =>
      cached(JSON.stringify(buildDocument(api, all, options)), { 'Content-Type': 'application/json' }),
    );
    add(pageAt(own.page), () => {
      const { html, policy } = referencePage(buildDocument(api, all, options), own, other);
      return cached(html, {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': policy,
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
      });
    });
  };
  describe(FILE_API, FILES, { ...MANAGEMENT, title: MANAGEMENT_API.title });
  describe(MANAGEMENT_API, MANAGEMENT, { ...FILES, title: FILE_API.title });
  return all;
}

/** A text that never changes while the process lives, with its ETag. */
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
